package coreprice

import (
	"maps"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// bound is the dual bound of prices v, and that of the prices that the core
// begins with by itself.
func bound(p *problem.Normal, v []int64) (initialisation, plain int64) {
	capped := p.Rows < p.Cols || p.Limit < problem.Infinity
	columns := make([]int64, p.Cols)
	for j := range columns {
		if !capped {
			columns[j] = problem.Infinity
		}
		for i := 0; i < p.Rows && !capped; i++ {
			columns[j] = min(columns[j], p.Cost(i, j))
		}
	}
	value := func(v []int64) (sum int64) {
		for i := range p.Rows {
			u := p.Limit
			for j := range p.Cols {
				u = min(u, p.Cost(i, j)-v[j])
			}
			sum += u
		}
		for _, x := range v {
			sum += x
		}
		return sum
	}
	return value(v), value(columns)
}

// initialiseOn runs a initialiser, changed by tune, as often as said; the prices must be
// equal every time.
func initialiseOn(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, runs int, tune func(*annealingSchedule)) ([]int64, initialisation) {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := OpenInitialiser(d, v, p.Rows, p.Cols)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Schedule.sample = 64
	tune(&e.Schedule)
	out, err := d.Alloc(8 * int64(p.Cols))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	m := enginetest.MatrixOn(t, d, s, p)
	var prices []int64
	var found initialisation
	for k := range runs {
		again := make([]int64, p.Cols)
		if found, err = e.Initialise(s, p, m, out); err != nil {
			t.Fatal(err)
		}
		if err := s.Download(device.Bytes(again), out, 0); err != nil {
			t.Fatal(err)
		}
		if k > 0 && !slices.Equal(prices, again) {
			t.Error("two runs gave different prices")
		}
		prices = again
	}
	return prices, found
}

// closes holds the dual bound of the prices for a drawing against the optimum:
// at most a share of the gap that the columns' minima leave may be left.
func closes(t *testing.T, d device.Device, v *device.Variant, drawing draw.Drawing, structured bool, share float64, tune func(*annealingSchedule)) {
	t.Helper()
	drawing.Type, drawing.Seed = problem.Value(assignment.Duals.Value(v, "value")), 1<<40
	inst, err := draw.Draw(drawing)
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	prices, found := initialiseOn(t, d, v, p, 1, tune)
	if found.structured != structured {
		t.Errorf("%v: structured %v, want %v: structure %.3g", drawing, found.structured, structured, found.structure)
	}
	if !structured {
		return
	}
	sol, err := reference.Solve(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	best, err := enginetest.CheckOptimal(p, sol)
	if err != nil {
		t.Fatal(err)
	}
	if got, plain := bound(p, prices); got > best || float64(best-got) > share*float64(best-plain) {
		t.Errorf("%v: bound %d, optimum %d, of the columns' minima %d; %+v", drawing, got, best, plain, found)
	}
	if p.Rows < p.Cols && slices.Max(prices) > 0 {
		t.Errorf("%v: a column that may stay unmatched has price %d", drawing, slices.Max(prices))
	}
}

func TestInitialiserVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&assignment.Duals) {
		t.Run(v.Label, func(t *testing.T) {
			drawing := draw.Drawing{Kind: "machol", Rows: 33, Cols: 33, Permuted: true, Shift: 500}
			closes(t, d, v, drawing, true, 0.3, func(a *annealingSchedule) { a.limit, a.total = 2, 8 })
		})
	}
}

// TestInitialiserKinds tells structured costs from random ones, and closes most of
// the gap on the structured.
func TestInitialiserKinds(t *testing.T) {
	d := emulatedtest.Open(t)
	v := &assignment.Duals.Variants[0]
	closes(t, d, v, draw.Drawing{Kind: "uniform", Rows: 96, Cols: 96, Range: 1000}, false, 0, func(*annealingSchedule) {})
	closes(t, d, v, draw.Drawing{Kind: "equal", Rows: 33, Cols: 33}, false, 0, func(*annealingSchedule) {})
	closes(t, d, v, draw.Drawing{Kind: "machol", Rows: 65, Cols: 65, Permuted: true, Shift: 1000}, true, 0.01, func(*annealingSchedule) {})
	closes(t, d, v, draw.Drawing{Kind: "geom", Rows: 110, Cols: 110, Range: 100000}, true, 0.1, func(a *annealingSchedule) { a.neighbours = 3 })
	closes(t, d, v, draw.Drawing{Kind: "geom", Rows: 40, Cols: 60, Range: 100000}, true, 0.2, func(a *annealingSchedule) { a.Chance, a.neighbours = 0, 3 })
}

// TestInitialiserSmall runs all kinds of problems, forbidden pairs, maxima and limits
// among them: equal runs give equal prices, finite, and those of columns that
// may stay unmatched are not positive.
func TestInitialiserSmall(t *testing.T) {
	d := emulatedtest.Open(t)
	turn := 0
	for _, v := range assignment.Duals.Variants {
		if !v.Safe {
			continue
		}
		turn++
		t.Run(v.Label, func(t *testing.T) {
			cases := enginetest.Cases(t, problem.Value(assignment.Duals.Value(&v, "value")), 6)
			for k, name := range slices.Sorted(maps.Keys(cases)) {
				p := cases[name]
				if p.Rows == 0 || p.Cols == 0 || p.Rows > 20 {
					continue
				}
				if !emulatedtest.Thorough() && k%2 != turn%2 {
					continue // the next value type runs it
				}
				prices, _ := initialiseOn(t, d, &v, p, 2, func(a *annealingSchedule) { a.Chance, a.total = 0, 8 })
				if slices.Min(prices) < -problem.Infinity || slices.Max(prices) > problem.Infinity {
					t.Errorf("%s: prices from %d to %d", name, slices.Min(prices), slices.Max(prices))
				}
				if (p.Rows < p.Cols || p.Limit < problem.Infinity) && slices.Max(prices) > 0 {
					t.Errorf("%s: price %d", name, slices.Max(prices))
				}
			}
		})
	}
}
