package auction

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/selection"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Bidders is the algorithm of few goods and many alternatives: a table of all sets of
// goods, bidder by bidder, on a device or on all cores of the host.
const Bidders = selection.Bidders

// TableWork counts the work of the tables of Bidders on a device.
type TableWork = bidders.Work

// MaxContested is the most items, dummies of alternatives not counted, for which Bidders makes tables
// on a device that has memory for them.
const MaxContested = bidders.MaxItemsOnDevice

// byBidders solves an auction bidder by bidder. Its errors wrap device.ErrMemory, csg.ErrCheck or
// the error of ctx.
func byBidders(ctx context.Context, p *problem.AtomicBids, items int, o Options, start time.Time, t *bidders.Plan) (*Result, error) {
	on := t.On
	res := NewResult(p.Auction)
	res.Items, res.Device, res.Algorithm, res.Variant, res.Reason = items, device.Host, Bidders, "bidders/tables", t.Reason
	if on.Variant != nil {
		res.Device, res.Variant = on.Device.Facts().String(), auction.Bidders.Name+" "+on.Variant.Label
	}
	o.Say("%s on %s: %s", res.Variant, res.Device, res.Reason)
	on.Work = &res.Tables
	if o.Progress != nil {
		on.Share = func(share float64) {
			o.Progress(solve.Incumbent{Seconds: time.Since(start).Seconds(), Share: share})
		}
	}
	winners, value, err := on.Solve(ctx, t.Problem)
	if err != nil {
		return nil, err
	}
	slices.Sort(winners)
	if err := res.Accept(winners); err != nil {
		return nil, err
	}
	if sum := p.Revenue(winners); sum.Cmp(big.NewInt(value)) != 0 {
		return nil, fmt.Errorf("%w: the winning bids pay %s, the tables claim %s", csg.ErrCheck, p.Price(sum), p.Price(big.NewInt(value)))
	}
	res.Prove(solve.Number(p.Price(big.NewInt(value))))
	res.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("tables of the 2^%d sets of contested goods, for %d bidders of alternatives or of a bid alone", t.Items, len(t.Bidders)))
	res.Seconds.Solve = time.Since(start).Seconds()
	return originalResult(p, res)
}

// tables sets the payments of VCG by the best revenue without each winner, from tables of the other
// bidders. The revenue includes the amounts by which goods that have to be sold raise prices.
func (c *cashier) tables(ctx context.Context) error {
	t, err := bidders.NewPlan(c.atomic, c.o)
	if err != nil {
		return err
	}
	groups := make([][]int, len(c.Winners))
	for k, w := range c.Winners {
		for _, i := range c.of[c.bidder[w.Bids[0]]] {
			if list := t.List[i]; list >= 0 && !slices.Contains(groups[k], list) {
				groups[k] = append(groups[k], list)
			}
		}
	}
	on := t.On
	on.Work = &c.res.Tables
	worth, err := on.Without(ctx, t.Problem, groups)
	if err != nil {
		return err
	}
	for k := range c.Winners {
		w := &c.Winners[k]
		w.Pays = worth[k] - (c.bid(c.won) - w.Value)
		if w.Pays < 0 || w.Pays > w.Value {
			return fmt.Errorf("%w: winner %d, who bid %d units, is to pay %d", csg.ErrCheck, k, w.Value, w.Pays)
		}
	}
	return nil
}
