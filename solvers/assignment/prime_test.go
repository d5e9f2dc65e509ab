package assignment

import (
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// bound is the dual bound of prices v, and that of the prices that the core
// begins with by itself.
func bound(p *normal, v []int64) (primed, plain int64) {
	capped := p.rows < p.cols || p.limit < far
	columns := make([]int64, p.cols)
	for j := range columns {
		if !capped {
			columns[j] = far
		}
		for i := 0; i < p.rows && !capped; i++ {
			columns[j] = min(columns[j], p.cost(i, j))
		}
	}
	value := func(v []int64) (sum int64) {
		for i := range p.rows {
			u := p.limit
			for j := range p.cols {
				u = min(u, p.cost(i, j)-v[j])
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

// primeOn runs a primer, changed by tune, as often as said; the prices must be
// equal every time.
func primeOn(t *testing.T, d device.Device, v *device.Variant, p *normal, runs int, tune func(*annealing)) ([]int64, primed) {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := newPrimer(d, v, p.rows, p.cols)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.schedule.sample = 64
	tune(&e.schedule)
	out, err := d.Alloc(8 * int64(p.cols))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	m := matrixOn(t, d, s, p)
	var prices []int64
	var found primed
	for k := range runs {
		again := make([]int64, p.cols)
		if found, err = e.prime(s, p, m, out); err != nil {
			t.Fatal(err)
		}
		if err := s.Download(bytesOf(again), out, 0); err != nil {
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
func closes(t *testing.T, d device.Device, v *device.Variant, drawing Drawing, structured bool, share float64, tune func(*annealing)) {
	t.Helper()
	drawing.Type, drawing.Seed = Value(assignment.Prime.Value(v, "value")), 1<<40
	inst, err := Draw(drawing)
	if err != nil {
		t.Fatal(err)
	}
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	prices, found := primeOn(t, d, v, p, 1, tune)
	if found.structured != structured {
		t.Errorf("%v: structured %v, want %v: surprise %.3g", drawing, found.structured, structured, found.surprise)
	}
	if !structured {
		return
	}
	sol, err := reference(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	best, err := prove(p, sol)
	if err != nil {
		t.Fatal(err)
	}
	if got, plain := bound(p, prices); got > best || float64(best-got) > share*float64(best-plain) {
		t.Errorf("%v: bound %d, optimum %d, of the columns' minima %d; %+v", drawing, got, best, plain, found)
	}
	if p.rows < p.cols && slices.Max(prices) > 0 {
		t.Errorf("%v: a column that may stay unmatched has price %d", drawing, slices.Max(prices))
	}
}

func TestPrimeVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&assignment.Prime) {
		t.Run(v.Label, func(t *testing.T) {
			drawing := Drawing{Kind: "machol", Rows: 33, Cols: 33, Permuted: true, Shift: 500}
			closes(t, d, v, drawing, true, 0.3, func(a *annealing) { a.most, a.total = 2, 8 })
		})
	}
}

// TestPrimeKinds tells structured costs from random ones, and closes most of
// the gap on the structured.
func TestPrimeKinds(t *testing.T) {
	d := emulatedtest.Open(t)
	v := &assignment.Prime.Variants[0]
	closes(t, d, v, Drawing{Kind: "uniform", Rows: 96, Cols: 96, Range: 1000}, false, 0, func(*annealing) {})
	closes(t, d, v, Drawing{Kind: "equal", Rows: 33, Cols: 33}, false, 0, func(*annealing) {})
	closes(t, d, v, Drawing{Kind: "machol", Rows: 65, Cols: 65, Permuted: true, Shift: 1000}, true, 0.01, func(*annealing) {})
	closes(t, d, v, Drawing{Kind: "geom", Rows: 110, Cols: 110, Range: 100000}, true, 0.1, func(a *annealing) { a.neighbours = 3 })
	closes(t, d, v, Drawing{Kind: "geom", Rows: 40, Cols: 60, Range: 100000}, true, 0.2, func(a *annealing) { a.chance, a.neighbours = 0, 3 })
}

// TestPrimeSmall runs all kinds of problems, forbidden pairs, maxima and limits
// among them: equal runs give equal prices, finite, and those of columns that
// may stay unmatched are not positive.
func TestPrimeSmall(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range assignment.Prime.Variants {
		if !v.Safe {
			continue
		}
		t.Run(v.Label, func(t *testing.T) {
			for name, p := range treeCases(t, Value(assignment.Prime.Value(&v, "value")), 6) {
				if p.rows == 0 || p.cols == 0 || p.rows > 20 {
					continue
				}
				prices, _ := primeOn(t, d, &v, p, 2, func(a *annealing) { a.chance, a.total = 0, 8 })
				if slices.Min(prices) < -far || slices.Max(prices) > far {
					t.Errorf("%s: prices from %d to %d", name, slices.Min(prices), slices.Max(prices))
				}
				if (p.rows < p.cols || p.limit < far) && slices.Max(prices) > 0 {
					t.Errorf("%s: price %d", name, slices.Max(prices))
				}
			}
		})
	}
}
