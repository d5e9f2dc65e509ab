package auction

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/solve"
)

// Bidders is the algorithm of few goods and many alternatives: a table of all sets of
// goods, bidder by bidder, on all cores of the host.
const Bidders = "bidders"

// toBidders is an auction as alternatives: the bids of a bidder that share a dummy, where
// they have no other, and other bids alone. Its items are what else several bids ask for, those that
// the same bids ask for taken as one. It also tells which list each bid is in, -1 for bids
// that cannot win.
func toBidders(p *plain) (*bidders.Problem, []int, error) {
	dummies, bidder := make([]int, len(p.Bids)), p.Bidders()
	sum := new(big.Int)
	for i, b := range p.Bids {
		if b.Price <= 0 {
			continue
		}
		sum.Add(sum, big.NewInt(b.Price))
		for _, g := range b.Goods {
			if p.Dummy(g) {
				dummies[i]++
			}
		}
	}
	if !sum.IsInt64() {
		return nil, nil, fmt.Errorf("%s: %w: prices that add up to %s, expected less than 2^63 units of 10^-%d", p.Source, ErrSize, p.Price(sum), p.Scale)
	}
	list := map[int64]int{} // dummies that make alternatives
	holders := map[int64][]int{}
	var goods []int64
	for i, b := range p.Bids {
		if b.Price <= 0 {
			continue
		}
		for _, g := range b.Goods {
			if holders[g] == nil {
				goods = append(goods, g)
			}
			holders[g] = append(holders[g], i)
		}
	}
	slices.Sort(goods)
	x := &bidders.Problem{}
	items := make([]uint32, len(p.Bids))
	known := map[string]bool{}
	for _, g := range goods {
		who := holders[g]
		if p.Dummy(g) && !slices.ContainsFunc(who, func(i int) bool { return dummies[i] > 1 || bidder[i] != bidder[who[0]] }) {
			list[g] = len(x.Bidders)
			x.Bidders = append(x.Bidders, nil)
			continue
		}
		if key := fmt.Sprint(who); len(who) > 1 && !known[key] {
			known[key] = true
			if x.Items < bidders.MaxItems {
				for _, i := range who {
					items[i] |= 1 << x.Items
				}
			}
			x.Items++
		}
	}
	if x.Items > bidders.MaxItems {
		return nil, nil, fmt.Errorf("%s: %w: found %d items that bids of several bidders ask for, expected at most %d", p.Source, ErrItems, x.Items, bidders.MaxItems)
	}
	of := make([]int, len(p.Bids))
	for i, b := range p.Bids {
		if of[i] = -1; b.Price <= 0 {
			continue
		}
		for _, g := range b.Goods {
			if k, ok := list[g]; ok {
				of[i] = k
			}
		}
		if of[i] < 0 {
			of[i] = len(x.Bidders)
			x.Bidders = append(x.Bidders, nil)
		}
		x.Bidders[of[i]] = append(x.Bidders[of[i]], bidders.Bid{Items: items[i], Price: b.Price, ID: i})
	}
	return x, of, nil
}

// byBidders solves an auction bidder by bidder. Its errors wrap ErrItems, ErrSize or what
// ended ctx.
func byBidders(ctx context.Context, p *plain, items int, start time.Time) (*Result, error) {
	x, _, err := toBidders(p)
	if err != nil {
		return nil, err
	}
	winners, value, err := x.Solve(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(winners)
	res := NewResult(p.Auction)
	res.Items, res.Device, res.Algorithm, res.Variant, res.Reason = items, "host", Bidders, "bidders/tables", "asked for"
	if err := res.Accept(winners); err != nil {
		return nil, err
	}
	res.Prove(solve.Number(p.Price(big.NewInt(value))))
	res.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("tables of the 2^%d sets of contested goods, for %d bidders of alternatives or of a bid alone", x.Items, len(x.Bidders)))
	res.Seconds.Solve = time.Since(start).Seconds()
	return p.result(res)
}

// tables are the most that others are worth without each winner, from the tables of the
// bidder by bidder algorithm: of the whole auction, what goods raise prices by included.
func (c *cashier) tables(ctx context.Context) ([]int64, error) {
	x, of, err := toBidders(c.plain)
	if err != nil {
		return nil, err
	}
	groups := make([][]int, len(c.Winners))
	for k, w := range c.Winners {
		for _, i := range c.of[c.bidder[w.Bids[0]]] {
			if of[i] >= 0 && !slices.Contains(groups[k], of[i]) {
				groups[k] = append(groups[k], of[i])
			}
		}
	}
	return x.Without(ctx, groups)
}
