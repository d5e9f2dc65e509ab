package csg

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// drawnTable is a table of up to 6 agents of a type, with ties, both signs, forbidden coalitions of floats and the least and largest integers.
func drawnTable(t *testing.T, r *rand.Rand, as problem.Value) *problem.Instance {
	n := 1 + r.IntN(6)
	values := make([]float64, 1<<n)
	for mask := range values[1:] {
		switch r.IntN(12) {
		case 0:
			values[mask+1] = math.Inf(-1)
		case 1, 2:
			values[mask+1] = r.NormFloat64() * 1000
		default:
			values[mask+1] = float64(r.IntN(41) - 20)
		}
	}
	var inst *problem.Instance
	var err error
	switch as {
	case problem.Int16:
		inst, err = problem.NewInstance(integers[int16](r, values, math.MinInt16, math.MaxInt16), "drawn")
	case problem.Int32:
		inst, err = problem.NewInstance(integers[int32](r, values, math.MinInt32, math.MaxInt32), "drawn")
	case problem.Int64:
		inst, err = problem.NewInstance(integers[int64](r, values, math.MinInt64/8, math.MaxInt64/8), "drawn")
	case problem.Float32:
		v := make([]float32, len(values))
		for mask, x := range values {
			v[mask] = float32(x)
		}
		inst, err = problem.NewInstance(v, "drawn")
	default:
		inst, err = problem.NewInstance(values, "drawn")
	}
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// integers are rounded values, the extremes of the type in place of some that are forbidden.
func integers[T int16 | int32 | int64](r *rand.Rand, values []float64, least, most T) []T {
	v := make([]T, len(values))
	for mask, x := range values {
		switch {
		case !math.IsInf(x, -1):
			v[mask] = T(x)
		case r.IntN(8) == 0:
			v[mask] = least
		case r.IntN(8) == 0:
			v[mask] = most
		}
	}
	return v
}

// leastSum is the least sum of a partition's values, nil where each has a forbidden block.
func leastSum(inst *problem.Instance, sizes problem.Sizes) (least *big.Float) {
	partitions(inst.GrandCoalition(), nil, func(blocks problem.Structure) {
		sum := problem.NewExact()
		for _, b := range blocks {
			x := problem.ExactValue(inst, b)
			if x == nil || !sizes.Allows(b) {
				return
			}
			sum.Add(sum, x)
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	})
	return least
}

// Minimised tables of each type have the least sum of all partitions, by every algorithm and on devices, and their results verify.
func TestMinimized(t *testing.T) {
	emulated := emulatedtest.OpenSeveral(t, 1)
	h := host.Open(2)
	defer h.Close()
	r := rand.New(rand.NewPCG(62, 5))
	algorithms := append(Algorithms(), "")
	types := []problem.Value{problem.Int16, problem.Int32, problem.Int64, problem.Float32, problem.Float64}
	feasible, proven, draws := 0, 0, inputtest.Draws(2000)
	for k := range draws {
		inst := drawnTable(t, r, types[k%len(types)])
		var sizes problem.Sizes
		if r.IntN(4) == 0 {
			for range 2 {
				sizes |= 1 << (1 + r.IntN(inst.N))
			}
		}
		want := leastSum(inst, sizes)
		given := *inst
		given.I16, given.I32, given.I64, given.F32, given.F64 = slices.Clone(inst.I16), slices.Clone(inst.I32), slices.Clone(inst.I64), slices.Clone(inst.F32), slices.Clone(inst.F64)
		if err := inst.Minimize(); err != nil {
			t.Fatal(err)
		}
		if err := inst.Restrict(sizes); err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: solve.Settings{Devices: []device.Device{h}, Algorithm: algorithms[r.IntN(len(algorithms))]}}
		if k%40 == 7 {
			o.Devices, o.Algorithm = emulated[:1], string(Apart)
		}
		if sizes == 0 && r.IntN(5) == 0 && !hasForbidden(inst) {
			o.Payoff = []string{"shapley", "banzhaf"}[r.IntN(2)]
		}
		found, err := Solve(context.Background(), inst, o)
		if errors.Is(err, solve.ErrGaveUp) && o.Algorithm == string(ByPrices) { // where no structure is allowed, or few
			o.Algorithm = ""
			found, err = Solve(context.Background(), inst, o)
		}
		if found == nil {
			t.Fatalf("table %d, %s: %v", k, o.Algorithm, err)
		}
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(&given, text); err != nil || v.Err() != nil {
			t.Fatalf("table %d, %s: %v %+v\n%s", k, o.Algorithm, err, v, text)
		}
		if !found.Minimize || (want == nil) != (found.Value == "") {
			t.Fatalf("table %d, %s: found %s, expected %v", k, o.Algorithm, text, want)
		}
		if want == nil {
			continue
		}
		feasible++
		if found.Proven {
			proven++
		}
		value, _, err := big.ParseFloat(string(found.Value), 10, 2176, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		off, _ := value.Sub(value, want).Float64()
		if exact := given.Type.Integer(); exact && off != 0 || off < -1e-9 || off > *found.Gap+1e-9 {
			t.Fatalf("table %d, %s: found %s with the gap %g, expected %v", k, o.Algorithm, found.Value, *found.Gap, want)
		}
		bound, _, _ := big.ParseFloat(string(found.Bound), 10, 2176, big.ToNearestEven)
		if below, _ := want.Sub(want, bound).Float64(); below < -1e-9 {
			t.Fatalf("table %d: found the bound %s above the least sum", k, found.Bound)
		}
	}
	if feasible < draws*2/3 || proven != feasible {
		t.Errorf("found %d feasible tables of %d, and %d proven", feasible, draws, proven)
	}
}

func hasForbidden(inst *problem.Instance) bool {
	for mask := range inst.Len() {
		if math.IsInf(inst.Value64(mask), -1) {
			return true
		}
	}
	return false
}

// 20 agents: prices and dynamic programs agree, and a structure whose sum is at most the target ends a solve.
func TestMinimizedMany(t *testing.T) {
	h := host.Open(0)
	defer h.Close()
	values := make([]string, 0, 2)
	for _, algorithm := range []Method{ByPrices, Apart} {
		inst, err := GenerateAs("normal", 20, 5, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		if err := inst.Minimize(); err != nil {
			t.Fatal(err)
		}
		var bound solve.Number
		o := Options{Settings: solve.Settings{Devices: []device.Device{h}, Algorithm: string(algorithm), Progress: func(now solve.Incumbent) { bound = now.Bound }}}
		found, err := Solve(context.Background(), inst, o)
		if err != nil || !found.Proven || found.Value.Float() <= 0 || bound != "" && bound.Float() > found.Value.Float() {
			t.Fatalf("found %+v after the bound %s: %v", found, bound, err)
		}
		values = append(values, found.Value.String())
		if algorithm == ByPrices {
			target := 2 * found.Value.Float()
			o.Target = &target
			met, err := Solve(context.Background(), inst, o)
			if err != nil || met.Met == nil || met.Value.Float() > target || *met.Target != target {
				t.Errorf("found %+v: %v", met, err)
			}
		}
	}
	if values[0] != values[1] {
		t.Errorf("found %v, expected the same", values)
	}
}

// What minimised values are not for is an error: a second negation, restricted values, the core, the table of all coalitions.
func TestMinimizedErrors(t *testing.T) {
	h := host.Open(1)
	defer h.Close()
	made := func() *problem.Instance {
		inst, err := problem.NewInstance([]int32{0, 1, 2, 5}, "made")
		if err != nil {
			t.Fatal(err)
		}
		return inst
	}
	inst := made()
	if err := inst.Restrict(2); err != nil {
		t.Fatal(err)
	}
	if err := inst.Minimize(); err == nil {
		t.Error("found restricted values negated, expected an error")
	}
	inst = made()
	if err := inst.Minimize(); err != nil {
		t.Fatal(err)
	}
	if err := inst.Minimize(); err == nil {
		t.Error("found values negated twice, expected an error")
	}
	o := Options{Settings: solve.Settings{Devices: []device.Device{h}}}
	if _, _, err := SolveCover(context.Background(), inst, o); err == nil {
		t.Error("found a table of all coalitions, expected an error")
	}
	if _, err := inst.Listing(); err == nil {
		t.Error("found a list of negated values, expected an error")
	}
	o.Payoff = "core"
	if _, err := Solve(context.Background(), inst, o); err == nil {
		t.Error("found a core, expected an error")
	}
}
