package auction

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// MaxItems is the most items that Solve turns into agents by its own choice: 2^25 values.
// MaxItemsAsked is the most where the options name an algorithm or a variant of coalition structures.
const (
	MaxItems      = plan.MaxItems
	MaxItemsAsked = 30
)

// A Reduction is an auction as a coalition structure. Its agents are items: goods and dummies that
// two or more bids ask for; those asked for by the same bids become one.
type Reduction struct {
	Items  [][]int64      // the goods of each item
	Always []int          // atomic bids that nothing competes with, by place
	best   map[uint64]int // bundle of items to its best atomic bid, by place
	atomic *problem.AtomicBids
}

// NewReduction finds the items of an auction. It takes no more memory than the
// auction's atomic bids, however many items there are. Errors are those of limits and
// reserves that have no meaning, or wrap ErrSize.
func NewReduction(a *problem.Auction) (*Reduction, error) {
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
func (r *Reduction) ToCSG() (*csgproblem.Instance, error) { return r.toCSG(MaxItems) }

// toCSG is ToCSG for at most so many items. If the host's memory does not hold the values, the error
// wraps device.ErrMemory.
func (r *Reduction) toCSG(maxItems int) (*csgproblem.Instance, error) {
	n := len(r.Items)
	if n > maxItems {
		goods := 0
		for _, ids := range r.Items {
			if slices.ContainsFunc(ids, func(g int64) bool { return !r.atomic.IsDummy(g) }) {
				goods++
			}
		}
		return nil, fmt.Errorf("%s: %w: found %d items that bids compete for, %d of them with goods and %d dummies, expected at most %d together", r.atomic.Source, problem.ErrItems, n, goods, n-goods, maxItems)
	}
	value := csgproblem.Int32
	for _, i := range r.best {
		if r.atomic.Bids[i].Price > (1<<31-1)/int64(max(1, n)) {
			value = csgproblem.Int64
		}
	}
	machine := host.Open(1)
	defer machine.Close()
	facts := machine.Facts()
	if need := csgproblem.Footprint(n, value); facts.Free > 0 && need > facts.Free {
		return nil, fmt.Errorf("%s: the %s values of %d items take %s: %w", r.atomic.Source, value, n, facts.MemoryShortage(float64(need)), device.ErrMemory)
	}
	var inst *csgproblem.Instance
	var err error
	if value == csgproblem.Int32 {
		inst, err = csgproblem.NewInstance(valued[int32](r), r.atomic.Source)
	} else {
		inst, err = csgproblem.NewInstance(valued[int64](r), r.atomic.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: prices: %w", r.atomic.Source, problem.ErrSize, err)
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

// winnersOf are the atomic bids, by place, ascending, that a structure of the reduced
// instance accepts. Blocks that no bid asks for stay unsold.
func (r *Reduction) winnersOf(s csgproblem.Structure) []int {
	winners := slices.Clone(r.Always)
	for _, block := range s {
		if i, ok := r.best[block]; ok {
			winners = append(winners, i)
		}
	}
	slices.Sort(winners)
	return winners
}

// Result takes the solution of the reduced instance back to the auction and
// checks it: no good sold twice, and the prices add up to what the solver
// claims. Errors wrap ErrCheck.
func (r *Reduction) Result(solved *csg.Result) (*Result, error) {
	res, err := r.atomicResult(solved)
	if err != nil {
		return nil, err
	}
	return originalResult(r.atomic, res)
}

// atomicResult is Result for the atomic bids.
func (r *Reduction) atomicResult(solved *csg.Result) (*Result, error) {
	res := NewResult(r.atomic.Auction)
	res.Items, res.Splittings = len(r.Items), solved.Splittings
	res.Device, res.Algorithm, res.Variant, res.Reason, res.Seconds = solved.Device, solved.Algorithm, solved.Variant, solved.Reason, solved.Seconds
	res.Notes = append(append([]string(nil), r.atomic.Notes...), solved.Notes...)
	if err := res.Accept(r.winnersOf(solved.Structure)); err != nil {
		return nil, err
	}
	claimed, ok := new(big.Int).SetString(solved.Value.String(), 10)
	if !ok {
		return nil, fmt.Errorf("%w: found the total %q, expected a whole number", problem.ErrCheck, solved.Value)
	}
	claimed.Add(claimed, r.atomic.Revenue(r.Always))
	if sum := r.atomic.Revenue(res.Winners); sum.Cmp(claimed) != 0 {
		return nil, fmt.Errorf("%w: the winning bids pay %s, the solver claims %s", problem.ErrCheck, res.Value, r.atomic.FormatPrice(claimed))
	}
	if solved.Proven { // of integers: the gap is 0
		res.SetProvenBound(res.Value)
	}
	return res, nil
}

// convertIncumbent converts an incumbent of the reduced instance to one of the auction.
func (r *Reduction) convertIncumbent(now solve.Incumbent) solve.Incumbent {
	always := r.atomic.Revenue(r.Always)
	units := func(n solve.Number) (*big.Int, bool) {
		x, ok := n.Rat()
		if !ok {
			return nil, false
		}
		whole := new(big.Int).Div(x.Num(), x.Denom())
		if !x.IsInt() {
			whole.Add(whole, big.NewInt(1)) // a bound that is no whole number is rounded up
		}
		return whole.Add(whole, always), true
	}
	var value, bound solve.Number
	if x, ok := units(now.Value); ok {
		value = r.atomic.OriginalValue(x)
	}
	if x, ok := units(now.Bound); ok {
		bound = r.atomic.OriginalPrice(x)
	}
	original := solve.NewIncumbent(now.Seconds, value, bound, now.Work)
	original.Share = now.Share
	return original
}
