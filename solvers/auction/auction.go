// Package auction determines the winners of combinatorial auctions: which bids
// to accept so that no good is sold twice and the prices add up to the most.
// Goods may stay unsold (free disposal).
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
	"strings"
)

// A Bid asks for a bundle of goods at a price. Ids of goods that are at least
// the auction's number of goods, or negative, are dummies: bids that share one
// are alternatives, of which one can win.
type Bid struct {
	Number int64   // as the file numbers it
	Price  int64   // in units of 10^-Scale of the auction
	Goods  []int64 // ids, ascending, dummies too
	Line   int     // of the file
}

// An Auction is a set of bids.
type Auction struct {
	Goods   int64 // real goods are 0..Goods-1
	Dummies int64 // as the header says
	Bids    []Bid
	Scale   int // prices are whole numbers of 10^-Scale
	Source  string
	Notes   []string
}

// Dummy reports whether an id is a dummy good.
func (a *Auction) Dummy(id int64) bool { return id < 0 || id >= a.Goods }

// Bidder is the dummy that names a bid's bidder: the lowest negative one, else
// the highest that is no real good. A bid without has a bidder of its own, and
// false is returned.
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
	number := map[int64]int{}
	list := make([]int, len(a.Bids))
	count := 0
	for i, b := range a.Bids {
		id, named := a.Bidder(b)
		k, seen := number[id]
		if !named || !seen {
			k = count
			count++
		}
		if named {
			number[id] = k
		}
		list[i] = k
	}
	return list
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

// Revenue is what bids, by their place in Bids, pay together.
func (a *Auction) Revenue(winners []int) *big.Int {
	sum := new(big.Int)
	for _, w := range winners {
		sum.Add(sum, big.NewInt(a.Bids[w].Price))
	}
	return sum
}

// Check says why bids, by their place in Bids, cannot win together.
func (a *Auction) Check(winners []int) error {
	holder := map[int64]int{}
	for i, w := range winners {
		if w < 0 || w >= len(a.Bids) {
			return fmt.Errorf("winner %d: expected one of %d bids", w, len(a.Bids))
		}
		if slices.Contains(winners[:i], w) {
			return fmt.Errorf("bid %d wins twice", a.Bids[w].Number)
		}
		for _, g := range a.Bids[w].Goods {
			if other, ok := holder[g]; ok {
				return fmt.Errorf("good %d is sold twice, to bids %d and %d", g, a.Bids[other].Number, a.Bids[w].Number)
			}
			holder[g] = w
		}
	}
	return nil
}
