package auction

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/solve"
)

// plain is an auction in the form of set packing: bids of goods and dummies, each of which is sold
// at most once, and goods that may stay unsold. Limits, reserves and goods that have to be sold are
// expressed by such bids:
//
//   - A bidder that wins at most k of its bids has k dummies, and its bids are copied:
//     the copy that counts as the bidder's first wins the first dummy, and so on.
//   - A reserve is a bid of the seller.
//   - Without free disposal each good raises the prices of its bids by an amount that makes every
//     allocation of all goods worth more than any other.
//   - Where there are reserves, all prices are multiplied by a number, and those of reserves then
//     lowered by one, so that bids that pay as much as reserves win. Payments are computed without
//     this step.
type plain struct {
	*Auction          // its bids; the auction itself where all is plain
	whole    *Auction // the auction whose bids these stand for
	from     []int    // the place of each bid's original; reserves follow the bids. Nil: the same places
	raised   int64    // units that each good adds to the price of a bid
	unsold   *big.Int // plain bids whose value exceeds this number of units sell all goods; nil: goods may stay unsold
	times    int64    // units in a unit of the auction
}

// maxPlain is the most plain bids: a bidder with a limit has its bids times its limit.
const maxPlain = 1 << 20

// newPlain converts an auction to plain bids. If ties is set, bids that pay as much as reserves win.
func newPlain(a *Auction, ties bool) (*plain, error) {
	if err := a.valid(); err != nil {
		return nil, err
	}
	p := &plain{Auction: a, whole: a, times: 1}
	limits := a.limited()
	if len(limits) == 0 && len(a.Reserves) == 0 && !a.SellAll {
		return p, nil
	}
	if ties {
		p.times = int64(len(a.Reserves)) + 1
	}
	if a.SellAll {
		raised, ceiling, err := a.raise()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Source, err)
		}
		p.raised = raised
		p.unsold = ceiling.Add(ceiling, new(big.Int).Mul(big.NewInt(raised), big.NewInt(a.Goods-1)))
		p.unsold.Mul(p.unsold, big.NewInt(p.times))
	}
	p.Auction = &Auction{Goods: a.Goods, Dummies: a.Dummies, Scale: a.Scale, Source: a.Source, Notes: a.Notes, Names: a.Names}
	p.from = []int{}
	fresh := int64(0) // the last dummy that is in use
	for _, b := range a.Bids {
		if len(b.Goods) > 0 {
			fresh = min(fresh, b.Goods[0])
		}
	}
	dummy := func() int64 { fresh--; return fresh }
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
				slots[b.Bidder] = append(slots[b.Bidder], dummy())
			}
		}
		own := dummy() // the copies of a bid without goods exclude one another too
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
		if err := p.add(len(a.Bids)+k, b, r.Price, p.times-1); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add appends a bid whose price is given in the auction's units. If lowered is above 0, as for
// reserves where ties matter, the price becomes one plain unit less.
func (p *plain) add(from int, b Bid, price, lowered int64) error {
	real := 0
	for _, g := range b.Goods {
		if !p.Dummy(g) {
			real++
		}
	}
	sum := big.NewInt(p.raised)
	sum.Mul(sum, big.NewInt(int64(real)))
	sum.Add(sum, big.NewInt(price))
	sum.Mul(sum, big.NewInt(p.times))
	sum.Sub(sum, big.NewInt(min(1, lowered)))
	if !sum.IsInt64() {
		return fmt.Errorf("%s: %w: found prices that need more than 63 bits with what reserves and unsold goods ask for", p.Source, ErrSize)
	}
	if len(p.Bids) == maxPlain {
		return fmt.Errorf("%s: %w: found limits of bidders that need more than %d copies of bids", p.Source, ErrSize, maxPlain)
	}
	b.Price = sum.Int64()
	p.Bids = append(p.Bids, b)
	p.from = append(p.from, from)
	return nil
}

// limited are the limits of those bidders who could win more bids: their bids share no dummy, and are
// more than the limit.
func (a *Auction) limited() map[string]int {
	could := map[string]int{}
	type group struct {
		bidder string
		dummy  int64
	}
	seen := map[group]bool{}
	for _, b := range a.Bids {
		if _, ok := a.Limits[b.Bidder]; !ok || b.Bidder == "" {
			continue
		}
		if id, ok := a.Bidder(b); ok {
			g := group{b.Bidder, id}
			if seen[g] {
				continue
			}
			seen[g] = true
		}
		could[b.Bidder]++
	}
	limits := map[string]int{}
	for name, allowed := range a.Limits {
		if could[name] > allowed {
			limits[name] = allowed
		}
	}
	return limits
}

