package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	genauction "coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Bidders is the algorithm of few goods and many alternatives: a table of all sets of
// goods, bidder by bidder, on a device or on all cores of the host.
const Bidders = plan.Bidders

// TableWork counts the work of the tables of Bidders on a device.
type TableWork = bidders.Work

// MaxContested is the most items, dummies of alternatives not counted, for which Bidders makes tables
// on a device that has memory for them.
const MaxContested = bidders.MaxItemsOnDevice

// byTables solves the auction bidder by bidder. It gives up where the tables end too early or, unless they were asked for,
// have no room.
func (r *run) byTables(ctx context.Context) (*Result, error) {
	p, t := r.atomic, r.plan.Tables
	on := t.On
	res := NewResult(p.Auction)
	res.Items, res.Device, res.Algorithm, res.Variant, res.Reason = r.itemCount(), device.Host, Bidders, "bidders/tables", r.plan.WithChoice(t.Reason)
	if on.Variant != nil {
		res.Device, res.Variant = on.Device.Facts().String(), genauction.Bidders.Name+" "+on.Variant.Label
	}
	r.Logf("%s on %s: %s", res.Variant, res.Device, res.Reason)
	on.Work = &res.Tables
	if r.Progress != nil {
		on.Share = func(share float64) {
			r.Progress(solve.Incumbent{Seconds: time.Since(r.start).Seconds(), Share: share})
		}
	}
	winners, value, err := on.Solve(ctx, t.Problem)
	switch {
	case solve.IsInterrupted(ctx, err):
		return nil, r.giveUp()
	case errors.Is(err, device.ErrMemory) && !r.plan.Asked:
		r.plan.AfterTables(r.itemCount())
		return nil, solve.GaveUp(err.Error())
	case err != nil:
		return nil, err
	}
	slices.Sort(winners)
	if err := res.Accept(winners); err != nil {
		return nil, err
	}
	if sum := p.Revenue(winners); sum.Cmp(big.NewInt(value)) != 0 {
		return nil, fmt.Errorf("%w: the winning bids pay %s, the tables claim %s", problem.ErrCheck, p.FormatPrice(sum), p.FormatPrice(big.NewInt(value)))
	}
	res.SetProvenBound(solve.Number(p.FormatPrice(big.NewInt(value))))
	res.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("tables of the 2^%d sets of contested goods, for %d bidders of alternatives or of a bid alone", t.Items, len(t.Bidders)))
	return res, nil
}
