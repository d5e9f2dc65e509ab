package csg

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// onRanks solves an instance on ranks with a device each; they must give one answer.
func onRanks(t *testing.T, inst *problem.Instance, devices []device.Device, o Options) ([]collective.Ranks, *Result) {
	t.Helper()
	ranks, results := collectivetest.Ranks(len(devices)), make([]*Result, len(devices))
	err := collective.OnAll(len(devices), func(k int) (err error) {
		own := o
		own.Devices, own.Ranks = devices[k:k+1], ranks[k]
		if results[k], err = Solve(context.Background(), inst, own); err != nil {
			ranks[k].(interface{ FailAll() }).FailAll()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range results {
		if r.Value != results[0].Value || !r.Proven {
			t.Errorf("rank %d finds %s, rank 0 %s", k, r.Value, results[0].Value)
		}
	}
	return ranks, results[0]
}

// TestHostRanks compares ranks of unlike numbers of cores with the reference.
func TestHostRanks(t *testing.T) {
	devices := []device.Device{host.Open(1), host.Open(3), host.Open(2)}
	for _, c := range []struct {
		value problem.Value
		n     int
	}{{problem.Int32, 1}, {problem.Int64, 2}, {problem.Float32, 10}, {problem.Float64, 13}, {problem.Int64, 14}, {problem.Int32, 16}} {
		inst, err := draw.ByCoalition(c.value, c.n, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
		if err != nil {
			t.Fatal(err)
		}
		_, got := onRanks(t, inst, devices, Options{})
		want, err := Reference(inst, Apart)
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != want.Value {
			t.Errorf("%d agents, %s: found %s, expected %s", c.n, c.value, got.Value, want.Value)
		}
	}
}

// TestBytesSent holds the bytes that a rank hands to others against the prediction of
// docs/cluster.md: a share of the tiles of every level, and words.
func TestBytesSent(t *testing.T) {
	const n, size = 20, 4
	devices := []device.Device{host.Open(1), host.Open(1), host.Open(1), host.Open(1)}
	inst, err := draw.ByCoalition(problem.Int32, n, func(mask uint64) float64 { return float64(draw.Mix(mask) % 1000) })
	if err != nil {
		t.Fatal(err)
	}
	v := gencsg.Hosttiles.Variant("k=8,r=2,unit=vector,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	ranks, _ := onRanks(t, inst, devices, Options{Settings: solve.Settings{Variant: v.Label}})
	predicted := float64(size<<(n-1)-size<<8) / float64(len(devices)) // all tiles but tile 0
	for k, r := range ranks {
		sent := float64(r.(interface{ BytesSent() int64 }).BytesSent())
		if math.Abs(sent-predicted) > 0.02*predicted {
			t.Errorf("rank %d has sent %.0f bytes, predicted are %.0f", k, sent, predicted)
		}
	}
}

// TestEmulatedRanks runs the tiles of a GPU on two ranks.
func TestEmulatedRanks(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	for _, n := range []int{1, 9, 13} {
		inst, err := draw.ByCoalition(problem.Int32, n, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
		if err != nil {
			t.Fatal(err)
		}
		_, got := onRanks(t, inst, devices, Options{})
		want, err := Reference(inst, Apart)
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != want.Value || got.Variant[:len(gencsg.Tiles.Name)] != gencsg.Tiles.Name {
			t.Errorf("%d agents: found %s by %s, expected %s", n, got.Value, got.Variant, want.Value)
		}
	}
}

// A checkpoint of some ranks is gone on with by more, by fewer and on other devices.
func TestRanksKept(t *testing.T) {
	inst, err := draw.ByCoalition(problem.Int32, 15, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
	if err != nil {
		t.Fatal(err)
	}
	want, err := Reference(inst, Apart)
	if err != nil {
		t.Fatal(err)
	}
	hosts := []device.Device{host.Open(1), host.Open(2), host.Open(1)}
	path := filepath.Join(t.TempDir(), "run")
	onRanks(t, inst, hosts, keptIn(Options{}, path, false))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, devices := range map[string][]device.Device{"one": hosts[:1], "two": hosts[:2], "three": hosts, "two emulated": emulatedtest.OpenSeveral(t, 2)} {
		for _, size := range []int{112, len(whole) / 2, len(whole)} {
			if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			_, got := onRanks(t, inst, devices, keptIn(Options{}, path, true))
			if got.Value != want.Value {
				t.Errorf("%s, %d bytes: found %s, expected %s", name, size, got.Value, want.Value)
			}
			if size == len(whole) && got.Splittings > want.Splittings/2 { // tiles of other sizes leave some
				t.Errorf("%s, all levels kept: %v splittings of %v", name, got.Splittings, want.Splittings)
			}
			again, err := os.ReadFile(path)
			if err != nil || len(again) < len(whole)/2 {
				t.Errorf("%s: the file has %d bytes, %v; expected some %d", name, len(again), err, len(whole))
			}
		}
	}
}

// Prices run on one rank.
func TestRanksRefused(t *testing.T) {
	h := host.Open(1)
	inst, err := draw.ByCoalition(problem.Int32, 5, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: []device.Device{h}, Ranks: collectivetest.Ranks(2)[0], Algorithm: string(ByPrices)}})
	if err == nil {
		t.Error("prices on two ranks: no error")
	}
}
