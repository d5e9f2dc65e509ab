package csg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// Options of Solve. Algorithm is a Method, DP unless said otherwise; a host
// evaluates Apart.
type Options = solve.Settings

// Solve finds an optimal coalition structure of an instance on a device and
// checks it: the result's certificate recomputes the value from the instance.
// ctx and the time limit end it between launches, without a result. Where every
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
	d, err := o.First()
	if err != nil {
		return nil, err
	}
	if len(o.Devices) > 1 {
		return nil, fmt.Errorf("%d devices: coalition structures are solved on one", len(o.Devices))
	}
	facts := d.Facts()
	f := family(facts.Kind)
	method, err := methodOn(f, Method(o.Algorithm))
	if err != nil {
		return nil, err
	}
	r := NewResult(inst)
	r.Device, r.Algorithm = o.Where(), string(method)
	if inst.N == 0 {
		r.Structure, r.Reason = Structure{}, "no agents, nothing to solve"
		return r, r.Certify(inst, "0")
	}
	choice, err := choose(f, facts, inst, o, method)
	if err != nil {
		return nil, err
	}
	if own := f.Value(choice.Variant, "method"); own != "" {
		r.Algorithm = own
	}
	r.Variant, r.Reason = f.Name+" "+choice.Variant.Label, choice.Reason
	o.Say("%s on %s: %s", r.Variant, facts, r.Reason)
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	start := time.Now()
	claimed, err := run(ctx, d, inst, f, choice.Variant, r)
	if err != nil {
		return nil, err
	}
	r.Seconds.Solve = time.Since(start).Seconds()
	start = time.Now()
	if err := r.Certify(inst, claimed); err != nil {
		if errors.Is(err, solve.ErrInfeasible) {
			return r, err
		}
		return nil, fmt.Errorf("%s: %w", r.Variant, err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	return r, nil
}

// methodOn is the method of a family's kernels, where asked for or by default.
func methodOn(f *device.Family, asked Method) (Method, error) {
	switch {
	case asked != "" && !slices.Contains(Methods(), asked):
		return "", checkMethod(asked)
	case f.Target == device.Host && asked == IDP:
		return "", errors.New("method idp: the kernels of a host evaluate fewer splittings than IDP already; use a cuda or emulated device")
	case f.Target == device.Host:
		return Apart, nil
	case asked == Apart:
		return "", fmt.Errorf("method apart: %s has dp and idp", f.Name)
	case asked == "":
		return DP, nil
	}
	return asked, nil
}

// run runs one variant; it sets the structure and returns the total that the
// kernels claim.
func run(ctx context.Context, d device.Device, inst *Instance, f *device.Family, v *device.Variant, r *Result) (string, error) {
	kernels, err := open(d, f, v)
	if err != nil {
		return "", err
	}
	defer kernels.Close()
	j, err := kernels.prepare(inst)
	if err != nil {
		return "", err
	}
	defer j.Close()
	if err := j.upload(ctx); err != nil {
		return "", err
	}
	if err := j.run(guarded{j.stream, ctx}); err != nil {
		return "", err
	}
	if err := wait(ctx, j.stream); err != nil {
		return "", err
	}
	word, err := j.totalBits()
	if err != nil {
		return "", err
	}
	_, claimed := decode(inst.Type, word)
	if r.Structure, err = j.structure(); err != nil {
		return "", err
	}
	r.Splittings = j.splittings()
	return claimed, nil
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
