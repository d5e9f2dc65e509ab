package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"coalesce/solvers/auction/internal/offload"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Branch is the algorithm of many goods: set packing by branch and cut, on all cores.
const Branch = plan.Branch

// SearchWork counts the work of devices beside branch and cut.
type SearchWork = offload.Work

// progress passes the incumbents of branch and cut on to Progress. Several cores report values and
// bounds; only values that rise and bounds that fall are passed on.
type progress struct {
	mu      sync.Mutex
	atomic  *problem.AtomicBids
	start   time.Time
	to      func(solve.Incumbent) // nil: nobody
	target  *float64              // of the auction; nil: none
	stop    func()                // ends the search once target is met
	value   int64
	bound   int64
	started bool
}

func (t *progress) report(value, bound, nodes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started {
		t.value, t.bound, t.started = value, bound, true
	}
	t.value, t.bound = max(t.value, value), min(t.bound, bound)
	best := t.atomic.OriginalValue(big.NewInt(t.value))
	most := t.atomic.OriginalPrice(big.NewInt(t.bound))
	if reaches(t.atomic.Original, best, t.target) {
		t.stop()
	}
	if t.to == nil {
		return
	}
	t.to(solve.NewIncumbent(time.Since(t.start).Seconds(), best, most, nodes))
}

// solveByBranch solves the auction by branch and cut. Where it was cut short, the result is the best so far, with a bound.
func (r *run) solveByBranch(ctx context.Context, o Options, reason string) (_ *Result, err error) {
	p := r.atomic
	set := packing.Settings{Log: o.Proof, Ranks: o.Ranks, Start: r.begin}
	searching, stop := context.WithCancel(ctx)
	defer stop()
	if r.met {
		stop()
	}
	if o.Progress != nil || o.Target != nil {
		set.Progress = (&progress{atomic: p, start: r.start, to: o.Progress, target: o.Target, stop: stop}).report
	}
	companion := offload.Attach(&set, o.Settings, r.start)
	defer func() { err = errors.Join(err, companion.Close()) }()
	solved, err := packing.Solve(searching, packing.New(p), set)
	if err == nil {
		err = companion.CheckAllowed()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Source, err)
	}
	res := NewResult(p.Auction)
	res.Algorithm, res.Variant, res.Reason = Branch, "packing/branch", reason
	if res.Device = "host"; o.RankCount() > 1 {
		res.Device = fmt.Sprintf("host on each of %d ranks", o.RankCount())
	}
	res.Items, res.Nodes = r.itemCount(), solved.Nodes
	for _, price := range solved.Prices {
		price.Amount = (price.Amount + p.Multiplier - 1) / p.Multiplier
		res.prices = append(res.prices, price)
	}
	if res.proof = replay.New(solved); res.proof == nil && o.Proof && !slices.ContainsFunc(p.Bids, func(b problem.Bid) bool { return b.Price > 0 }) {
		res.proof = &replay.Proof{Parts: []replay.Part{}}
	}
	res.LPBound = solve.Number(p.FormatPrice(big.NewInt(solved.LPBound)))
	if err := res.Accept(solved.Winners); err != nil {
		return nil, err
	}
	res.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("%d of %s left when dominated ones are gone, in %s; they conflict in %s", solved.Bids, formats.Count(len(p.Bids), "bid"), formats.Count(solved.Parts, "part"), formats.Count(solved.Cliques, "clique")),
		fmt.Sprintf("%s; the linear relaxation's bound is %s", formats.Count(solved.Nodes, "node"), p.OriginalPrice(big.NewInt(solved.LPBound))))
	res.Search = companion.Report(&res.Report)
	bound := solve.Number(p.FormatPrice(big.NewInt(solved.Bound)))
	if solved.Proven() {
		res.SetProvenBound(bound)
		return res, nil
	}
	res.SetBound(bound)
	if reaches(p.Original, p.OriginalNumber(res.Value), o.Target) {
		return res, nil
	}
	if solved.Limited != "" && ctx.Err() == nil {
		res.Notes = append(res.Notes, solved.Limited+": the bids are the best found, and prices of goods give the bound")
		return res, nil
	}
	return res, solve.InterruptedError(solve.Cause(ctx))
}
