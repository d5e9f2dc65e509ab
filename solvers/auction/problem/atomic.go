package problem

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"coalesce/solvers/solve"
)

// AtomicBids express an auction by atomic bids alone (Nisan, EC 2000), which is set packing: a bid asks
// for goods and dummies, each of which is sold at most once, and goods may stay unsold. Limits, reserves
// and goods that have to be sold are expressed by such bids:
//
//   - A bidder that wins at most k of its bids has k dummies, and its bids are copied:
//     the copy that counts as the bidder's first wins the first dummy, and so on.
//   - A reserve is a bid of the seller.
//   - Without free disposal each good raises the prices of its bids by an amount that makes every
//     allocation of all goods worth more than any other.
//   - Costs are prices with the other sign.
//   - Where there are reserves, all prices are multiplied by a number, and those of reserves then
//     lowered by one, so that bids that pay as much as reserves win. Payments are computed without
//     this step.
type AtomicBids struct {
	*Auction              // of the atomic bids; the original auction if it needs no others
	Original     *Auction // the auction that the atomic bids express
	GoodPrice    int64    // units of the auction that each good adds to the price of a bid
	AllSoldAbove *big.Int // atomic bids that are worth more than this number of units sell all goods; nil: goods may stay unsold
	Multiplier   int64    // atomic units in a unit of the auction
	originals    []int    // the place of each bid's original; reserves follow the bids. Nil: the same places
}

// maxAtomicBids is the most atomic bids: a bidder with a limit has its bids times its limit.
const maxAtomicBids = 1 << 20

