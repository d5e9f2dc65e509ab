package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/internal/selection"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Options of Solve: those of coalition structures, which solve auctions of few goods.
type Options = csg.Options

// Algorithms are the names that Options.Algorithm may have: Branch, Bidders, and the methods of
// coalition structures.
func Algorithms() []string {
	return []string{Branch, Bidders, string(csg.Apart), string(csg.DP), string(csg.IDP)}
}

// Solve finds the bids that pay the most together. Unless the options name an algorithm, Solve chooses:
//
//   - Bidders, on a GPU, where tables of all sets of items, dummies of alternatives not counted, take
//     half a second at most. There are at most MaxContested items, as memory allows; on a host 25.
//   - Coalition structures on the device, where the goods and dummies that several bids ask for are
//     at most MaxItems, or MaxItemsAsked where the options name such an algorithm.
//   - Branch and cut, on all cores of the host, for more.
//
// The result is checked: no good is sold twice, and the prices add up to the solver's total.
//
// When ctx or the time limit ends, the result has the best bids that branch and cut has found and a
// bound; Stopped says so, and Proven whether they are the best of all. Coalition structures that end early, between
// launches, leave the bids that branch and cut begins with. Progress is called with values, bounds
// and gaps in the auction's decimals, and with nodes as the work; values are empty until a solution
// sells all goods that have to be sold.
//
// Errors of too many items or bids wrap ErrItems or ErrSize, those of memory
// device.ErrMemory, those of a wrong answer ErrCheck, and those of an auction without
// free disposal whose goods no bids sell solve.ErrInfeasible.
func Solve(ctx context.Context, a *Auction, o Options) (r *Result, err error) {
	err = solve.With(Open, o, func(s *Session) error {
		r, err = s.Solve(ctx, a)
		return err
	})
	return r, err
}

// A Session solves auctions one after the other, with a session of coalition structures
// for those of few goods. The Options may be changed between solves, but for the Devices,
// whose owner the caller stays. A session belongs to one goroutine at a time.
type Session struct {
	Options
	structures *csg.Session // nil: not needed yet
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) { return &Session{Options: o}, nil }

// Close gives back memory and kernels.
func (s *Session) Close() error {
	if s.structures == nil {
		return nil
	}
	return s.structures.Close()
}

