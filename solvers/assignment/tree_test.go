package assignment

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
)

func TestTreeVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for k, v := range emulatedtest.Variants(&assignment.Tree) {
		t.Run(v.Label, func(t *testing.T) {
			value := Value(assignment.Tree.Value(v, "value"))
			r := rand.New(rand.NewPCG(4, uint64(k)))
			cases := treeCases(t, value, 9)
			for at, name := range slices.Sorted(maps.Keys(cases)) {
				if !emulatedtest.Every && at%6 != k%6 {
					continue // the next variants run it
				}
				p := cases[name]
				want := far
				if s, err := reference(p, nil); err == nil {
					if want, err = prove(p, s); err != nil {
						t.Fatal(name, err)
					}
				}
				if err := agreesOnDevice(t, d, v, p, startOf(p, r), want, 24); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// wideCases are problems for blocks of all columns: lists of rows longer than a
// block has threads, more columns than threads, and more than one slice.
func wideCases(t *testing.T) (cases []*normal, starts []*duals, wants []int64) {
	t.Helper()
	for _, d := range []Drawing{
		{Kind: "uniform", Rows: 268, Cols: 268, Range: 2000, Type: Int32, Seed: 9},
		{Kind: "uniform", Rows: 6, Cols: 1100, Range: 100, Type: Int32, Seed: 9},
		{Kind: "uniform", Rows: 290, Cols: 296, Range: 900, Type: Int32, Seed: 9}, // all rows are free at first
		{Kind: "uniform", Rows: 3, Cols: 102_408, Range: 3, Type: Int32, Seed: 9}, // more columns, and overlong lists
	} {
		inst, err := Draw(d)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases, starts = append(cases, p), append(starts, nil)
	}
	// Some rows may not take the columns whose duals are beyond 32 bits: keys of
	// both sizes.
	r := rand.New(rand.NewPCG(4, 83))
	inst := &Instance{Rows: 48, Cols: 48, Source: "large duals"}
	costs, start := make([]int32, 48*48), &duals{make([]int64, 48), make([]int64, 48)}
	for k := range costs {
		if costs[k] = int32(r.IntN(300)) - 150; k%48 < 9 && k/48 > 20 {
			costs[k] = Forbidden[int32](false)
		}
	}
	for j := range 9 {
		start.v[j] = 1<<38 + r.Int64N(1<<36)
	}
	setCosts(inst, costs)
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	cases, starts = append(cases, p), append(starts, start)
	for _, p := range cases {
		solve := func() (*solution, error) { return reference(p, nil) }
		if p.cols > 100*p.rows { // which it makes square
			solve = func() (*solution, error) { return sequentialTree(context.Background(), p, nil) }
		}
		sol, err := solve()
		if err != nil {
			t.Fatal(err)
		}
		want, err := prove(p, sol)
		if err != nil {
			t.Fatal(err)
		}
		wants = append(wants, want)
	}
	return cases, starts, wants
}

func TestTreeWide(t *testing.T) {
	d := emulatedtest.Open(t)
	v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,claimed=stop,value=int32")
	cases, starts, wants := wideCases(t)
	for k, p := range cases {
		if err := agreesOnDevice(t, d, v, p, starts[k], wants[k], (p.cols+7)/8*8); err != nil {
			t.Errorf("%d x %d: %v", p.rows, p.cols, err)
		}
	}
}

// TestTreeTips has a closure of two levels with more tips than a block has room for:
// rows of the second half reach the columns of the first, and rows of that the other
// columns. One closure finds all paths, or some tips were lost.
func TestTreeTips(t *testing.T) {
	const half = 2000
	inst := &Instance{Rows: 2 * half, Cols: 2 * half, Source: "halves"}
	costs := make([]int32, 4*half*half)
	for k := range costs {
		costs[k] = 5
	}
	for i := range half {
		costs[i*2*half+i] = 0
		costs[i*2*half+half+i] = 1
		costs[(half+i)*2*half+i] = 0
	}
	setCosts(inst, costs)
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	counts := solves(t, p, half, func(d device.Device) (engine, error) {
		v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,claimed=stop,value=int32")
		return newTreeOf(d, v, p.rows, p.cols, p.cols)
	})
	if counts.Phases != 1 || counts.Paths != half {
		t.Errorf("%d paths in %d phases, expected %d in one", counts.Paths, counts.Phases, half)
	}
}

// solves has an engine on the emulated device solve p, and returns what it counted.
func solves(t *testing.T, p *normal, want int64, open func(device.Device) (engine, error)) (counts Counts) {
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
	m := matrixOn(t, d, s, p)
	err = agrees(p, nil, func(p *normal, start *duals) (*solution, error) {
		sol, err := e.solve(context.Background(), s, p, m, start)
		if err == nil {
			counts = sol.counts
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
func chain(t *testing.T, n, step int) *normal {
	t.Helper()
	inst := &Instance{Rows: n, Cols: n, Source: "chain"}
	costs := make([]int32, n*n)
	for k := range costs {
		costs[k] = 5
	}
	for i := range n {
		costs[i*n+i] = 0
		costs[i*n+min(max(i+step, 0), n-1)] = 0
	}
	setCosts(inst, costs)
	p, err := normalise(inst)
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
	counts := solves(t, p, 0, func(d device.Device) (engine, error) {
		v := assignment.Tree.Variant("block=256,items=4,rows=4,barrier=grid,paths=many,claimed=stop,value=int32")
		return newTreeOf(d, v, p.rows, p.cols, p.cols)
	})
	if counts.Paths != 1 || counts.Levels < n-1 {
		t.Errorf("%d paths and %d levels, expected one path through all %d rows", counts.Paths, counts.Levels, n)
	}
}

// agreesOnDevice solves p on a device, without and with a start, with so many
// columns a block; the second solve finds the memory of the first.
func agreesOnDevice(t *testing.T, d device.Device, v *device.Variant, p *normal, start *duals, want int64, width int) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := newTreeOf(d, v, p.rows, p.cols, width)
	if err != nil {
		return err
	}
	defer e.Close()
	m := matrixOn(t, d, s, p)
	onDevice := func(p *normal, start *duals) (*solution, error) {
		sol, err := e.solve(context.Background(), s, p, m, start)
		if err == nil && sol.counts.Paths > int64(p.rows) {
			err = fmt.Errorf("%d paths for %d rows", sol.counts.Paths, p.rows)
		}
		return sol, err
	}
	for _, from := range []*duals{nil, start} {
		if err := agrees(p, from, onDevice, want); err != nil {
			return fmt.Errorf("start %v: %w", from != nil, err)
		}
	}
	return nil
}

func TestTreeSequentially(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 79))
	for k, value := range []Value{Int32, Int64, Float32, Float64} {
		for name, p := range treeCases(t, value, 100) {
			want := far
			if s, err := reference(p, nil); err == nil {
				if want, err = prove(p, s); err != nil {
					t.Fatal(name, err)
				}
			}
			onHost := func(p *normal, start *duals) (*solution, error) {
				return sequentialTree(context.Background(), p, start)
			}
			for _, start := range []*duals{nil, startOf(p, r)} {
				if err := agrees(p, start, onHost, want); err != nil {
					t.Errorf("%d, %s, start %v: %v", k, name, start != nil, err)
				}
			}
		}
	}
}
