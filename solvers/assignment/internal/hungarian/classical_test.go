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
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// Cases take turns: every variant meets some of them, all of them where every
// is set.
func TestClassicalVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	cases := map[problem.Value]map[string]*problem.Normal{}
	for turn, v := range emulatedtest.Variants(&assignment.Classical) {
		t.Run(v.Label, func(t *testing.T) {
			value := problem.Value(assignment.Classical.Value(v, "value"))
			if cases[value] == nil {
				cases[value] = enginetest.Cases(t, value, 12)
			}
			r := rand.New(rand.NewPCG(4, 79))
			for k, name := range slices.Sorted(maps.Keys(cases[value])) {
				share := 6
				if emulatedtest.Thorough() {
					share = 4
				}
				if !emulatedtest.EveryVariant() && k%share != turn%share {
					continue
				}
				p, want := cases[value][name], problem.Infinity
				if s, err := reference.Solve(p, nil); err == nil {
					if want, err = enginetest.CheckOptimal(p, s); err != nil {
						t.Fatal(name, err)
					}
				}
				if err := classicalAgrees(t, d, v, p, enginetest.FeasibleDuals(p, r), want); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// classicalAgrees solves p on a device, without and with a start, on one block
// and on several.
func classicalAgrees(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, start *problem.Prices, want int64) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := OpenClassical(d, v, p.Rows, p.Cols)
	if err != nil {
		return err
	}
	defer e.Close()
	m := enginetest.MatrixOn(t, d, s, p)
	onDevice := func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
		sol, err := e.Solve(context.Background(), s, p, m, start)
		if err != nil {
			return nil, err
		}
		c := sol.Counts
		if c.Paths > int64(p.Rows) || c.Phases > c.Paths || e.hasParam("paths", "one") && c.Phases != c.Paths {
			return nil, fmt.Errorf("%d paths in %d phases for %d rows", c.Paths, c.Phases, p.Rows)
		}
		return sol, nil
	}
	for _, blocks := range []int64{1, 2} {
		e.Grid.Blocks = blocks
		starts := []*problem.Prices{nil}
		if start != nil {
			starts = append(starts, start)
		}
		for _, from := range starts {
			if err := enginetest.CheckLeastCost(p, from, onDevice, want); err != nil {
				return fmt.Errorf("%d blocks, start %v: %w", blocks, from != nil, err)
			}
		}
	}
	return nil
}

func TestClassicalSequentially(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 80))
	for k, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for name, p := range enginetest.Cases(t, value, 100) {
			want := problem.Infinity
			if s, err := reference.Solve(p, nil); err == nil {
				if want, err = enginetest.CheckOptimal(p, s); err != nil {
					t.Fatal(name, err)
				}
			}
			onHost := func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
				return SequentialClassical(context.Background(), p, start, engine.Reporter{})
			}
			for _, start := range []*problem.Prices{nil, enginetest.FeasibleDuals(p, r)} {
				if err := enginetest.CheckLeastCost(p, start, onHost, want); err != nil {
					t.Errorf("%d, %s, start %v: %v", k, name, start != nil, err)
				}
			}
		}
	}
}

