package cliques

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// graphOf is the graph of weights of pairs i < j.
func graphOf(n int, weight func(i, j int) int64) *Graph {
	w := make([]int64, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			w[i*n+j] = weight(i, j)
			w[j*n+i] = w[i*n+j]
		}
	}
	g := &Graph{N: n, Start: make([]int64, n+1)}
	for i := range n {
		for j := range n {
			if i != j && w[i*n+j] != 0 {
				g.Col, g.Weight = append(g.Col, int32(j)), append(g.Weight, w[i*n+j])
			}
		}
		g.Start[i+1] = int64(len(g.Col))
	}
	return g
}

// Random graphs, dense and sparse, against all partitions: cuts never bound less than the best, mostly just that, and their bound can be computed again
// from what a proof has. Altered cuts are refused, or bound no less than the best.
func TestCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 6))
	tight := 0
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
		x := NewRelaxation(g)
		for x.Round(t.Context(), best) {
		}
		if x.Bound < best {
			t.Fatalf("%d: found the bound %d, expected at least %d", k, x.Bound, best)
		}
		if again, ok := g.CutBound(x.Best, x.Shift()); !ok || again != x.Bound {
			t.Fatalf("%d: found the bound %d again, %t, expected %d", k, again, ok, x.Bound)
		}
		if x.Bound == best {
			tight++
		}
		for range min(3, len(x.Best)) {
			lie := append([]Cut(nil), x.Best...)
			c := &lie[r.IntN(len(lie))]
			switch r.IntN(4) {
			case 0:
				c.Price += 1 << x.Shift()
			case 1:
				c.First = r.IntN(len(c.Nodes))
			case 2:
				c.Nodes = append([]int32(nil), c.Nodes...)
				c.Nodes[r.IntN(len(c.Nodes))] = int32(r.IntN(n))
			default:
				c.Price = -c.Price - 1
			}
			if bound, ok := g.CutBound(lie, x.Shift()); ok && bound < best {
				t.Fatalf("%d: altered cuts bound partitions by %d, and one is worth %d", k, bound, best)
			}
		}
	}
	if tight < inputtest.Draws(1950) {
		t.Errorf("found %d bounds that are the best, expected nearly all", tight)
	}
}

// Inequalities of two sides hold for all partitions.
func TestTwoSides(t *testing.T) {
	for n := 3; n <= 7; n++ {
		for first := 1; first < n; first++ {
			g := graphOf(n, func(i, j int) int64 {
				if (i < first) != (j < first) {
					return 1
				}
				return -1
			})
			c := Cut{First: first, Price: 1}
			for i := range n {
				c.Nodes = append(c.Nodes, int32(i))
			}
			if bound, ok := g.CutBound([]Cut{c}, 0); !ok || bound < best(g) {
				t.Errorf("%d nodes, %d on the first side: found the bound %d, %t, expected at least %d", n, first, bound, ok, best(g))
			}
		}
	}
}
