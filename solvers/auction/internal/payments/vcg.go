package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/cores"
)

// vcgByBranch computes VCG's payments, one branch and cut a winner.
func (c *Calculator) vcgByBranch(ctx context.Context) error {
	errs := make([]error, len(c.Winners))
	cores.Pieces(len(c.Winners), func(k int) {
		w := &c.Winners[k]
		others, err := c.revenueWithout(ctx, k)
		if err != nil {
			errs[k] = err
			return
		}
		w.Pays = others - (c.pricesOf(c.winningBids(w)) - c.pricesOf(w.Bids)) - c.atomic.GoodPrice*c.atomic.GoodsSold(w.Bids)
		c.reportProgress()
	})
	return errors.Join(errs...)
}

// revenueWithout is the best revenue of a winner's part without the winner's bids, with the amounts by which
// goods raise prices. If ctx ends first, the value is not valid.
func (c *Calculator) revenueWithout(ctx context.Context, k int) (int64, error) {
	w := &c.Winners[k]
	p := &packing.Problem{Prices: c.partPrices(c.part[w.Bids[0]]), Cliques: c.whole.Cliques}
	for _, i := range c.of[c.bidder[w.Bids[0]]] {
		p.Prices[i] = 0
	}
	set := packing.Settings{Known: c.known}
	for _, i := range c.winningBids(w) {
		if p.Prices[i] > 0 {
			set.Start = append(set.Start, i)
		}
	}
	if len(c.Winners) > 1 {
		set.Workers = 1 // one core a winner; winners share the cores
	}
	solved, err := packing.Solve(ctx, p, set)
	if err != nil {
		return 0, err
	}
	if c.atomic.GoodPrice > 0 && ctx.Err() == nil && c.atomic.GoodsSold(solved.Winners) < c.atomic.GoodsSold(c.winningBids(w)) {
		return 0, UndefinedError(fmt.Sprintf("no other bids sell every good without bid %d and what else its bidder bids for, and the auction has no free disposal", c.atomic.Bids[w.Bids[0]].Number))
	}
	return solved.Value, nil
}

// vcgByTables computes the payments of VCG by the best revenue without each winner, from tables of the other
// bidders. The revenue includes the amounts by which goods that have to be sold raise prices.
func (c *Calculator) vcgByTables(ctx context.Context) error {
	t, err := bidders.NewTablePlan(c.atomic, c.o)
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
	on.Work = c.work
	worth, err := on.ValuesWithout(ctx, t.Problem, groups)
	if err != nil {
		return err
	}
	for k := range c.Winners {
		w := &c.Winners[k]
		w.Pays = worth[k] - (c.pricesOf(c.won) - w.Value)
		if w.Pays < 0 || w.Pays > w.Value {
			return fmt.Errorf("%w: winner %d, who bid %d units, is to pay %d", problem.ErrCheck, k, w.Value, w.Pays)
		}
	}
	return nil
}
