package problem

import (
	"fmt"
	"math/big"
	"slices"

	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Bounds of what programs fill an auction with: those of files.
const (
	maxGoods = 1<<31 - 1
	maxScale = 2 * MaxDigits
	maxUnits = 1<<31 - 1
)

// Check returns an error if a number, a name, a good or a limit of the auction is out of range, or
// stands twice where each is to stand once. Its errors wrap solve.ErrInput and begin with the field.
func (a *Auction) Check() error {
	switch {
	case a == nil:
		return solve.InvalidInput("auction", "found nil, expected one")
	case a.Goods < 0 || a.Goods > maxGoods:
		return solve.InvalidInput("Goods", "found %d, expected 0 to %d", a.Goods, maxGoods)
	case a.Dummies < 0 || a.Dummies > maxGoods:
		return solve.InvalidInput("Dummies", "found %d, expected 0 to %d", a.Dummies, maxGoods)
	case a.Scale < 0 || a.Scale > maxScale:
		return solve.InvalidInput("Scale", "found %d, expected 0 to %d", a.Scale, maxScale)
	case a.Names != nil && int64(len(a.Names)) != a.Goods:
		return solve.InvalidInput("Names", "found %d names of %d goods, expected one each", len(a.Names), a.Goods)
	}
	if a.Units != nil && int64(len(a.Units)) != a.Goods {
		return solve.InvalidInput("Units", "found those of %s of %d, expected one number each", formats.Count(len(a.Units), "good"), a.Goods)
	}
	for g, n := range a.Units {
		if n < 0 || n > maxUnits {
			return solve.InvalidInput(fmt.Sprintf("Units[%d]", g), "found %d, expected 0 to %d", n, maxUnits)
		}
	}
	if a.Minimize && len(a.Reserves) > 0 {
		return solve.InvalidInput("Reserves", "found %s where costs are minimised, expected none", formats.Count(len(a.Reserves), "reserve"))
	}
	named := make(map[string]int, len(a.Names))
	for k, name := range a.Names {
		if other, ok := named[name]; ok {
			return solve.InvalidInput(fmt.Sprintf("Names[%d]", k), "found %.40q, which Names[%d] is too, expected different names", name, other)
		}
		named[name] = k
	}
	for name, allowed := range a.Limits {
		if allowed < 0 || name == "" {
			return solve.InvalidInput(fmt.Sprintf("Limits[%.40q]", name), "found that the bidder wins at most %d bids, expected a name and at least 0", allowed)
		}
	}
	numbered := make(map[int64]int, len(a.Bids))
	for k, b := range a.Bids {
		if other, ok := numbered[b.Number]; ok {
			return solve.InvalidInput(fmt.Sprintf("Bids[%d].Number", k), "found %d, which Bids[%d] has too, expected different numbers", b.Number, other)
		}
		numbered[b.Number] = k
		if err := a.checkGoods(fmt.Sprintf("Bids[%d]", k), b.Goods, lowestDummy, a.Goods+a.Dummies); err != nil {
			return err
		}
		if err := a.checkQuantities(k, &b); err != nil {
			return err
		}
	}
	for k, r := range a.Reserves {
		name := fmt.Sprintf("Reserves[%d]", k)
		if r.Price < 0 {
			return solve.InvalidInput(name+".Price", "found %s, expected at least 0", a.FormatPrice(big.NewInt(r.Price)))
		}
		if len(r.Goods) == 0 {
			return solve.InvalidInput(name+".Goods", "found none, expected one or more")
		}
		if err := a.checkGoods(name, r.Goods, 0, a.Goods); err != nil {
			return err
		}
	}
	return nil
}

// lowestDummy is the least id of a good.
const lowestDummy = -1 << 62

// checkGoods returns an error unless ids ascend from low to below high.
func (a *Auction) checkGoods(of string, ids []int64, low, high int64) error {
	for i, g := range ids {
		name := func() string { return fmt.Sprintf("%s.Goods[%d]", of, i) }
		switch {
		case g < low || g >= high:
			return solve.InvalidInput(name(), "found good %d, expected one below %d, of %s", g, high, formats.Count(a.Goods, "good"))
		case i > 0 && g == ids[i-1]:
			return solve.InvalidInput(name(), "found good %d twice, expected each once", g)
		case i > 0 && g < ids[i-1]:
			return solve.InvalidInput(name(), "found good %d after %d, expected them to ascend", g, ids[i-1])
		}
	}
	return nil
}

// checkQuantities returns an error unless the k-th bid asks for 1 unit or more of each of its goods, and for one of a dummy.
func (a *Auction) checkQuantities(k int, b *Bid) error {
	if b.Quantities != nil && len(b.Quantities) != len(b.Goods) {
		return solve.InvalidInput(fmt.Sprintf("Bids[%d].Quantities", k), "found %d of %s, expected one each", len(b.Quantities), formats.Count(len(b.Goods), "good"))
	}
	for i, n := range b.Quantities {
		if n < 1 || n > maxUnits || n > 1 && a.IsDummy(b.Goods[i]) {
			return solve.InvalidInput(fmt.Sprintf("Bids[%d].Quantities[%d]", k, i), "found %d, expected 1 to %d, of a dummy 1", n, maxUnits)
		}
	}
	return nil
}

// CheckWinners returns an error if bids, given by their places in Bids, cannot win together.
func (a *Auction) CheckWinners(winners []int) error { return a.CheckKept(winners, nil) }

// CheckKept returns an error if bids, given by their places in Bids, cannot win together while the
// seller keeps reserves, given by their places in Reserves.
func (a *Auction) CheckKept(winners, kept []int) error {
	type use struct {
		units int64
		by    string // the first
	}
	uses := map[int64]use{}
	hold := func(who string, g, units int64) error {
		x, most := uses[g], a.UnitsOf(g)
		switch x.units += units; {
		case x.units <= most || a.Minimize && !a.SellAll && !a.IsDummy(g):
		case most == 1 && x.by != "":
			return fmt.Errorf("good %s is sold twice, to %s and %s", a.GoodName(g), x.by, who)
		default:
			return fmt.Errorf("good %s: found %d units or more in the bids, expected at most %d", a.GoodName(g), x.units, most)
		}
		x.by = who
		uses[g] = x
		return nil
	}
	wins := map[string]int{}
	for i, w := range winners {
		if w < 0 || w >= len(a.Bids) {
			return fmt.Errorf("winner %d: expected one of %d bids", w, len(a.Bids))
		}
		b := a.Bids[w]
		if slices.Contains(winners[:i], w) {
			return fmt.Errorf("bid %d wins twice", b.Number)
		}
		for k, g := range b.Goods {
			if err := hold(fmt.Sprintf("bid %d", b.Number), g, b.Quantity(k)); err != nil {
				return err
			}
		}
		wins[b.Bidder]++
		if allowed, ok := a.Limits[b.Bidder]; ok && b.Bidder != "" && wins[b.Bidder] > allowed {
			return fmt.Errorf("bidder %s wins more than %d bids", b.Bidder, allowed)
		}
	}
	for i, k := range kept {
		if k < 0 || k >= len(a.Reserves) {
			return fmt.Errorf("reserve %d: expected one of %d", k, len(a.Reserves))
		}
		if slices.Contains(kept[:i], k) {
			return fmt.Errorf("reserve %d is kept twice", k)
		}
		for _, g := range a.Reserves[k].Goods {
			if err := hold(fmt.Sprintf("reserve %d", k), g, 1); err != nil {
				return err
			}
		}
	}
	if !a.SellAll && !a.Minimize {
		return nil
	}
	for g := range a.Goods {
		switch x, want := uses[g].units, a.UnitsOf(g); {
		case x >= want:
		case a.Minimize:
			return fmt.Errorf("good %s: found %d units in the bids, expected %d", a.GoodName(g), x, want)
		case want > 1:
			return fmt.Errorf("good %s: %d of %d units are sold, and the auction has no free disposal", a.GoodName(g), x, want)
		default:
			return fmt.Errorf("good %s is not sold, and the auction has no free disposal", a.GoodName(g))
		}
	}
	return nil
}
