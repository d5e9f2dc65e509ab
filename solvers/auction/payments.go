package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// The rules of payment.
const (
	// FirstPrice: a winning bid pays what it bid.
	FirstPrice = "first"
	// VCG (Vickrey 1961, Clarke 1971, Groves 1973): a winner pays what its presence
	// costs the others, the revenue of an auction without its bidder less what the other
	// winners bid. To bid one's true value is then never worse than another bid.
	VCG = "vcg"
)

// Rules are the rules that Pay knows.
func Rules() []string { return []string{FirstPrice, VCG} }

// Payments are what the winning bids pay.
type Payments struct {
	Rule  string    `json:"rule"`
	Each  []Payment `json:"each"`  // in the order of the winners
	Total string    `json:"total"` // an exact decimal
}

// A Payment is that of one winning bid, by the file's number, an exact decimal.
type Payment struct {
	Bid    int64  `json:"bid"`
	Amount string `json:"amount"`
}

// ErrUnproven is wrapped by the error of payments that need an optimum which was not
// proven in time.
var ErrUnproven = errors.New("the optimum is not proven")

// Pay sets the payments of a result by a rule. VCG solves an auction for every winner,
// without the bids of its bidder (Auction.Bidder), by branch and cut on all cores; bids
// of different bidders alone compete then. ctx and the time limit end all of them
// together. Errors wrap ErrUnproven where the result, or one of these, was not proven,
// and csg.ErrCheck where a payment lies outside 0 and the bid.
func (res *Result) Pay(ctx context.Context, rule string, o Options) error {
	a := res.Auction
	if rule != FirstPrice && rule != VCG {
		return fmt.Errorf("payments by %.40q: expected one of %v", rule, Rules())
	}
	p := &Payments{Rule: rule, Each: []Payment{}}
	if rule == VCG && !res.Proven {
		return fmt.Errorf("payments by %s: %w", rule, ErrUnproven)
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	revenue, total := a.Revenue(res.Winners), new(big.Int)
	for k, w := range res.Winners {
		amount := big.NewInt(a.Bids[w].Price)
		if rule == VCG {
			o.Say("payment %d of %d: without the bidder of bid %d", k+1, len(res.Winners), a.Bids[w].Number)
			without, err := a.without(ctx, w)
			if err != nil {
				return fmt.Errorf("the payment of bid %d: %w", a.Bids[w].Number, err)
			}
			others := new(big.Int).Sub(revenue, amount)
			bid := amount
			if amount = without.Sub(without, others); amount.Sign() < 0 || amount.Cmp(bid) > 0 {
				return fmt.Errorf("%w: bid %d pays %s, expected 0 to %s", csg.ErrCheck, a.Bids[w].Number, a.Price(amount), a.Price(bid))
			}
		}
		total.Add(total, amount)
		p.Each = append(p.Each, Payment{a.Bids[w].Number, a.Price(amount)})
	}
	p.Total = a.Price(total)
	res.Payments = p
	return nil
}

// without is the revenue of the auction without the bidder of a bid.
func (a *Auction) without(ctx context.Context, w int) (*big.Int, error) {
	bidder, named := a.Bidder(a.Bids[w])
	rest := *a
	rest.Bids = nil
	for i, b := range a.Bids {
		other, ok := a.Bidder(b)
		if i != w && !(named && ok && other == bidder) {
			rest.Bids = append(rest.Bids, b)
		}
	}
	solved, err := packing.Solve(ctx, toPacking(&rest), packing.Settings{})
	if err != nil {
		return nil, err
	}
	if err := rest.Check(solved.Winners); err != nil {
		return nil, fmt.Errorf("%w: %w", csg.ErrCheck, err)
	}
	if !solved.Proven() {
		return nil, fmt.Errorf("without its bidder: %w", ErrUnproven)
	}
	return rest.Revenue(solved.Winners), nil
}

// verifyPayments holds payments against what every rule has: a payment for each winning
// bid, none below 0 or above the bid, that add up to the total; of first price, the bids.
func verifyPayments(v *solve.Verdict, res *Result, p *Payments) {
	a, total := res.Auction, new(big.Rat)
	if len(p.Each) != len(res.Winners) {
		v.Refute("found %d payments of %d winning bids", len(p.Each), len(res.Winners))
		return
	}
	for k, w := range res.Winners {
		x, paid := p.Each[k], a.Price(big.NewInt(a.Bids[w].Price))
		amount, ok := new(big.Rat).SetString(x.Amount)
		bid, _ := new(big.Rat).SetString(paid)
		switch {
		case x.Bid != a.Bids[w].Number || !ok:
			v.Refute("found the payment %.40q of bid %d, expected a decimal of bid %d", x.Amount, x.Bid, a.Bids[w].Number)
			return
		case amount.Sign() < 0 || amount.Cmp(bid) > 0 || p.Rule == FirstPrice && amount.Cmp(bid) != 0:
			v.Refute("bid %d of %s pays %.40s", x.Bid, paid, x.Amount)
		}
		total.Add(total, amount)
	}
	stated, ok := new(big.Rat).SetString(p.Total)
	if !ok || stated.Cmp(total) != 0 {
		v.Refute("the payments' total is %.40q, they add up to %s", p.Total, total.FloatString(a.Scale))
	}
	if p.Rule != FirstPrice {
		v.Note("payments: within the bids, and their total is right; that they are those of the rule %.40s takes %d solves, which were not repeated", p.Rule, len(res.Winners))
	}
}
