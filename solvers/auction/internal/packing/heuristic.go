package packing

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"
)

// A Heuristic searches for good packings of a component, while the tree is searched, until ctx ends. It
// proves nothing and may round prices: the tree turns its results into packings and adds up their
// prices.
type Heuristic func(ctx context.Context, c *Conflicts, x Exchange)

// Conflicts are the prices of a component's bids, and the pairs of bids that exclude one another.
type Conflicts struct {
	Prices []int64
	Count  int                     // of Pairs
	Pairs  iter.Seq2[int32, int32] // the first less than the second, ascending
}

// An Exchange passes packings between a tree and the heuristic.
type Exchange struct {
	Give func(bids []int32) bool // gives bids to the tree, which drops the cheaper of two that conflict; reports whether the packing is the best so far
	Take func() []int32          // the tree's best packing; nil: the same as was taken or given last
}

// startHeuristic starts the heuristic after its delay, and returns the function that ends it.
func (t *tree) startHeuristic(ctx context.Context) (end func()) {
	if t.set.Heuristic == nil || t.team != nil || t.g.n <= enumerable && !t.set.bare {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(t.set.HeuristicDelay):
			t.set.Heuristic(ctx, t.g.conflicts(t.prices), t.exchange())
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// exchange is the Exchange of a tree, for one goroutine at a time.
func (t *tree) exchange() Exchange {
	h := newImprover(t.g, t.prices, 0)
	for j, price := range t.prices {
		h.key[j] = float64(price)
	}
	all, given := t.g.empty(), t.g.empty()
	for j := range t.g.n {
		all.add(j)
	}
	seen := int64(math.MinInt64)
	return Exchange{
		Give: func(bids []int32) bool {
			clear(given)
			for _, j := range bids {
				given.add(int(j))
			}
			chosen, _ := h.fill(given, nil)
			chosen, value := h.fill(all, chosen)
			if !t.keepIfBest(chosen, value) {
				return false
			}
			seen = value
			t.report()
			return true
		},
		Take: func() []int32 {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.best == seen {
				return nil
			}
			seen = t.best
			return slices.Clone(t.chosen)
		},
	}
}

// conflicts are those of the graph.
func (g *graph) conflicts(prices []int64) *Conflicts {
	c := &Conflicts{Prices: prices}
	for _, rivals := range g.conflict {
		c.Count += rivals.count()
	}
	c.Count /= 2
	c.Pairs = func(yield func(a, b int32) bool) {
		for a, rivals := range g.conflict {
			for _, b := range rivals.members() {
				if int(b) > a && !yield(int32(a), b) {
					return
				}
			}
		}
	}
	return c
}
