package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/attempt"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/plan"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Options of Solve. Algorithm is a Method. Unless one is asked for, large instances begin
// ByPrices, and go on with Apart where prices leave more work.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" time_limit.default:"none, of a search among graphs 10s" algorithm.about:"solve by prices or by splittings; dp and idp are the published programs"`
	// append finished levels of the tiles to this file, to go on with after an interruption; a process that ends loses the
	// level being computed and those that wait to be written
	Checkpoint string `option:"checkpoint" default:"no file"`
	// go on with the file of [Options.Checkpoint], on any device; without it the file must not exist
	Resume bool `option:"resume"`
}

// Algorithms are the names that Options.Algorithm may have: all methods.
func Algorithms() []string { return []string{string(ByPrices), string(Apart), string(DP), string(IDP)} }

// check returns an error of options that no solve takes.
func (o *Options) check() error {
	if o.Resume && o.Checkpoint == "" {
		return solve.Input("Resume", "found no checkpoint to go on with, expected its file in Checkpoint")
	}
	return solve.CheckOptions(o.Fields())
}

// checkpoint is the file of finished levels, nil where none is kept.
func (o *Options) checkpoint() *checkpoint.Spec {
	if o.Checkpoint == "" {
		return nil
	}
	return &checkpoint.Spec{Path: o.Checkpoint, Resume: o.Resume}
}

// Solve finds an optimal coalition structure of an instance on a device, or on several GPUs
// together, and checks it: the result's certificate recomputes the value from the instance.
//
// The end of ctx and the time limit end a solve within a second, with the best structure so far, and a
// bound where one is known; Stopped says so. Where none is known the error wraps that of ctx. Beside an error
// that wraps device.ErrLost the result, unless nil, is the best so far. Where every structure has a forbidden block
// the error wraps solve.ErrInfeasible, and the result says so. Errors of checkpoints that cannot be continued wrap
// ErrCheckpoint, those of memory
// device.ErrMemory, those of a wrong answer ErrCheck.
func Solve(ctx context.Context, inst *Instance, o Options) (r *Result, err error) {
	err = solve.With(Open, o, func(s *Session) error {
		r, err = s.Solve(ctx, inst)
		return err
	})
	return r, err
}

// ErrCheckpoint is wrapped by the errors of damaged files and of files that are not a checkpoint of
// the instance.
var ErrCheckpoint = checkpoint.ErrRefused

// solve walks one way: the plan names the algorithms, each is run until one does not give up, its structure is
// certified, and the result is what was found in the end.
func (s *Session) solve(ctx context.Context, inst *Instance) (*Result, error) {
	o := &s.Settings
	d, err := o.First()
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	keep := s.checkpoint()
	if d.Facts().Kind == device.Host {
		inst, err = inMemory(inst)
	} else {
		inst, err = inst.Prepared()
	}
	if err != nil {
		return nil, err
	}
	p, err := plan.New(o, inst, keep)
	if err != nil {
		return nil, err
	}
	r := NewResult(inst)
	r.Device, r.Algorithm = o.Where(), string(p.Method)
	if inst.N == 0 {
		r.Structure, r.Reason = Structure{}, "no agents, nothing to solve"
		return r, r.Certify(inst, "0")
	}
	if !inst.Sizes.Divide(inst.N) {
		r.Reason = "sums of the sizes that blocks may have"
		return r, r.certifyInfeasible(inst)
	}
	if err := p.CheckCheckpoint(); err != nil {
		return nil, err
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	t := &attempt.Task{Instance: inst, Settings: o, Facts: p.Facts, Incumbent: problem.NewIncumbent(inst)}
	relayed, err := solve.Relay(r.attempts(ctx, t, s.algorithms(p, keep)))
	if relayed.After != "" {
		r.Seconds.Solve += relayed.Spent.Seconds()
		r.Notes = append(r.Notes, fmt.Sprintf("%s, after %.2g s", relayed.After, relayed.Spent.Seconds()))
	}
	r.Reason = p.First.ReasonOf(r.Reason)
	if over := ctx.Err(); over != nil && err != nil && o.Together() > 1 && !errors.Is(err, ErrCheck) && !errors.Is(err, solve.ErrInfeasible) {
		err = errors.Join(over, err) // exchanges fail where other ranks have ended
	}
	if errors.Is(err, ErrCheck) {
		err = cmp.Or(inst.CheckUnchanged(), err)
	}
	return r.finish(ctx, inst, t.Incumbent, err)
}

// algorithms are those of a plan, in the order in which they are tried.
func (s *Session) algorithms(p *plan.Plan, keep *checkpoint.Spec) iter.Seq2[Method, attempt.Algorithm] {
	return func(yield func(Method, attempt.Algorithm) bool) {
		if p.Prices != nil && (!yield(ByPrices, attempt.Prices{Limits: *p.Prices}) || p.Asked) {
			return
		}
		if p.Family == nil {
			yield(p.Method, attempt.HostDP{Method: p.Method})
			return
		}
		yield(p.Method, attempt.Kernels{Family: p.Family, Method: p.Method, Pool: &s.pool, Checkpoint: keep})
	}
}

// attempts are the turns of algorithms at a task. Each leaves in the result what it found, certified.
func (r *Result) attempts(ctx context.Context, t *attempt.Task, algorithms iter.Seq2[Method, attempt.Algorithm]) iter.Seq[solve.Attempt[struct{}]] {
	return func(yield func(solve.Attempt[struct{}]) bool) {
		for m, a := range algorithms {
			run := func() (struct{}, error) {
				out := attempt.Outcome{Algorithm: m}
				err := a.Solve(ctx, t, &out)
				if errors.Is(err, solve.ErrGaveUp) {
					t.Settings.Say("%v", err)
				}
				if r.takeOutcome(t.Instance, &out); err == nil {
					err = r.certifyOutcome(t.Instance, &out)
				}
				return struct{}{}, err
			}
			if !yield(solve.Attempt[struct{}]{Name: string(m), Run: run}) {
				return
			}
		}
	}
}

// inMemory is an instance that is safe to add up, its values in this machine's memory.
func inMemory(inst *Instance) (*Instance, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	inst.Hold()
	return inst.Prepared()
}
