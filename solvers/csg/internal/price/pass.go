package price

import (
	"context"
	"slices"
	"sync"

	"coalesce/runtime/device"
)

// A column is a coalition and its value, in units.
type column struct {
	mask  uint64
	value int64
}

// An pricedCoalition is a coalition and its loss, y(S) - v(S), in units: below 0 where the prices are too low.
type pricedCoalition struct {
	mask uint64
	loss int64
}

// passResult is the result of a pass: all coalitions of a loss of at most limit, and perhaps others.
type passResult struct {
	items []pricedCoalition
	limit int64
}

// blockBits is the number of agents in the table of sums of a pass: 2^12 sums of 8 bytes stay in a
// core's first-level cache.
const blockBits = 12

// scan is one pass over all values on all cores. It finds the coalitions of a loss of at most
// limit; where these are many more than keep, it lowers the limit. price converts sums of prices,
// exactly, to the type in which values are compared, and scale is the factor of the values.
//
// The comparison is v*scale > y(S) - (limit+1): of integers in units, of floats in float64, which
// holds sums of multiples of grain exactly.
func scan[T device.Number, A int64 | float64](ctx context.Context, h *onHost[T], prices []int64, limit int64, keep int, scale A, price func(int64) A) (passResult, error) {
	n := len(prices)
	k := min(n, blockBits)
	y := sumsOf(prices)
	table := make([]A, 1<<k)
	for i := range k {
		for s := range 1 << i {
			table[1<<i|s] = table[s] + price(prices[i])
		}
	}
	blocks := uint64(1) << (n - k)
	run := max(1, blocks>>10) // blocks that a core takes at a time
	var lock sync.Mutex
	all := passResult{limit: limit}
	spare := make(chan []pricedCoalition, h.cores) // lists of pieces that are done, for the pieces that follow
	forEach(h.cores, int(blocks/run), func(piece int) {
		if ctx.Err() != nil {
			return
		}
		lock.Lock()
		own := passResult{limit: all.limit}
		lock.Unlock()
		select {
		case own.items = <-spare:
		default:
		}
		for b := uint64(piece) * run; b < uint64(piece+1)*run; b++ {
			base := b << k
			high := y.sumOf(base)
			least := price(high - roundUp(own.limit+1))
			for j, v := range h.values[base:][:len(table)] {
				if A(v)*scale <= least+table[j] {
					continue
				}
				mask := base + uint64(j)
				value := inUnits(v, h.unit)
				if mask == 0 || value == forbidden || y.sumOf(mask)-value > own.limit {
					continue
				}
				if own.items = append(own.items, pricedCoalition{mask, y.sumOf(mask) - value}); len(own.items) >= 2*keep {
					own.lowerLimit(1, keep)
					least = price(high - roundUp(own.limit+1))
				}
			}
		}
		lock.Lock()
		defer lock.Unlock()
		if len(all.items)+len(own.items) > cap(all.items) { // doubled, where append would add a quarter
			all.items = slices.Grow(all.items, len(all.items)+len(own.items))
		}
		all.items = append(all.items, own.items...)
		spare <- own.items[:0]
		all.limit = min(all.limit, own.limit)
		for len(all.items) >= 2*keep {
			all.lowerLimit(h.cores, keep)
		}
	})
	return all, ctx.Err()
}

// roundUp rounds a loss up to a multiple of grain.
func roundUp(x int64) int64 { return (x + grain - 1) &^ (grain - 1) }

// lowerLimit lowers the limit to the losses of about `keep` items, or half of all where these are fewer, and drops
// the others.
func (f *passResult) lowerLimit(cores, keep int) {
	sample := make([]int64, 0, 512)
	for i := 0; i < len(f.items); i += max(1, len(f.items)/511) {
		sample = append(sample, f.items[i].loss)
	}
	slices.Sort(sample)
	f.limit = max(min(sample[min(len(sample)/2, len(sample)*keep/len(f.items))]-1, f.limit), -largest)
	f.items = filterMap(cores, f.items, f.items, func(_ int, x pricedCoalition) (pricedCoalition, bool) { return x, x.loss <= f.limit })
}
