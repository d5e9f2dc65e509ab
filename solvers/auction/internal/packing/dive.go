package packing

import (
	"context"
	"slices"

	"coalesce/solvers/lp"
)

const (
	dives   = 4  // most dives from the first relaxation of the root
	retries = 12 // bids of a dive that are left out after all
	few     = 16 // prices of which many bids have each
	depth   = 3  // most pivots of a dive, in units of its relaxation's own
)

// diveAmongTies dives from the root's first relaxation where that had to perturb costs, and exchanges bids before each dive where there are few prices:
// many packings are worth what it is, and a search meets one of them. Where goods have to be sold it dives alone.
func (t *tree) diveAmongTies(ctx context.Context, n *node, r *relaxation, h *improver) {
	if r.solver.Perturbations == 0 && t.cover.cliques == nil {
		return
	}
	var swaps *swapper
	if t.equal = t.cover.cliques == nil && t.fewPrices(); t.equal {
		swaps = newSwapper(t.g, t.prices, n.live, 0)
	}
	for range dives {
		if swaps != nil {
			t.searchSwaps(ctx, swaps, n, 2*r.solver.Pivots*r.Rows*r.Rows/conflictCost)
		}
		if t.prunes(n, n.bound) || ctx.Err() != nil {
			return
		}
		t.dive(ctx, n, r, h)
	}
}

// fewPrices reports whether there are so few prices that many packings are worth the same.
func (t *tree) fewPrices() bool {
	seen := map[int64]bool{}
	for _, price := range t.prices {
		if seen[price] = true; len(seen) > few {
			return false
		}
	}
	return true
}

// dive looks for better packings below a node, whose relaxation is solved: it takes the live bid of the
// largest fraction and solves the relaxation again, until it is integer. Where the relaxation
// rules out better packings with the bid, it leaves the bid out.
func (t *tree) dive(ctx context.Context, n *node, r *relaxation, h *improver) {
	var start lp.State
	r.solver.Save(&start)
	most := r.solver.Pivots + depth*r.solver.Pivots + r.Rows
	defer func() {
		r.boundColumns(n)
		r.solver.Load(&start)
	}()
	d := &node{live: slices.Clone(n.live), taken: slices.Clone(n.taken), fixed: n.fixed}
	before := &node{live: t.g.empty()}
	for misses := 0; r.solver.Pivots < most && ctx.Err() == nil; {
		pick, top := -1, 0.0
		var integer []int
		d.live.each(func(j int) {
			x := r.solver.Value(int(r.at[j]))
			if x > 1-whole {
				integer = append(integer, j)
			} else if x > whole {
				if x += 0.1 * h.rand.Float64(); x > top {
					pick, top = j, x
				}
			}
			h.key[j] = x + 1e-3*t.cover.net[j]
		})
		if pick < 0 {
			break
		}
		for _, j := range integer {
			if d.live.has(j) {
				t.accept(d, j)
			}
		}
		if !d.live.has(pick) {
			continue
		}
		copy(before.live, d.live)
		before.taken, before.fixed = append(before.taken[:0], d.taken...), d.fixed
		t.accept(d, pick)
		if t.ruledOutBelow(ctx, d, r) {
			if misses++; misses > retries {
				break
			}
			copy(d.live, before.live)
			d.taken, d.fixed = append(d.taken[:0], before.taken...), before.fixed
			d.live.remove(pick)
			if t.ruledOutBelow(ctx, d, r) {
				break
			}
		}
	}
	t.offer(h.fill(d.live, d.taken))
}

// ruledOutBelow solves a relaxation for a node below its own, and reports whether the node holds no packing better than the best.
func (t *tree) ruledOutBelow(ctx context.Context, d *node, r *relaxation) bool {
	if !t.propagate(d) {
		return true
	}
	r.boundColumns(d)
	cutoff := r.cutoff(t.incumbent())
	r.solver.Solve(ctx, cutoff, 0)
	return r.solver.Objective() <= cutoff
}
