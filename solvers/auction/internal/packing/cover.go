package packing

import (
	"cmp"
	"context"
	"slices"
)

// Set partitioning: of some cliques one bid has to win. Each such clique adds the same amount to the prices of its bids, so much that packings
// with a bid of each are worth more than all others. Linear programs leave the amount out, and have a row for each clique whose columns
// add up to 1; bounds in integers have it, and need no prices below 0.
//
// What follows from the need of a winner is used where no proof is kept: a proof's prices show nothing of it.

// A cover is the cliques of which one has to win; nil: there are none.
type cover struct {
	net     []float64 // prices of the bids without what these cliques add to them, in the linear program's units
	floor   int64     // packings that are worth no more have no bid of one of the cliques
	cliques [][]int32 // their bids
	masks   []set     // the same
	of      [][]int32 // cliques of each bid
}

// setCover sets what bids cost without the amounts of cliques, and what follows from the cliques.
func (t *tree) setCover(p *Problem) {
	own, most := slices.Clone(p.Prices), int64(1)
	c := &t.cover
	c.net, c.of = make([]float64, len(p.Prices)), make([][]int32, len(p.Prices))
	for i, clique := range p.Cliques {
		if !p.covers(i) {
			continue
		}
		for _, j := range clique {
			own[j] -= p.Spread
			c.of[j] = append(c.of[j], int32(len(c.cliques)))
		}
		mask := t.g.empty()
		for _, j := range clique {
			mask.add(int(j))
		}
		c.cliques, c.masks = append(c.cliques, clique), append(c.masks, mask)
	}
	for _, v := range own {
		most = max(most, v, -v)
	}
	if c.cliques != nil {
		t.base, t.unit = p.Spread, float64(most)
		if t.log == nil {
			c.floor = p.Spread*int64(len(c.cliques)-1) + p.Ceiling
		}
	}
	for j, v := range own {
		c.net[j] = float64(v) / t.unit
	}
}

// rows are the cliques as rows.
func (p *Problem) rows() []row {
	rows := make([]row, len(p.Cliques))
	for i, c := range p.Cliques {
		if rows[i].Bids = c; p.covers(i) {
			rows[i].Cover = 1
		}
	}
	return rows
}

// propagate takes bids that are the last live ones of a clique of which one has to win, and leaves out bids that conflict with all live ones of such a
// clique. It reports whether each of these cliques has a bid that is taken or live.
func (t *tree) propagate(n *node) bool {
	c := &t.cover
	if c.cliques == nil || t.log != nil {
		return true
	}
	open := slices.Repeat([]bool{true}, len(c.cliques))
	taken := 0
	common, some := t.g.empty(), make([]int32, 0, len(n.live)) // bids outside the clique that conflict with all its live ones, and their words
	for changed := true; changed; {
		for _, j := range n.taken[taken:] {
			for _, i := range c.of[j] {
				open[i] = false
			}
		}
		taken, changed = len(n.taken), false
		for i, clique := range c.cliques {
			if !open[i] {
				continue
			}
			count, first := 0, -1
			for _, j := range clique {
				if n.live.has(int(j)) {
					if count++; count == 1 {
						first, some = int(j), some[:0]
						for k, word := range t.g.conflict[j] {
							if word &= n.live[k] &^ c.masks[i][k]; word != 0 {
								common[k], some = word, append(some, int32(k))
							}
						}
						continue
					}
					left := some[:0]
					for _, k := range some {
						if common[k] &= t.g.conflict[j][k]; common[k] != 0 {
							left = append(left, k)
						}
					}
					if some = left; len(some) == 0 {
						break
					}
				}
			}
			switch {
			case count == 0:
				return false
			case count == 1:
				t.accept(n, first)
				changed = true
				for _, k := range c.of[first] {
					open[k] = false
				}
			case len(some) > 0:
				for _, k := range some {
					n.live[k] &^= common[k]
				}
				changed = true
			}
		}
	}
	return true
}

// isCovered reports whether a packing is worth so much that it has a bid of each clique of which one has to win, or none has to.
func (t *tree) isCovered(value int64) bool {
	return t.cover.cliques == nil || t.log != nil || value > t.cover.floor
}

// cheapest is how many bids searchCheapest looks at, for each row.
const cheapest = 3

// searchCheapest searches, for a while, among the bids that the prices of the root's relaxation exceed the least: a first partition that is near
// the best lets many bids be left out.
func (t *tree) searchCheapest(ctx context.Context, n *node, r *relaxation) {
	bids := n.live.members()
	if t.set.bare || len(bids) <= cheapest*len(r.rows) || ctx.Err() != nil {
		return
	}
	slices.SortFunc(bids, func(a, b int32) int { return cmp.Compare(r.reduced[b], r.reduced[a]) })
	some := &node{live: t.g.empty(), taken: slices.Clone(n.taken), fixed: n.fixed, bound: n.bound}
	for _, j := range bids[:cheapest*len(r.rows)] {
		some.live.add(int(j))
	}
	before := t.incumbent()
	t.gains, t.work = make([]gain, t.g.n), []int64{n.bound}
	w := newWorker(t, 0)
	w.aside = true
	w.explore(ctx, some)
	t.pseudoCostSums = pseudoCostSums{} // they are of other relaxations
	if best := t.incumbent(); best > before && r.fixByReducedPrices(n.live, r.bound(n.live, n.fixed), best) {
		n.step.recordStage(r)
	}
}
