package assignment

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"coalesce/runtime/collective"
	"coalesce/solvers/assignment/internal/bottleneck"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A run is the solve of one instance, the next one or the one that is loaded.
type run struct {
	*Session
	next   *problem.Instance
	again  bool
	from   *problem.Prices // the duals to begin from; nil: none
	met    bool            // several ranks have ended the solve together
	result *Result
}

// A finding is what an algorithm found.
type finding struct {
	sol   *engine.Solution   // beside an error part of a matching, or nil
	flow  *simplex.Solution  // of supplies and capacities; beside an error one that is feasible, or nil
	none  *engine.Infeasible // the proof that no full matching exists; nil: one does
	proof []int32            // of the worst pair: rows that have too few better partners
}

// Plan implements solve.Work: it loads the costs, and passes over them once more where the solve begins from duals.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[finding]], error) {
	if !r.again {
		opening := ctx
		if r.RankCount() > 1 { // ranks end a solve together, which is then under way on all
			opening = context.WithoutCancel(ctx)
		}
		err := r.load(opening, r.next)
		if solve.IsInterrupted(ctx, err) {
			return r.unopened(err)
		}
		if err != nil {
			return nil, nil, err
		}
		where := r.solvedOn()
		if c := r.job.spread; c != nil {
			where += ", which talk by " + c.group.Method()
		}
		r.Logf("%s on %s: %s", r.job.plan, where, r.job.plan.reason)
	}
	if r.job == nil {
		return nil, nil, errors.New("the session has no instance")
	}
	r.begin(r.solvedOn(), r.job.plan.String(), r.job.plan.reason)
	var err error
	given, err := r.start()
	if err != nil {
		return nil, nil, err
	}
	if r.from, err = warmPrices(r.p, given); err != nil {
		return nil, nil, err
	}
	attempt := solve.Attempt[finding]{Name: r.result.Algorithm, Run: func() (finding, error) { return r.attempt(ctx) }}
	return r.result, slices.Values([]solve.Attempt[finding]{attempt}), nil
}

// unopened is Plan for a solve that err, the end of its context, has ended before its instance was loaded.
func (r *run) unopened(err error) (*Result, iter.Seq[solve.Attempt[finding]], error) {
	p, failed := problem.Normalise(r.next)
	if failed != nil {
		return nil, nil, failed
	}
	r.inst, r.p = r.next, p
	r.begin(r.DeviceNames(), "assignment/greedy", "the solve ended before an algorithm was ready")
	return r.result, nil, err
}

// begin makes the result, without an answer.
func (r *run) begin(device, variant, reason string) {
	r.result = newResult(r.inst)
	r.result.solvedBy(device, variant, reason)
	r.result.Bottleneck = r.Bottleneck
}

// attempt runs the algorithms.
func (r *run) attempt(ctx context.Context) (finding, error) {
	if r.inst.Transports() {
		return r.ship(ctx)
	}
	if r.Bottleneck {
		worst, err := bottleneck.Solve(ctx, r.p.Original())
		if err != nil {
			return finding{}, r.failed(ctx, err)
		}
		if worst.Column == nil {
			return finding{none: &engine.Infeasible{Rows: worst.Rows}}, nil
		}
		return finding{sol: &engine.Solution{Column: worst.Column}, proof: worst.Rows}, nil
	}
	r.p.Finer = r.finer()
	sol, err := r.job.solve(ctx, r.from)
	if err == nil && sol.Low != nil && r.Duals {
		if _, fits := sol.Joined(r.p.Finer); !fits {
			r.p.Finer = 0
			sol, err = r.job.solve(ctx, r.from)
		}
	}
	var none *engine.Infeasible
	if errors.As(err, &none) {
		return finding{none: none}, nil
	}
	if err != nil {
		return finding{sol: sol}, r.failed(ctx, err)
	}
	if r.RankCount() > 1 {
		sol.Counts.Sent = r.job.spread.group.BytesSent()
	}
	return finding{sol: sol}, nil
}

