package auction

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	auctionproblem "coalesce/solvers/auction/problem"
	csgproblem "coalesce/solvers/csg/problem"
)

// maxStates bounds the memory of Reference.
const maxStates = 1 << 23

// Reference finds the winners one set of unsold items after the other: the first item of the set
// stays unsold, or goes to one of the bids whose first item it is. Tests compare the coalition
// kernels with it; the two share no code. An auction with more than 64 items, or too many sets, is an
// error that wraps ErrItems.
func Reference(a *auctionproblem.Auction) (*Result, error) {
	r, err := NewReduction(a)
	if err != nil {
		return nil, err
	}
	n := len(r.Items)
	if n > 64 {
		return nil, fmt.Errorf("%s: %w: found %d items, expected at most 64", a.Source, auctionproblem.ErrItems, n)
	}
	first := make([][]uint64, n)
	total := new(big.Int)
	for mask, b := range r.best {
		total.Add(total, big.NewInt(r.atomic.Bids[b].Price))
		i := bits.TrailingZeros64(mask)
		first[i] = append(first[i], mask)
	}
	if !total.IsInt64() {
		return nil, fmt.Errorf("%s: %w: prices that add up to %s, expected less than 2^63 units of 10^-%d", a.Source, auctionproblem.ErrSize, a.FormatPrice(total), a.Scale)
	}
	for _, masks := range first {
		slices.Sort(masks)
	}
	type state struct {
		value int64
		take  uint64 // the bundle sold, 0 when the item stays unsold
	}
	memo := map[uint64]state{}
	var solve func(left uint64) (int64, bool)
	solve = func(left uint64) (int64, bool) {
		if left == 0 {
			return 0, true
		}
		if s, ok := memo[left]; ok {
			return s.value, true
		}
		if len(memo) == maxStates {
			return 0, false
		}
		value, ok := solve(left & (left - 1))
		if !ok {
			return 0, false
		}
		best := state{value: value}
		for _, mask := range first[bits.TrailingZeros64(left)] {
			if mask&^left != 0 {
				continue
			}
			rest, ok := solve(left &^ mask)
			if !ok {
				return 0, false
			}
			if x := rest + r.atomic.Bids[r.best[mask]].Price; x > best.value {
				best = state{x, mask}
			}
		}
		memo[left] = best
		return best.value, true
	}
	all := ^uint64(0) >> (64 - n)
	if n == 0 {
		all = 0
	}
	if _, ok := solve(all); !ok {
		return nil, fmt.Errorf("%s: %w: found more than %d sets of unsold items", a.Source, auctionproblem.ErrItems, maxStates)
	}
	var sold csgproblem.Structure
	for left := all; left != 0; {
		if s := memo[left]; s.take != 0 {
			sold = append(sold, s.take)
			left &^= s.take
		} else {
			left &= left - 1
		}
	}
	res := NewResult(r.atomic.Auction)
	res.Items, res.Device, res.Variant, res.Reason = n, "reference", "sets", "one core, one set of unsold goods after the other"
	if err := res.Accept(r.winnersOf(sold)); err != nil {
		return nil, err
	}
	res.SetProvenBound(res.Value)
	return originalResult(r.atomic, res)
}
