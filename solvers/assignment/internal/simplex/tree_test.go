package simplex

import (
	"context"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// After every pivot the arcs of the tree agree with the prices, nodes with their sizes, and flows are not negative.
func TestPivotsKeepTheBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 4))
	costs := make([]int32, 60*70)
	for k := range costs {
		costs[k] = r.Int32N(1000)
	}
	inst, err := problem.NewInstance(60, 70, costs, "drawn")
	if err != nil {
		t.Fatal(err)
	}
	inst.Supply, inst.Capacity = make([]int64, 60), make([]int64, 70)
	for range 700 {
		inst.Supply[r.IntN(60)]++
		inst.Capacity[r.IntN(70)]++
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSolve(p, engine.Host{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.network = newNetwork(60, 70, 2*61*s.size())
	a := s.auction(context.Background(), make([]int64, 70), inst.Supply, inst.Capacity, firstEps)
	clear(a.u)
	for j, list := range a.holders { // all that was shipped goes by artificial arcs
		for _, h := range list {
			a.left[h.row] += h.amount
			a.room[j] += h.amount
		}
		a.holders[j] = nil
	}
	a.basis()
	s.resize()
	larger := 0
	for e, reduced := s.entering(); e != none; e, reduced = s.entering() {
		root := s.price[s.root]
		s.pivot(e, reduced)
		if s.price[s.root] != root {
			larger++
		}
		sizes := make([]int32, len(s.place))
		for x := range sizes {
			for z := int32(x); z != none; z = s.place[z].parent {
				sizes[z]++
			}
			y := s.place[x].parent
			if y == none {
				continue
			}
			c := s.toRoot[x]
			switch e := s.network.arc[x]; {
			case e != none:
				c = s.cost[e]
			case !s.away[x]:
				c = s.fromRoot[x]
			}
			if !s.away[x] {
				c = -c
			}
			if s.price[x]-s.price[y] != c || s.flow[x] < 0 {
				t.Fatalf("pivot %d: node %d has the price %d, its parent %d, and the flow %d, expected a difference of %d", s.pivots, x, s.price[x], s.price[y], s.flow[x], c)
			}
		}
		for x, size := range sizes {
			if s.place[x].size != size {
				t.Fatalf("pivot %d: node %d has the size %d, expected %d", s.pivots, x, s.place[x].size, size)
			}
		}
	}
	if s.pivots < 100 || larger == 0 {
		t.Errorf("found %d pivots and %d that moved more than half of the tree, expected at least 100 and 1", s.pivots, larger)
	}
}
