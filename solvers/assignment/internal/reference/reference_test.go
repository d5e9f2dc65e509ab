package reference

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// exhaustive is the least cost of a matching of p, by trying all of them;
// problem.Infinity when none is full.
func exhaustive(p *problem.Normal) int64 {
	used := make([]bool, p.Cols)
	var try func(i int) int64
	try = func(i int) int64 {
		if i == p.Rows {
			return 0
		}
		best := problem.Infinity
		if p.Limit != problem.Infinity {
			if rest := try(i + 1); rest != problem.Infinity {
				best = p.Limit + rest
			}
		}
		for j := range used {
			c := p.Cost(i, j)
			if used[j] || c == problem.Infinity {
				continue
			}
			used[j] = true
			if rest := try(i + 1); rest != problem.Infinity {
				best = min(best, c+rest)
			}
			used[j] = false
		}
		return best
	}
	return try(0)
}

func TestReferenceIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for k := range 1000 {
		inst, err := enginetest.RandomProblem(r, 7)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := exhaustive(p)
		for _, start := range []*problem.Prices{nil, enginetest.FeasibleDuals(p, r)} {
			if err := enginetest.CheckLeastCost(p, start, Solve, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, start %v): %v", k, p.Rows, p.Cols, inst.Type, start != nil, err)
			}
		}
	}
}
