package packing

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"
)

// A Beside is a search for good packings of a component, beside its tree and until ctx ends.
// It needs no proof and may round prices: what it finds is made a packing here, and its
// worth added up.
type Beside func(ctx context.Context, c *Conflicts, x Exchange)

// Conflicts are the bids of a component, by their prices, and which exclude one another.
type Conflicts struct {
	Prices []int64
	Count  int                     // of Pairs
	Pairs  iter.Seq2[int32, int32] // the first less than the second, ascending
}

// An Exchange passes packings between a tree and the search beside it.
type Exchange struct {
	Give func(bids []int32) bool // of bids that conflict the dearer stay; reports whether the tree had none as good
	Take func() []int32          // the tree's best; nil: it is that which was taken or given last
}

// accompany has a search run beside the tree after a while, and returns how it is ended.
func (t *tree) accompany(ctx context.Context) (end func()) {
	if t.set.Beside == nil || t.team != nil || t.g.n <= few && !t.set.bare {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(t.set.Alone):
			t.set.Beside(ctx, t.g.conflicts(t.prices), t.exchange())
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// exchange is the tree's, for one goroutine at a time.
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
			if !t.keep(chosen, value) {
				return false
			}
			seen = value
			t.tell()
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