// finer is Normal.Finer: kernels that check have the costs, and duals that are asked for have room in int64.
func (r *run) finer() uint {
	most := 40
	if r.KBest > 1 || r.job.checker == nil || r.p.Source != nil || !r.inst.Dense() {
		return 0
	}
	if r.Duals {
		most = min(most, bits.Len64(problem.MaxDual)-2-bits.Len64(uint64(max(r.p.Max, -r.p.Min))))
	}
	return r.p.ExactBits(most)
}

// failed is the error of the variant that ran. Where ranks have ended the solve together, it is the end of the solve.
func (r *run) failed(ctx context.Context, err error) error {
	if errors.Is(err, collective.ErrEnded) {
		r.met = true
		return solve.InterruptedError(solve.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", r.result.Variant, err)
}

// Certify implements solve.Work: matching and duals are checked, where the costs are and on the host alike, and costs that were
// rounded decide among the matchings that rounding leaves open.
func (r *run) Certify(ctx context.Context, found finding) error {
	res, sol := r.result, found.sol
	switch {
	case found.flow != nil:
		return r.certifyFlow(ctx, found.flow)
	case found.none != nil && r.RankCount() > 1:
		return r.refuteParts(res, found.none)
	case found.none != nil:
		return res.refute(r.inst, found.none)
	case r.Bottleneck:
		return res.certifyWorst(r.Session, sol, found.proof)
	}
	var cert problem.Certificate
	var near []problem.Pair
	var err error
	checked := r.job.checksOnDevice()
	place := sync.OnceValues(func() (*problem.Duals, error) { return res.place(r.Session, sol) })
	if checked && !r.Unchecked {
		if c := r.job.checker; c != nil {
			c.Meanwhile = func() { place() } // adds up the value
		}
		if cert, near, err = r.job.check(ctx, sol); err != nil {
			return r.failed(ctx, err)
		}
	}
	duals, err := place()
	if err != nil {
		return err
	}
	if r.Duals || r.KBest > 1 {
		res.Duals = duals
	}
	if r.Unchecked {
		return nil
	}
	if !checked {
		if cert, near, err = checkNear(r.inst, r.p, res.Column, *duals); err != nil {
			return fmt.Errorf("%s: %w", res.Variant, err)
		}
	}
	decided := *sol
	if err = res.decideExactly(ctx, r.p, &decided, &cert, near, r.Options); err == nil && !slices.Equal(decided.Column, sol.Column) {
		_, err = res.place(r.Session, &decided)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", res.Variant, err)
	}
	res.setCertificate(&cert)
	return nil
}

// place takes over a solution of the session's problem. Ranks gather the costs of its pairs, those of a drawing are drawn again.
func (r *Result) place(s *Session, sol *engine.Solution) (*problem.Duals, error) {
	if s.p.Source != nil {
		r.Column, r.Counts = sol.Column, sol.Counts
		r.Value, r.Matched = r.sumFromSource(s.p)
		duals := dualsOf(s.p, sol)
		return &duals, nil
	}
	if s.RankCount() > 1 {
		var err error
		if r.inst, err = s.matchedInstance(sol); err != nil {
			return nil, err
		}
	}
	return r.setSolution(r.inst, s.p, sol)
}

// Best implements solve.Work. There is no answer for the worst pair, none of ranks before they all solve, and none where no host
// has the costs that a partial matching would be completed by.
func (r *run) Best(_ context.Context, found finding) (string, error) {
	switch {
	case r.met:
		return r.result.interruptedTogether(r.Session)
	case found.flow != nil:
		return "the flow so far", r.result.keepFlow(r.inst, r.p, found.flow)
	case r.Bottleneck || r.RankCount() > 1 || r.p.Source != nil || r.inst.Transports():
		return "", nil
	}
	return r.result.setInterrupted(r.inst, r.p, found.sol, r.from)
}
