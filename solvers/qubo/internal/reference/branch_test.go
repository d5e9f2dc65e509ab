package reference_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
)

// drawnFew draws the objective of a few variables, with numbers that take several words and many
// ties.
func drawnFew(r *rand.Rand, n int) *problem.SmallProblem {
	number := func() *big.Int {
		x := big.NewInt(r.Int64N(7) - 3)
		return x.Lsh(x, uint(70*r.IntN(3)))
	}
	f := &problem.SmallProblem{N: n}
	for i := range n {
		f.Diag = append(f.Diag, number())
		f.Weight = append(f.Weight, make([]*big.Int, n))
		for j := range i {
			if r.IntN(3) > 0 {
				w := number()
				f.Weight[i][j], f.Weight[j][i] = w, w
			}
		}
	}
	return f
}

// The best solutions are those that a visit of all solutions finds.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 1))
	for range 300 {
		f := drawnFew(r, r.IntN(9))
		odd := func(x uint64) bool { return x&1 == 1 }
		for _, fits := range []func(uint64) bool{nil, odd} {
			var all []*big.Int
			for x := range uint64(1) << f.N {
				if fits == nil || fits(x) {
					all = append(all, f.Value(x))
				}
			}
			slices.SortFunc(all, func(a, b *big.Int) int { return b.Cmp(a) })
			limit := 1 + r.IntN(20)
			got, complete := reference.BestSolutions(f, limit, fits, qubotest.NeverStop)
			if !complete || len(got) != min(limit, len(all)) {
				t.Fatalf("%d variables: %d solutions of %d, complete %v, want %d", f.N, len(got), len(all), complete, limit)
			}
			seen := map[uint64]bool{}
			for k, x := range got {
				if f.Value(x).Cmp(all[k]) != 0 || seen[x] || fits != nil && !fits(x) {
					t.Fatalf("%d variables: solution %d, %b, is worth %v, want %v", f.N, k, x, f.Value(x), all[k])
				}
				seen[x] = true
			}
		}
	}
	if _, complete := reference.BestSolutions(drawnFew(r, 24), 1<<20, nil, func() bool { return true }); complete {
		t.Error("a visit that was stopped is said to be complete")
	}
}

// Solutions near the best are all found, or it is said that there are more.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 2))
	for k := range 300 {
		n := 1 + r.IntN(9)
		if k >= 280 {
			n += 7 // more variables than the table has
		}
		p := qubotest.RandomProblem(r, n, 0.7, 9, 1)
		slack, most := r.Int64N(12), 1+r.IntN(20)
		best, want := int64(0), 0
		for pass := range 2 {
			for x := range uint64(1) << n {
				v := p.Value([]uint64{x})
				if best = max(best, v); pass == 1 && v >= best-slack {
					want++
				}
			}
		}
		got, all := reference.SolutionsWithin(p, slack, most, qubotest.NeverStop)
		if all && len(got) != want || !all && len(got) > most || all && want > most {
			t.Fatalf("%d variables: %d solutions within %d of the best, all %v, want %d", n, len(got), slack, all, want)
		}
		for _, x := range got {
			if p.Value([]uint64{x}) < best-slack {
				t.Fatalf("%d variables: %b is not near the best", n, x)
			}
		}
	}
}

// A visit of the most variables by branch and bound.
func BenchmarkBest(b *testing.B) {
	const n = problem.FewVariables
	for name, weight := range map[string]func(r *rand.Rand) float64{
		"uniform": (*rand.Rand).Float64,
		"normal":  (*rand.Rand).NormFloat64,
		"even":    func(r *rand.Rand) float64 { return 1 + 1e-9*r.Float64() },
	} {
		r := rand.New(rand.NewPCG(1, 2))
		build := problem.NewBuilder(n)
		build.Maximize()
		build.Form(problem.MaxCut)
		for i := range n {
			for j := range i {
				build.Pair(i, j, weight(r))
			}
		}
		inst, err := build.Build()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			f := inst.SmallProblem(nil, nil)
			for b.Loop() {
				reference.BestSolutions(f, 1, nil, qubotest.NeverStop)
			}
		})
	}
}
