package assignment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Session is an instance on a device: its costs, the plan, and the workspace
// of the plan's engine and of the kernels that check. It solves any number of
// times without taking memory; Next gives it another instance. Kernels are loaded once.
// A session belongs to one goroutine at a time.
type Session struct {
	inst    *problem.Instance
	p       *problem.Normal
	job     *job // nil: Next failed
	options Options
	held    device.Scope // kernels, which stay loaded from instance to instance
}

// Open plans for an instance and allocates the memory that solving needs, on o's devices, which
// the caller closes after the session. Each solve has the whole time limit.
func Open(ctx context.Context, inst *problem.Instance, o Options) (*Session, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("open assignment: %w", err)
	}
	s := &Session{options: o}
	s.options.KeepLoaded(&s.held)
	if err := s.Next(ctx, inst); err != nil {
		s.held.Close()
		return nil, err
	}
	return s, nil
}

// Next replaces the session's instance by another of any size: it plans, and allocates the memory
// that solving needs. After an error Next can be called again.
func (s *Session) Next(ctx context.Context, inst *problem.Instance) error {
	err := s.leave()
	var p *problem.Normal
	switch {
	case err != nil:
	case s.options.Together() > 1:
		inst, p, err = s.options.ownRows(inst)
	default:
		p, err = problem.Normalise(inst)
	}
	if err == nil && s.options.Bottleneck {
		if err = checkComparable(inst); err == nil {
			s.inst, s.p, s.job = inst, p, &job{p: p, options: s.options, plan: plan{method: &families.Method{Name: "bottleneck"}, reason: "the method for the worst pair"}}
			return nil
		}
	}
	if err == nil && len(s.options.Devices) > 1 && !inst.Dense() {
		err = solve.Input("Devices", "found %d, expected one: several devices take dense costs only", len(s.options.Devices))
	}
	var j *job
	if err == nil {
		j, err = prepare(ctx, p, s.options, nil)
	}
	if err != nil {
		return fmt.Errorf("open assignment: %w", err)
	}
	s.inst, s.p, s.job = inst, p, j
	return nil
}

// leave gives back the memory of the instance.
func (s *Session) leave() error {
	j := s.job
	if s.job = nil; j == nil {
		return nil
	}
	return j.Close()
}

// Solve does what the package's Solve does after opening. Where ctx or the time limit ends it, the
// result is the best matching so far, which is not proven. The result's Seconds.Solve run from the
// call to the matching and duals on the host, Seconds.Verify to the end of the check.
func (s *Session) Solve(ctx context.Context) (*Result, error) {
	if s.job == nil {
		return nil, errors.New("solve assignment: the session has no instance")
	}
	ctx, cancel := s.options.Limited(ctx)
	defer cancel()
	switch {
	case s.options.Bottleneck:
		return s.worstPair(ctx)
	case s.options.KBest > 1:
		return s.ranking(ctx)
	}
	return s.best(ctx)
}

// begin is a result without an answer.
func (s *Session) begin() *Result {
	r := newResult(s.inst)
	r.solvedBy(s.options.solvedOn(), s.job.plan.String(), s.job.plan.reason)
	return r
}

// best is Solve for a matching of the best sum.
func (s *Session) best(ctx context.Context) (*Result, error) {
	r := s.begin()
	start, err := warm(s.p, s.options.Start)
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %w", err)
	}
	clock := time.Now()
	sol, err := s.job.solve(ctx, start)
	if err == nil && s.options.Together() > 1 {
		sol.Counts.Sent = s.job.spread.group.BytesSent()
	}
	r.Seconds.Solve = time.Since(clock).Seconds()
	var none *engine.Infeasible
	if errors.As(err, &none) {
		if s.options.Together() > 1 {
			return r, s.refuteParts(r, none)
		}
		return r, r.refute(s.inst, none)
	}
	if err != nil {
		return r.orBest(ctx, s, sol, start, err)
	}
	var cert problem.Certificate
	var near []problem.Pair
	clock = time.Now()
	if s.job.checks() && !s.options.Unchecked {
		cert, near, err = s.job.check(ctx, sol)
	}
	r.Seconds.Verify = time.Since(clock).Seconds()
	if err != nil {
		return r.orBest(ctx, s, sol, start, err)
	}
	duals, err := r.place(s, sol)
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %w", err)
	}
	if s.options.Duals || s.options.KBest > 1 {
		r.Duals = duals
	}
	if s.options.Unchecked {
		return r, nil
	}
	if !s.job.checks() {
		clock = time.Now()
		cert, near, err = checkNear(s.inst, s.p, r.Column, *duals)
		r.Seconds.Verify = time.Since(clock).Seconds()
		if err != nil {
			return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
		}
	}
	clock = time.Now()
	found := *sol
	if err = r.decide(ctx, s.p, &found, &cert, near, s.options); err == nil && !slices.Equal(found.Column, sol.Column) {
		_, err = r.place(s, &found)
	}
	r.Seconds.Verify += time.Since(clock).Seconds()
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
	}
	r.prove(&cert)
	return r, nil
}

// place takes over a solution of the session's problem. Ranks gather the costs of its pairs.
func (r *Result) place(s *Session, sol *engine.Solution) (*problem.Duals, error) {
	if s.options.Together() > 1 {
		var err error
		if r.inst, err = s.matched(sol); err != nil {
			return nil, err
		}
	}
	return r.keep(r.inst, s.p, sol)
}

// orBest returns the best matching so far where ctx ended the solve, else the error. part is the
// algorithm's partial matching, start the duals that it began from; both may be nil.
func (r *Result) orBest(ctx context.Context, s *Session, part *engine.Solution, start *problem.Prices, err error) (*Result, error) {
	switch ended := solve.Ended(ctx, err); {
	case errors.Is(err, collective.ErrEnded):
		found, failed := r.interruptedTogether(ctx, s)
		if found {
			return r, nil
		}
		err = errors.Join(err, failed)
	case ended && s.options.Together() > 1:
		err = fmt.Errorf("%w: ranks give no matching before they all solve", solve.Unanswered(ctx))
	case ended:
		found, failed := r.interrupted(ctx, s.inst, s.p, part, start)
		if found {
			return r, nil
		}
		err = errors.Join(solve.Unanswered(ctx), failed)
	}
	return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
}

// unopened returns, beside err, a greedy matching where ctx ended a solve before it began.
func unopened(ctx context.Context, inst *problem.Instance, o Options, err error) (*Result, error) {
	p, failed := problem.Normalise(inst)
	if failed != nil {
		return nil, fmt.Errorf("open assignment: %w", failed)
	}
	r := newResult(inst)
	r.solvedBy(o.Where(), "assignment/greedy", "the solve ended before an algorithm was ready")
	if r, err = r.orBest(ctx, &Session{inst: inst, p: p, options: o}, nil, nil, err); err == nil && o.KBest > 1 {
		r.Best = []Ranked{r.ranked()}
	}
	return r, err
}

// Close gives back the memory and the kernels.
func (s *Session) Close() error { return errors.Join(s.leave(), s.held.Close()) }
