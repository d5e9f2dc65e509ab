// Package auction determines the winners of combinatorial auctions: which bids
// to accept so that no good is sold twice and the prices add up to the most.
// Goods may stay unsold (free disposal), unless the auction says otherwise. Bidders bid
// in the languages OR, XOR and OR of XOR, may have a limit on what they win, and the
// seller may have reserve prices.
//
// Auctions over few goods are coalition structures: goods are agents, bids are
// the values of the bundles they ask for, and bundles that nobody asks for are
// worth nothing. Reduce makes that instance, and Reduction.Result takes its
// solution back to the bids.
//
// Prices are decimals and stay decimals: sums are exact.
package auction

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// A Bid asks for a bundle of goods at a price. Ids of goods that are at least
// the auction's number of goods, below that of goods and dummies, or negative, are dummies: bids that share one
// are alternatives, of which one can win. A bidder whose bids share no dummy may win
// all of them (OR), one whose bids share one wins one of them (XOR), one with several
// dummies one of each (OR of XOR; OR* where a bid has several: Nisan, EC 2000).
type Bid struct {
	Number int64   // as the file numbers it: no two bids have one number
	Price  int64   // in units of 10^-Scale of the auction
	Goods  []int64 // ids, ascending, each once, dummies too
	Bidder string  // the bidder's name; empty: Auction.Bidder identifies the bidder
	Line   int     // of the file
}

// A Reserve is a bundle with a price below which the seller keeps it: a bid of the seller, who may
// keep any bundles that have no good in common. Bids that pay exactly as much as the reserves of
// their goods win.
type Reserve struct {
	Price int64   // in units of 10^-Scale of the auction, at least 0
	Goods []int64 // ids, ascending, of real goods
	Line  int     // of the file
}

// An Auction is a set of bids.
type Auction struct {
	Goods   int64 // real goods are 0..Goods-1
	Dummies int64 // ids from Goods on that bids may ask for
	Bids    []Bid
	Scale   int // prices are whole numbers of 10^-Scale
	Source  string
	Notes   []string

	Names    []string       // of the goods 0..Goods-1; nil: their numbers
	Limits   map[string]int // how many bids of a bidder, by name, can win; bidders without an entry have no limit
	Reserves []Reserve
	SellAll  bool // no free disposal: each good is in a winning bid or kept for a reserve
}

// Dummy reports whether an id is a dummy good.
func (a *Auction) Dummy(id int64) bool { return id < 0 || id >= a.Goods }

// Good is the name of a good, or its number where goods have no names.
func (a *Auction) Good(id int64) string {
	if id >= 0 && id < int64(len(a.Names)) {
		return a.Names[id]
	}
	return strconv.FormatInt(id, 10)
}

// bundle are the names of the real goods among ids.
func (a *Auction) bundle(ids []int64) []string {
	names := []string{}
	for _, g := range ids {
		if !a.Dummy(g) {
			names = append(names, a.Good(g))
		}
	}
	return names
}

// Bidder is the dummy that identifies the bidder of a bid without a bidder's name: the lowest
// negative id, else the highest id that is no real good. For a bid without dummies, which has a
// bidder of its own, it returns false.
func (a *Auction) Bidder(b Bid) (int64, bool) {
	if len(b.Goods) == 0 {
		return 0, false
	}
	if first := b.Goods[0]; first < 0 {
		return first, true
	}
	last := b.Goods[len(b.Goods)-1]
	return last, last >= a.Goods
}

// Bidders numbers the bidder of each bid, by place, from 0 in the order of first bids.
func (a *Auction) Bidders() []int {
	type key struct {
		name  string
		dummy int64
	}
	number := map[key]int{}
	list := make([]int, len(a.Bids))
	count := 0
	for i, b := range a.Bids {
		who := key{name: b.Bidder}
		told := b.Bidder != ""
		if !told {
			who.dummy, told = a.Bidder(b)
		}
		k, seen := number[who]
		if !told || !seen {
			k = count
			count++
		}
		if told {
			number[who] = k
		}
		list[i] = k
	}
	return list
}

// named reports whether any bid has its bidder's name.
func (a *Auction) named() bool {
	return slices.ContainsFunc(a.Bids, func(b Bid) bool { return b.Bidder != "" })
}

// Price writes an amount of 10^-Scale as a decimal, without zeros at the end.
func (a *Auction) Price(amount *big.Int) string { return decimal(amount, a.Scale) }

func decimal(amount *big.Int, scale int) string {
	digits := new(big.Int).Abs(amount).String()
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, part := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if part != "" {
		whole += "." + part
	}
	if amount.Sign() < 0 {
		whole = "-" + whole
	}
	return whole
}

// Revenue is the sum of the prices of bids, given by their places in Bids, in units of 10^-Scale.
func (a *Auction) Revenue(winners []int) *big.Int {
	sum := new(big.Int)
	for _, w := range winners {
		sum.Add(sum, big.NewInt(a.Bids[w].Price))
	}
	return sum
}

