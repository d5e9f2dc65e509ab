package auction

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/autotune/subject"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/bounds"
	"coalesce/solvers/auction/internal/ways"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Bidders is the algorithm of few goods and many alternatives: a table of all sets of
// goods, bidder by bidder, on a device or on all cores of the host.
const Bidders = ways.Bidders

// Subjects are the families of this problem, and the choice among its algorithms, for the tuner.
func Subjects() []subject.Subject {
	return append(append(bidders.Subjects(), bounds.Subjects()...), ways.Subject(func(items int, bids []bidders.Asked) *Auction {
		a := &Auction{Goods: int64(items), Dummies: int64(len(bids)), Source: fmt.Sprintf("%d bids for %d goods", len(bids), items)}
		for k, b := range bids {
			a.Bids = append(a.Bids, Bid{Number: int64(k), Price: b.Price, Goods: b.Goods})
		}
		return a
	}, func(a *Auction) (solve.Number, error) {
		r, err := Reference(a)
		if err != nil {
			return "", err
		}
		return r.Value, nil
	}, func(a *Auction, o Options) (algorithms.Solver, error) {
		s, err := Open(o)
		if err != nil {
			return algorithms.Solver{}, err
		}
		return algorithms.Solver{Close: s.Close, Solve: func(ctx context.Context) (*solve.Report, error) {
			r, err := s.Solve(ctx, a)
			if err != nil {
				return nil, err
			}
			return &r.Report, nil
		}}, nil
	}))
}

// TableWork counts the work of the tables of Bidders on a device.
type TableWork = bidders.Work

// MaxContested is the most items, dummies of alternatives not counted, for which Bidders makes tables
// on a device that has memory for them.
const MaxContested = bidders.MaxItemsOnDevice

// toBidders converts an auction to lists of alternative bids over at most so many items. It also
// returns the list of each bid, -1 for bids that cannot win.
func toBidders(p *problem.AtomicBids, maxItems int) (*bidders.Problem, []int, error) {
	asked, bidder, sum := make([]bidders.Asked, len(p.Bids)), p.Bidders(), new(big.Int)
	for i, b := range p.Bids {
		asked[i] = bidders.Asked{Price: b.Price, Goods: b.Goods, Bidder: bidder[i]}
		sum.Add(sum, big.NewInt(max(0, b.Price)))
	}
	if !sum.IsInt64() {
		return nil, nil, fmt.Errorf("%s: %w: prices that add up to %s, expected less than 2^63 units of 10^-%d", p.Source, ErrSize, p.Price(sum), p.Scale)
	}
	x, of := bidders.New(asked, p.Dummy)
	if x.Items > maxItems {
		return nil, nil, fmt.Errorf("%s: %w: found %d items that bids of several bidders ask for, expected at most %d", p.Source, ErrItems, x.Items, maxItems)
	}
	return x, of, nil
}

// tabled has an auction as lists of alternative bids, the list of each bid, and the device or host
// that makes the tables, with the reason.
type tabled struct {
	*bidders.Problem
	of     []int
	on     bidders.On
	reason string
}

// tablesOf decides whether a device or the host makes the tables of an auction. Its errors wrap
// ErrItems, ErrSize or device.ErrMemory.
func tablesOf(p *problem.AtomicBids, o Options) (*tabled, error) {
	items, err := bidders.ItemLimit(o)
	if err != nil {
		return nil, err
	}
	x, of, err := toBidders(p, items)
	if err != nil {
		return nil, err
	}
	on, reason, err := x.Place(o)
	return &tabled{x, of, on, reason}, err
}

// byBidders solves an auction bidder by bidder. Its errors wrap device.ErrMemory, csg.ErrCheck or
// the error of ctx.
func byBidders(ctx context.Context, p *problem.AtomicBids, items int, o Options, start time.Time, t *tabled) (*Result, error) {
	on := t.on
	res := NewResult(p.Auction)
	res.Items, res.Device, res.Algorithm, res.Variant, res.Reason = items, device.Host, Bidders, "bidders/tables", t.reason
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
	t, err := tablesOf(c.atomic, c.o)
	if err != nil {
		return err
	}
	groups := make([][]int, len(c.Winners))
	for k, w := range c.Winners {
		for _, i := range c.of[c.bidder[w.Bids[0]]] {
			if list := t.of[i]; list >= 0 && !slices.Contains(groups[k], list) {
				groups[k] = append(groups[k], list)
			}
		}
	}
	on := t.on
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
