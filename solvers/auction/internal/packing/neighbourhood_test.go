package packing

import (
	"context"
	"math/rand/v2"
	"testing"
)

// What is searched near a packing can win beside the winners that stay, and holds those that
// are let go.
func TestAround(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		p := drawn(r, 20+r.IntN(60), 12)
		for j := range p.Prices {
			p.Prices[j] = max(1, p.Prices[j])
		}
		g := newGraph(len(p.Prices), p.Cliques)
		tr := &tree{g: g, prices: p.Prices, best: -1, key: make([]float64, g.n)}
		live := g.empty()
		for j := range g.n {
			live.add(j)
		}
		newImprover(g, p.Prices, 1).start(context.Background(), live, 1, tr.offer)
		n := newWorker(tr, 0).neighbourhoodOf(&neighbourhood{r, 10 + r.IntN(20)})
		value := n.fixed
		for _, j := range n.taken {
			if n.live.has(int(j)) || n.live.intersects(g.conflict[j]) {
				t.Fatalf("winner %d stays, and bids that conflict with it are searched", j)
			}
		}
		for _, j := range tr.chosen {
			if n.live.has(int(j)) {
				value += p.Prices[j]
			}
		}
		if value != tr.best {
			t.Fatalf("winners that stay and those searched are worth %d, the packing %d", value, tr.best)
		}
	}
}