// Kept is the sum of the prices of reserves, given by their places in Reserves, in units of 10^-Scale.
func (a *Auction) Kept(reserves []int) *big.Int {
	sum := new(big.Int)
	for _, r := range reserves {
		sum.Add(sum, big.NewInt(a.Reserves[r].Price))
	}
	return sum
}

// Check returns an error if bids, given by their places in Bids, cannot win together.
func (a *Auction) Check(winners []int) error { return a.CheckKept(winners, nil) }

// CheckKept returns an error if bids, given by their places in Bids, cannot win together while the
// seller keeps reserves, given by their places in Reserves.
func (a *Auction) CheckKept(winners, kept []int) error {
	holder := map[int64]string{}
	hold := func(who string, goods []int64) error {
		for _, g := range goods {
			if other, ok := holder[g]; ok {
				return fmt.Errorf("good %s is sold twice, to %s and %s", a.Good(g), other, who)
			}
			holder[g] = who
		}
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
		if err := hold(fmt.Sprintf("bid %d", b.Number), b.Goods); err != nil {
			return err
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
		if err := hold(fmt.Sprintf("reserve %d", k), a.Reserves[k].Goods); err != nil {
			return err
		}
	}
	if a.SellAll {
		for g := range a.Goods {
			if _, ok := holder[g]; !ok {
				return fmt.Errorf("good %s is not sold, and the auction has no free disposal", a.Good(g))
			}
		}
	}
	return nil
}

// Bounds of what programs fill an auction with: those of files.
const (
	maxGoods = 1<<31 - 1
	maxScale = 2 * maxDigits
)

// valid returns an error if a number, a name, a good or a limit of the auction is out of range, or
// stands twice where each is to stand once. Its errors wrap solve.ErrInput and begin with the field.
func (a *Auction) valid() error {
	switch {
	case a == nil:
		return solve.Input("auction", "found nil, expected one")
	case a.Goods < 0 || a.Goods > maxGoods:
		return solve.Input("Goods", "found %d, expected 0 to %d", a.Goods, maxGoods)
	case a.Dummies < 0 || a.Dummies > maxGoods:
		return solve.Input("Dummies", "found %d, expected 0 to %d", a.Dummies, maxGoods)
	case a.Scale < 0 || a.Scale > maxScale:
		return solve.Input("Scale", "found %d, expected 0 to %d", a.Scale, maxScale)
	case a.Names != nil && int64(len(a.Names)) != a.Goods:
		return solve.Input("Names", "found %d names of %d goods, expected one each", len(a.Names), a.Goods)
	}
	named := make(map[string]int, len(a.Names))
	for k, name := range a.Names {
		if other, ok := named[name]; ok {
			return solve.Input(fmt.Sprintf("Names[%d]", k), "found %.40q, which Names[%d] is too, expected different names", name, other)
		}
		named[name] = k
	}
	for name, allowed := range a.Limits {
		if allowed < 0 || name == "" {
			return solve.Input(fmt.Sprintf("Limits[%.40q]", name), "found that the bidder wins at most %d bids, expected a name and at least 0", allowed)
		}
	}
	numbered := make(map[int64]int, len(a.Bids))
	for k, b := range a.Bids {
		if other, ok := numbered[b.Number]; ok {
			return solve.Input(fmt.Sprintf("Bids[%d].Number", k), "found %d, which Bids[%d] has too, expected different numbers", b.Number, other)
		}
		numbered[b.Number] = k
		if err := a.validGoods(fmt.Sprintf("Bids[%d]", k), b.Goods, lowestDummy, a.Goods+a.Dummies); err != nil {
			return err
		}
	}
	for k, r := range a.Reserves {
		name := fmt.Sprintf("Reserves[%d]", k)
		if r.Price < 0 {
			return solve.Input(name+".Price", "found %s, expected at least 0", a.Price(big.NewInt(r.Price)))
		}
		if len(r.Goods) == 0 {
			return solve.Input(name+".Goods", "found none, expected one or more")
		}
		if err := a.validGoods(name, r.Goods, 0, a.Goods); err != nil {
			return err
		}
	}
	return nil
}

// lowestDummy is the least id of a good.
const lowestDummy = -1 << 62

// validGoods returns an error unless ids ascend from low to below high.
func (a *Auction) validGoods(of string, ids []int64, low, high int64) error {
	for i, g := range ids {
		name := func() string { return fmt.Sprintf("%s.Goods[%d]", of, i) }
		switch {
		case g < low || g >= high:
			return solve.Input(name(), "found good %d, expected one below %d, of %s", g, high, formats.Count(a.Goods, "good"))
		case i > 0 && g == ids[i-1]:
			return solve.Input(name(), "found good %d twice, expected each once", g)
		case i > 0 && g < ids[i-1]:
			return solve.Input(name(), "found good %d after %d, expected them to ascend", g, ids[i-1])
		}
	}
	return nil
}
