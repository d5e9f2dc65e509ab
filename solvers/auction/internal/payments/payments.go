// Package payments computes what the winners of an auction pay, by the rules of the first price, of
// Vickrey, Clarke and Groves, and of the core, and checks payments that a result states.
package payments

import (
	"math/big"

	"coalesce/solvers/auction/problem"
)

// A Rule says what winners pay.
type Rule string

// The rules of payments. The value of a bidder's goods to the bidder is the sum of the prices of its
// winning bids.
const (
	// FirstPrice: each winner pays the prices of its winning bids.
	FirstPrice Rule = "first"
	// VCG, the payments of Vickrey, Clarke and Groves: a winner pays the loss of the others by its
	// presence, which is the best revenue without its bids less the prices of the other winning bids.
	VCG Rule = "vcg"
	// Core: bidder-optimal core-selecting payments (Day and Raghavan, Management Science
	// 53, 2007). No coalition of bidders would give the seller more than it gets, the
	// revenue is the least of all such payments, and they are the nearest to VCG's, in the
	// sum of squares (Day and Cramton, Operations Research 60, 2012). The exact rational
	// payments are rounded up to the auction's unit, 10^-Scale, which keeps them in the
	// core; the revenue is less than a unit a winner above the least.
	Core Rule = "core"
)

// Rules are all rules of payments.
func Rules() []string { return []string{string(FirstPrice), string(VCG), string(Core)} }

// Payments are what winners pay. Amounts are in units of 10^-Scale of the auction.
type Payments struct {
	Rule       Rule
	Winners    []Winner // in the order of their first winning bids
	Coalitions [][]int  // of Core: bids, by place, of those who would block lower payments, without winners that stay as they are
}

// A Winner is a bidder with a winning bid.
type Winner struct {
	Bidder string // its name; empty: it has none
	Bids   []int  // by place, ascending
	Value  int64  // the sum of their prices
	Pays   int64
}

// Revenue is what all winners pay.
func (p *Payments) Revenue() *big.Int {
	sum := new(big.Int)
	for _, w := range p.Winners {
		sum.Add(sum, big.NewInt(w.Pays))
	}
	return sum
}

// Stated are payments as a result states them: by the auction's numbers of bids, in decimals.
type Stated struct {
	Rule       Rule           `json:"rule"`       // rule of the payments
	Revenue    string         `json:"revenue"`    // sum of all payments, an exact decimal
	Winners    []StatedWinner `json:"winners"`    // bidders with winning bids
	Coalitions [][]int64      `json:"coalitions"` // of core: bids that would block lower payments, without those of winners that lose none by them
}

// A StatedWinner is a winner of stated payments.
type StatedWinner struct {
	Bidder string  `json:"bidder,omitempty" none:"it has no name"` // name of the bidder
	Bids   []int64 `json:"bids"`                                   // numbers of its winning bids
	Value  string  `json:"value"`                                  // sum of their prices, an exact decimal
	Pays   string  `json:"pays"`                                   // payment for them, an exact decimal
}

// State states payments of an auction's winners; nil for nil.
func (p *Payments) State(a *problem.Auction) *Stated {
	if p == nil {
		return nil
	}
	numbers := func(bids []int) []int64 {
		list := make([]int64, len(bids))
		for k, i := range bids {
			list[k] = a.Bids[i].Number
		}
		return list
	}
	stated := &Stated{Rule: p.Rule, Revenue: a.FormatPrice(p.Revenue()), Winners: []StatedWinner{}, Coalitions: [][]int64{}}
	for _, w := range p.Winners {
		stated.Winners = append(stated.Winners, StatedWinner{w.Bidder, numbers(w.Bids), a.FormatPrice(big.NewInt(w.Value)), a.FormatPrice(big.NewInt(w.Pays))})
	}
	for _, c := range p.Coalitions {
		stated.Coalitions = append(stated.Coalitions, numbers(c))
	}
	return stated
}
