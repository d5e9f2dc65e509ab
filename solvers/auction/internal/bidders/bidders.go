// Package bidders finds the best bids of an auction bidder by bidder. A table has, for every set S of
// items, the most that the bidders so far pay together for items of S. The next bidder takes none of
// its bids or one of them, b, and leaves the items S\b to the bidders before it:
//
//	new(S) = max(old(S), old(S\b) + price(b) for all bids b of the bidder within S)
//
// The bidders are ordered so that the first ones ask for few items; their tables have only the sets
// of these items (peel).
//
// A host visits 2^(items-|b|) sets for each bid b, and copies the table for each bidder of several
// bids. A device takes several bidders in one pass over the table (passes).
package bidders

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Bid asks for items, a bit each, at a price above 0.
type Bid struct {
	Items uint32
	Price int64
	ID    int
}

// A Problem is bidders, each of whom wins one of its bids at most.
type Problem struct {
	Items   int
	Bidders [][]Bid
}

// valueBound is a value that no allocation exceeds: the sum of each bidder's highest price, or, if that is
// lower, the sum over all items of the highest share of an item in the price of a bid.
func (p *Problem) valueBound() int64 {
	add := func(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }
	byBidder, byItem := int64(0), int64(0)
	shares := make([]int64, p.Items)
	for _, bids := range p.Bidders {
		high, free := int64(0), int64(0)
		for _, b := range bids {
			high = max(high, b.Price)
			size := int64(bits.OnesCount32(b.Items))
			if size == 0 {
				free = max(free, b.Price)
			}
			for left := b.Items; left != 0; left &= left - 1 {
				k := bits.TrailingZeros32(left)
				shares[k] = max(shares[k], (b.Price-1)/size+1)
			}
		}
		byBidder, byItem = add(byBidder, high), add(byItem, free)
	}
	for _, share := range shares {
		byItem = add(byItem, share)
	}
	return min(byBidder, byItem)
}

// FitsInt32 reports whether the worth of every allocation fits 32 bits, in units of the prices'
// greatest common divisor.
func (p *Problem) FitsInt32() bool { return p.valueBound()/p.priceUnit() <= math.MaxInt32 }

// priceUnit is the greatest common divisor of all prices.
func (p *Problem) priceUnit() int64 {
	unit := int64(0)
	for _, bids := range p.Bidders {
		for _, b := range bids {
			for x := b.Price; x != 0; {
				unit, x = x, unit%x
			}
		}
	}
	return max(unit, 1)
}

// itemsOf is the items that any of some bids ask for.
func itemsOf(bids []Bid) uint32 {
	all := uint32(0)
	for _, b := range bids {
		all |= b.Items
	}
	return all
}

// orderItems renumbers the items so that few bidders ask for the high ones, and orders the bidders by their
// highest item: the last item is one that the fewest bidders ask for, the item before it one that the
// fewest of the remaining bidders ask for, and so on. It also returns the former place of each bidder.
func (p *Problem) orderItems() (*Problem, []int) {
	asked := make([]uint32, len(p.Bidders))
	holders := make([]int, p.Items) // by item, how many of the remaining bidders ask for it
	for k, bids := range p.Bidders {
		asked[k] = itemsOf(bids)
		for left := asked[k]; left != 0; left &= left - 1 {
			holders[bits.TrailingZeros32(left)]++
		}
	}
	number := make([]int, p.Items)
	gone, leave := make([]bool, len(asked)), make([]bool, p.Items)
	for last := p.Items - 1; last >= 0; last-- {
		fewest := -1
		for k := range holders {
			if !leave[k] && (fewest < 0 || holders[k] < holders[fewest]) {
				fewest = k
			}
		}
		number[fewest], leave[fewest] = last, true
		for k, set := range asked {
			if gone[k] || set>>fewest&1 == 0 {
				continue
			}
			gone[k] = true
			for left := set; left != 0; left &= left - 1 {
				holders[bits.TrailingZeros32(left)]--
			}
		}
	}
	order := make([]int, len(p.Bidders))
	peeled := make([][]Bid, len(p.Bidders))
	for k, bids := range p.Bidders {
		order[k] = k
		peeled[k] = make([]Bid, len(bids))
		for n, b := range bids {
			set := uint32(0)
			for left := b.Items; left != 0; left &= left - 1 {
				set |= 1 << number[bits.TrailingZeros32(left)]
			}
			peeled[k][n] = Bid{set, b.Price, b.ID}
		}
		asked[k] = itemsOf(peeled[k])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(asked[a], asked[b]) })
	q := &Problem{Items: p.Items}
	for _, k := range order {
		q.Bidders = append(q.Bidders, peeled[k])
	}
	return q, order
}