// raise returns an amount larger than the difference of the prices of any two allocations, and
// ceiling, an upper bound on the value of all allocations.
func (a *Auction) raise() (raised int64, ceiling *big.Int, err error) {
	ceiling = new(big.Int)
	highest, lowest := map[int64]int64{}, map[int64]int64{} // of a good's share in the price of a bid
	spread := big.NewInt(1)
	count := func(goods []int64, price int64) {
		real := int64(0)
		for _, g := range goods {
			if !a.Dummy(g) {
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
			if !a.Dummy(g) {
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

// seller reports whether a plain bid is a reserve.
func (p *plain) seller(i int) bool { return p.from != nil && p.from[i] >= len(p.whole.Bids) }

// original are the bids and the reserves, by place in the auction, that plain bids stand
// for, ascending.
func (p *plain) original(bids []int) (winners, kept []int) {
	if p.from == nil {
		return bids, nil
	}
	for _, i := range bids {
		if p.seller(i) {
			kept = append(kept, p.from[i]-len(p.whole.Bids))
		} else {
			winners = append(winners, p.from[i])
		}
	}
	return winners, kept
}

// bids are plain bids that stand for bids and reserves of the auction, ascending. Of the
// copies of a bidder's k-th winning bid it is the k-th.
func (p *plain) bids(winners, kept []int) []int {
	if p.from == nil {
		return winners
	}
	first := map[int]int{}
	for i, from := range p.from {
		if _, ok := first[from]; !ok {
			first[from] = i
		}
	}
	limits := p.whole.limited()
	winners = slices.Clone(winners)
	slices.Sort(winners)
	wins := map[string]int{}
	var list []int
	for _, w := range winners {
		name := p.whole.Bids[w].Bidder
		i := first[w]
		if _, ok := limits[name]; ok {
			i += wins[name]
			wins[name]++
		}
		list = append(list, i)
	}
	for _, k := range kept {
		list = append(list, first[len(p.whole.Bids)+k])
	}
	slices.Sort(list)
	return list
}

// amount converts an upper bound on the value of plain bids to one on the value of the auction's
// bids, in the auction's units.
func (p *plain) amount(bound *big.Int) *big.Int {
	x := new(big.Int).Add(bound, big.NewInt(p.times-1))
	x.Div(x, big.NewInt(p.times)) // rounds down
	return x.Sub(x, new(big.Int).Mul(big.NewInt(p.raised), big.NewInt(p.Goods)))
}

// number is amount of a decimal number.
func (p *plain) number(n solve.Number) solve.Number {
	x, ok := n.Rat()
	if !ok {
		return n
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p.Scale)), nil)
	x.Mul(x, new(big.Rat).SetInt(ten))
	return solve.Number(p.whole.Price(p.amount(x.Num())))
}

// ErrUnsold is wrapped by the error of a solve that ended before it found bids which sell all goods that have to
// be sold.
var ErrUnsold = errors.New("the bids found do not sell every good, and the auction has no free disposal")

// result converts a result of the plain bids to one of the auction. If no bids sell all goods that
// have to be sold, the error wraps solve.ErrInfeasible, and the result beside it is proven where it carries a
// proof of that.
func (p *plain) result(plain *Result) (*Result, error) {
	if p.from == nil {
		return plain, nil
	}
	res := NewResult(p.whole)
	report := plain.Report
	report.Problem, report.Instance, report.Size = res.Problem, res.Instance, res.Size
	report.Value, report.Bound, report.Gap, report.Proven = "", "", nil, false
	res.Report = report
	res.Items, res.Splittings, res.Nodes, res.prices, res.proof = plain.Items, plain.Splittings, plain.Nodes, plain.prices, plain.proof
	res.Tables = plain.Tables
	if plain.LPBound != "" {
		res.LPBound = p.number(plain.LPBound)
	}
	winners, kept := p.original(plain.Winners)
	if p.whole.SellAll {
		switch sold := p.sold(plain.Winners); {
		case sold == p.Goods:
		case plain.Proven && plain.Bound == plain.Value:
			if res.proof != nil {
				res.proof.Won = plain.Winners
			}
			if p.unsellable(res.proof) == nil {
				res.ProveInfeasible()
			}
			return res, fmt.Errorf("%s: %w: no bids and reserves together have each of the %d goods once", p.Source, solve.ErrInfeasible, p.Goods)
		default:
			res.proof = nil
			return res, fmt.Errorf("%s: %w: %d of %d goods are sold at the end", p.Source, ErrUnsold, sold, p.Goods)
		}
	}
	if err := res.AcceptKept(winners, kept); err != nil {
		return nil, err
	}
	switch {
	case plain.Proven && plain.Bound == plain.Value:
		res.Prove(res.Value)
	case plain.Bound != "":
		if bound := p.number(plain.Bound); bound == res.Value {
			res.Prove(bound)
		} else {
			res.Bounded(bound)
		}
	}
	return res, nil
}

// unsellable is nil where a proof shows that no plain bids sell every good: none are worth as much as those
// that do would be.
func (p *plain) unsellable(x *replay.Proof) error {
	switch {
	case p.unsold == nil:
		return errors.New("goods may stay unsold: to accept no bid is a solution")
	case x == nil:
		return errors.New("found none")
	}
	ceiling, err := p.bound(x, x.Won)
	if err != nil {
		return err
	}
	if ceiling == nil || ceiling.Cmp(p.unsold) > 0 {
		return errors.New("by its prices of cliques bids may sell every good")
	}
	return nil
}

// bound is a value that no plain bids exceed, by a proof, in plain units; nil where the proof gives none.
func (p *plain) bound(x *replay.Proof, won []int) (*big.Int, error) {
	bids := make([]replay.Bid, len(p.Bids))
	for i, b := range p.Bids {
		bids[i] = replay.Bid{Goods: b.Goods, Price: b.Price}
	}
	return x.Bound(bids, won)
}

// sold is the number of real goods in plain bids.
func (p *plain) sold(bids []int) int64 {
	sold := int64(0)
	for _, i := range bids {
		for _, g := range p.Bids[i].Goods {
			if !p.Dummy(g) {
				sold++
			}
		}
	}
	return sold
}
