// Package auction determines the winners of combinatorial auctions: which bids
// to accept so that no good is sold twice and the prices add up to the most.
// Goods may stay unsold (free disposal), unless the auction says otherwise. Bidders bid
// in the languages OR, XOR and OR of XOR, may have a limit on what they win, and the
// seller may have reserve prices.
//
// Auctions over few goods are coalition structures: goods are agents, bids are
// the values of the bundles they ask for, and bundles that nobody asks for are
// worth nothing. NewReduction makes that instance, and Reduction.Result takes its
// solution back to the bids.
//
// Prices are decimals and stay decimals: sums are exact.
//
// The rooms: problem, the auction and its certificate.
package auction

import "coalesce/solvers/auction/problem"

// The problem, which package problem describes.
type (
	// An Auction is a set of bids.
	Auction = problem.Auction
	// A Bid asks for a bundle of goods at a price.
	Bid = problem.Bid
	// A Reserve is a bundle with a price below which the seller keeps it.
	Reserve = problem.Reserve
)

// Errors that others wrap: of auctions of too many bids, and of too many goods.
var (
	ErrSize  = problem.ErrSize
	ErrItems = problem.ErrItems
)

// NewAuction makes an auction of the goods 0 to goods-1 and checks it. Ids of goods in bids that are
// goods or more are dummies, which it counts. The other fields may be set afterwards; Check checks them
// too. Errors wrap solve.ErrInput and begin with the field.
func NewAuction(goods int64, bids []Bid, reserves []Reserve) (*Auction, error) {
	return problem.NewAuction(goods, bids, reserves)
}
