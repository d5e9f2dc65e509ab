package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"coalesce/solvers/auction/internal/beside"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/internal/ways"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Branch is the algorithm of many goods: set packing by branch and cut, on all cores.
const Branch = ways.Branch

// SearchWork counts the work of devices beside branch and cut.
type SearchWork = beside.Work

// ErrSize is wrapped by the error of an auction of too many bids.
var ErrSize = packing.ErrSize

// toPacking is an auction as set packing: bids that ask for the same good, or the same
// dummy, exclude one another.
func toPacking(a *Auction) *packing.Problem {
	p := &packing.Problem{Prices: make([]int64, len(a.Bids))}
	holders := map[int64][]int32{}
	var goods []int64
	for i, b := range a.Bids {
		p.Prices[i] = b.Price
		for _, g := range b.Goods {
			if holders[g] == nil {
				goods = append(goods, g)
			}
			holders[g] = append(holders[g], int32(i))
		}
	}
	slices.Sort(goods)
	for _, g := range goods {
		if len(holders[g]) > 1 {
			p.Cliques = append(p.Cliques, holders[g])
		}
	}
	return p
}

// A teller passes the incumbents of branch and cut on to Progress. Several cores report values and
// bounds; the teller passes on only values that rise and bounds that fall.
type teller struct {
	mu      sync.Mutex
	plain   *plain
	start   time.Time
	to      func(solve.Incumbent)
	value   int64
	bound   int64
	started bool
}

func (t *teller) tell(value, bound, nodes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started {
		t.value, t.bound, t.started = value, bound, true
	}
	t.value, t.bound = max(t.value, value), min(t.bound, bound)
	best := t.plain.told(big.NewInt(t.value))
	most := solve.Number(t.plain.whole.Price(t.plain.amount(big.NewInt(t.bound))))
	t.to(solve.NewIncumbent(time.Since(t.start).Seconds(), best, most, nodes))
}

// told is a value of plain bids as a decimal of the auction, empty where bids of that value leave a
// good that has to be sold.
func (p *plain) told(units *big.Int) solve.Number {
	if p.unsold != nil && units.Cmp(p.unsold) <= 0 {
		return ""
	}
	return solve.Number(p.whole.Price(p.amount(units)))
}

// branch solves an auction by branch and cut. When ctx ends, the result is the best so far, with a bound.
func branch(ctx context.Context, p *plain, items int, o Options, reason string, start time.Time) (_ *Result, err error) {
	amount := func(units int64) string { return p.whole.Price(p.amount(big.NewInt(units))) }
	set := packing.Settings{Log: o.Proof, Ranks: o.Ranks}
	if o.Progress != nil {
		set.Progress = (&teller{plain: p, start: start, to: o.Progress}).tell
	}
	companion := beside.Join(&set, o, start)
	defer func() { err = errors.Join(err, companion.Close()) }()
	solved, err := packing.Solve(ctx, toPacking(p.Auction), set)
	if err == nil {
		err = companion.Refused()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Source, err)
	}
	res := NewResult(p.Auction)
	res.Algorithm, res.Variant, res.Reason = Branch, "packing/branch", reason
	if res.Device = "host"; o.Together() > 1 {
		res.Device = fmt.Sprintf("host on each of %d ranks", o.Together())
	}
	res.Items, res.Nodes = items, solved.Nodes
	for _, price := range solved.Prices {
		price.Amount = (price.Amount + p.times - 1) / p.times
		res.prices = append(res.prices, price)
	}
	res.proof = replay.New(solved)
	res.LPBound = solve.Number(p.Price(big.NewInt(solved.LPBound)))
	if err := res.Accept(solved.Winners); err != nil {
		return nil, err
	}
	bound := solve.Number(p.Price(big.NewInt(solved.Bound)))
	if solved.Proven() {
		res.Prove(bound)
	} else {
		res.Bounded(bound)
	}
	res.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("%d of %s left when dominated ones are gone, in %s; they conflict in %s", solved.Bids, formats.Count(len(p.Bids), "bid"), formats.Count(solved.Parts, "part"), formats.Count(solved.Cliques, "clique")),
		fmt.Sprintf("%s; the linear relaxation's bound is %s", formats.Count(solved.Nodes, "node"), amount(solved.LPBound)))
	res.Search = companion.Tell(&res.Report)
	if !solved.Proven() {
		solve.Stop(solve.Cause(ctx), &res.Stopped, &res.Notes, fmt.Sprintf("the bids are the best so far, and none pay more than %s", amount(solved.Bound)))
	}
	return p.result(res)
}
