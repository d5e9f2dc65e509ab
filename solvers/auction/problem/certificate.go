package problem

import (
	"fmt"
	"math/big"
	"slices"
)

// A Certificate has the findings of the check of winning bids.
type Certificate struct {
	Accepted []AcceptedBid `json:"accepted"`                             // bids that win
	Kept     []KeptReserve `json:"kept,omitempty" none:"there are none"` // reserves whose goods the seller keeps
	Disjoint bool          `json:"disjoint"`                             // whether no more units of a good are sold than there are, or all are bought, and limits, alternatives and goods that have to be sold are respected
	Sum      string        `json:"sum"`                                  // sum of the prices, an exact decimal
}

// An AcceptedBid is a winning bid, by the file's numbers and names.
type AcceptedBid struct {
	Bid    int64    `json:"bid"`                                    // number of the bid
	Bidder string   `json:"bidder,omitempty" none:"it has no name"` // name of its bidder
	Price  string   `json:"price"`                                  // price, an exact decimal
	Goods  []int64  `json:"goods"`                                  // numbers of its goods, dummies included
	Names  []string `json:"names,omitempty" none:"goods have none"` // names of its goods

	Quantities []int64 `json:"quantities,omitempty" none:"it asks for one of each"` // units of each of its goods
}

// A KeptReserve is a reserve whose goods the seller keeps.
type KeptReserve struct {
	Price string   `json:"price"`                                  // price, an exact decimal
	Goods []int64  `json:"goods"`                                  // numbers of its goods
	Names []string `json:"names,omitempty" none:"goods have none"` // names of its goods
}

// Certify checks winning bids and kept reserves, given by their places, of a checked auction.
func (a *Auction) Certify(winners, kept []int) Certificate {
	c := Certificate{Accepted: []AcceptedBid{}, Disjoint: a.CheckKept(winners, kept) == nil, Sum: a.FormatPrice(a.Value(winners, kept))}
	names := func(goods []int64) []string {
		list := a.GoodNames(goods)
		if a.Names == nil || len(list) == 0 { // as JSON reads it back
			return nil
		}
		return list
	}
	for _, w := range winners {
		b := a.Bids[w]
		c.Accepted = append(c.Accepted, AcceptedBid{b.Number, b.Bidder, a.FormatPrice(big.NewInt(b.Price)), append([]int64{}, b.Goods...), names(b.Goods), b.Quantities})
	}
	for _, k := range kept {
		r := a.Reserves[k]
		c.Kept = append(c.Kept, KeptReserve{a.FormatPrice(big.NewInt(r.Price)), append([]int64{}, r.Goods...), names(r.Goods)})
	}
	return c
}

// FindReserves are the places, ascending, of the reserves that a certificate lists.
func (a *Auction) FindReserves(listed []KeptReserve) ([]int, error) {
	var places []int
	for _, s := range listed {
		k := slices.IndexFunc(a.Reserves, func(r Reserve) bool {
			return a.FormatPrice(big.NewInt(r.Price)) == s.Price && slices.Equal(r.Goods, s.Goods)
		})
		if k < 0 {
			return nil, fmt.Errorf("found goods kept for %.60s, for which the auction has no such reserve", s.Price)
		}
		places = append(places, k)
	}
	slices.Sort(places)
	return places, nil
}
