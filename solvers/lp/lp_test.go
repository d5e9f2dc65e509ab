package lp

import (
	"context"
	"math"
	"math/big"
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

// withEntries gives half of the programs entries other than 1, of both signs.
func withEntries(r *rand.Rand, a *Matrix) {
	if r.IntN(2) == 0 {
		return
	}
	for _, rows := range a.Columns {
		entries := make([]float64, len(rows))
		for k := range entries {
			entries[k] = float64(1+r.IntN(6)) / 4
			if r.IntN(4) == 0 {
				entries[k] *= -1
			}
		}
		a.Entries = append(a.Entries, entries)
	}
}

// entry is the entry of a column's k-th row.
func (a *Matrix) entry(j, k int) float64 {
	if a.Entries == nil {
		return 1
	}
	return a.Entries[j][k]
}

type maker func(a *Matrix, prices []float64) *Solver

// eachFactors runs a test with the choice between inverse and factors, and with factors of all bases.
func eachFactors(t *testing.T, test func(t *testing.T, anew maker)) {
	t.Run("chosen", func(t *testing.T) { test(t, New) })
	t.Run("factors", func(t *testing.T) {
		test(t, func(a *Matrix, prices []float64) *Solver { return newSolver(a, prices, 0) })
	})
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
		for k, i := range rows {
			load[i] += x * a.entry(j, k)
			reduced -= s.Price(int(i)) * a.entry(j, k)
		}
		bound += max(reduced*s.low[j], reduced*s.up[j])
	}
	for i, v := range load {
		most := 1.0
		if a.Most != nil {
			most = a.Most[i]
		}
		if v > most+1e-7 || a.Equal != nil && a.Equal[i] && v < most-1e-7 {
			t.Fatalf("row %d adds up to %v, expected %v, or less: %v", i, v, most, a.Equal)
		}
		bound += most * s.Price(i)
	}
	if math.Abs(value-bound) > 1e-6*(1+math.Abs(bound)) {
		t.Fatalf("value %v, bound %v", value, bound)
	}
}

func TestPricesProveTheOptimum(t *testing.T) {
	eachFactors(t, func(t *testing.T, anew maker) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			a, prices := drawn(r, r.IntN(40), r.IntN(20), 4)
			withEntries(r, a)
			s := anew(a, prices)
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
	})
}

