package auction

import (
	"context"
	"fmt"
	"time"

	"coalesce/solvers/csg"
)

// Options of Solve: those of coalition structures, since they solve the auction.
type Options = csg.Options

// Solve finds the bids that pay the most together, on a device, by coalition
// structures over the goods and dummies that bids compete for. The result was
// checked: no good is sold twice, and the prices add up to what the solver claims.
// Errors of auctions with too many items wrap ErrItems, those of memory
// device.ErrMemory, those of a wrong answer csg.ErrCheck. ctx and the time limit end
// it between launches, without a result.
func Solve(ctx context.Context, a *Auction, o Options) (*Result, error) {
	start := time.Now()
	reduced := NewReduction(a)
	inst, err := reduced.ToCSG()
	if err != nil {
		return nil, err
	}
	prepared := time.Since(start).Seconds()
	o.Say("%d items are left to compete for", inst.N)
	solved, err := csg.Solve(ctx, inst, o)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	solved.Seconds.Prepare += prepared
	return reduced.Result(solved)
}
