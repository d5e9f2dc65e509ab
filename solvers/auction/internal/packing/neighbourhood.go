package packing

import (
	"context"
	"math/rand/v2"
)

// A neighbourhood is how a worker looks for packings near the best: large neighbourhood
// search (Shaw, CP 1998), its neighbourhoods parts of the conflict graph.
type neighbourhood struct {
	rand *rand.Rand
	size int // bids that are searched, at most
}

// neighbourhoodOf removes winners near a random one from the best packing, one after the other, and makes a
// node of the bids that do not conflict with the remaining winners: at most size bids.
func (w *worker) neighbourhoodOf(h *neighbourhood) *node {
	w.mu.Lock()
	chosen := w.chosen
	w.mu.Unlock()
	free := w.g.empty() // bids that conflict with removed winners alone
	held := make([]int32, w.g.n)
	for _, j := range chosen {
		held[j]++
		w.g.conflict[j].each(func(k int) { held[k]++ })
	}
	gone := w.g.empty()
	reach := w.g.empty() // bids that conflict with removed winners
	next := -1
	if len(chosen) > 0 {
		next = int(chosen[h.rand.IntN(len(chosen))])
	}
	for next >= 0 {
		drop := append(w.g.conflict[next].members(), int32(next))
		freed := 0
		for _, k := range drop {
			if held[k] == 1 {
				freed++
			}
		}
		if free.count()+freed > h.size {
			break
		}
		gone.add(next)
		for _, k := range drop {
			if held[k]--; held[k] == 0 {
				free.add(int(k))
			}
			reach.add(int(k))
		}
		// The next winner is the one that shares the most conflicting bids with the removed ones.
		most := -1
		next = -1
		for _, j := range chosen {
			if gone.has(int(j)) {
				continue
			}
			common := 0
			for k, word := range w.g.conflict[j] {
				common += set{word & reach[k]}.count()
			}
			if common += h.rand.IntN(1 + common/2); common > most {
				most, next = common, int(j)
			}
		}
	}
	n := &node{live: free}
	for _, j := range chosen {
		if !gone.has(int(j)) {
			n.taken = append(n.taken, j)
			n.fixed += w.prices[j]
		}
	}
	n.bound = n.fixed
	free.each(func(j int) { n.bound += w.prices[j] })
	return n
}

// searchNeighbourhoods searches near the best packing, among more bids where that ended soon.
func (w *worker) searchNeighbourhoods(ctx context.Context) {
	if w.near == nil {
		w.near = &neighbourhood{rand.New(rand.NewPCG(uint64(w.id), 1)), w.g.n / 8}
	}
	before := w.incumbent()
	n := w.neighbourhoodOf(w.near)
	w.aside = true
	done := len(w.explore(ctx, n)) == 0
	w.aside = false
	switch {
	case w.incumbent() > before:
	case done:
		w.near.size = min(w.near.size+w.near.size/8+1, w.g.n)
	default:
		w.near.size = max(w.near.size*7/8, 20)
	}
}
