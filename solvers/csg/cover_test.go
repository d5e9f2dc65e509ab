package csg

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// The cover is the table of the plainest dynamic program, on every kind of device and on
// several, and the best structure of every coalition comes from it.
func TestCover(t *testing.T) {
	cpu := host.Open(0)
	defer cpu.Close()
	gpus := emulatedtest.OpenSeveral(t, 2)
	for name, devices := range map[string][]device.Device{"host": {cpu}, "emulated": gpus[:1], "two": gpus} {
		for n, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64, problem.Int32, problem.Int64, problem.Float32, problem.Float64, problem.Int32, problem.Int32, problem.Float64, problem.Int32, problem.Int32} {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 { return float64(draw.Mix(mask^7)%2000) - 700 })
			if err != nil {
				t.Fatal(err)
			}
			r, cover, err := SolveCover(context.Background(), inst, Options{Settings: solve.Settings{Devices: devices}})
			if err != nil {
				t.Fatalf("%s, %d agents as %s: %v", name, n, value, err)
			}
			want := tableOf(inst)
			if !bytes.Equal(cover.Bytes(), want) {
				t.Errorf("%s, %d agents as %s: the table differs from the reference's", name, n, value)
			}
			if ref, err := Reference(inst, DP); err != nil || r.Value != ref.Value || !r.Proven {
				t.Errorf("%s, %d agents as %s: found %s, expected %s (%v)", name, n, value, r.Value, ref.Value, err)
			}
			for c := range min(inst.Len(), 64) {
				if _, err := BestFew(context.Background(), inst, cover, inst.GrandCoalition()&^c, 1); err != nil {
					t.Errorf("%s, %d agents as %s, coalition %#x: %v", name, n, value, c, err)
				}
			}
		}
	}
}

func tableOf(inst *problem.Instance) []byte {
	switch inst.Type {
	case problem.Int32:
		return tableBytes(inst.I32, DP)
	case problem.Int64:
		return tableBytes(inst.I64, DP)
	case problem.Float32:
		return tableBytes(inst.F32, DP)
	}
	return tableBytes(inst.F64, DP)
}

func tableBytes[T problem.Number](v []T, m Method) []byte {
	f, _ := Table(v, m)
	return device.Bytes(f)
}

// partitions calls each with every partition of the agents of a coalition.
func partitions(coalition uint64, blocks problem.Structure, each func(problem.Structure)) {
	if coalition == 0 {
		each(blocks)
		return
	}
	lowest := coalition & -coalition
	rest := coalition ^ lowest
	for part := rest; ; part = (part - 1) & rest {
		partitions(rest&^part, append(blocks, part|lowest), each)
		if part == 0 {
			return
		}
	}
}

// The k best are the first of all partitions by value, of any coalition, each once.
func TestBestFew(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 24))
	for round := range 120 {
		n, value := r.IntN(8), []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64}[r.IntN(4)]
		span := []uint64{2, 50, 1000}[r.IntN(3)]
		inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 {
			if (value == problem.Float32 || value == problem.Float64) && draw.Mix(mask^uint64(round))%5 == 0 {
				return math.Inf(-1)
			}
			return float64(draw.Mix(mask+uint64(round))%span) - float64(span/3)
		})
		if err != nil {
			t.Fatal(err)
		}
		d := host.Open(1)
		_, cover, err := SolveCover(context.Background(), inst, on(d))
		d.Close()
		if err != nil && !errors.Is(err, solve.ErrInfeasible) {
			t.Fatal(err)
		}
		coalition := r.Uint64() & inst.GrandCoalition()
		var all []float64
		partitions(coalition, nil, func(s problem.Structure) {
			sum := 0.0
			for _, b := range s {
				sum += inst.Value64(b)
			}
			if !math.IsInf(sum, -1) {
				all = append(all, sum)
			}
		})
		slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
		k := 1 + r.IntN(20)
		found, err := BestFew(context.Background(), inst, cover, coalition, k)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, x := range found {
			if i >= len(all) || x.Value != all[i] {
				t.Fatalf("round %d: number %d of %#x is worth %v, expected %v", round, i, coalition, x.Value, all)
			}
			sum, cover := 0.0, uint64(0)
			text := ""
			for _, b := range x.Structure {
				sum, cover = sum+inst.Value64(b), cover|b
				text += inst.Coalition(b)
			}
			if sum != x.Value || cover != coalition || seen[text] {
				t.Errorf("round %d: %s is worth %v, said %v, or comes twice", round, text, sum, x.Value)
			}
			seen[text] = true
		}
		if len(found) != min(k, len(all)) {
			t.Errorf("round %d: %d structures, expected %d", round, len(found), min(k, len(all)))
		}
	}
}

// Tables of another instance, and what cannot be asked, are refused.
func TestCoverRefuses(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := draw.ByCoalition(problem.Int32, 5, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	other, err := draw.ByCoalition(problem.Int32, 5, func(mask uint64) float64 { return float64(draw.Mix(mask^99) % 1000) })
	if err != nil {
		t.Fatal(err)
	}
	_, cover, err := SolveCover(context.Background(), inst, on(d))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := BestFew(context.Background(), other, cover, other.GrandCoalition(), 1); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("another instance's table: %v", err)
	}
	if _, err := BestFew(context.Background(), inst, inst, inst.GrandCoalition(), 3); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("the values as their own cover: %v", err)
	}
	if _, err := BestFew(context.Background(), inst, cover, 1<<5, 1); err == nil {
		t.Error("a sixth agent of five: no error")
	}
	if _, err := BestFew(context.Background(), inst, cover, 3, 0); err == nil {
		t.Error("no structures: no error")
	}
	o := on(d)
	o.Algorithm = string(IDP)
	if _, _, err := SolveCover(context.Background(), inst, o); err == nil {
		t.Error("IDP: no error")
	}
}

// A solve that has ended gives the best so far, and no table.
func TestCoverEnded(t *testing.T) {
	inst, o := killable(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Variant = ""
	r, cover, err := SolveCover(ctx, inst, o)
	if r == nil || !r.Stopped || r.Structure == nil || r.Proven || cover != nil || err != nil {
		t.Errorf("found %v, %v, %v", r, cover, err)
	}
}
