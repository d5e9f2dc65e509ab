package auction

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coalesce/solvers/csg"
)

// Options of Solve: those of coalition structures, which solve auctions of few goods.
type Options = csg.Options

// Algorithms are what Solve can be told to use: Branch, and the methods of coalition
// structures.
func Algorithms() []string {
	return []string{Branch, string(csg.Apart), string(csg.DP), string(csg.IDP)}
}

// Solve finds the bids that pay the most together: by coalition structures over the
// goods and dummies that bids compete for, on a device, where these are at most
// MaxItems, else by branch and cut on all cores of the host. The options may name the
// algorithm. The result was checked: no good is sold twice, and the prices add up to
// what the solver claims.
//
// Branch and cut that ctx or the time limit ends gives the best bids found and a bound;
// Proven tells whether they are the best of all. Coalition structures end between
// launches, without a result. Errors of too many items or bids wrap ErrItems or
// ErrSize, those of memory device.ErrMemory, those of a wrong answer csg.ErrCheck, and
// those of an auction without free disposal whose goods no bids sell solve.ErrInfeasible.
func Solve(ctx context.Context, a *Auction, o Options) (*Result, error) {
	start := time.Now()
	if o.Algorithm != "" && !slices.Contains(Algorithms(), o.Algorithm) {
		return nil, fmt.Errorf("solve auction: found the algorithm %.40q, expected one of %v", o.Algorithm, Algorithms())
	}
	p, err := newPlain(a, true)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	reduced := newReduction(p)
	items := len(reduced.Items)
	o.Say("%d items are left to compete for", items)
	if o.Algorithm == Branch || o.Algorithm == "" && o.Variant == "" && items > MaxItems {
		reason := "asked for"
		if o.Algorithm == "" {
			reason = fmt.Sprintf("%d items are more than the %d that coalition structures take", items, MaxItems)
		}
		res, err := branch(ctx, p, items, o, reason)
		if err != nil {
			return nil, fmt.Errorf("solve auction: %w", err)
		}
		res.Seconds.Solve = time.Since(start).Seconds()
		return res, nil
	}
	inst, err := reduced.ToCSG()
	if err != nil {
		return nil, err
	}
	prepared := time.Since(start).Seconds()
	solved, err := csg.Solve(ctx, inst, o)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	solved.Seconds.Prepare += prepared
	return reduced.Result(solved)
}
