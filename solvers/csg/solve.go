package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/ways"
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

// SolveKept tries prices and then solves by the method Apart. Unless keep is nil, finished levels
// are written to a checkpoint. Errors of files that cannot be continued wrap ErrCheckpoint.
func SolveKept(ctx context.Context, inst *Instance, o Options, keep *Checkpoint) (r *Result, err error) {
	err = solve.With(Open, o, func(s *Session) error {
		r, err = s.SolveKept(ctx, inst, keep)
		return err
	})
	return r, err
}

// held is an instance that is safe to add up, its values in this machine's memory.
func held(inst *Instance) (*Instance, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	inst.Hold()
	return inst.Prepared()
}

func (s *Session) solveChecked(ctx context.Context, inst *Instance, keep *Checkpoint) (*Result, error) {
	o := s.Options
	d, err := o.First()
	if err != nil {
		return nil, err
	}
	if d.Facts().Kind == device.Host {
		inst, err = held(inst)
	} else {
		inst, err = inst.Prepared()
	}
	if err != nil {
		return nil, err
	}
	facts := o.Weakest()
	other := o       // the settings of the solve that follows where prices leave too much work
	var way ways.Way // the tuned order of algorithms; none where an algorithm is asked for, or with other ranks
	if o.Algorithm == "" && o.Variant == "" && o.Together() == 1 {
		if way, err = ways.Choose(&o, facts, inst.N, runs); err != nil {
			return nil, err
		}
		if m := way.Name(); keep == nil && len(o.Devices) == 1 && (m == string(DP) || m == string(IDP)) {
			other.Algorithm = m
		}
	}
	byPrices, limits, err := triesPrices(facts, inst.N, inst.Type, &o, way)
	if err != nil {
		return nil, solve.Refuse(err)
	}
	if other.Algorithm == string(ByPrices) {
		other.Algorithm = ""
	}
	f, method, err := familyFor(facts.Kind, Method(other.Algorithm), other.Variant)
	if err != nil {
		return nil, err
	}
	if f == nil {
		if err := levelsTake(inst, o, method, keep); err != nil {
			return nil, solve.Refuse(err)
		}
	} else if len(o.Devices) > 1 && f != &gencsg.Tiles {
		return nil, solve.Input("Devices", "found %d: %s runs on one, several GPUs run %s (algorithm %s)", len(o.Devices), f.Name, gencsg.Tiles.Name, Apart)
	}
	if o.Together() > 1 && f != nil && f != &gencsg.Tiles && f != &gencsg.Hosttiles {
		return nil, solve.Input("Ranks", "found %d: %s runs on one, several run %s or %s (algorithm %s)", o.Together(), f.Name, gencsg.Tiles.Name, gencsg.Hosttiles.Name, Apart)
	}
	r := NewResult(inst)
	r.Device, r.Algorithm = o.Where(), string(method)
	if inst.N == 0 {
		r.Structure, r.Reason = Structure{}, "no agents, nothing to solve"
		return r, r.Certify(inst, "0")
	}
	if !inst.Sizes.Divide(inst.N) {
		r.Reason = "sums of the sizes that blocks may have"
		return r, r.infeasible(inst)
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	best := problem.NewIncumbent(inst)
	if keep != nil && (o.Algorithm == string(ByPrices) || f == &gencsg.Splits) {
		return nil, solve.Input("Algorithm", "found %s: a checkpoint is kept by %s alone", method, Apart)
	}
	relayed, err := solve.Relay(func(yield func(solve.Attempt[struct{}]) bool) {
		attempt := func(m Method, run func() error) bool {
			return yield(solve.Attempt[struct{}]{Name: string(m), Run: func() (struct{}, error) {
				r.Algorithm = string(m)
				return struct{}{}, run()
			}})
		}
		if byPrices && (keep == nil || !keep.Resume) {
			more := attempt(ByPrices, func() error {
				err := r.byPrices(ctx, inst, o, limits, best)
				if errors.Is(err, solve.ErrGaveUp) {
					o.Say("%v", err)
				}
				return err
			})
			if !more || o.Algorithm != "" || o.Variant != "" {
				return
			}
		}
		attempt(method, func() error {
			if f == nil {
				return r.byLevels(ctx, inst, o, method, best)
			}
			return r.byKernels(ctx, inst, s, f, method, keep, best)
		})
	})
	if relayed.After != "" {
		r.Seconds.Solve += relayed.Spent.Seconds()
		r.Notes = append(r.Notes, fmt.Sprintf("%s, after %.2g s", relayed.After, relayed.Spent.Seconds()))
	}
	r.Reason = way.Before(r.Reason)
	if over := ctx.Err(); over != nil && err != nil && o.Together() > 1 && !errors.Is(err, ErrCheck) && !errors.Is(err, solve.ErrInfeasible) {
		err = errors.Join(over, err) // exchanges fail where other ranks have ended
	}
	if errors.Is(err, ErrCheck) {
		err = cmp.Or(inst.Changed(), err)
	}
	return r.ended(ctx, inst, best, err)
}

// byKernels solves an instance by a family of kernels.
func (r *Result) byKernels(ctx context.Context, inst *Instance, s *Session, f *device.Family, method Method, keep *Checkpoint, best *problem.Incumbent) error {
	if err := s.free(func(j *job) bool { return j.inst.N != inst.N }); err != nil {
		return err
	}
	o, facts := s.Options, s.Weakest()
	start := time.Now()
	as, choice, err := chooseAs(ctx, f, facts, inst, o, method, keep)
	if err != nil && f == &gencsg.Tiles && o.Algorithm == "" && o.Variant == "" && len(o.Devices)*o.Together() == 1 && keep == nil {
		// Tiles need more shared memory than some GPUs have.
		if !slices.ContainsFunc(f.Variants, func(v device.Variant) bool { return feasible(f, &v, facts, inst.N, 1) == nil }) {
			o.Say("%v", err)
			f, method = &gencsg.Splits, quicker(facts, inst.N, o)
			r.Algorithm = string(method)
			as, choice, err = chooseAs(ctx, f, facts, inst, o, method, keep)
		}
	}
	if err != nil {
		return err
	}
	r.Variant, r.Reason = f.Name+" "+choice.Variant.Label, choice.Reason()
	o.Say("%s on %s: %s", r.Variant, facts, r.Reason)
	chosen := time.Since(start).Seconds()
	claimed, err := run(ctx, s, as.Instance, f, choice.Variant, r, telling(o, time.Now(), best), keep, best)
	if err != nil {
		return err
	}
	r.Seconds.Prepare += chosen
	r.solvedAs(as)
	start = time.Now()
	if err := r.Certify(inst, as.Total(claimed)); err != nil {
		return fmt.Errorf("%s: %w", r.Variant, err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	return nil
}

// telling returns a function that reports the finished share of the work, and the best structure so
// far, to o's progress.
func telling(o Options, start time.Time, best *problem.Incumbent) func(share float64) {
	return func(share float64) {
		if o.Progress == nil {
			return
		}
		now := solve.NewIncumbent(time.Since(start).Seconds(), best.Value, best.Bound, 0)
		now.Share = share
		o.Progress(now)
	}
}

// run runs one variant on one device or several; it sets the structure and the seconds,
// and returns the total that the kernels claim.
func run(ctx context.Context, s *Session, inst *Instance, f *device.Family, v *device.Variant, r *Result, told func(share float64), keep *Checkpoint, best *problem.Incumbent) (string, error) {
	start := time.Now()
	j, err := s.take(f, v, inst)
	if err != nil {
		return "", err
	}
	if err := j.send(ctx); err != nil {
		s.giveBack(j, err)
		return "", err
	}
	w := levels.Follow{Told: func(share float64) {
		if ctx.Err() == nil {
			told(share)
		}
	}}
	var file *keeping
	if keep != nil {
		if file, err = keep.open(ctx, s, j, best); err != nil {
			return "", err
		}
		file.start(ctx, best)
		w = file.follow(w)
	}
	r.Seconds.Prepare = time.Since(start).Seconds()
	start = time.Now()
	own := NewResult(inst) // apart from r, as the solve may go on writing to it after ctx has ended
	before := sent(j.engine)
	if cut, ok := j.engine.(*tilesSlabs); ok {
		own.Notes = append(own.Notes, cut.String())
	}
	var claimed string
	work := func() (err error) {
		defer func() { s.giveBack(j, err) }()
		claimed, err = j.solve(ctx, own, w)
		own.Sent = sent(j.engine) - before
		if file != nil {
			own.Splittings *= 1 - levels.ShareOf(levels.PairsBefore(file.high, file.from), file.high)
			err = file.end(own, err)
		}
		return err
	}
	if f.Target != device.Host {
		err = work()
	} else {
		_, err = cancel.WithGrace(ctx, work)
	}
	r.Seconds.Solve = time.Since(start).Seconds()
	if err != nil && file != nil {
		holds := file.holds(keep.Path)
		r.Notes, err = append(r.Notes, holds), fmt.Errorf("%w (%s)", err, holds)
	}
	if err != nil {
		return "", err
	}
	r.Structure, r.Splittings, r.Sent, r.Notes = own.Structure, own.Splittings, own.Sent, append(r.Notes, own.Notes[len(inst.Notes):]...)
	return claimed, nil
}
