package qubo

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/solve"
)

// onRanks solves on as many ranks as devices, which must find the same value.
func onRanks(t *testing.T, inst *Instance, devices []device.Device, o Options) (*Result, []collective.Ranks) {
	t.Helper()
	ranks, results := collectivetest.Ranks(len(devices)), make([]*Result, len(devices))
	err := collective.OnAll(len(devices), func(k int) (err error) {
		own := o
		own.Devices, own.Ranks = devices[k:k+1], ranks[k]
		if results[k], err = Solve(t.Context(), inst, own); err != nil {
			ranks[k].(interface{ Leave() }).Leave()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range results {
		if r.Value != results[0].Value || r.Proven != results[0].Proven || r.Work != results[0].Work {
			t.Errorf("rank %d: %s after %v, rank 0: %s after %v", k, r.Value, r.Work, results[0].Value, results[0].Work)
		}
	}
	return results[0], ranks
}

// TestRanks finds optima on three ranks, small ones without a search, and ends them all
// where one meets the target.
func TestRanks(t *testing.T) {
	devices := []device.Device{host.Open(1), host.Open(2), host.Open(1)}
	r := rand.New(rand.NewPCG(21, 22))
	for k := range 12 {
		inst := qubotest.Instance(r, r.IntN(14)+1, []Form{QUBO, Ising, MaxCut}[k%3], k%2 == 0)
		want := best(t, inst)
		got, _ := onRanks(t, inst, devices, Options{Unreduced: k%4 == 0})
		if got.Value.Float() != want {
			t.Errorf("%s: found %s, expected %v", inst, got.Value, want)
		}
	}
	inst := qubotest.Instance(r, 60, QUBO, true)
	one := solved(t, inst, Options{Work: 200000, Unreduced: true})
	target := one.Value.Float()
	clock := time.Now()
	got, _ := onRanks(t, inst, devices, Options{Unreduced: true, Settings: solve.Settings{Target: &target, TimeLimit: 30 * time.Second}})
	worse := got.Value.Float() < target
	if inst.Sense == Minimize {
		worse = got.Value.Float() > target
	}
	if worse || time.Since(clock) > 20*time.Second {
		t.Errorf("found %s after %v, expected %v", got.Value, time.Since(clock), target)
	}
}

// TestRanksRepeat: with a limit on work a seed repeats, and a rank sends what
// docs/cluster.md says.
func TestRanksRepeat(t *testing.T) {
	inst := qubotest.Instance(rand.New(rand.NewPCG(31, 32)), 300, QUBO, true)
	var first *Result
	for range 2 {
		devices := []device.Device{host.Open(1), host.Open(1)}
		got, ranks := onRanks(t, inst, devices, Options{Work: 400000, Settings: solve.Settings{Seed: 5}, Unreduced: true})
		if first == nil {
			first = got
		}
		if got.Value != first.Value || got.Solution.String() != first.Solution.String() || got.Work != first.Work {
			t.Errorf("found %s after %v, before %s after %v", got.Value, got.Work, first.Value, first.Work)
		}
		sent, predicted := ranks[0].(interface{ BytesSent() int64 }).BytesSent(), int64(epochs*8*(wordsHead+2*5)+8)
		if sent != predicted {
			t.Errorf("rank 0 sent %d bytes, predicted are %d", sent, predicted)
		}
	}
}

// TestEmulatedRanks has kernels of two ranks take what the other gives.
func TestEmulatedRanks(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst := qubotest.Instance(rand.New(rand.NewPCG(41, 42)), 40, QUBO, true)
	got, _ := onRanks(t, inst, devices, Options{Work: 2000, Unreduced: true})
	if got.Work.Flips == 0 || !strings.HasPrefix(got.Variant, "qubo/bulk") {
		t.Errorf("%s made %v", got.Variant, got.Work)
	}
}
