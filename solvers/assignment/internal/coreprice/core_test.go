package coreprice

import (
	"context"
	"errors"
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

func TestCoreVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	for turn, v := range emulatedtest.Variants(&assignment.Core) {
		t.Run(v.Label, func(t *testing.T) {
			value := problem.Value(assignment.Core.Value(v, "value"))
			r := rand.New(rand.NewPCG(4, 79))
			threads := assignment.Core.Int(v, "block") * assignment.Core.Int(v, "cluster")
			cases := enginetest.Cases(t, value, 5)
			maps.DeleteFunc(cases, func(_ string, p *problem.Normal) bool {
				// A barrier of so many threads takes the emulated device long: few rows, but some.
				return p.Rows*threads > 40*2048 || p.Rows == 0 && threads > 8192
			})
			for k, name := range slices.Sorted(maps.Keys(cases)) {
				if share := min(6, len(cases)); !emulatedtest.EveryVariant() && k%share != turn%share {
					continue // the next variants run it
				}
				p := cases[name]
				want := problem.Infinity
				if s, err := reference.Solve(p, nil); err == nil {
					if want, err = enginetest.CheckOptimal(p, s); err != nil {
						t.Fatal(name, err)
					}
				}
				err := coreAgrees(t, d, v, p, enginetest.FeasibleDuals(p, r), want)
				var gave *engine.ExhaustedError
				if errors.As(err, &gave) {
					t.Logf("%s: %v", name, err)
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// Searches by one to four blocks whose lists have more rows than a block has threads
// for, or room: they share them, or do without.
func TestCoreWideLists(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	v := assignment.Core.Variant("block=256,k=16,group=1,depth=4,divide=4,half=1,resident=1024,cluster=1,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	for _, drawn := range []draw.Drawing{
		{Kind: "uniform", Rows: 700, Cols: 720, Range: 3000, Type: problem.Int32, Seed: 9}, // all rows are free at first
		{Kind: "geom", Rows: 130, Cols: 130, Range: 1000, Type: problem.Int32, Seed: 9},
	} {
		inst, err := draw.Draw(drawn)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, blocks := range []int{1, 2, 4} {
			if !emulatedtest.Thorough() && blocks == 2 && drawn.Kind == "geom" {
				continue
			}
			if err := coreOn(t, d, v, p, func(e *coreEngine, solve enginetest.Solver) error {
				e.resident, e.sms = 0, blocks
				return enginetest.CheckLeastCost(p, nil, solve, want)
			}); err != nil {
				t.Errorf("%s, %d blocks: %v", drawn, blocks, err)
			}
		}
	}
}

// A phase reaches more free columns than a block has threads for, and the nearest may be
// any of them: a nearer one than the phase raises duals by would stay free at a price. All
// rows want the few same columns first, then columns of their own.
func TestCoreNearestOfMany(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	v := assignment.Core.Variant("block=256,k=16,group=1,depth=4,divide=4,half=1,resident=1024,cluster=1,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	const rows, wanted, own = 300, 4, 12
	seeds := uint64(2)
	if emulatedtest.Thorough() {
		seeds = 4
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(4, seed))
		inst := &problem.Instance{Rows: rows, Cols: wanted + own*rows, Type: problem.Int32, Source: fmt.Sprintf("seed %d", seed)}
		for i := range rows {
			for j := range inst.Cols {
				c := int32(1<<30 - r.IntN(1<<20))
				if j < wanted {
					c = int32(r.IntN(10))
				} else if (j-wanted)%rows == i {
					c = int32(1000 + r.IntN(1<<20))
				}
				inst.I32 = append(inst.I32, c)
			}
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := coreOn(t, d, v, p, func(e *coreEngine, solve enginetest.Solver) error {
			e.resident, e.sms = 0, 2
			return enginetest.CheckLeastCost(p, nil, solve, want)
		}); err != nil {
			t.Errorf("%s: %v", inst.Source, err)
		}
	}
}

// Costs that differ in what 24 bits of them do not tell: passes in 32 bits miss no pair, neither at
// first nor with prices that leave much to repair, some of them far above all costs.
func TestCoreSieve(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		v := assignment.Core.Variant(fmt.Sprintf("block=512,k=16,group=1,depth=4,divide=4,half=1,resident=1024,cluster=1,value=%s", value))
		if v == nil {
			t.Fatal("no variant of", value)
		}
		for _, n := range []int{40, 150} {
			if n > 40 && !emulatedtest.Thorough() {
				continue
			}
			inst := &problem.Instance{Rows: n, Cols: n, Type: value, Source: fmt.Sprintf("%s, %d rows", value, n), Maximize: n == 40}
			r := rand.New(rand.NewPCG(4, uint64(n)))
			for range n * n {
				c := r.Int64N(1 << 14)
				inst.I32 = append(inst.I32, int32(2_000_000_000+c))
				inst.I64 = append(inst.I64, 1<<50+c)
				inst.F32 = append(inst.F32, float32(16_000_000+c))
				inst.F64 = append(inst.F64, 1e15+float64(c))
			}
			for _, unused := range []struct {
				of    problem.Value
				clear func()
			}{
				{problem.Int32, func() { inst.I32 = nil }}, {problem.Int64, func() { inst.I64 = nil }},
				{problem.Float32, func() { inst.F32 = nil }}, {problem.Float64, func() { inst.F64 = nil }},
			} {
				if unused.of != value {
					unused.clear()
				}
			}
			p, err := problem.Normalise(inst)
			if err != nil {
				t.Fatal(inst.Source, err)
			}
			s, err := reference.Solve(p, nil)
			if err != nil {
				t.Fatal(inst.Source, err)
			}
			want, err := enginetest.CheckOptimal(p, s)
			if err != nil {
				t.Fatal(inst.Source, err)
			}
			low, high := &problem.Prices{U: make([]int64, n), V: make([]int64, n)}, &problem.Prices{U: make([]int64, n), V: make([]int64, n)}
			for j := range n {
				low.V[j], high.V[j] = -r.Int64N(1<<15), 3*p.Max-r.Int64N(1<<15)
			}
			if err := coreOn(t, d, v, p, func(_ *coreEngine, solve enginetest.Solver) error {
				return errors.Join(enginetest.CheckLeastCost(p, nil, solve, want), enginetest.CheckLeastCost(p, low, solve, want), enginetest.CheckLeastCost(p, high, solve, want))
			}); err != nil {
				t.Errorf("%s: %v", inst.Source, err)
			}
		}
	}
}

// coreOn hands check an engine, and its solver of p.
func coreOn(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, check func(*coreEngine, enginetest.Solver) error) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := Open(d, nil, v, p.Rows, p.Cols)
	if err != nil {
		return err
	}
	defer e.Close()
	m := enginetest.MatrixOn(t, d, s, p)
	core := e.(*coreEngine)
	return check(core, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
		return core.Solve(context.Background(), s, p, m, start)
	})
}

// coreAgrees solves p without and with a start, and once more with phases by all
// blocks where one block did them.
func coreAgrees(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, start *problem.Prices, want int64) error {
	return coreOn(t, d, v, p, func(e *coreEngine, solve enginetest.Solver) error {
		for _, from := range []*problem.Prices{nil, start} {
			if err := enginetest.CheckLeastCost(p, from, solve, want); err != nil {
				return fmt.Errorf("start %v: %w", from != nil, err)
			}
		}
		if e.resident > 0 {
			e.resident = 0
			if err := enginetest.CheckLeastCost(p, nil, solve, want); err != nil {
				return fmt.Errorf("phases by all blocks: %w", err)
			}
		}
		return nil
	})
}
