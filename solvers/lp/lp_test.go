package lp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func drawn(r *rand.Rand, n, m, per int) (*Matrix, []float64) {
	a := &Matrix{Columns: make([][]int32, n), Rows: m}
	if r.IntN(2) == 0 {
		for range m {
			a.Most = append(a.Most, float64(1+r.IntN(3)))
		}
	}
	prices := make([]float64, n)
	for j := range n {
		k := 1 + r.IntN(per)
		for i := range m {
			if r.IntN(m) < k {
				a.Columns[j] = append(a.Columns[j], int32(i))
			}
		}
		prices[j] = float64(r.IntN(20))
		if r.IntN(2) == 0 {
			prices[j] = r.Float64() * float64(1+len(a.Columns[j]))
		}
	}
	return a, prices
}

// holds checks that a basis is primal feasible and that its prices give the same
// value: no other solution is better.
func holds(t *testing.T, a *Matrix, prices []float64, s *Solver) {
	t.Helper()
	load := make([]float64, a.Rows)
	value, bound := 0.0, 0.0
	for j, rows := range a.Columns {
		x := s.Value(j)
		if x < s.low[j]-1e-7 || x > s.up[j]+1e-7 {
			t.Fatalf("column %d is %v, bounds %v and %v", j, x, s.low[j], s.up[j])
		}
		value += x * prices[j]
		reduced := prices[j]
		for _, i := range rows {
			load[i] += x
			reduced -= s.Price(int(i))
		}
		bound += max(reduced*s.low[j], reduced*s.up[j])
	}
	for i, v := range load {
		most := 1.0
		if a.Most != nil {
			most = a.Most[i]
		}
		if v > most+1e-7 {
			t.Fatalf("row %d adds up to %v, at most %v expected", i, v, most)
		}
		bound += most * s.Price(i)
	}
	if math.Abs(value-bound) > 1e-6*(1+bound) {
		t.Fatalf("value %v, bound %v", value, bound)
	}
}

func TestPricesProveTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		a, prices := drawn(r, r.IntN(40), r.IntN(20), 4)
		s := New(a, prices)
		if !s.Solve(context.Background(), math.Inf(-1), 0) {
			t.Fatal("not solved")
		}
		holds(t, a, prices, s)
		// Bounds change, and the basis is used again.
		var state State
		s.Save(&state)
		for range 6 {
			for j := range a.Columns {
				switch r.IntN(8) {
				case 0:
					s.Bound(j, 0, 0)
				default:
					s.Bound(j, 0, 1)
				}
			}
			if !s.Solve(context.Background(), math.Inf(-1), 0) {
				t.Fatal("not solved after bounds changed")
			}
			holds(t, a, prices, s)
		}
		s.Load(&state)
		for j := range a.Columns {
			s.Bound(j, 0, 1)
		}
		if !s.Solve(context.Background(), math.Inf(-1), 1) {
			t.Fatal("a saved optimum takes pivots")
		}
		holds(t, a, prices, s)
	}
}

func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, prices := drawn(r, 1000, 150, 8)
	s := New(a, prices)
	if !s.Solve(context.Background(), math.Inf(-1), 0) {
		t.Fatal("not solved")
	}
	holds(t, a, prices, s)
	t.Logf("%d pivots", s.Pivots)
	// One more row, from the basis that is there.
	more := &Matrix{Columns: make([][]int32, len(a.Columns)), Rows: a.Rows + 1}
	if a.Most != nil {
		more.Most = append(append([]float64(nil), a.Most...), 1)
	}
	kept := make([][2]int, a.Rows)
	for i := range kept {
		kept[i] = [2]int{i, i}
	}
	for j, rows := range a.Columns {
		more.Columns[j] = append(more.Columns[j], rows...)
		if s.Value(j) > 0.1 && s.Value(j) < 0.9 {
			more.Columns[j] = append(more.Columns[j], int32(a.Rows))
		}
	}
	next := New(more, prices)
	next.WarmStart(s, kept, nil)
	if !next.Solve(context.Background(), math.Inf(-1), 0) {
		t.Fatal("not solved with one more row")
	}
	holds(t, more, prices, next)
	if next.Pivots > s.Pivots/2 {
		t.Errorf("%d pivots from a near basis, %d from none", next.Pivots, s.Pivots)
	}
}

func TestCutoffStops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, prices := drawn(r, 300, 60, 5)
	s := New(a, prices)
	if s.Solve(context.Background(), math.Inf(1), 0) {
		t.Error("solved beyond the cutoff")
	}
}

// degenerate is a program of equal prices, or of prices that are the columns' numbers of rows: its optima
// have many bases.
func degenerate(r *rand.Rand, n, m, per int, unit bool) (*Matrix, []float64) {
	a, prices := &Matrix{Columns: make([][]int32, n), Rows: m}, make([]float64, n)
	for j := range n {
		for _, i := range r.Perm(m)[:1+r.IntN(per)] {
			a.Columns[j] = append(a.Columns[j], int32(i))
		}
		slices.Sort(a.Columns[j])
		prices[j] = 1
		if !unit {
			prices[j] = float64(len(a.Columns[j])) / float64(per)
		}
	}
	return a, prices
}

func TestEqualPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	perturbed := 0
	for k := range 60 {
		n, m := 20+r.IntN(400), 5+r.IntN(60)
		a, prices := degenerate(r, n, m, 1+r.IntN(min(m, 6)), k%2 == 0)
		s := New(a, prices)
		if !s.Solve(context.Background(), math.Inf(-1), 0) {
			t.Fatal("not solved")
		}
		holds(t, a, prices, s)
		if s.Pivots > 20*(n+m) {
			t.Errorf("%d pivots of %d columns and %d rows", s.Pivots, n, m)
		}
		for range 6 { // as in a tree: some columns are taken or left out
			for j := range a.Columns {
				x := float64(r.IntN(2))
				if up := r.IntN(10); up > 0 {
					x = 0
					s.Bound(j, 0, min(1, float64(up-1)))
				} else if s.Value(j) > 0.5 {
					s.Bound(j, x, x)
				}
			}
			if s.Solve(context.Background(), math.Inf(-1), 0) {
				holds(t, a, prices, s)
			}
		}
		perturbed += s.Perturbations
	}
	if perturbed == 0 {
		t.Error("no costs were perturbed")
	}
}

// TestPolish solves programs whose costs are perturbed again and again: the prices prove the optimum of the costs
// given.
func TestPolish(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	pivots := 0
	for range 200 {
		a, prices := degenerate(r, 5+r.IntN(60), 6+r.IntN(20), 4, true)
		for j := range prices {
			prices[j] += 1e-4 * r.Float64() // less than the perturbation
		}
		s := New(a, prices)
		if !s.Solve(context.Background(), math.Inf(-1), 0) {
			t.Fatal("not solved")
		}
		want := s.Objective()
		for range 12 {
			s.perturb()
		}
		for j := range a.Columns {
			if r.IntN(3) == 0 {
				s.Bound(j, 0, 0)
			}
		}
		s.Solve(context.Background(), math.Inf(-1), 0)
		for j := range a.Columns {
			s.Bound(j, 0, 1)
		}
		for range 12 {
			s.perturb()
		}
		var state State
		if s.Save(&state); r.IntN(2) == 0 {
			s.Solve(context.Background(), math.Inf(-1), 0)
			s.perturb()
			s.Load(&state)
		}
		before := s.Pivots
		if !s.Solve(context.Background(), math.Inf(-1), 0) {
			t.Fatal("not solved")
		}
		pivots += s.Pivots - before
		holds(t, a, prices, s)
		if got := s.Objective(); math.Abs(got-want) > 1e-7*(1+want) {
			t.Fatalf("found %v, expected %v", got, want)
		}
	}
	t.Logf("%d pivots", pivots)
}

// Rows are added, removed and changed between solves; the optimum is that of a solver that begins with them.
func TestRowsChange(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	removed := 0
	for range 200 {
		n := 1 + r.IntN(40)
		prices := make([]float64, n)
		for j := range prices {
			prices[j] = float64(r.IntN(5))
			if r.IntN(2) == 0 {
				prices[j] = r.Float64()
			}
		}
		s := New(&Matrix{Columns: make([][]int32, n)}, prices)
		for range 12 {
			var rows [][]int32
			var most []float64
			for range r.IntN(8) {
				row := r.Perm(n)[:1+r.IntN(min(n, 6))]
				slices.Sort(row)
				columns := make([]int32, len(row))
				for k, j := range row {
					columns[k] = int32(j)
				}
				rows, most = append(rows, columns), append(most, float64(r.IntN(len(row)+1)))
			}
			s.AddRows(rows, most)
			for i := range s.Length() {
				if r.IntN(10) == 0 {
					s.Allow(i, float64(r.IntN(4)))
				}
			}
			for j := range n {
				s.Bound(j, 0, min(1, float64(r.IntN(5))))
			}
			if !s.Solve(context.Background(), math.Inf(-1), 0) {
				t.Fatal("not solved")
			}
			a := &Matrix{Columns: make([][]int32, n), Rows: s.Rows, Most: slices.Clone(s.Most)}
			for j, rows := range s.Columns {
				a.Columns[j] = slices.Clone(rows)
			}
			holds(t, a, prices, s)
			new := New(a, prices)
			for j := range n {
				new.Bound(j, s.low[j], s.up[j])
			}
			if !new.Solve(context.Background(), math.Inf(-1), 0) || math.Abs(new.Objective()-s.Objective()) > 1e-7*(1+new.Objective()) {
				t.Fatalf("found %v, from the beginning %v", s.Objective(), new.Objective())
			}
			before := s.Length()
			kept := s.RemoveRows(func(int) bool { return r.IntN(3) > 0 })
			removed += before - len(kept)
			for k, i := range kept {
				if s.Most[k] != a.Most[i] {
					t.Fatal("a row is another one")
				}
			}
		}
	}
	if removed < 500 {
		t.Errorf("%d rows were removed", removed)
	}
}
