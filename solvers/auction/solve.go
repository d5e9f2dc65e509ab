package auction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Options of Solve: the settings of all solvers, and what auctions add.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" target.about:"have branch and cut stop at this revenue or more" seed.refused:"no algorithm draws random numbers" algorithm.about:"solve by branch and cut, by tables of all sets of goods (bidders), or by coalition structures"`
	// compute what winners pay, by this rule
	Payments string `option:"payments" words:"Rules()" default:"no payments"`
	// add the tree of branch and cut and its prices of cliques to the result; by these the bound is proven again without a search
	Proof bool `option:"proof"`
	// buy: accept the bids of the least costs that together offer all units of each good, as if the auction said so
	Minimize bool `option:"minimize"`
	// units of each good, where the auction does not say: a number for all, or NAME=NUMBER between blanks, of which goods left out have 1
	Units string `option:"units" default:"those of the auction, else 1"`
	// find so many allocations, the best first
	KBest int `option:"k_best" min:"1" max:"65536" default:"1"`
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
// Auctions with several units of a good, and those that buy with free disposal, are solved by branch and bound over rows of whole numbers, on all
// cores of the host.
//
// With KBest of 2 or more it finds that many allocations, fewer where there are no more, by branch and bound on the host.
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
func Solve(ctx context.Context, a *problem.Auction, o Options) (r *Result, err error) {
	err = solve.WithSession(Open, o, func(s *Session) error {
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
	if o.KBest > 1 && o.RankCount() > 1 {
		return solve.InvalidInput("KBest", "found %d on %d ranks, expected 1: one process ranks allocations", o.KBest, o.RankCount())
	}
	switch o.Algorithm {
	case Branch:
		return o.RefuseVariant(Branch)
	case "":
		return nil
	}
	return o.RefuseStart("algorithm " + o.Algorithm + " uses the prices alone, " + Branch + " begins with bids that are known")
}

// reaches reports whether a value is as good as the target; false without one.
func reaches(a *problem.Auction, value solve.Number, target *float64) bool {
	if target == nil || value == "" {
		return false
	}
	if a.Minimize {
		return value.Float() <= *target
	}
	return value.Float() >= *target
}

// markMet marks that the answer is as good as the target.
func (r *run) markMet() {
	if reaches(r.auction, r.result.Value, r.Target) {
		met := time.Since(r.start).Seconds()
		r.result.Met = &met
	}
}

// takeStart takes the bids to begin with from the settings, as atomic bids of prices above 0 and their value. It reports whether they are
// worth the target.
func (r *run) takeStart() (met bool, err error) {
	winners, err := solve.StartAs[problem.Allocation](&r.Settings)
	if err != nil || r.Start == nil {
		return false, err
	}
	a := r.auction
	if err := winners.CheckFor(a); err != nil {
		return false, solve.InvalidInput("Start", "%w", err)
	}
	kept := a.KeptBeside(winners)
	for _, place := range r.atomic.Places(winners, kept) {
		if r.atomic.Bids[place].Price > 0 {
			r.begin = append(r.begin, place)
		}
	}
	value := solve.Number(a.FormatPrice(a.Value(winners, kept)))
	return reaches(a, value, r.Target), nil
}

// A run is the solve of one auction, from its plan to its result. Algorithms find results of its atomic bids.
type run struct {
	*Session
	auction *problem.Auction
	start   time.Time
	atomic  *problem.AtomicBids
	reduced *Reduction
	plan    *plan.Plan
	begin   []int // atomic bids that branch and cut begins with; nil: none
	met     bool  // they are worth the target
	result  *Result
}

// Plan implements solve.Work.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[*Result]], error) {
	r.start = time.Now()
	if err := checkOptions(&r.Options); err != nil {
		return nil, nil, err
	}
	if err := r.auction.Check(); err != nil {
		return nil, nil, err
	}
	if !r.auction.IsPacking() {
		return r.planRows(ctx)
	}
	var err error
	if r.atomic, err = problem.NewAtomicBids(r.auction, true); err != nil {
		return nil, nil, err
	}
	if r.met, err = r.takeStart(); err != nil {
		return nil, nil, err
	}
	r.reduced = newReduction(r.atomic)
	r.Logf("%d items are left to compete for", r.itemCount())
	if r.plan, err = plan.New(&r.Settings, r.atomic, r.itemCount()); err != nil {
		return nil, nil, err
	}
	r.result = NewResult(r.auction)
	return r.result, r.attempts(ctx), nil
}

// attempts are the turns of the algorithms. Tables that end too early or have no room, and coalition structures
// that end too early, leave the auction to others.
func (r *run) attempts(ctx context.Context) iter.Seq[solve.Attempt[*Result]] {
	return func(yield func(solve.Attempt[*Result]) bool) {
		attempt := func(name string, run func(context.Context) (*Result, error)) bool {
			return yield(solve.Attempt[*Result]{Name: name, Run: func() (*Result, error) { return run(ctx) }})
		}
		if r.met {
			attempt(Branch, func(ctx context.Context) (*Result, error) {
				return r.solveByBranch(ctx, r.Options, "the bids to begin with are worth the target")
			})
			return
		}
		if r.plan.Tables != nil && !attempt(Bidders, r.byTables) {
			return
		}
		if r.plan.Algorithm != Branch && !attempt(plan.Coalitions, r.byStructures) {
			return
		}
		attempt(Branch, func(ctx context.Context) (*Result, error) { return r.solveByBranch(ctx, r.Options, r.plan.Reason) })
	}
}

// itemCount is the number of items that bids compete for.
func (r *run) itemCount() int { return len(r.reduced.Items) }

// giveUp gives up an algorithm that ctx has ended: branch and cut has bids at once.
func (r *run) giveUp() error {
	r.plan.Algorithm, r.plan.Reason = Branch, "the bids are those that branch and cut begins with"
	return solve.GaveUp("ended too early")
}

// byStructures solves the auction as coalition structures.
func (r *run) byStructures(ctx context.Context) (*Result, error) {
	start := time.Now()
	inst, err := r.reduced.toCSG(MaxItemsAsked)
	if err != nil {
		return nil, err
	}
	prepared := time.Since(start).Seconds()
	var progress func(solve.Incumbent)
	if r.Progress != nil {
		progress = func(now solve.Incumbent) { r.Progress(r.reduced.convertIncumbent(now)) }
	}
	solved, err := r.solveCSG(ctx, inst, progress)
	if solve.IsInterrupted(ctx, err) || err == nil && solved.Stopped {
		return nil, r.giveUp()
	}
	if err != nil {
		return nil, err
	}
	solved.Seconds.Prepare += prepared
	solved.Reason = r.plan.WithChoice(solved.Reason)
	return r.reduced.atomicResult(solved)
}

// Certify implements solve.Work: it converts a result of atomic bids to one of the auction that they express.
func (r *run) Certify(ctx context.Context, found *Result) error {
	if r.atomic == nil {
		return r.certifyRows(found)
	}
	if r.Start == nil {
		found.Winners = r.atomic.EarliestBids(found.Winners)
	}
	res, err := originalResult(r.atomic, found)
	if res != nil {
		*r.result = *res
		r.markMet()
	}
	if errors.Is(err, solve.ErrInfeasible) && !res.Proven {
		r.refute(ctx)
	}
	return err
}

// Best implements solve.Work.
func (r *run) Best(ctx context.Context, found *Result) (string, error) {
	if found == nil {
		return "", nil
	}
	err := r.Certify(ctx, found)
	text := "the bids are the best so far, and none pay more than %s"
	if r.auction.Minimize {
		text = "the bids are the best so far, and none cost less than %s"
	}
	return fmt.Sprintf(text, r.result.Bound), err
}

// refute adds a proof to a result of bids that do not sell every good: branch and cut solves the auction again
// and logs its tree. Where that fails, or ends too early, the result stays unproven and gets a note.
func (r *run) refute(ctx context.Context) {
	o, res := r.Options, r.result
	o.Proof, o.Progress = true, nil
	proved, err := r.solveByBranch(ctx, o, "")
	if err == nil {
		proved, err = originalResult(r.atomic, proved)
	}
	if proved != nil && proved.Proven {
		res.proof, res.Nodes = proved.proof, res.Nodes+proved.Nodes
		res.ProveInfeasible()
	} else {
		res.Notes = append(slices.Clip(res.Notes), fmt.Sprintf("that no bids sell every good is not proven: %v", err))
	}
}
