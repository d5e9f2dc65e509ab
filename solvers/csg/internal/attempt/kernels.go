package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/kernels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
)

// KernelAlgorithm is a method by a family of kernels.
type KernelAlgorithm struct {
	Family     *device.Family
	Method     reference.Method
	Pool       *kernels.Pool
	Checkpoint *checkpoint.Spec // where levels are kept; nil: nowhere
}

// Solve implements Algorithm.
func (a KernelAlgorithm) Solve(ctx context.Context, t *Task, out *Outcome) error {
	if err := a.Pool.FreeOthers(t.Instance.N); err != nil {
		return err
	}
	start := time.Now()
	as, choice, err := a.choose(ctx, t)
	if err != nil && a.hasNoRoom(t) {
		t.Settings.Logf("%v", err)
		a.Family, a.Method = &gencsg.Splits, variants.QuickerMethod(t.Facts, t.Instance.N, t.Settings)
		out.Algorithm = a.Method
		as, choice, err = a.choose(ctx, t)
	}
	if err != nil {
		return err
	}
	out.Variant, out.Reason = a.Family.Name+" "+choice.Variant.Label, choice.Reason()
	out.Refuted = out.Variant
	t.Settings.Logf("%s on %s: %s", out.Variant, t.Facts, out.Reason)
	chosen := time.Since(start).Seconds()
	claimed, err := a.run(ctx, t, as.Instance, choice.Variant, out)
	if err != nil {
		return err
	}
	out.Prepare += chosen
	out.setClaim(as, claimed)
	return nil
}

func (a KernelAlgorithm) choose(ctx context.Context, t *Task) (*problem.Recast, tuned.Choice, error) {
	return variants.ChooseNarrowest(ctx, a.Family, t.Facts, t.Instance, t.Settings, a.Method, a.Checkpoint != nil)
}

// hasNoRoom reports whether tiles, which nobody asked for, need more shared memory than the one GPU has.
func (a KernelAlgorithm) hasNoRoom(t *Task) bool {
	o := t.Settings
	if a.Family != &gencsg.Tiles || o.Algorithm != "" || o.Variant != "" || len(o.Devices)*o.RankCount() > 1 || a.Checkpoint != nil {
		return false
	}
	return !slices.ContainsFunc(a.Family.Variants, func(v device.Variant) bool {
		return variants.CheckFeasible(a.Family, &v, t.Facts, t.Instance.N, 1) == nil
	})
}

// run runs one variant on one device or several, and returns the total that the kernels claim.
func (a KernelAlgorithm) run(ctx context.Context, t *Task, inst *problem.Instance, v *device.Variant, out *Outcome) (string, error) {
	start := time.Now()
	j, err := a.Pool.Acquire(t.Settings, a.Family, v, inst)
	if err != nil {
		return "", err
	}
	if err := engine.UploadValues(ctx, j.Engine, j.Stream, inst); err != nil {
		a.Pool.GiveBack(j, err)
		return "", err
	}
	report := t.shareReporter(start)
	progress := engine.Progress{Share: func(share float64) {
		if ctx.Err() == nil {
			report(share)
		}
	}}
	var file *checkpoint.Writer
	if a.Checkpoint != nil {
		if file, err = a.openCheckpoint(ctx, t, j); err != nil {
			return "", err
		}
		file.Start(ctx, t.Incumbent)
		progress = file.WriteFinished(progress)
	}
	out.Prepare = time.Since(start).Seconds()
	own := Outcome{} // apart from out, as the run may go on writing to it after ctx has ended
	before := engine.BytesSent(j.Engine)
	if n, ok := j.Engine.(engine.Noter); ok {
		own.Notes = append(own.Notes, n.Note())
	}
	work := func() (err error) {
		defer func() { a.Pool.GiveBack(j, err) }()
		own.Structure, own.Claimed, err = engine.Solve(ctx, j.Engine, j.Stream, inst, progress)
		own.Splittings, own.Sent = j.Splittings(), engine.BytesSent(j.Engine)-before
		if file != nil {
			own.Splittings *= file.RemainingWork()
			note := ""
			if note, err = file.Finish(err); note != "" {
				own.Notes = append(own.Notes, note)
			}
		}
		return err
	}
	if a.Family.Target != device.Host || inst.N <= cancel.FewAgents {
		err = work()
	} else {
		_, err = cancel.WithGrace(ctx, work)
	}
	if err != nil && file != nil {
		holds := file.DescribeContents(a.Checkpoint.Path)
		out.Notes, err = append(out.Notes, holds), fmt.Errorf("%w (%s)", err, holds)
	}
	if err != nil {
		return "", err
	}
	out.Structure, out.Splittings, out.Sent, out.Notes = own.Structure, own.Splittings, own.Sent, append(out.Notes, own.Notes...)
	return own.Claimed, nil
}

// openCheckpoint opens the checkpoint for a job, which it gives back to the pool if it fails. On a host it returns at the
// end of ctx: the digest of all values, and the reading of an earlier run's levels, then go on.
func (a KernelAlgorithm) openCheckpoint(ctx context.Context, t *Task, j *kernels.Job) (*checkpoint.Writer, error) {
	seen := &problem.Incumbent{Instance: j.Instance} // that of the task may be read while an opening goes on
	open := func() (*checkpoint.Writer, error) {
		return a.Checkpoint.Writer(j.Engine, j.Instance, seen, t.Settings.Ranks)
	}
	var k *checkpoint.Writer
	var err error
	if j.Kernels.Family.Target != device.Host {
		k, err = open()
	} else {
		k, err = cancel.AtOnce(ctx, open, func(k *checkpoint.Writer, err error) {
			if err == nil {
				err = errors.Join(ctx.Err(), k.Close())
			}
			a.Pool.GiveBack(j, err)
		})
		if err != nil && err == ctx.Err() {
			return nil, err // the opening has the job
		}
	}
	if err != nil {
		a.Pool.GiveBack(j, err)
		return nil, err
	}
	t.Incumbent.Offer(seen.Blocks, seen.Bound)
	return k, nil
}