// Rows of several chunks, whose loads are aligned or not.
func TestClassicalChunks(t *testing.T) {
	d := emulatedtest.Open(t)
	for label, sides := range map[string][][2]int{
		"block=512,items=8,rows=2,resident=1,barrier=grid,singleblock=1,zeros=bits,slack=bounded,forest=kept,paths=many,devices=one,value=int32":    {{260, 260}, {20, 601}},
		"block=512,items=16,rows=2,resident=1,barrier=grid,singleblock=16,zeros=lists,slack=stored,forest=kept,paths=many,devices=one,value=int32":  {{4, 17000}},
		"block=512,items=16,rows=2,resident=1,barrier=grid,singleblock=1,zeros=bits,slack=bounded,forest=kept,paths=many,devices=one,value=float64": {{10, 1101}},
	} {
		v := assignment.Classical.Variant(label)
		if v == nil {
			t.Fatalf("no variant %s", label)
		}
		for _, side := range sides {
			inst, err := draw.Generate("uniform", side[0], side[1], 30, 1<<40, problem.Value(assignment.Classical.Value(v, "value")))
			if err != nil {
				t.Fatal(err)
			}
			p, err := problem.Normalise(inst)
			if err != nil {
				t.Fatal(err)
			}
			// The reference pads four rows to 17000: the host's duals prove as much.
			s, err := host.Solve(t.Context(), p, nil, engine.Host{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			want, err := enginetest.CheckOptimal(p, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := classicalAgrees(t, d, v, p, nil, want); err != nil {
				t.Errorf("%v, %s: %v", side, label, err)
			}
		}
	}
}

// TestClassicalBounds has more parts at once that bounds do not rule out than a block has
// room to take note of, and more zeros in them than lists have room for: all rows want three
// columns, and after these any other.
func TestClassicalBounds(t *testing.T) {
	t.Parallel()
	const rows, cols = 160, 9000 // 36 parts a row
	d := emulatedtest.Open(t)
	costs := make([]int32, rows*cols)
	for x := range costs {
		if x%cols >= 3 {
			costs[x] = 5
		}
	}
	inst := &problem.Instance{Rows: rows, Cols: cols, Source: "bounds"}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{
		"block=512,items=16,rows=2,resident=1,barrier=grid,singleblock=16,zeros=lists,slack=bounded,forest=kept,paths=many,devices=one,value=int32",
		"block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=1,zeros=bits,slack=bounded,forest=kept,paths=many,devices=one,value=int32",
	} {
		v := assignment.Classical.Variant(label)
		if v == nil {
			t.Fatalf("no variant %s", label)
		}
		if !emulatedtest.Thorough() && assignment.Classical.Value(v, "zeros") == "bits" {
			continue
		}
		if err := classicalAgrees(t, d, v, p, nil, 5*(rows-3)); err != nil {
			t.Errorf("%s: %v", label, err)
		}
	}
}

// TestClassicalPath has a path through hundreds of rows, whose parts a warp augments
// together: more than it has lanes.
func TestClassicalPath(t *testing.T) {
	p := chain(t, 1000, -1)
	counts := solves(t, p, 0, func(d device.Device) (engine.Engine, error) {
		v := assignment.Classical.Variant("block=512,items=16,rows=2,resident=1,barrier=grid,singleblock=16,zeros=lists,slack=bounded,forest=kept,paths=many,devices=one,value=int32")
		return OpenClassical(d, v, p.Rows, p.Cols)
	})
	if counts.Steps < 300 {
		t.Errorf("%d levels: the path is shorter than it was meant to be", counts.Steps)
	}
}

// TestClassicalLastZero has levels of which the last zero of each root alone leads on, its
// fifth or its ninth: rows of the first half take the columns that those of the second ask
// for, and could take others. If such zeros were passed over, the next dual update would find
// them.
func TestClassicalLastZero(t *testing.T) {
	for _, level := range []struct{ n, shared, paths int }{{512, 4, 128}, {128, 8, 32}} {
		n, half := level.n, level.n/2
		inst := &problem.Instance{Rows: n, Cols: n, Source: "last zero"}
		costs := slices.Repeat([]int32{5}, n*n)
		own := func(r int) int { return 4*(r%32) + r/32%4 + 128*(r/128) } // the first that row r looks at
		for r := range n {
			costs[r*n+own(r)] = 0
			if r%32 < level.shared {
				continue // its only one
			}
			if r < half {
				costs[r*n+own(r+half)] = 0
				continue
			}
			costs[r*n+own(r)] = 5
			for k := range level.shared {
				costs[r*n+4*k] = 0
			}
			costs[r*n+own(r-half)] = 0
		}
		problem.SetCosts(inst, costs)
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		counts := solves(t, p, 0, func(d device.Device) (engine.Engine, error) {
			v := assignment.Classical.Variant("block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=64,zeros=lists,slack=bounded,forest=kept,paths=many,devices=one,value=int32")
			return OpenClassical(d, v, n, n)
		})
		if counts.Paths <= int64(level.paths) || counts.Updates != 0 {
			t.Errorf("%d rows: %d paths after %d dual updates, expected more than %d after none", n, counts.Paths, counts.Updates, level.paths)
		}
	}
}
