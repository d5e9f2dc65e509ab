package packing

import (
	"context"
	"math/rand/v2"
	"testing"
)

// A perfect packing of triples is hidden among others: exchanges find one, and every packing on the way is one.
func TestExchangesFindAPerfectPacking(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	const goods = 90
	holders := make([][]int32, goods)
	add := func(p *Problem, triple []int) {
		for _, g := range triple {
			holders[g] = append(holders[g], int32(len(p.Prices)))
		}
		p.Prices = append(p.Prices, 1)
	}
	p := &Problem{}
	order := r.Perm(goods)
	for k := 0; k < goods; k += 3 {
		add(p, order[k:k+3])
	}
	for range 600 {
		add(p, r.Perm(goods)[:3])
	}
	p.Cliques = holders
	g := newGraph(len(p.Prices), p.Cliques)
	live := g.empty()
	for j := range g.n {
		live.add(j)
	}
	before := int64(0)
	newSwapper(g, p.Prices, live, 1).run(context.Background(), nil, goods/3, 1<<28, func(chosen []int32, value int64) {
		if value <= before || int64(len(chosen)) != value {
			t.Fatalf("found %d bids worth %d after a packing of %d", len(chosen), value, before)
		}
		before = value
		for a, j := range chosen {
			for _, i := range chosen[:a] {
				if g.conflict[j].has(int(i)) {
					t.Fatalf("bids %d and %d conflict", i, j)
				}
			}
		}
	})
	if before != goods/3 {
		t.Errorf("found %d of %d", before, goods/3)
	}
}

// After every search the lost prices and the rival winners that are kept for each bid agree with the packing.
func TestExchangesKeepCount(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := drawn(r, 12+r.IntN(30), 4+r.IntN(12))
		g := newGraph(len(p.Prices), p.Cliques)
		live := g.empty()
		for j := range g.n {
			if p.Prices[j] > 0 && r.IntN(8) > 0 {
				live.add(j)
			}
		}
		s := newSwapper(g, p.Prices, live, seed)
		from := []int32(nil)
		for range 3 {
			s.run(context.Background(), from, 1<<40, 2000, func(chosen []int32, _ int64) { from = append(from[:0], chosen...) })
			for _, j := range s.bids {
				lost, count := int64(0), int32(0)
				for _, i := range s.chosen {
					if g.conflict[j].has(int(i)) {
						lost, count = lost+p.Prices[i], count+1
					}
				}
				if lost != s.lost[j] || count != s.count[j] || s.place[j] >= 0 && count > 0 {
					t.Fatalf("seed %d: bid %d has %d against it, worth %d, and counts %d, worth %d", seed, j, count, lost, s.count[j], s.lost[j])
				}
			}
		}
	}
}
