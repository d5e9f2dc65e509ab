package cliques

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// Random graphs, dense and sparse, against all partitions: prices never bound less than the best, mostly just that, and a proof's bound can be computed again. Altered proofs are refused, or
// bound no less than the best.
func TestCone(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 10))
	tight, refused := 0, 0
	for k := range inputtest.Draws(2000) {
		n := 2 + r.IntN(7)
		dense := 1 + r.IntN(4)
		g := graphOf(n, func(int, int) int64 {
			if r.IntN(dense) > 0 {
				return 0
			}
			return int64(r.IntN(41) - 20)
		})
		best := best(g)
		x := NewCone(g, r)
		for round := 0; round < 100 && x.Round(best, never); round++ {
		}
		if x.Bound < best {
			t.Fatalf("%d: found the bound %d, expected at least %d", k, x.Bound, best)
		}
		if x.Bound == best {
			tight++
		}
		if x.Best == nil {
			continue
		}
		if again, ok := x.Best.Bound(g); !ok || again != x.Bound {
			t.Fatalf("%d: found the bound %d again, %t, expected %d", k, again, ok, x.Bound)
		}
		for range 3 {
			lie := *x.Best
			lie.Cuts, lie.Pairs, lie.Prices = slices.Clone(lie.Cuts), slices.Clone(lie.Pairs), slices.Clone(lie.Prices)
			switch what := r.IntN(5); {
			case what == 0:
				lie.Prices[r.IntN(n)] *= r.Float64()
			case what == 1:
				lie.Pairs[r.IntN(len(lie.Pairs))] -= 1 + r.Int64N(20<<lie.Shift)
			case what == 2:
				lie.Shift++
			case len(lie.Cuts) == 0:
				continue
			case what == 3:
				c := &lie.Cuts[r.IntN(len(lie.Cuts))]
				c.Price -= 1 + r.Int64N(c.Price+1)
			default:
				c := &lie.Cuts[r.IntN(len(lie.Cuts))]
				c.Nodes = slices.Clone(c.Nodes)
				c.Nodes[r.IntN(len(c.Nodes))] = int32(r.IntN(n))
			}
			bound, ok := lie.Bound(g)
			if ok && bound < best {
				t.Fatalf("%d: an altered proof bounds partitions by %d, and one is worth %d", k, bound, best)
			}
			if !ok {
				refused++
			}
		}
	}
	if tight < inputtest.Draws(1950) || refused < inputtest.Draws(1000) {
		t.Errorf("found %d bounds that are the best and %d altered proofs refused, expected nearly all and more", tight, refused)
	}
}
