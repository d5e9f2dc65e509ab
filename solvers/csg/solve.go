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
type Options = solve.Settings

// Solve finds an optimal coalition structure of an instance on a device, or on several GPUs
// together, and checks it: the result's certificate recomputes the value from the instance.
//
// The end of ctx and the time limit end a solve within a second, with the best structure so far, and a
// bound where one is known; Stopped says so. Where none is known the error wraps that of ctx. Beside an error
// that wraps device.ErrLost the result, unless nil, is the best so far. Where every structure has a forbidden block
// the error wraps solve.ErrInfeasible, and the result says so. Errors of memory wrap
// device.ErrMemory, those of a wrong answer ErrCheck.
func Solve(ctx context.Context, inst *Instance, o Options) (*Result, error) {
	return SolveKept(ctx, inst, o, nil)
}

// A Checkpoint is the file to which a long solve writes each finished level once, while the next
// level is computed. A process that ends, by a signal too, loses the level being computed and the
// levels that wait to be written.
type Checkpoint = checkpoint.Spec

// ErrCheckpoint is wrapped by the errors of damaged files and of files that are not a checkpoint of
// the instance.
var ErrCheckpoint = checkpoint.ErrRefused

// SolveKept tries prices and then solves by the method Apart. Unless keep is nil, finished levels
// are written to a checkpoint. Errors of files that cannot be continued wrap ErrCheckpoint.
func SolveKept(ctx context.Context, inst *Instance, o Options, keep *Checkpoint) (r *Result, err error) {
	err = solve.With(Open, o, func(s *Session) error {
		r, err = s.SolveKept(ctx, inst, keep)
		return err
	})
	return r, err
}

// solve walks one way: the plan names the algorithms, each is run until one does not give up, its structure is
// certified, and the result is what was found in the end.
func (s *Session) solve(ctx context.Context, inst *Instance, keep *Checkpoint) (*Result, error) {
	o := &s.Options
	d, err := o.First()
	if err != nil {
		return nil, err
	}
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
func (s *Session) algorithms(p *plan.Plan, keep *Checkpoint) iter.Seq2[Method, attempt.Algorithm] {
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
