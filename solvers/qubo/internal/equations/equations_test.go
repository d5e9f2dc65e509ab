package equations

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// missing draws rows of entries to most, with right sides that a drawn solution meets, or that are free. The problem is to miss least.
func missing(r *rand.Rand, rows, n int, most int64, met bool) (p *problem.Normal, constant int64) {
	x := r.Uint64()
	diag, pairs := make([]int64, n), map[[2]int]int64{}
	for range rows {
		a, end := make([]int64, n), r.Int64N(int64(n)*most/2)
		if met {
			end = 0
		}
		for i := range a {
			a[i] = r.Int64N(2*most+1) - most/2
			if met && x>>i&1 == 1 {
				end += a[i]
			}
		}
		weight := 1 + r.Int64N(3)
		constant -= weight * end * end
		for i := range a {
			diag[i] -= weight * a[i] * (a[i] - 2*end)
			for j := range i {
				pairs[[2]int{j, i}] -= 2 * weight * a[i] * a[j]
			}
		}
	}
	for k, w := range pairs {
		if w == 0 {
			delete(pairs, k)
		}
	}
	return qubotest.Sparse(n, func(i int) int64 { return diag[i] }, pairs), constant
}

func never() bool { return false }

// A solution that the equations have is found, and no objective is above the bound.
func TestEquationsAreSolved(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 61))
	for range 30 {
		rows := 1 + r.IntN(4)
		n := 8*rows + r.IntN(12)
		p, constant := missing(r, rows, n, 1+r.Int64N(200), true)
		m := Find(p)
		if m == nil {
			t.Fatalf("%d rows of %d variables are not found", rows, n)
		}
		if m.Bound != -constant {
			t.Errorf("bound %d, expected %d", m.Bound, -constant)
		}
		x, found, complete := m.Solve(2, never)
		if value := p.Value([]uint64{x}); !found || !complete || value != m.Bound {
			t.Errorf("%d rows of %d variables: found %t, complete %t, objective %d of %d", rows, n, found, complete, value, m.Bound)
		}
	}
}

// Where no solution meets the equations the search says so, and where one does it finds it: all solutions are compared.
func TestEquationsWithoutSolution(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 61))
	met := 0
	for range 40 {
		n := 8 + r.IntN(8)
		p, _ := missing(r, 1+n/10, n, 1+r.Int64N(60), false)
		m := Find(p)
		if m == nil {
			continue // the rows are dependent
		}
		best := int64(-1 << 62)
		for x := range uint64(1) << n {
			best = max(best, p.Value([]uint64{x}))
		}
		_, found, complete := m.Solve(1+r.IntN(3), never)
		if best > m.Bound || !complete || found != (best > m.Rest) {
			t.Errorf("%d variables: best %d, bounds %d and %d, found %t, complete %t", n, best, m.Bound, m.Rest, found, complete)
		}
		if found {
			met++
		}
	}
	if met == 0 || met == 40 {
		t.Errorf("%d of 40 have a solution", met)
	}
}

// Equations whose sums are mostly the same have few of them.
func TestEqualVariables(t *testing.T) {
	for _, entry := range []func(i int) int64{func(int) int64 { return 1 }, func(i int) int64 { return int64(i % 3) }, func(i int) int64 { return 2 + int64(i%2)*4 }} {
		const n = 60
		for _, end := range []int64{0, 30, 31, 1000} {
			pairs := map[[2]int]int64{}
			for i := range n {
				for j := range i {
					if w := entry(i) * entry(j); w != 0 {
						pairs[[2]int{j, i}] = -2 * w
					}
				}
			}
			p := qubotest.Sparse(n, func(i int) int64 { return -entry(i) * (entry(i) - 2*end) }, pairs)
			x, found, complete := Find(p).Solve(2, never)
			if want := end < 1000 && (end%2 == 0 || entry(0) < 2); !complete || found != want || found && p.Value([]uint64{x}) != end*end {
				t.Errorf("right side %d: found %t, complete %t, objective %d", end, found, complete, p.Value([]uint64{x}))
			}
		}
	}
}

// Other problems have no model: dense ones, with terms beside the squares, or with squares that gain.
func TestOtherProblems(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 61))
	for range 20 {
		n := 12 + r.IntN(40)
		if Find(qubotest.RandomProblem(r, n, 0.2+0.8*r.Float64(), 50, 1)) != nil {
			t.Error("a random problem is taken for squares")
		}
		p, _ := missing(r, 2, n, 50, true)
		p.Diag[r.IntN(n)] += 2
		if Find(p) != nil {
			t.Error("a linear term is left out")
		}
		p, _ = missing(r, 2, n, 50, true)
		for k := range p.Weight {
			p.Weight[k] = -p.Weight[k]
		}
		if Find(p) != nil {
			t.Error("squares gain")
		}
	}
}

// A search that is stopped does not say that there is no solution.
func TestStopped(t *testing.T) {
	p, _ := missing(rand.New(rand.NewPCG(8, 61)), 4, 44, 100, true)
	if _, found, complete := Find(p).Solve(2, func() bool { return true }); found || complete {
		t.Errorf("found %t, complete %t", found, complete)
	}
}

func TestResidues(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 61))
	for range 1000 {
		a, b := r.Int64()-r.Int64(), r.Int64()-r.Int64()
		high, low := bits.Mul64(uint64(residueOf(a)), uint64(residueOf(b)))
		_, rest := bits.Div64(high, low, prime)
		if got := residueOf(a).times(residueOf(b)); uint64(got) != rest {
			t.Fatalf("%d times %d is %d, expected %d", a, b, got, rest)
		}
		if one := residueOf(a).times(residueOf(a).inverse()); residueOf(a) != 0 && one != 1 {
			t.Fatalf("%d times its inverse is %d", a, one)
		}
	}
}
