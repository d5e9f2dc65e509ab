package csg

import (
	"context"
	"fmt"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// Options of Solve.
type Options struct {
	Method   Method          // DP unless said otherwise; a host evaluates Apart
	Variant  string          // the label of a variant; empty: the fastest known
	Database *tuned.Database // nil: the one embedded in the binary
	Log      func(string)    // told what was decided, a sentence each; may be nil
}

// Solve finds an optimal coalition structure of an instance on a device and
// checks it: the result's certificate recomputes the value from the instance.
// ctx ends it between launches. Errors of memory wrap device.ErrMemory, those
// of a wrong answer ErrCheck.
func Solve(ctx context.Context, d device.Device, inst *Instance, o Options) (*Result, error) {
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("solve csg: %w", err)
	}
	facts := d.Facts()
	f := family(facts.Kind)
	switch {
	case f.Target == device.Host && o.Method == IDP:
		return nil, fmt.Errorf("solve csg: method idp: the kernels of a host evaluate fewer splittings than IDP already; use a cuda or emulated device")
	case f.Target == device.Host:
		o.Method = Apart
	case o.Method == "":
		o.Method = DP
	case o.Method == Apart:
		return nil, fmt.Errorf("solve csg: method apart: %s has dp and idp", f.Name)
	}
	r := NewResult(inst)
	r.Device, r.Method = facts.String(), o.Method
	if inst.N == 0 {
		r.Structure, r.Reason = Structure{}, "no agents, nothing to solve"
		return r, r.Certify(inst, "0")
	}
	choice, err := choose(f, facts, inst, o)
	if err != nil {
		return nil, fmt.Errorf("solve csg: %w", err)
	}
	r.Variant, r.Reason = f.Name+" "+choice.Variant.Label, choice.Reason
	if o.Log != nil {
		o.Log(fmt.Sprintf("%s on %s: %s", r.Variant, facts, r.Reason))
	}
	start := time.Now()
	claimed, err := solve(ctx, d, inst, f, choice.Variant, r)
	if err != nil {
		return nil, fmt.Errorf("solve csg: %w", err)
	}
	r.Seconds.Solve = time.Since(start).Seconds()
	start = time.Now()
	if err := r.Certify(inst, claimed); err != nil {
		return nil, fmt.Errorf("solve csg with %s: %w", r.Variant, err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	return r, nil
}

// solve runs one variant; it sets the structure and returns the total that the
// kernels claim.
func solve(ctx context.Context, d device.Device, inst *Instance, f *device.Family, v *device.Variant, r *Result) (string, error) {
	run, err := open(d, f, v)
	if err != nil {
		return "", err
	}
	defer run.Close()
	j, err := run.prepare(inst)
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
