package assignment

import (
	"math/rand/v2"
	"testing"
)

// exhaustive is the least cost of a matching of p, by trying all of them; far
// when none is full.
func exhaustive(p *normal) int64 {
	used := make([]bool, p.cols)
	var try func(i int) int64
	try = func(i int) int64 {
		if i == p.rows {
			return 0
		}
		best := far
		if p.limit != far {
			if rest := try(i + 1); rest != far {
				best = p.limit + rest
			}
		}
		for j := range used {
			c := p.cost(i, j)
			if used[j] || c == far {
				continue
			}
			used[j] = true
			if rest := try(i + 1); rest != far {
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
		inst, err := draw(r, 7)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := exhaustive(p)
		for _, start := range []*duals{nil, startOf(p, r)} {
			if err := agrees(p, start, reference, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, start %v): %v", k, p.rows, p.cols, inst.Type, start != nil, err)
			}
		}
	}
}