// byStructures solves an instance of coalition structures.
func (s *Session) byStructures(ctx context.Context, inst *csg.Instance, progress func(solve.Incumbent)) (*csg.Result, error) {
	if s.structures == nil {
		var err error
		if s.structures, err = csg.Open(s.Options); err != nil {
			return nil, err
		}
	}
	devices := s.structures.Devices // of the session, whose loaded kernels stay
	s.structures.Options = s.Options
	s.structures.Devices, s.structures.Progress = devices, progress
	return s.structures.Solve(ctx, inst)
}

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, a *Auction) (*Result, error) {
	start, o := time.Now(), s.Options
	if o.Algorithm != "" && !slices.Contains(Algorithms(), o.Algorithm) {
		return nil, fmt.Errorf("solve auction: %w", solve.Input("Algorithm", "found %.40q, expected one of %v", o.Algorithm, Algorithms()))
	}
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	if o.Algorithm == Branch {
		if err := o.Variantless(Branch); err != nil {
			return nil, fmt.Errorf("solve auction: %w", err)
		}
	}
	p, err := problem.NewAtomicBids(a, true)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	reduced := newReduction(p)
	items := len(reduced.Items)
	o.Say("%d items are left to compete for", items)
	limited, cancel := o.Limited(ctx)
	defer cancel()
	byBranch := func(reason string) (*Result, error) {
		res, err := branch(limited, p, items, o, reason, start)
		if errors.Is(err, solve.ErrInfeasible) && !res.Proven {
			res, err = refute(ctx, limited, p, res, err, o, start)
		}
		if err != nil {
			return res, fmt.Errorf("solve auction: %w", err)
		}
		res.Seconds.Solve = time.Since(start).Seconds()
		return res, nil
	}
	var tables *bidders.Plan
	var choice tuned.Choice // the tuned algorithm; none where one is asked for, or on several devices, for which nothing is measured
	algorithm, reason := o.Algorithm, "asked for"
	asked := algorithm == Bidders || algorithm == "" && auction.Bidders.Variant(o.Variant) != nil
	switch {
	case asked:
		tables, err = bidders.NewPlan(p, o)
	case algorithm == "" && o.Variant == "" && o.Together() == 1 && len(o.Devices) <= 1:
		if choice, tables, err = chooseAlgorithm(p, items, &o); err == nil {
			algorithm, reason = selection.Name(choice.Variant), choice.Reason()
			o.Say("auction/%s begins: %s", algorithm, reason)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	if tables != nil {
		tables.Reason = algorithms.Before(selection.Table, choice, tables.Reason)
		res, err := byBidders(limited, p, items, o, start, tables)
		if errors.Is(err, solve.ErrInfeasible) {
			res, err = refute(ctx, limited, p, res, err, o, start)
			return res, fmt.Errorf("solve auction: %w", err)
		}
		if solve.Ended(limited, err) {
			return byBranch("the tables ended too early, so the bids are those that branch and cut begins with")
		}
		if err != nil && (asked || !errors.Is(err, device.ErrMemory)) {
			return nil, fmt.Errorf("solve auction: %w", err)
		}
		if err == nil {
			return res, nil
		}
	}
	switch {
	case algorithm == Branch:
		return byBranch(reason)
	case o.Algorithm == "" && o.Variant == "" && items > MaxItems:
		return byBranch(fmt.Sprintf("%d items are more than the %d that coalition structures take", items, MaxItems))
	}
	inst, err := reduced.toCSG(MaxItemsAsked)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	prepared := time.Since(start).Seconds()
	var progress func(solve.Incumbent)
	if o.Progress != nil {
		progress = func(now solve.Incumbent) { o.Progress(reduced.incumbent(now)) }
	}
	solved, err := s.byStructures(ctx, inst, progress)
	if solve.Ended(limited, err) || err == nil && solved.Stopped {
		return byBranch("coalition structures ended too early, so the bids are those that branch and cut begins with")
	}
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	solved.Seconds.Prepare += prepared
	solved.Reason = algorithms.Before(selection.Table, choice, solved.Reason)
	res, err := reduced.Result(solved)
	if errors.Is(err, solve.ErrInfeasible) {
		res, err = refute(ctx, limited, p, res, err, o, start)
	}
	if err != nil {
		return res, fmt.Errorf("solve auction: %w", err)
	}
	return res, nil
}

// ErrUnsold is wrapped by the error of a solve that ended before it found bids which sell all goods that have to
// be sold.
var ErrUnsold = errors.New("the bids found do not sell every good, and the auction has no free disposal")

// refute adds a proof to a result of bids that do not sell every good: branch and cut solves the auction again
// and logs its tree. Where that fails, or ends too early, the result stays unproven and gets a note. The
// returned error is the given one.
func refute(ctx, limited context.Context, p *problem.AtomicBids, res *Result, unsold error, o Options, start time.Time) (*Result, error) {
	o.Proof, o.Progress = true, nil
	proved, err := branch(limited, p, res.Items, o, "", start)
	if proved != nil && proved.Proven {
		res.proof, res.Nodes = proved.proof, res.Nodes+proved.Nodes
		res.ProveInfeasible()
	} else {
		res.Notes = append(slices.Clip(res.Notes), fmt.Sprintf("that no bids sell every good is not proven: %v", err))
	}
	res.Seconds.Solve = time.Since(start).Seconds()
	return res, unsold
}

// chooseAlgorithm chooses the algorithm to begin with, and if that is Bidders, converts the auction to
// its lists.
func chooseAlgorithm(p *problem.AtomicBids, items int, o *Options) (tuned.Choice, *bidders.Plan, error) {
	plan, refused := bidders.NewPlan(p, *o)
	var tables *bidders.Problem
	if refused == nil {
		tables = plan.Problem
	}
	_, large := packing.Live(len(p.Bids), func(j int) int64 { return p.Bids[j].Price })
	choice, err := selection.Choose(o, items, len(p.Bids), tables, refused, large)
	if err != nil || selection.Name(choice.Variant) != Bidders {
		return choice, nil, err
	}
	return choice, plan, nil
}

// incumbent converts an incumbent of the reduced instance to one of the auction.
func (r *Reduction) incumbent(now solve.Incumbent) solve.Incumbent {
	always := r.atomic.Revenue(r.Always)
	units := func(n solve.Number) (*big.Int, bool) {
		x, ok := n.Rat()
		if !ok {
			return nil, false
		}
		whole := new(big.Int).Div(x.Num(), x.Denom())
		if !x.IsInt() {
			whole.Add(whole, big.NewInt(1)) // a bound that is no whole number is rounded up
		}
		return whole.Add(whole, always), true
	}
	var value, bound solve.Number
	if x, ok := units(now.Value); ok {
		value = r.atomic.OriginalValue(x)
	}
	if x, ok := units(now.Bound); ok {
		bound = r.atomic.OriginalPrice(x)
	}
	original := solve.NewIncumbent(now.Seconds, value, bound, now.Work)
	original.Share = now.Share
	return original
}
