package assignment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/generated/assignment"
	"coalesce/solvers/assignment/internal/batch"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Results are the answers of the last run, in the order of the instances. The
// seconds of each are those of all together.
func (b *Batch) Results() ([]*Result, error) {
	results := make([]*Result, len(b.list))
	errs := make([]error, len(b.list))
	for _, part := range b.parts {
		forEachOnAllCores(len(part.members), func(at int) {
			k := part.members[at]
			results[k], errs[k] = b.resultOf(part, at)
		})
	}
	forEachOnAllCores(len(b.host), func(at int) {
		k := b.host[at]
		results[k], errs[k] = b.hosted(k, b.found[at])
	})
	for k, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
		}
	}
	return results, nil
}

func (b *Batch) result(k int, variant, reason string) *Result {
	r := newResult(b.list[k])
	r.solvedBy(b.facts.String(), variant, reason)
	r.Seconds.Prepare, r.Seconds.Solve = b.prepare, b.seconds
	return r
}

// resultOf is the result of a part's member.
func (b *Batch) resultOf(part *batchPart, at int) (*Result, error) {
	k := part.members[at]
	if part.ended {
		return b.soFar(k, nil)
	}
	p := b.problems[k]
	r := b.result(k, assignment.Batch.Name+" "+part.Variant.Label, part.reason)
	s, full := part.Solution(at)
	if !full {
		return r, r.refuse(b.list[k], batch.HallViolator(p, s.Column))
	}
	s.Column, s.U, s.V = slices.Clone(s.Column), slices.Clone(s.U), slices.Clone(s.V)
	d, err := r.setSolution(b.list[k], p, s)
	if err != nil {
		return nil, err
	}
	if b.options.Duals {
		r.Duals = d
	}
	if b.options.Unchecked {
		return r, nil
	}
	c := part.Certificate(at, p, fmt.Sprintf("%s, %s", b.facts, r.Variant))
	if c.Rounded == 0 {
		r.setCertificate(c)
		return r, nil
	}
	_, near, err := checkNear(b.list[k], p, r.Column, *d)
	return r, b.prove(r, p, s, c, near, err)
}

// prove decides a checked answer and keeps the certificate. err is the error of the check.
func (b *Batch) prove(r *Result, p *problem.Normal, s *engine.Solution, c *problem.Certificate, near []problem.Pair, err error) error {
	if err == nil {
		err = r.decideExactly(context.Background(), p, s, c, near, b.options)
	}
	if err == nil {
		_, err = r.setSolution(r.inst, p, s)
	}
	if err == nil {
		r.setCertificate(c)
	}
	return err
}

// hosted is the result of an instance that the host solved.
func (b *Batch) hosted(k int, f hostAnswer) (*Result, error) {
	reason := fmt.Sprintf("%s has kernels for batches of dense instances without a limit", b.facts)
	if len(b.parts) == 0 {
		reason = "the method of a host, which needs no kernels of a device"
	}
	r := b.result(k, b.method.Name, reason)
	var none *engine.Infeasible
	if errors.As(f.err, &none) {
		return r, r.refuse(b.list[k], none.Rows)
	}
	if b.ended != nil && solve.IsInterrupted(b.ended, f.err) {
		return b.soFar(k, f.solution)
	}
	if f.err != nil {
		return nil, f.err
	}
	d, err := r.setSolution(b.list[k], b.problems[k], f.solution)
	if err != nil {
		return nil, err
	}
	if b.options.Duals {
		r.Duals = d
	}
	if b.options.Unchecked {
		return r, nil
	}
	c, near, err := checkNear(b.list[k], b.problems[k], r.Column, *d)
	return r, b.prove(r, b.problems[k], f.solution, &c, near, err)
}

// soFar is the result of an instance that the end of the run left unsolved: part of a matching, or none, completed greedily.
func (b *Batch) soFar(k int, part *engine.Solution) (*Result, error) {
	r := b.result(k, "assignment/greedy", "the solves ended before the instance was solved")
	answer, err := r.setInterrupted(b.list[k], b.problems[k], part, nil)
	if err == nil && answer == "" {
		err = solve.NoAnswerError(b.ended)
	}
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
	}
	solve.MarkStopped(context.Cause(b.ended), &r.Stopped, &r.Notes, answer)
	return r, nil
}

// refuse keeps the checked proof that no full matching exists.
func (r *Result) refuse(inst *problem.Instance, rows []int32) error {
	var none *problem.InfeasibleError
	if err := r.refute(inst, &engine.Infeasible{Rows: rows}); !errors.As(err, &none) {
		return err
	}
	return nil
}
