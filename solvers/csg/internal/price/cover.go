package price

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A partitionSearch is a search for the partition of all agents into coalitions whose losses add up
// to the least: depth first, the block of the first agent not yet covered next, blocks
// of small losses first.
type partitionSearch struct {
	n      int
	cores  int
	order  []int               // agents, rarest first
	groups [][]pricedCoalition // by first agent, ascending by loss; of their masks bit k is agent order[k]
	best   atomic.Int64        // partitions below this total are looked for
	steps  atomic.Int64        // items looked at
	limit  int64
	lock   sync.Mutex
	blocks []uint64 // of the best so far, nil while none is found
}

// sort sorts items by loss, then by mask. No loss is below least.
func (b *buffers) sort(cores int, items []pricedCoalition, least int64) {
	sortByKey(cores, items, resize(&b.spare, len(items)), func(x pricedCoalition) int64 { return x.loss - least })
	starts := make([]int, (len(items)+piece-1)/piece+1) // of the first runs of one loss that begin in each piece
	forEach(cores, len(starts), func(k int) {
		from := min(k*piece, len(items))
		for from > 0 && from < len(items) && items[from].loss == items[from-1].loss {
			from++
		}
		starts[k] = from
	})
	var lock sync.Mutex
	var long [][]pricedCoalition // runs for all cores
	forEach(cores, len(starts)-1, func(k int) {
		for from, end := starts[k], starts[k+1]; from < end; {
			to := from + 1
			for to < end && items[to].loss == items[from].loss {
				to++
			}
			if run := items[from:to]; len(run) > piece {
				lock.Lock()
				long = append(long, run)
				lock.Unlock()
			} else if len(run) > 1 {
				slices.SortFunc(run, func(a, b pricedCoalition) int { return cmp.Compare(a.mask, b.mask) })
			}
			from = to
		}
	})
	for _, run := range long {
		sortByKey(cores, run, b.spare[:len(run)], func(x pricedCoalition) int64 { return int64(x.mask) })
	}
}

