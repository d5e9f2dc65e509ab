package assignment

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/problem"
)

// deviceKinds are wide kinds whose refinements differ: none, one round, several.
var deviceKinds = []string{"uniform", "big 1e300", "two constants", "mixed signs", "lognormal"}

// dense draws a dense instance of a wide kind without a limit.
func dense(r *rand.Rand, kind string, rows, cols int) *problem.Instance {
	draw := wideKinds[kind](r)
	inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, F64: make([]float64, rows*cols)}
	for k := range inst.F64 {
		inst.F64[k] = draw(k/cols, k%cols)
	}
	return inst
}

// Every algorithm of a device, several devices, batches and costs that the device alone has give the
// optimum of costs of any range.
func TestWideFloatsOnDevices(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	ctx := context.Background()
	for at, kind := range deviceKinds {
		r := rand.New(rand.NewPCG(uint64(at), 3))
		square, wide := dense(r, kind, 12, 12), dense(r, kind, 7, 11)
		for _, algorithm := range []string{"core", "classical", "tree"} {
			o := on(Options{}, devices[0])
			o.Algorithm = algorithm
			for _, inst := range []*problem.Instance{square, wide} {
				res, err := Solve(ctx, inst, o)
				isOptimal(t, fmt.Sprintf("%s by %s", kind, algorithm), inst, columnOf(res), res, err)
			}
		}
		o := on(Options{}, devices[0])
		o.Devices = devices
		res, err := Solve(ctx, square, o)
		isOptimal(t, kind+" on two devices", square, columnOf(res), res, err)

		list := []*problem.Instance{square, wide, dense(r, kind, 9, 4)}
		results, err := SolveBatch(ctx, list, on(Options{}, devices[0]))
		if err != nil {
			t.Fatal(err)
		}
		for k, res := range results {
			isOptimal(t, fmt.Sprintf("%s, %d of a batch", kind, k), list[k], res.Column, res, nil)
		}

		l := Layout{Type: problem.Float64, Count: 2, Rows: 12, Cols: 12}
		resident, err := OpenResident(ctx, l, on(Options{}, devices[0]))
		if err != nil {
			t.Fatal(err)
		}
		list = []*problem.Instance{square, dense(r, kind, 12, 12)}
		costs := lay(t, devices[0], list)
		results, err = resident.Solve(ctx, costs, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, res := range results {
			isOptimal(t, fmt.Sprintf("%s, %d on the device", kind, k), list[k], res.Column, res, nil)
		}
		if err := costs.Free(); err != nil {
			t.Fatal(err)
		}
		if err := resident.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func columnOf(r *Result) []int32 {
	if r == nil {
		return nil
	}
	return r.Column
}

// Ranks find the optimum of costs of any range, too, and all the same one.
func TestWideFloatsOnRanks(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	for at, kind := range deviceKinds {
		inst := dense(rand.New(rand.NewPCG(uint64(at), 4)), kind, 10, 10)
		_, results, err := onRanks(t, devices, Options{}, func(collective.Ranks) (*problem.Instance, error) { return inst, nil }, nil)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		for k, res := range results {
			isOptimal(t, fmt.Sprintf("%s, rank %d", kind, k), inst, res.Column, res, nil)
		}
	}
}

// Costs whose bits units do not hold are decided on the device as they are, and their duals have all bits where int64 has room for these.
func TestExactUnitsOnDevices(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		far         float64
		value       problem.Value
		duals, wide bool
	}{{12, problem.Float64, true, false}, {12, problem.Float64, false, false}, {1e9, problem.Float32, false, true}, {1e9, problem.Float32, true, true}} {
		const n = 24
		r := rand.New(rand.NewPCG(65, 9))
		inst := &problem.Instance{Rows: n, Cols: n, Type: c.value, Maximize: c.duals}
		x, y := make([]float64, n), make([]float64, n)
		for k := range n {
			x[k], y[k] = c.far*float64(k%2)+r.Float64(), c.far*float64(k%3/2)+r.Float64()
		}
		for k := range n * n {
			cost := math.Abs(x[k/n] - y[k%n])
			if c.value == problem.Float32 {
				inst.F32 = append(inst.F32, float32(cost))
			} else {
				inst.F64 = append(inst.F64, cost)
			}
		}
		o := on(Options{Duals: c.duals}, d)
		o.Algorithm = "scaling"
		res, err := Solve(context.Background(), inst, o)
		isOptimal(t, fmt.Sprint(c), inst, columnOf(res), res, err)
		if exact := !c.duals || !c.wide; res.Certificate.Exact != exact || c.duals && (res.Duals.Scale != res.Certificate.Scale) {
			t.Fatalf("%v: found %+v", c, res.Certificate)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(inst, text, nil)
		if err != nil || len(v.Failures) > 0 || c.duals && !v.BoundChecked {
			t.Errorf("%v: found %+v, %v", c, v, err)
		}
	}
}
