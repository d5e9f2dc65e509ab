package csg

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// small16 is an instance of int16 with values below 0, equal ones and a few large ones.
func small16(t *testing.T, n int) *problem.Instance {
	t.Helper()
	inst, err := draw.ByCoalition(problem.Int16, n, func(mask uint64) float64 { return float64(draw.Mix(mask)%200) - 50 })
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// verified holds a result against the reference, and has it verified from its JSON.
func verified(t *testing.T, name string, inst *problem.Instance, r *Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	if r.Value != want.Value || !r.Proven || r.Bound != r.Value || r.Type != inst.Type {
		t.Errorf("%s: found %s of %s, bound %s, expected %s", name, r.Value, r.Type, r.Bound, want.Value)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(inst, text); err != nil || len(v.Failures) > 0 {
		t.Errorf("%s: verify: %v, %+v", name, err, v)
	}
}

// Values of int16 are solved by every algorithm on every device: in int16 by the tiles of
// GPUs, in int32 by the others.
func TestSolveInt16(t *testing.T) {
	gpu, cpu := emulatedtest.Open(t), host.Open(1)
	defer cpu.Close()
	for _, c := range []struct {
		d         device.Device
		algorithm Method
		n         int
		solved    problem.Value
	}{
		{gpu, Apart, 1, ""}, {gpu, Apart, 2, ""}, {gpu, Apart, 13, ""}, {gpu, ByPrices, 12, ""}, {gpu, DP, 9, problem.Int32}, {gpu, IDP, 8, problem.Int32},
		{cpu, Apart, 1, problem.Int32}, {cpu, Apart, 12, problem.Int32}, {cpu, ByPrices, 11, ""}, {cpu, DP, 9, problem.Int32},
	} {
		inst := small16(t, c.n)
		o := on(c.d)
		o.Algorithm = string(c.algorithm)
		r, err := Solve(context.Background(), inst, o)
		name := c.d.Facts().Kind + " " + string(c.algorithm)
		verified(t, name, inst, r, err)
		if r.Solved != c.solved || c.algorithm == Apart && c.d == gpu && !strings.Contains(r.Variant, "value=int16") {
			t.Errorf("%s: solved in %q by %s, expected %q", name, r.Solved, r.Variant, c.solved)
		}
	}
	r, cover, err := SolveCover(context.Background(), small16(t, 10), on(gpu))
	verified(t, "cover", small16(t, 10), r, err)
	if few, err := BestFew(context.Background(), small16(t, 10), cover, 1<<10-1, 2); err != nil || len(few) != 2 {
		t.Errorf("the best two: found %v, %v", few, err)
	}
}

// Three devices, ranks, values drawn on devices, and blocks of some sizes alone.
func TestSolveInt16OnSeveral(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 3)
	for _, n := range []int{1, 2, 9, 13} {
		inst := small16(t, n)
		r, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: devices[:min(3, 1+n)]}})
		verified(t, "three devices", inst, r, err)
		if !strings.Contains(r.Variant, "value=int16") {
			t.Errorf("solved by %s", r.Variant)
		}
	}
	inst, err := NewDrawn("planted", 13, 5, problem.Int16)
	if err != nil {
		t.Fatal(err)
	}
	_, two := onRanks(t, inst, devices[:2], Options{Settings: solve.Settings{Algorithm: string(Apart)}})
	for _, algorithm := range []Method{Apart, ByPrices} {
		one, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: devices[:1], Algorithm: string(algorithm)}})
		if err != nil || one.Value != "130" || two.Value != "130" || inst.HoldsValues() {
			t.Errorf("planted, %s: found %v, %v, ranks %s, held %v, expected 130", algorithm, one, err, two.Value, inst.HoldsValues())
		}
	}
	sized := small16(t, 11)
	if err := sized.Restrict(1<<2 | 1<<3); err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), sized, Options{Settings: solve.Settings{Devices: devices[:2]}})
	verified(t, "sizes", sized, r, err)
	if sized.Type != problem.Int16 {
		t.Errorf("restricted values are of %s", sized.Type)
	}
}

// A checkpoint of int16 goes on on another number of GPUs; where int16 is not asked for,
// on a host too.
func TestInt16Kept(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	cpu := host.Open(1)
	defer cpu.Close()
	wide, err := draw.ByCoalition(problem.Int32, 13, func(mask uint64) float64 { return float64(draw.Mix(mask)%200) - 50 })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inst  *problem.Instance
		later []device.Device
		fails bool
	}{{small16(t, 13), devices, false}, {small16(t, 13), []device.Device{cpu}, true}, {wide, []device.Device{cpu}, false}} {
		path := filepath.Join(t.TempDir(), "run")
		if _, err := Solve(context.Background(), c.inst, keptIn(Options{Settings: solve.Settings{Devices: devices[:1], Algorithm: string(Apart)}}, path, false)); err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: solve.Settings{Devices: c.later, Algorithm: string(Apart)}}
		if c.fails {
			if _, err := Solve(context.Background(), c.inst, keptIn(o, path, true)); !errors.Is(err, ErrCheckpoint) {
				t.Errorf("int16 on a host: found %v", err)
			}
		} else if share := resumed(t, c.inst, path, o); share != 1 {
			t.Errorf("%s on %d devices: began at %v", c.inst.Type, len(c.later), share)
		}
	}
}

