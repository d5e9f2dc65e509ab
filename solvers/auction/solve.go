package auction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Options of Solve: the settings of all solvers, and what auctions add.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" algorithm.about:"solve by branch and cut, by tables of all sets of goods (bidders), or by coalition structures"`
	// compute what winners pay, by this rule
	Payments string `option:"payments" words:"Rules()" default:"no payments"`
	// add the tree of branch and cut and its prices of cliques to the result; by these the bound is proven again without a search
	Proof bool `option:"proof"`
}

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

// ErrUnsold is wrapped by the error of a solve that ended before it found bids which sell all goods that have to
// be sold.
var ErrUnsold = errors.New("the bids found do not sell every good, and the auction has no free disposal")

// checkOptions returns an error of options that no solve of an auction takes.
func checkOptions(o *Options) error {
	if err := cmp.Or(solve.CheckOptions(o.Fields()), o.Check()); err != nil {
		return err
	}
	if o.Algorithm == Branch {
		return o.Variantless(Branch)
	}
	return nil
}

// A run is the solve of one auction, from its plan to its result.
type run struct {
	*Session
	start   time.Time
	atomic  *problem.AtomicBids
	reduced *Reduction
	plan    *plan.Plan
}

// solve plans a solve and relays it: tables that end too early or have no room, and coalition structures
// that end too early, leave the auction to other algorithms.
func (s *Session) solve(ctx context.Context, a *Auction) (*Result, error) {
	r := &run{Session: s, start: time.Now()}
	if err := checkOptions(&s.Options); err != nil {
		return nil, err
	}
	var err error
	if r.atomic, err = problem.NewAtomicBids(a, true); err != nil {
		return nil, err
	}
	r.reduced = newReduction(r.atomic)
	s.Say("%d items are left to compete for", r.items())
	limited, cancel := s.Limited(ctx)
	defer cancel()
	if r.plan, err = plan.New(&s.Settings, r.atomic, r.items()); err != nil {
		return nil, err
	}
	if r.plan.Tables != nil {
		res, err := r.byTables(limited)
		switch {
		case errors.Is(err, solve.ErrInfeasible):
			return r.refute(limited, res, err)
		case solve.Ended(limited, err):
			return r.byBranch(limited, "the tables ended too early, so the bids are those that branch and cut begins with")
		case err == nil || r.plan.Asked || !errors.Is(err, device.ErrMemory):
			return res, err
		}
		r.plan.AfterTables(r.items())
	}
	if r.plan.Algorithm == Branch {
		return r.byBranch(limited, r.plan.Reason)
	}
	return r.byStructures(ctx, limited)
}

// items is the number of items that bids compete for.
func (r *run) items() int { return len(r.reduced.Items) }

// byBranch solves the auction by branch and cut.
func (r *run) byBranch(limited context.Context, reason string) (*Result, error) {
	res, err := r.branch(limited, r.Options, reason)
	if errors.Is(err, solve.ErrInfeasible) && !res.Proven {
		res, err = r.refute(limited, res, err)
	}
	if err != nil {
		return res, err
	}
	res.Seconds.Solve = time.Since(r.start).Seconds()
	return res, nil
}

// byStructures solves the auction as coalition structures, whose time limit is their own.
func (r *run) byStructures(ctx, limited context.Context) (*Result, error) {
	inst, err := r.reduced.toCSG(MaxItemsAsked)
	if err != nil {
		return nil, err
	}
	prepared := time.Since(r.start).Seconds()
	var progress func(solve.Incumbent)
	if r.Progress != nil {
		progress = func(now solve.Incumbent) { r.Progress(r.reduced.incumbent(now)) }
	}
	solved, err := r.solveCSG(ctx, inst, progress)
	if solve.Ended(limited, err) || err == nil && solved.Stopped {
		return r.byBranch(limited, "coalition structures ended too early, so the bids are those that branch and cut begins with")
	}
	if err != nil {
		return nil, err
	}
	solved.Seconds.Prepare += prepared
	solved.Reason = r.plan.WithChoice(solved.Reason)
	res, err := r.reduced.Result(solved)
	if errors.Is(err, solve.ErrInfeasible) {
		return r.refute(limited, res, err)
	}
	return res, err
}

// refute adds a proof to a result of bids that do not sell every good: branch and cut solves the auction again
// and logs its tree. Where that fails, or ends too early, the result stays unproven and gets a note. The
// returned error is the given one.
func (r *run) refute(limited context.Context, res *Result, unsold error) (*Result, error) {
	o := r.Options
	o.Proof, o.Progress = true, nil
	proved, err := r.branch(limited, o, "")
	if proved != nil && proved.Proven {
		res.proof, res.Nodes = proved.proof, res.Nodes+proved.Nodes
		res.ProveInfeasible()
	} else {
		res.Notes = append(slices.Clip(res.Notes), fmt.Sprintf("that no bids sell every good is not proven: %v", err))
	}
	res.Seconds.Solve = time.Since(r.start).Seconds()
	return res, unsold
}
