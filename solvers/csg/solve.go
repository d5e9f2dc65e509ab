package csg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/solve"
)

// Options of Solve. Algorithm is a Method. Unless one is asked for, large instances begin
// ByPrices, and go on with Apart where prices leave more work.
type Options = solve.Settings

// Solve finds an optimal coalition structure of an instance on a device, or on several
// GPUs together, and checks it: the result's certificate recomputes the value from the
// instance. ctx and the time limit end it between launches, without a result. Where every
// structure has a forbidden block, the error wraps solve.ErrInfeasible and the
// result says so. Errors of memory wrap device.ErrMemory, those of a wrong answer
// ErrCheck.
func Solve(ctx context.Context, inst *Instance, o Options) (*Result, error) {
	r, err := solveChecked(ctx, inst, o)
	if err != nil {
		return r, fmt.Errorf("solve csg: %w", err)
	}
	return r, nil
}

func solveChecked(ctx context.Context, inst *Instance, o Options) (*Result, error) {
	if inst == nil {
		return nil, errors.New("no instance")
	}
	if err := inst.Check(); err != nil {
		return nil, err
	}
	if _, err := o.First(); err != nil {
		return nil, err
	}
	facts := o.Weakest()
	byPrices, limits, err := triesPrices(facts, inst.N, &o)
	if err != nil {
		return nil, err
	}
	other := o // what solves where prices leave too much work
	if other.Algorithm == string(ByPrices) {
		other.Algorithm = ""
	}
	f, method, err := familyFor(facts.Kind, Method(other.Algorithm), other.Variant)
	if err != nil {
		return nil, err
	}
	if len(o.Devices) > 1 && f != &csg.Tiles {
		return nil, fmt.Errorf("%d devices: %s runs on one, several GPUs run %s (algorithm %s)", len(o.Devices), f.Name, csg.Tiles.Name, Apart)
	}
	if o.Together() > 1 && f != &csg.Tiles && f != &csg.Hosttiles {
		return nil, fmt.Errorf("%d ranks: %s runs on one, several run %s or %s (algorithm %s)", o.Together(), f.Name, csg.Tiles.Name, csg.Hosttiles.Name, Apart)
	}
	r := NewResult(inst)
	r.Device, r.Algorithm = o.Where(), string(method)
	if inst.N == 0 {
		r.Structure, r.Reason = Structure{}, "no agents, nothing to solve"
		return r, r.Certify(inst, "0")
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	if byPrices {
		err := r.byPrices(ctx, inst, o, limits)
		if !errors.Is(err, price.ErrCostly) || o.Algorithm != "" || o.Variant != "" {
			return r.answered(err)
		}
		o.Say("%v", err)
		r.Algorithm = string(method)
	}
	choice, err := choose(f, facts, inst, o, method)
	if err != nil {
		return nil, err
	}
	r.Variant, r.Reason = f.Name+" "+choice.Variant.Label, choice.Reason()
	o.Say("%s on %s: %s", r.Variant, facts, r.Reason)
	start := time.Now()
	claimed, err := run(ctx, o, inst, f, choice.Variant, r, telling(o, start))
	if err != nil {
		return nil, err
	}
	start = time.Now()
	if err := r.Certify(inst, claimed); err != nil {
		return r.answered(fmt.Errorf("%s: %w", r.Variant, err))
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	return r, nil
}

// telling tells o's progress the share of the work that is done.
func telling(o Options, start time.Time) func(share float64) {
	return func(share float64) {
		if o.Progress != nil {
			o.Progress(solve.Incumbent{Seconds: time.Since(start).Seconds(), Share: share})
		}
	}
}

// answered is what Solve returns with an error: the result where that is an answer.
func (r *Result) answered(err error) (*Result, error) {
	if err == nil || errors.Is(err, solve.ErrInfeasible) {
		return r, err
	}
	return nil, err
}

// run runs one variant on one device or several; it sets the structure and the seconds,
// and returns the total that the kernels claim.
func run(ctx context.Context, o Options, inst *Instance, f *device.Family, v *device.Variant, r *Result, told func(share float64)) (string, error) {
	start := time.Now()
	kernels, err := openAll(o, f, v)
	if err != nil {
		return "", err
	}
	defer kernels.Close()
	j, err := kernels.prepare(inst)
	if err != nil {
		return "", err
	}
	defer j.Close()
	if err := j.upload(ctx, j.stream, inst.Bytes()); err != nil {
		return "", err
	}
	r.Seconds.Prepare = time.Since(start).Seconds()
	start = time.Now()
	claimed, err := j.solve(ctx, r, told)
	r.Seconds.Solve = time.Since(start).Seconds()
	return claimed, err
}

// wait waits for the stream, or for ctx; kernels that run are left to run.
func wait(ctx context.Context, s device.Stream) error {
	done := make(chan error, 1)
	go func() { done <- s.Sync() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		<-done
		return ctx.Err()
	}
}