func TestLarge(t *testing.T) {
	eachFactors(t, func(t *testing.T, anew maker) {
		r := rand.New(rand.NewPCG(3, 4))
		a, prices := drawn(r, 1000, 150, 8)
		s := anew(a, prices)
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
		next := anew(more, prices)
		next.WarmStart(s, kept, nil)
		if !next.Solve(context.Background(), math.Inf(-1), 0) {
			t.Fatal("not solved with one more row")
		}
		holds(t, more, prices, next)
		if next.Pivots > s.Pivots/2 {
			t.Errorf("%d pivots from a near basis, %d from none", next.Pivots, s.Pivots)
		}
	})
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
	eachFactors(t, func(t *testing.T, anew maker) {
		r := rand.New(rand.NewPCG(7, 8))
		perturbed := 0
		for k := range 60 {
			n, m := 20+r.IntN(400), 5+r.IntN(60)
			a, prices := degenerate(r, n, m, 1+r.IntN(min(m, 6)), k%2 == 0)
			s := anew(a, prices)
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
	})
}

// TestPolish solves programs whose costs are perturbed again and again: the prices prove the optimum of the costs
// given.
func TestPolish(t *testing.T) {
	eachFactors(t, func(t *testing.T, anew maker) {
		r := rand.New(rand.NewPCG(9, 10))
		pivots := 0
		for range 200 {
			a, prices := degenerate(r, 5+r.IntN(60), 6+r.IntN(20), 4, true)
			for j := range prices {
				prices[j] += 1e-4 * r.Float64() // less than the perturbation
			}
			s := anew(a, prices)
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
	})
}

// Rows are added, removed and changed between solves; the optimum is that of a solver that begins with them.
func TestRowsChange(t *testing.T) {
	eachFactors(t, func(t *testing.T, anew maker) {
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
			s := anew(&Matrix{Columns: make([][]int32, n)}, prices)
			for range 12 {
				var rows [][]int32
				var entries [][]float64
				var most []float64
				general := r.IntN(2) == 0
				for range r.IntN(8) {
					row := r.Perm(n)[:1+r.IntN(min(n, 6))]
					slices.Sort(row)
					columns := make([]int32, len(row))
					for k, j := range row {
						columns[k] = int32(j)
					}
					rows, most = append(rows, columns), append(most, float64(r.IntN(len(row)+1)))
					if general {
						entry := make([]float64, len(row))
						for k := range entry {
							entry[k] = float64(r.IntN(9)-4) / 2
						}
						entries = append(entries, entry)
					}
				}
				s.AddRowsWithEntries(rows, entries, most)
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
					if s.Entries != nil {
						a.Entries = append(a.Entries, slices.Clone(s.Entries[j]))
					}
				}
				holds(t, a, prices, s)
				new := anew(a, prices)
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
	})
}

// Rows whose columns add up to 1 have prices of any sign. Both ways of keeping the basis agree, and where no solution is, prices along a ray prove it in
// exact numbers.
func TestEqualRows(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	solved, refuted := 0, 0
	for range 600 {
		n, m := 1+r.IntN(40), 1+r.IntN(16)
		a, prices := drawn(r, n, m, 4)
		withEntries(r, a)
		a.Equal = make([]bool, m)
		for i := range m {
			a.Equal[i] = r.IntN(3) > 0
		}
		for j := range prices {
			prices[j] -= 10
		}
		value := math.NaN()
		for _, few := range []int{0, fewRows} {
			s := newSolver(a, prices, few)
			done := s.Solve(context.Background(), math.Inf(-1), 0)
			if done != (s.Ray() == nil) {
				t.Fatalf("solved: %t, with a ray: %t", done, s.Ray() != nil)
			}
			if got := s.Objective(); done && !math.IsNaN(value) && math.Abs(got-value) > 1e-7*(1+math.Abs(got)) {
				t.Fatalf("found %v and %v", got, value)
			}
			if done {
				holds(t, a, prices, s)
				value = s.Objective()
				solved++
				continue
			}
			refuted++
			sum := new(big.Rat)
			exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
			for i, v := range s.Ray() {
				most := 1.0
				if a.Most != nil {
					most = a.Most[i]
				}
				if !a.Equal[i] && v < 0 {
					if v < -1e-7 {
						t.Fatalf("the ray has %v in row %d", v, i)
					}
					continue
				}
				sum.Add(sum, new(big.Rat).Mul(exact(v), exact(most)))
			}
			for j, rows := range a.Columns {
				price := new(big.Rat)
				for k, i := range rows {
					if v := s.Ray()[i]; a.Equal[i] || v > 0 {
						price.Sub(price, new(big.Rat).Mul(exact(v), exact(a.entry(j, k))))
					}
				}
				if price.Sign() > 0 {
					sum.Add(sum, price)
				}
			}
			if sum.Sign() >= 0 {
				t.Fatalf("the ray proves %s", sum.FloatString(9))
			}
		}
	}
	if solved < 200 || refuted < 200 {
		t.Errorf("%d solved, %d without a solution", solved, refuted)
	}
}

// Factors solve both systems of equations of random bases, also after updates and back again.
func TestFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 300 {
		m := 1 + r.IntN(30)
		rows := make([][]int32, m)
		slack := make([]int, m)
		for p, i := range r.Perm(m) {
			if slack[p] = -1; r.IntN(3) == 0 {
				slack[p] = i
				continue
			}
			for k := range m {
				if k == i || r.IntN(m) < 2 {
					rows[p] = append(rows[p], int32(k))
				}
			}
		}
		f := &lu{}
		if place, _ := f.factorise(m, func(p int) ([]int32, []float64, int) { return rows[p], nil, slack[p] }); place >= 0 {
			continue
		}
		columns := make([][]float64, m) // of the basis, by place
		for p := range columns {
			columns[p] = make([]float64, m)
			for _, i := range rows[p] {
				columns[p][i] = 1
			}
			if slack[p] >= 0 {
				columns[p][slack[p]] = 1
			}
		}
		check := func() {
			x, c := make([]float64, m), make([]float64, m)
			load, cost := make([]float64, m), make([]float64, m)
			for i := range m {
				load[i], cost[i] = float64(r.IntN(3)-1), float64(r.IntN(3)-1)
			}
			f.solve(slices.Clone(load), x)
			f.solveRow(slices.Clone(cost), c)
			for p, column := range columns {
				sum := 0.0
				for i, v := range column {
					load[i] -= v * x[p]
					sum += v * c[i]
				}
				if math.Abs(sum-cost[p]) > 1e-6 {
					t.Fatalf("place %d: found the cost %v, expected %v", p, sum, cost[p])
				}
			}
			for i, v := range load {
				if math.Abs(v) > 1e-6 {
					t.Fatalf("row %d is left with %v", i, v)
				}
			}
		}
		check()
		before := slices.Clone(columns)
		for range 5 {
			column, x, p := make([]float64, m), make([]float64, m), r.IntN(m)
			for i := range m {
				column[i] = float64(r.IntN(2))
			}
			if f.solve(slices.Clone(column), x); math.Abs(x[p]) > 0.1 {
				f.update(x, p)
				columns[p] = column
				check()
			}
		}
		f.dropUpdates(0)
		columns = before
		check()
	}
}