// A splitter makes the tables of two groups of a peeled problem's bidders, the first `half` and the
// others. It returns the items that the first group gets in a best allocation, and the value of that
// allocation.
type splitter interface {
	split(ctx context.Context, p *Problem, half int) (uint32, int64, error)
}

// solveByHalves returns the IDs of the bids that pay the most together, and the sum of their prices. Splitter
// `by` finds the items of each half of the bidders; splitter `then` finds the bids of each half for
// its items in the same way.
func (p *Problem) solveByHalves(ctx context.Context, by, then splitter) ([]int, int64, error) {
	switch len(p.Bidders) {
	case 0:
		return nil, 0, nil
	case 1:
		best := Bid{ID: -1}
		for _, b := range p.Bidders[0] {
			if b.Price > best.Price {
				best = b
			}
		}
		if best.ID < 0 {
			return nil, 0, nil
		}
		return []int{best.ID}, best.Price, nil
	}
	peeled, _ := p.orderItems()
	half := len(p.Bidders) / 2
	best, value, err := by.split(ctx, peeled, half)
	if err != nil {
		return nil, 0, err
	}
	all := uint32(1)<<p.Items - 1
	var won []int
	for k, items := range []uint32{best, all &^ best} {
		part := p.within(items, peeled.Bidders[k*half:half+k*(len(p.Bidders)-half)])
		ids, _, err := part.solveByHalves(ctx, then, then)
		if err != nil {
			return nil, 0, err
		}
		won = append(won, ids...)
	}
	return won, value, nil
}

// within is the problem of some bidders and items, renumbered from 0: bids that ask
// for other items are left out, and bidders who have no other bids.
func (p *Problem) within(items uint32, bidders [][]Bid) *Problem {
	sub := &Problem{Items: bits.OnesCount32(items)}
	for _, bids := range bidders {
		var left []Bid
		for _, b := range bids {
			if b.Items&^items == 0 {
				b.Items = squeeze(b.Items, items)
				left = append(left, b)
			}
		}
		if left != nil {
			sub.Bidders = append(sub.Bidders, left)
		}
	}
	return sub
}

// squeeze extracts the bits of a set at the places of a mask, and packs them from bit 0 on.
func squeeze(set, mask uint32) uint32 {
	out := uint32(0)
	for k := 0; mask != 0; k++ {
		if low := mask & -mask; set&low != 0 {
			out |= 1 << k
		}
		mask &= mask - 1
	}
	return out
}

// splitOffGroups divides a problem's bidders, peeled, into those outside of all groups and the groups,
// which are lists of places in Bidders.
func (p *Problem) splitOffGroups(groups [][]int) (base [][]Bid, left [][][]Bid) {
	peeled, order := p.orderItems()
	left = make([][][]Bid, len(groups))
	of := make([]int, len(p.Bidders)) // by bidder, one more than the number of its group; 0: none
	for g, list := range groups {
		for _, k := range list {
			of[k] = g + 1
		}
	}
	for n, k := range order {
		if g := of[k]; g > 0 {
			left[g-1] = append(left[g-1], peeled.Bidders[n])
		} else {
			base = append(base, peeled.Bidders[n])
		}
	}
	return base, left
}

// tooMany is the error of more items than a table takes.
func tooMany(items, limit int) error {
	if items > limit {
		return fmt.Errorf("found %d items, expected at most %d", items, limit)
	}
	return nil
}
