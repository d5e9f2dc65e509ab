package auction

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/internal/selection"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
)

// MaxItems is the most items that Solve turns into agents by its own choice: 2^25 values.
// MaxItemsAsked is the most where the options name an algorithm or a variant of coalition structures.
const (
	MaxItems      = selection.MaxItems
	MaxItemsAsked = 30
)

// A Reduction is an auction as a coalition structure. Its agents are items:
// goods and dummies that two or more bids ask for, where those that the same bids
// ask for are taken as one.
type Reduction struct {
	Items  [][]int64      // the goods of each item
	Always []int          // atomic bids that nothing competes with, by place
	best   map[uint64]int // bundle of items to its best atomic bid, by place
	atomic *problem.AtomicBids
}

// NewReduction finds the items of an auction. It takes no more memory than the
// auction's atomic bids, however many items there are. Errors are those of limits and
// reserves that have no meaning, or wrap ErrSize.
func NewReduction(a *Auction) (*Reduction, error) {
	p, err := problem.NewAtomicBids(a, true)
	if err != nil {
		return nil, err
	}
	return newReduction(p), nil
}

func newReduction(a *problem.AtomicBids) *Reduction {
	r := &Reduction{atomic: a, best: map[uint64]int{}}
	holders := map[int64][]int{}
	for i, b := range a.Bids {
		for _, g := range b.Goods {
			holders[g] = append(holders[g], i)
		}
	}
	goods := make([]int64, 0, len(holders))
	for g := range holders {
		goods = append(goods, g)
	}
	slices.Sort(goods)
	item := map[string]int{}
	masks := make([]uint64, len(a.Bids))
	contested := make([]bool, len(a.Bids))
	for _, g := range goods {
		who := holders[g]
		if len(who) < 2 {
			continue
		}
		var key strings.Builder
		for _, i := range who {
			fmt.Fprintf(&key, "%d ", i)
		}
		k, ok := item[key.String()]
		if !ok {
			k = len(r.Items)
			item[key.String()] = k
			r.Items = append(r.Items, nil)
			for _, i := range who {
				contested[i] = true
				if k < 64 {
					masks[i] |= 1 << k
				}
			}
		}
		r.Items[k] = append(r.Items[k], g)
	}
	for i, b := range a.Bids {
		switch {
		case b.Price <= 0:
			// Without this bid the revenue is no less.
		case !contested[i]:
			r.Always = append(r.Always, i)
		default:
			if j, ok := r.best[masks[i]]; !ok || b.Price > a.Bids[j].Price {
				r.best[masks[i]] = i
			}
		}
	}
	return r
}

// ToCSG is the coalition structure of an auction of at most MaxItems items: a
// bundle is worth its best bid, or nothing. Values are whole numbers of
// 10^-Scale of the auction. The error of more items wraps ErrItems.
func (r *Reduction) ToCSG() (*csg.Instance, error) { return r.toCSG(MaxItems) }

// toCSG is ToCSG for at most so many items. If the host's memory does not hold the values, the error
// wraps device.ErrMemory.
func (r *Reduction) toCSG(maxItems int) (*csg.Instance, error) {
	n := len(r.Items)
	if n > maxItems {
		goods := 0
		for _, ids := range r.Items {
			if slices.ContainsFunc(ids, func(g int64) bool { return !r.atomic.Dummy(g) }) {
				goods++
			}
		}
		return nil, fmt.Errorf("%s: %w: found %d items that bids compete for, %d of them with goods and %d dummies, expected at most %d together", r.atomic.Source, ErrItems, n, goods, n-goods, maxItems)
	}
	value := csg.Int32
	for _, i := range r.best {
		if r.atomic.Bids[i].Price > (1<<31-1)/int64(max(1, n)) {
			value = csg.Int64
		}
	}
	machine := host.Open(1)
	defer machine.Close()
	facts := machine.Facts()
	if need := csg.Footprint(n, value); facts.Free > 0 && need > facts.Free {
		return nil, fmt.Errorf("%s: the %s values of %d items take %s: %w", r.atomic.Source, value, n, facts.Lacks(float64(need)), device.ErrMemory)
	}
	var inst *csg.Instance
	var err error
	if value == csg.Int32 {
		inst, err = csg.NewInstance(valued[int32](r), r.atomic.Source)
	} else {
		inst, err = csg.NewInstance(valued[int64](r), r.atomic.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: prices: %w", r.atomic.Source, ErrSize, err)
	}
	return inst, nil
}

// valued are the values of all bundles.
func valued[T int32 | int64](r *Reduction) []T {
	values := make([]T, uint64(1)<<len(r.Items))
	for mask, i := range r.best {
		values[mask] = T(r.atomic.Bids[i].Price)
	}
	return values
}

// winners are the atomic bids, by place, ascending, that a structure of the reduced
// instance accepts. Blocks that no bid asks for stay unsold.
func (r *Reduction) winners(s csg.Structure) []int {
	winners := slices.Clone(r.Always)
	for _, block := range s {
		if i, ok := r.best[block]; ok {
			winners = append(winners, i)
		}
	}
	slices.Sort(winners)
	return winners
}

// maxStates bounds the memory of Reference.
const maxStates = 1 << 23

// Reference finds the winners one set of unsold items after the other: the first item of the set
// stays unsold, or goes to one of the bids whose first item it is. Tests compare the coalition
// kernels with it; the two share no code. An auction with more than 64 items, or too many sets, is an
// error that wraps ErrItems.
func Reference(a *Auction) (*Result, error) {
	r, err := NewReduction(a)
	if err != nil {
		return nil, err
	}
	n := len(r.Items)
	if n > 64 {
		return nil, fmt.Errorf("%s: %w: found %d items, expected at most 64", a.Source, ErrItems, n)
	}
	first := make([][]uint64, n)
	total := new(big.Int)
	for mask, b := range r.best {
		total.Add(total, big.NewInt(r.atomic.Bids[b].Price))
		i := bits.TrailingZeros64(mask)
		first[i] = append(first[i], mask)
	}
	if !total.IsInt64() {
		return nil, fmt.Errorf("%s: %w: prices that add up to %s, expected less than 2^63 units of 10^-%d", a.Source, ErrSize, a.Price(total), a.Scale)
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
		return nil, fmt.Errorf("%s: %w: found more than %d sets of unsold items", a.Source, ErrItems, maxStates)
	}
	var sold csg.Structure
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
	if err := res.Accept(r.winners(sold)); err != nil {
		return nil, err
	}
	res.Prove(res.Value)
	return originalResult(r.atomic, res)
}