// Values that are multiples of a power of two are solved in the narrowest integers that
// hold every sum, and the answer is exact; others as they are.
func TestSolveNarrowed(t *testing.T) {
	gpu, cpu := emulatedtest.Open(t), host.Open(1)
	defer cpu.Close()
	whole := func(mask uint64) float64 { return float64(draw.Mix(mask)%200) - 50 }
	forbidding := func(mask uint64) float64 {
		if mask&(mask-1) != 0 && draw.Mix(mask)%3 == 0 {
			return math.Inf(-1)
		}
		return whole(mask) / 8
	}
	for _, c := range []struct {
		name      string
		value     problem.Value
		of        func(mask uint64) float64
		gpu, host problem.Value
	}{
		{"small", problem.Int32, whole, problem.Int16, ""},
		{"small", problem.Int64, whole, problem.Int16, problem.Int32},
		{"quarters", problem.Float64, func(mask uint64) float64 { return whole(mask) / 4 }, problem.Int16, problem.Int32},
		{"forbidden", problem.Float32, forbidding, problem.Int16, problem.Int32},
		{"forbidden", problem.Float64, forbidding, problem.Int16, problem.Int32},
		{"larger", problem.Float64, func(mask uint64) float64 { return whole(mask) * 1001 / 1024 }, problem.Int32, problem.Int32},
		{"beyond the bits of a float64", problem.Float64, func(mask uint64) float64 { return float64(draw.Mix(mask)>>11) - 1<<52 }, problem.Int64, problem.Int64},
		{"real", problem.Float64, func(mask uint64) float64 { return math.Sin(float64(mask)) / 3 * math.Exp2(-float64(mask%64)) }, "", ""},
		{"real", problem.Float32, func(mask uint64) float64 { return float64(float32(math.Sin(float64(mask)))) }, "", ""},
	} {
		for d, want := range map[device.Device]problem.Value{gpu: c.gpu, cpu: c.host} {
			for _, n := range []int{1, 2, 10} {
				inst, err := draw.ByCoalition(c.value, n, c.of)
				if err != nil {
					t.Fatal(err)
				}
				o := on(d)
				o.Algorithm = string(Apart)
				r, err := Solve(context.Background(), inst, o)
				name := c.name + " " + string(c.value) + " on " + d.Facts().Kind
				if want == "" {
					if err != nil || n > 2 && r.Solved != "" {
						t.Errorf("%s: solved in %q, %v", name, r.Solved, err)
					}
					continue
				}
				if n > 2 && r.Solved != want {
					t.Errorf("%s: solved in %q, expected %q", name, r.Solved, want)
				}
				if c.name == "beyond the bits of a float64" {
					exact(t, name, inst, r, err)
				} else {
					verified(t, name, inst, r, err)
				}
			}
		}
	}
}

// exact holds a result of floats against the sums of integers.
func exact(t *testing.T, name string, inst *problem.Instance, r *Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	values := make([]int64, inst.Len())
	for mask := range values {
		values[mask] = int64(inst.F64[mask])
	}
	whole, err := problem.NewInstance(values, "whole")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Reference(whole, DP)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := problem.Check(whole, r.Structure, want.Value.String()); err != nil || *r.Gap != 0 {
		t.Errorf("%s: found %+v, gap %v, %v", name, got, *r.Gap, err)
	}
}

// A result that names integers which do not hold the sums is refuted.
func TestVerifySolved(t *testing.T) {
	cpu := host.Open(1)
	defer cpu.Close()
	inst, err := draw.ByCoalition(problem.Float64, 5, func(mask uint64) float64 { return math.Sqrt(float64(mask)) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), inst, on(cpu))
	if err != nil {
		t.Fatal(err)
	}
	for _, solved := range []problem.Value{problem.Int16, problem.Int32, problem.Float64, "int8"} {
		x := *r
		x.Solved = solved
		text, err := json.Marshal(&x)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || len(v.Failures) == 0 {
			t.Errorf("%s: found %+v, %v", solved, v, err)
		}
	}
}

// Where every structure has a forbidden block, the narrowed solve proves it too.
func TestNarrowedInfeasible(t *testing.T) {
	gpu := emulatedtest.Open(t)
	inst, err := draw.ByCoalition(problem.Float64, 6, func(mask uint64) float64 {
		if mask&1 != 0 {
			return math.Inf(-1)
		}
		return 1
	})
	if err != nil {
		t.Fatal(err)
	}
	o := on(gpu)
	o.Algorithm = string(Apart)
	if r, err := Solve(context.Background(), inst, o); !errors.Is(err, solve.ErrInfeasible) || r.Solved != problem.Int16 {
		t.Errorf("found %v, %v", r, err)
	}
	if _, err := problem.NewInstance([]int16{0, 1, 2}, "three"); err == nil {
		t.Error("three values of int16 have no error")
	}
}
