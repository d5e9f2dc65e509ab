package hungarian

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

func TestTreeVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for k, v := range emulatedtest.Variants(&assignment.Tree) {
		t.Run(v.Label, func(t *testing.T) {
			value := problem.Value(assignment.Tree.Value(v, "value"))
			r := rand.New(rand.NewPCG(4, uint64(k)))
			cases := enginetest.Cases(t, value, 9)
			for at, name := range slices.Sorted(maps.Keys(cases)) {
				if !emulatedtest.EveryVariant() && at%6 != k%6 {
					continue // the next variants run it
				}
				p := cases[name]
				want := problem.Infinity
				if s, err := reference.Solve(p, nil); err == nil {
					if want, err = enginetest.CheckOptimal(p, s); err != nil {
						t.Fatal(name, err)
					}
				}
				if err := agreesOnDevice(t, d, v, p, enginetest.FeasibleDuals(p, r), want, 24); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// wideCases are problems for blocks of all columns: lists of rows longer than a
// block has threads, more columns than threads, and more than one slice.
func wideCases(t *testing.T) (cases []*problem.Normal, starts []*problem.Prices, wants []int64) {
	t.Helper()
	for _, d := range []draw.Drawing{
		{Kind: "uniform", Rows: 268, Cols: 268, Range: 2000, Type: problem.Int32, Seed: 9},
		{Kind: "uniform", Rows: 6, Cols: 1100, Range: 100, Type: problem.Int32, Seed: 9},
		{Kind: "uniform", Rows: 290, Cols: 296, Range: 900, Type: problem.Int32, Seed: 9}, // all rows are free at first
		{Kind: "uniform", Rows: 3, Cols: 102_408, Range: 3, Type: problem.Int32, Seed: 9}, // more columns, and overlong lists
	} {
		inst, err := draw.Draw(d)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases, starts = append(cases, p), append(starts, nil)
	}
	// Some rows may not take the columns whose duals are beyond 32 bits: keys of
	// both sizes.
	r := rand.New(rand.NewPCG(4, 83))
	inst := &problem.Instance{Rows: 48, Cols: 48, Source: "large duals"}
	costs, start := make([]int32, 48*48), &problem.Prices{U: make([]int64, 48), V: make([]int64, 48)}
	for k := range costs {
		if costs[k] = int32(r.IntN(300)) - 150; k%48 < 9 && k/48 > 20 {
			costs[k] = problem.Forbidden[int32](false)
		}
	}
	for j := range 9 {
		start.V[j] = 1<<38 + r.Int64N(1<<36)
	}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	cases, starts = append(cases, p), append(starts, start)
	for _, p := range cases {
		solve := func() (*engine.Solution, error) { return reference.Solve(p, nil) }
		if p.Cols > 100*p.Rows { // which it makes square
			solve = func() (*engine.Solution, error) {
				return SequentialTree(context.Background(), p, nil, engine.Reporter{})
			}
		}
		sol, err := solve()
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, sol)
		if err != nil {
			t.Fatal(err)
		}
		wants = append(wants, want)
	}
	return cases, starts, wants
}

func TestTreeWide(t *testing.T) {
	d := emulatedtest.Open(t)
	v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,matchedtrees=stop,value=int32")
	cases, starts, wants := wideCases(t)
	for k, p := range cases {
		if err := agreesOnDevice(t, d, v, p, starts[k], wants[k], (p.Cols+7)/8*8); err != nil {
			t.Errorf("%d x %d: %v", p.Rows, p.Cols, err)
		}
	}
}

// TestTreeFrontierRows has a closure of two levels with more frontier rows than a block has room for:
// rows of the second half reach the columns of the first, and rows of that the other
// columns. One closure finds all paths, or some frontier rows were lost.
func TestTreeFrontierRows(t *testing.T) {
	const half = 2000
	inst := &problem.Instance{Rows: 2 * half, Cols: 2 * half, Source: "halves"}
	costs := make([]int32, 4*half*half)
	for k := range costs {
		costs[k] = 5
	}
	for i := range half {
		costs[i*2*half+i] = 0
		costs[i*2*half+half+i] = 1
		costs[(half+i)*2*half+i] = 0
	}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	counts := solves(t, p, half, func(d device.Device) (engine.Engine, error) {
		v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,matchedtrees=stop,value=int32")
		return newTreeOf(d, v, p.Rows, p.Cols, p.Cols)
	})
	if counts.Phases != 1 || counts.Paths != half {
		t.Errorf("%d paths in %d phases, expected %d in one", counts.Paths, counts.Phases, half)
	}
}

// solves has an engine on the emulated device solve p, and returns what it counted.
func solves(t *testing.T, p *problem.Normal, want int64, open func(device.Device) (engine.Engine, error)) (counts engine.Counts) {
	t.Helper()
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := open(d)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m := enginetest.MatrixOn(t, d, s, p)
	err = enginetest.CheckLeastCost(p, nil, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
		sol, err := e.Solve(context.Background(), s, p, m, start)
		if err == nil {
			counts = sol.Counts
		}
		return sol, err
	}, want)
	if err != nil {
		t.Error(err)
	}
	return counts
}

// chain is a problem with one optimum, of cost 0: rows have zeros in the column of their
// number and in the next one or, with step -1, the one before.
func chain(t *testing.T, n, step int) *problem.Normal {
	t.Helper()
	inst := &problem.Instance{Rows: n, Cols: n, Source: "chain"}
	costs := make([]int32, n*n)
	for k := range costs {
		costs[k] = 5
	}
	for i := range n {
		costs[i*n+i] = 0
		costs[i*n+min(max(i+step, 0), n-1)] = 0
	}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTreePath has one path through all rows, whose parts a warp augments together: more
// than it has lanes.
func TestTreePath(t *testing.T) {
	const n = 600
	p := chain(t, n, 1)
	counts := solves(t, p, 0, func(d device.Device) (engine.Engine, error) {
		v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,matchedtrees=stop,value=int32")
		return newTreeOf(d, v, p.Rows, p.Cols, p.Cols)
	})
	if counts.Paths != 1 || counts.Levels < n-1 {
		t.Errorf("%d paths and %d levels, expected one path through all %d rows", counts.Paths, counts.Levels, n)
	}
}

// agreesOnDevice solves p on a device, without and with a start, with so many
// columns a block; the second solve finds the memory of the first.
func agreesOnDevice(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, start *problem.Prices, want int64, width int) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := newTreeOf(d, v, p.Rows, p.Cols, width)
	if err != nil {
		return err
	}
	defer e.Close()
	m := enginetest.MatrixOn(t, d, s, p)
	onDevice := func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
		sol, err := e.Solve(context.Background(), s, p, m, start)
		if err == nil && sol.Counts.Paths > int64(p.Rows) {
			err = fmt.Errorf("%d paths for %d rows", sol.Counts.Paths, p.Rows)
		}
		return sol, err
	}
	for _, from := range []*problem.Prices{nil, start} {
		if err := enginetest.CheckLeastCost(p, from, onDevice, want); err != nil {
			return fmt.Errorf("start %v: %w", from != nil, err)
		}
	}
	return nil
}

func TestTreeSequentially(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 79))
	for k, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for name, p := range enginetest.Cases(t, value, 100) {
			want := problem.Infinity
			if s, err := reference.Solve(p, nil); err == nil {
				if want, err = enginetest.CheckOptimal(p, s); err != nil {
					t.Fatal(name, err)
				}
			}
			onHost := func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
				return SequentialTree(context.Background(), p, start, engine.Reporter{})
			}
			for _, start := range []*problem.Prices{nil, enginetest.FeasibleDuals(p, r)} {
				if err := enginetest.CheckLeastCost(p, start, onHost, want); err != nil {
					t.Errorf("%d, %s, start %v: %v", k, name, start != nil, err)
				}
			}
		}
	}
}
