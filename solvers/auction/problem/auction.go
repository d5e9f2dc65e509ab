// Package problem has combinatorial auctions: goods, bids in the languages of their bidders, limits
// of bidders and reserve prices of the seller. It checks auctions and winners, certifies winners, and
// expresses an auction by atomic bids alone, which solvers take.
//
// Prices are decimals and stay decimals: sums are exact.
package problem

import (
	"encoding/binary"
	"math/big"
	"slices"
	"strconv"
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
	Bidder string  // the bidder's name; empty: Auction.BidderDummy identifies the bidder
	Line   int     // of the file

	Quantities []int64 // units of each of Goods, of a dummy one; nil: one of each
}

// Quantity is the units that a bid asks for of its k-th good.
func (b *Bid) Quantity(k int) int64 {
	if b.Quantities == nil {
		return 1
	}
	return b.Quantities[k]
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
	SellAll  bool    // no free disposal: each good is in a winning bid or kept for a reserve, with all of its units
	Units    []int64 // of each good; nil: one
	Minimize bool    // the auctioneer buys: prices are costs, and bids win that together have all units at the least cost; with SellAll no more than these
}

// UnitsOf is how many units there are of a good, or are wanted where the auctioneer buys; of a dummy one.
func (a *Auction) UnitsOf(good int64) int64 {
	if a.Units == nil || a.IsDummy(good) {
		return 1
	}
	return a.Units[good]
}

// IsMultiUnit reports whether there are several units of a good, or none, or bids ask for several.
func (a *Auction) IsMultiUnit() bool {
	return slices.ContainsFunc(a.Units, func(n int64) bool { return n != 1 }) || slices.ContainsFunc(a.Bids, func(b Bid) bool { return b.Quantities != nil })
}

// IsPacking reports whether winners are a set packing or partitioning: there is one unit of each good, which is sold, or bought once.
func (a *Auction) IsPacking() bool { return !a.IsMultiUnit() && (a.SellAll || !a.Minimize) }

// NewAuction makes an auction of the goods 0 to goods-1 and checks it. Ids of goods in bids that are
// goods or more are dummies, which it counts. The other fields may be set afterwards; Check checks them
// too. Errors wrap solve.ErrInput and begin with the field.
func NewAuction(goods int64, bids []Bid, reserves []Reserve) (*Auction, error) {
	a := &Auction{Goods: goods, Bids: bids, Reserves: reserves}
	for _, b := range bids {
		if n := len(b.Goods); n > 0 {
			a.Dummies = max(a.Dummies, b.Goods[n-1]-goods+1)
		}
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	return a, nil
}

// IsDummy reports whether an id is a dummy good.
func (a *Auction) IsDummy(id int64) bool { return id < 0 || id >= a.Goods }

// GoodName is the name of a good, or its number where goods have no names.
func (a *Auction) GoodName(id int64) string {
	if id >= 0 && id < int64(len(a.Names)) {
		return a.Names[id]
	}
	return strconv.FormatInt(id, 10)
}

// GoodNames are the names of the real goods among ids.
func (a *Auction) GoodNames(ids []int64) []string {
	names := []string{}
	for _, g := range ids {
		if !a.IsDummy(g) {
			names = append(names, a.GoodName(g))
		}
	}
	return names
}

// BidderDummy is the dummy that identifies the bidder of a bid without a bidder's name: the lowest
// negative id, else the highest id that is no real good. For a bid without dummies, which has a
// bidder of its own, it returns false.
func (a *Auction) BidderDummy(b Bid) (int64, bool) {
	if len(b.Goods) == 0 {
		return 0, false
	}
	if first := b.Goods[0]; first < 0 {
		return first, true
	}
	last := b.Goods[len(b.Goods)-1]
	return last, last >= a.Goods
}

// BidderNumbers numbers the bidder of each bid, by place, from 0 in the order of first bids.
func (a *Auction) BidderNumbers() []int {
	type key struct {
		name  string
		dummy int64
	}
	number := map[key]int{}
	list := make([]int, len(a.Bids))
	count := 0
	for i, b := range a.Bids {
		who := key{name: b.Bidder}
		identified := b.Bidder != ""
		if !identified {
			who.dummy, identified = a.BidderDummy(b)
		}
		k, seen := number[who]
		if !identified || !seen {
			k = count
			count++
		}
		if identified {
			number[who] = k
		}
		list[i] = k
	}
	return list
}

// HasBidderNames reports whether any bid has its bidder's name.
func (a *Auction) HasBidderNames() bool {
	return slices.ContainsFunc(a.Bids, func(b Bid) bool { return b.Bidder != "" })
}

// BindingLimits are the limits of those bidders who could win more bids: their bids share no dummy, and
// are more than the limit.
func (a *Auction) BindingLimits() map[string]int {
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
		if id, ok := a.BidderDummy(b); ok {
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

// FormatPrice writes an amount of 10^-Scale as a decimal, without zeros at the end.
func (a *Auction) FormatPrice(amount *big.Int) string { return Amount{amount, a.Scale}.String() }

// Revenue is the sum of the prices of bids, given by their places in Bids, in units of 10^-Scale.
func (a *Auction) Revenue(winners []int) *big.Int {
	sum := new(big.Int)
	for _, w := range winners {
		sum.Add(sum, big.NewInt(a.Bids[w].Price))
	}
	return sum
}

// KeptPrice is the sum of the prices of reserves, given by their places in Reserves, in units of 10^-Scale.
func (a *Auction) KeptPrice(reserves []int) *big.Int {
	sum := new(big.Int)
	for _, r := range reserves {
		sum.Add(sum, big.NewInt(a.Reserves[r].Price))
	}
	return sum
}

// Value is the revenue of winning bids and the sum of kept reserves, given by their places.
func (a *Auction) Value(winners, kept []int) *big.Int {
	sum := a.Revenue(winners)
	return sum.Add(sum, a.KeptPrice(kept))
}

// EarliestOfEqual returns bids that win together, as places, where of bids for the same goods, quantities and alternatives at the same price the first
// ones win. Those of bidders with limits have to be of one bidder.
func (a *Auction) EarliestOfEqual(winners []int) []int {
	var key []byte
	keyOf := func(b *Bid) string {
		key = binary.AppendVarint(key[:0], b.Price)
		for k, g := range b.Goods {
			key = binary.AppendVarint(binary.AppendVarint(key, g), b.Quantity(k))
		}
		if _, limited := a.Limits[b.Bidder]; limited {
			key = append(key, b.Bidder...)
		}
		return string(key)
	}
	count := map[string]int{}
	for _, w := range winners {
		count[keyOf(&a.Bids[w])]++
	}
	list := make([]int, 0, len(winners))
	for i := range a.Bids {
		if k := keyOf(&a.Bids[i]); count[k] > 0 {
			count[k]--
			list = append(list, i)
		}
	}
	return list
}