// newCover groups the items of losses below a budget, which ascend by loss. The last cover is lost.
func (b *buffers) newCover(items []pricedCoalition, n int, budget int64, cores int) *partitionSearch {
	items = items[:countBelow(items, budget)]
	c := &partitionSearch{n: n, cores: cores, order: make([]int, n)}
	count := countMemberships(items, 1+len(items)>>16, n) // a sample shows which agents are rare
	for i := range c.order {
		c.order[i] = i
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
	var spread [8][256]uint64 // by byte and its value: the agents' own bits mapped to the search's bits
	for k, i := range c.order {
		for own := range 256 {
			spread[i/8][own] |= uint64(own>>(i%8)&1) << k
		}
	}
	c.groups = intoBuckets(cores, items, resize(&b.spare, len(items)), n, func(x pricedCoalition) (pricedCoalition, int) {
		mask := uint64(0)
		for k := range (n + 7) / 8 {
			mask |= spread[k][x.mask>>(8*k)&255]
		}
		return pricedCoalition{mask, x.loss}, bits.TrailingZeros64(mask)
	})
	return c
}

// countMemberships counts, by agent, those coalitions of every step-th item that the agent is in.
func countMemberships(items []pricedCoalition, step, n int) []int {
	var of [8][256]int // by byte of a mask and its value
	for k := 0; k < len(items); k += step {
		for b, m := 0, items[k].mask; m != 0; b, m = b+1, m>>8 {
			of[b][m&255]++
		}
	}
	count := make([]int, n)
	for i := range count {
		for s, c := range of[i/8] {
			count[i] += c * (s >> (i % 8) & 1)
		}
	}
	return count
}

// countBelow counts the items of losses below a budget.
func countBelow(items []pricedCoalition, budget int64) int {
	end, _ := slices.BinarySearchFunc(items, budget, func(x pricedCoalition, b int64) int { return cmp.Compare(x.loss, b) })
	return end
}

// search looks for partitions of a total loss below budget, and reports whether all
// were looked at, before `limit` items were. The best is in blocks, in agents' own bits.
func (c *partitionSearch) search(ctx context.Context, budget, limit int64) bool {
	const alone = 1 << 12 // items that one core looks at before others would begin
	c.best.Store(budget)
	c.steps.Store(0)
	c.blocks = nil
	return c.attempt(ctx, 1, min(alone, limit)) || alone < limit && c.attempt(ctx, c.cores, limit)
}

// attempt is a search on some cores for partitions of losses below the best.
func (c *partitionSearch) attempt(ctx context.Context, cores int, limit int64) bool {
	c.limit = limit
	first := c.groups[0]
	end := countBelow(first, c.best.Load())
	parts := 1 + 1023/max(1, end) // pieces of work of each first block, by the second
	if cores == 1 {
		parts = 1
	}
	var stopped atomic.Bool
	forEach(cores, end*parts, func(k int) {
		if stopped.Load() {
			return
		}
		w := walk{partitionSearch: c, ctx: ctx}
		w.begin(first[k/parts], k%parts, parts)
		if c.steps.Add(w.steps+1) > limit || w.over || ctx.Err() != nil {
			stopped.Store(true)
		}
	})
	return !stopped.Load()
}

// A walk is one core's part of a search.
type walk struct {
	*partitionSearch
	ctx   context.Context
	depth int
	stack [40]uint64
	steps int64
	over  bool // the limit of items or the time is spent
}

// begin looks at the partitions with a given first block and with every parts-th of the second
// blocks that go with the first.
func (w *walk) begin(x pricedCoalition, part, parts int) {
	w.stack[0], w.depth = x.mask, 1
	if x.mask == 1<<w.n-1 {
		w.arrive(x.loss)
		return
	}
	group := w.groups[bits.TrailingZeros64(^x.mask)]
	for k := part; k < len(group) && !w.over; k += parts {
		w.steps++
		second := group[k]
		if x.loss+second.loss >= w.best.Load() {
			return
		}
		if second.mask&x.mask == 0 {
			w.stack[1], w.depth = second.mask, 2
			w.down(second.mask|x.mask, second.loss+x.loss)
		}
	}
}

// down looks at all partitions of the agents that are not covered yet.
func (w *walk) down(covered uint64, loss int64) {
	if covered == 1<<w.n-1 {
		w.arrive(loss)
		return
	}
	group := w.groups[bits.TrailingZeros64(^covered)]
	limit := w.best.Load() - loss
	looked := len(group)
	for k, x := range group {
		if x.loss >= limit {
			looked = k
			break
		}
		if x.mask&covered != 0 {
			continue
		}
		w.stack[w.depth] = x.mask
		w.depth++
		w.down(covered|x.mask, loss+x.loss)
		w.depth--
		if w.over {
			return
		}
		limit = w.best.Load() - loss
	}
	if w.steps += int64(looked) + 1; w.steps > 1<<12 {
		w.over = w.partitionSearch.steps.Add(w.steps) > w.limit || w.ctx.Err() != nil
		w.steps = 0
	}
}

func (w *walk) arrive(loss int64) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if loss >= w.best.Load() {
		return
	}
	w.best.Store(loss)
	w.blocks = w.blocks[:0]
	for _, mask := range w.stack[:w.depth] {
		block := uint64(0)
		for ; mask != 0; mask &= mask - 1 {
			block |= 1 << w.order[bits.TrailingZeros64(mask)]
		}
		w.blocks = append(w.blocks, block)
	}
}

// quantiles are 1023 losses that divide the ascending items into parts of equal numbers, or all
// losses where there are fewer.
func quantiles(items []pricedCoalition) []int64 {
	var all []int64
	for i := 0; i < len(items); i += 1 + len(items)/1024 {
		all = append(all, items[i].loss)
	}
	return all
}