// NewAtomicBids checks an auction and expresses it by atomic bids. If bidsWinTies is set, bids that pay
// as much as reserves win. Errors are those of Check, or wrap ErrSize.
func NewAtomicBids(a *Auction, bidsWinTies bool) (*AtomicBids, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if !a.IsPacking() {
		return nil, fmt.Errorf("%s: %w", a.Source, ErrUnits)
	}
	p := &AtomicBids{Auction: a, Original: a, Multiplier: 1}
	if a.Minimize { // the least costs are the highest prices with the other sign
		sold := *a
		sold.Minimize, sold.Bids = false, slices.Clone(a.Bids)
		for i := range sold.Bids {
			sold.Bids[i].Price = -sold.Bids[i].Price
		}
		a = &sold
	}
	limits := a.BindingLimits()
	if len(limits) == 0 && len(a.Reserves) == 0 && !a.SellAll {
		return p, nil
	}
	if bidsWinTies {
		p.Multiplier = int64(len(a.Reserves)) + 1
	}
	if a.SellAll {
		goodPrice, ceiling, err := a.sellingPrice()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Source, err)
		}
		p.GoodPrice = goodPrice
		p.AllSoldAbove = ceiling.Add(ceiling, new(big.Int).Mul(big.NewInt(goodPrice), big.NewInt(a.Goods-1)))
		p.AllSoldAbove.Mul(p.AllSoldAbove, big.NewInt(p.Multiplier))
	}
	p.Auction = &Auction{Goods: a.Goods, Dummies: a.Dummies, Scale: a.Scale, Source: a.Source, Notes: a.Notes, Names: a.Names}
	p.originals = []int{}
	last := int64(0) // the last dummy that is in use
	for _, b := range a.Bids {
		if len(b.Goods) > 0 {
			last = min(last, b.Goods[0])
		}
	}
	newDummy := func() int64 { last--; return last }
	slots, bids := map[string][]int64{}, map[string]int{}
	for i, b := range a.Bids {
		allowed, limited := limits[b.Bidder]
		if !limited {
			if err := p.add(i, b, b.Price, 0); err != nil {
				return nil, err
			}
			continue
		}
		if slots[b.Bidder] == nil {
			for range allowed {
				slots[b.Bidder] = append(slots[b.Bidder], newDummy())
			}
		}
		own := newDummy() // the copies of a bid without goods exclude one another too
		bids[b.Bidder]++
		for _, slot := range slots[b.Bidder][:min(allowed, bids[b.Bidder])] {
			copied := b
			copied.Goods = append([]int64{own, slot}, b.Goods...)
			slices.Sort(copied.Goods)
			if err := p.add(i, copied, b.Price, 0); err != nil {
				return nil, err
			}
		}
	}
	for k, r := range a.Reserves {
		b := Bid{Number: int64(-1 - k), Goods: r.Goods, Line: r.Line}
		if err := p.add(len(a.Bids)+k, b, r.Price, p.Multiplier-1); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add appends a bid whose price is given in the auction's units. If lowered is above 0, as for
// reserves where ties matter, the price becomes one atomic unit less.
func (p *AtomicBids) add(original int, b Bid, price, lowered int64) error {
	real := 0
	for _, g := range b.Goods {
		if !p.IsDummy(g) {
			real++
		}
	}
	sum := big.NewInt(p.GoodPrice)
	sum.Mul(sum, big.NewInt(int64(real)))
	sum.Add(sum, big.NewInt(price))
	sum.Mul(sum, big.NewInt(p.Multiplier))
	sum.Sub(sum, big.NewInt(min(1, lowered)))
	if !sum.IsInt64() {
		return fmt.Errorf("%s: %w: found prices that need more than 63 bits with what reserves and unsold goods ask for", p.Source, ErrSize)
	}
	if len(p.Bids) == maxAtomicBids {
		return fmt.Errorf("%s: %w: found limits of bidders that need more than %d copies of bids", p.Source, ErrSize, maxAtomicBids)
	}
	b.Price = sum.Int64()
	p.Bids = append(p.Bids, b)
	p.originals = append(p.originals, original)
	return nil
}

// sellingPrice returns an amount larger than the difference of the prices of any two allocations, and
// ceiling, an upper bound on the value of all allocations.
func (a *Auction) sellingPrice() (amount int64, ceiling *big.Int, err error) {
	ceiling = new(big.Int)
	highest, lowest := map[int64]int64{}, map[int64]int64{} // of a good's share in the price of a bid
	spread := big.NewInt(1)
	count := func(goods []int64, price int64) {
		real := int64(0)
		for _, g := range goods {
			if !a.IsDummy(g) {
				real++
			}
		}
		if real == 0 {
			spread.Add(spread, new(big.Int).Abs(big.NewInt(price)))
			ceiling.Add(ceiling, big.NewInt(max(0, price)))
			return
		}
		down := price / real
		if price%real < 0 {
			down--
		}
		up := down
		if price%real != 0 {
			up++
		}
		for _, g := range goods {
			if !a.IsDummy(g) {
				highest[g], lowest[g] = max(highest[g], up), min(lowest[g], down)
			}
		}
	}
	for _, b := range a.Bids {
		count(b.Goods, b.Price)
	}
	for _, r := range a.Reserves {
		count(r.Goods, r.Price)
	}
	for g, high := range highest {
		spread.Add(spread, new(big.Int).Sub(big.NewInt(high), big.NewInt(lowest[g])))
		ceiling.Add(ceiling, big.NewInt(high))
	}
	if !spread.IsInt64() {
		return 0, nil, fmt.Errorf("%w: found prices that need more than 63 bits with what unsold goods ask for", ErrSize)
	}
	return spread.Int64(), ceiling, nil
}

// Spread is what each good that has to be sold adds to the price of an atomic bid for it, in atomic units, and ceiling the most that
// atomic bids that win together are worth without that. Both are 0 where goods may stay unsold, or where the ceiling needs more than 63 bits.
func (p *AtomicBids) Spread() (spread, ceiling int64) {
	if p.AllSoldAbove == nil {
		return 0, 0
	}
	each := new(big.Int).Mul(big.NewInt(p.GoodPrice), big.NewInt(p.Multiplier))
	most := new(big.Int).Mul(each, big.NewInt(p.Goods-1))
	if most.Sub(p.AllSoldAbove, most); !each.IsInt64() || !most.IsInt64() {
		return 0, 0
	}
	return each.Int64(), most.Int64()
}

// IsReserve reports whether an atomic bid, given by its place, stands for a reserve.
func (p *AtomicBids) IsReserve(i int) bool {
	return p.originals != nil && p.originals[i] >= len(p.Original.Bids)
}

// Originals are the bids and the reserves, by place in the auction, that atomic bids stand for. Both
// ascend if the atomic bids do.
func (p *AtomicBids) Originals(bids []int) (winners, kept []int) {
	if p.originals == nil {
		return bids, nil
	}
	for _, i := range bids {
		if p.IsReserve(i) {
			kept = append(kept, p.originals[i]-len(p.Original.Bids))
		} else {
			winners = append(winners, p.originals[i])
		}
	}
	return winners, kept
}

// Places are the places of atomic bids that stand for winning bids and kept reserves of the auction,
// ascending. Of the copies of a bidder's k-th winning bid it is the k-th.
func (p *AtomicBids) Places(winners, kept []int) []int {
	if p.originals == nil {
		return winners
	}
	first := map[int]int{}
	for i, from := range p.originals {
		if _, ok := first[from]; !ok {
			first[from] = i
		}
	}
	limits := p.Original.BindingLimits()
	winners = slices.Clone(winners)
	slices.Sort(winners)
	wins := map[string]int{}
	var list []int
	for _, w := range winners {
		name := p.Original.Bids[w].Bidder
		i := first[w]
		if _, ok := limits[name]; ok {
			i += wins[name]
			wins[name]++
		}
		list = append(list, i)
	}
	for _, k := range kept {
		list = append(list, first[len(p.Original.Bids)+k])
	}
	slices.Sort(list)
	return list
}

// OriginalAmount converts an upper bound on the value of atomic bids, in their units, to one on the
// value of the auction's bids, in the auction's units; to a lower bound on costs.
func (p *AtomicBids) OriginalAmount(units *big.Int) *big.Int {
	x := new(big.Int).Add(units, big.NewInt(p.Multiplier-1))
	x.Div(x, big.NewInt(p.Multiplier)) // rounds down
	x.Sub(x, new(big.Int).Mul(big.NewInt(p.GoodPrice), big.NewInt(p.Goods)))
	if p.Original.Minimize {
		x.Neg(x)
	}
	return x
}

// OriginalPrice is OriginalAmount as a decimal.
func (p *AtomicBids) OriginalPrice(units *big.Int) solve.Number {
	return solve.Number(p.Original.FormatPrice(p.OriginalAmount(units)))
}

// OriginalValue is OriginalPrice of bids that win together; empty if atomic bids of that value leave a
// good that has to be sold.
func (p *AtomicBids) OriginalValue(units *big.Int) solve.Number {
	if p.AllSoldAbove != nil && units.Cmp(p.AllSoldAbove) <= 0 {
		return ""
	}
	return p.OriginalPrice(units)
}

// OriginalNumber is OriginalPrice of a decimal in units of 10^-Scale.
func (p *AtomicBids) OriginalNumber(n solve.Number) solve.Number {
	x, ok := n.Rat()
	if !ok {
		return n
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p.Scale)), nil)
	x.Mul(x, new(big.Rat).SetInt(ten))
	return p.OriginalPrice(x.Num())
}

// GoodsSold is the number of real goods in atomic bids, given by their places.
func (p *AtomicBids) GoodsSold(bids []int) int64 {
	sold := int64(0)
	for _, i := range bids {
		for _, g := range p.Bids[i].Goods {
			if !p.IsDummy(g) {
				sold++
			}
		}
	}
	return sold
}

// EarliestBids returns winning bids, as indices, with each replaced by the first bid for the same goods at the same price.
func (p *AtomicBids) EarliestBids(bids []int) []int {
	at := make(map[string]int, len(bids)) // in the list returned
	var key []byte
	keyOf := func(b *Bid) []byte {
		key = binary.AppendVarint(key[:0], b.Price)
		for _, g := range b.Goods {
			key = binary.AppendVarint(key, g)
		}
		return key
	}
	for k, i := range bids {
		if len(p.Bids[i].Goods) > 0 { // others do not compete
			at[string(keyOf(&p.Bids[i]))] = k
		}
	}
	list := slices.Clone(bids)
	for i := range p.Bids {
		if k, ok := at[string(keyOf(&p.Bids[i]))]; ok && i < list[k] {
			list[k] = i
		}
	}
	slices.Sort(list)
	return list
}
