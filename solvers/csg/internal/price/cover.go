package price

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// An item is a column of a search: its agents, the rarest first, and its loss.
type item struct {
	mask uint64
	loss int64
}

// A cover is a search for the partition of all agents into columns whose losses add up
// to the least: depth first, the block of the first agent not yet covered next, blocks
// of small losses first.
type cover struct {
	n      int
	cores  int
	order  []int        // agents, rarest first: bit k of an item is agent order[k]
	groups [][]item     // by first agent, ascending by loss
	best   atomic.Int64 // partitions below this total are looked for
	steps  atomic.Int64 // items looked at
	limit  int64
	lock   sync.Mutex
	blocks []uint64 // of the best so far, nil while none is found
}

// itemsOf are columns with their losses, in agents' own bits.
func itemsOf(prices []int64, columns []column, cores int) []item {
	const piece = 1 << 12
	items := make([]item, len(columns))
	each(cores, (len(columns)+piece-1)/piece, func(k int) {
		for i := k * piece; i < min((k+1)*piece, len(columns)); i++ {
			x := columns[i]
			items[i] = item{x.mask, sum(prices, x.mask) - x.value}
		}
	})
	return items
}

// newCover sorts the items of losses below a budget.
func newCover(items []item, n int, budget int64, cores int) *cover {
	c := &cover{n: n, cores: cores, order: make([]int, n), groups: make([][]item, n)}
	count := make([]int, n)
	var kept []item
	for _, x := range items {
		if x.loss < budget {
			kept = append(kept, x)
			for s := x.mask; s != 0; s &= s - 1 {
				count[bits.TrailingZeros64(s)]++
			}
		}
	}
	place := make([]int, n)
	for i := range c.order {
		c.order[i] = i
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return cmp.Compare(count[a], count[b]) })
	for k, i := range c.order {
		place[i] = k
	}
	for _, x := range kept {
		mask := uint64(0)
		for s := x.mask; s != 0; s &= s - 1 {
			mask |= 1 << place[bits.TrailingZeros64(s)]
		}
		first := bits.TrailingZeros64(mask)
		c.groups[first] = append(c.groups[first], item{mask, x.loss})
	}
	each(cores, n, func(k int) {
		slices.SortFunc(c.groups[k], func(a, b item) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.mask, b.mask)) })
	})
	return c
}

// search looks for partitions of a total loss below budget, and reports whether all
// were looked at, before `limit` items were. The best is in blocks, in agents' own bits.
func (c *cover) search(ctx context.Context, budget, limit int64) bool {
	c.best.Store(budget)
	c.steps.Store(0)
	c.limit, c.blocks = limit, nil
	first := c.groups[0]
	end, _ := slices.BinarySearchFunc(first, budget, func(x item, b int64) int { return cmp.Compare(x.loss, b) })
	parts := 1 + 1023/max(1, end) // pieces of work of each first block, by the second
	var stopped atomic.Bool
	each(c.cores, end*parts, func(k int) {
		if stopped.Load() {
			return
		}
		w := walk{cover: c, ctx: ctx}
		w.begin(first[k/parts], k%parts, parts)
		if c.steps.Add(w.steps+1) > limit || w.over || ctx.Err() != nil {
			stopped.Store(true)
		}
	})
	return !stopped.Load()
}

// A walk is one core's part of a search.
type walk struct {
	*cover
	ctx   context.Context
	depth int
	stack [40]uint64
	steps int64
	over  bool // the limit, or the time
}

// begin looks at the partitions with a first block, and every parts-th of its second.
func (w *walk) begin(x item, part, parts int) {
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

// down looks at all partitions that go on from covered agents.
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
	if w.steps += int64(looked) + 1; w.steps > 1<<16 {
		w.over = w.cover.steps.Add(w.steps) > w.limit || w.ctx.Err() != nil
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

// quantiles are losses such that about as many items lie between any two that follow one
// another: 1023 of them, or all losses.
func quantiles(items []item) []int64 {
	var all []int64
	for i := 0; i < len(items); i += 1 + len(items)/1024 {
		all = append(all, items[i].loss)
	}
	slices.Sort(all)
	return all
}
