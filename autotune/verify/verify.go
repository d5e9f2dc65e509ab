// Package verify decides whether a variant may be timed at all: it must answer
// every case of its subject as the reference does, twice, from poisoned
// outputs. A failure is a bug of the variant, not a slow variant.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// Runs is how often each case is run; races show on repetition.
const Runs = 2

// A Failure is a wrong answer.
type Failure struct {
	Case string // its name
	Run  int    // 1 for the first run
	Err  error  // of subject.Job.Check
}

// Error says which case failed and how.
func (f *Failure) Error() string {
	again := ""
	if f.Run > 1 {
		again = fmt.Sprintf(" on run %d, after right answers", f.Run)
	}
	return fmt.Sprintf("case %s%s: %v", f.Case, again, f.Err)
}

// Unwrap returns Check's error.
func (f *Failure) Unwrap() error { return f.Err }

// ErrNoCase is wrapped when no case of the subject is feasible for a variant,
// which therefore cannot be verified and never wins.
var ErrNoCase = errors.New("no case that this variant can run: not verified")

// Cases runs every case that is feasible for the variant and returns how many
// were answered correctly. The error is a *Failure for a wrong answer; any
// other means that the variant did not run to its end.
func Cases(ctx context.Context, d device.Device, s device.Stream, sub subject.Subject, v *device.Variant, r subject.Runner, cases []subject.Case) (int, error) {
	done := 0
	var refused error
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := sub.Feasible(v, d.Facts(), c.Instance.Size()); err != nil {
			if refused == nil || errors.Is(err, device.ErrMemory) {
				refused = err
			}
			continue
		}
		if err := one(s, r, c); err != nil {
			return done, err
		}
		done++
	}
	switch {
	case done > 0:
	case refused != nil:
		return 0, fmt.Errorf("%w (%d cases): %w", ErrNoCase, len(cases), refused)
	default:
		return 0, ErrNoCase
	}
	return done, nil
}

// Fresh runs a random instance that no trial had before, because a variant might answer the known cases
// by heart. Its size is the middle one of the cases that are feasible for the variant. Errors are those
// of Cases.
func Fresh(d device.Device, s device.Stream, sub subject.Subject, v *device.Variant, r subject.Runner, cases []subject.Case, fixed map[string]string, seed uint64) error {
	var sizes []int
	for _, c := range cases {
		if size := c.Instance.Size(); sub.Feasible(v, d.Facts(), size) == nil {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return ErrNoCase
	}
	slices.Sort(sizes)
	size := sizes[len(sizes)/2]
	name := fmt.Sprintf("drawn anew, size %d, seed %d", size, seed)
	drawn := sub.Instance
	if c, ok := sub.(subject.CaseDrawer); ok {
		drawn = c.DrawCase
	}
	inst, err := drawn(fixed, size, seed)
	if err != nil {
		return fmt.Errorf("case %s: %w", name, err)
	}
	return one(s, r, subject.Case{Name: name, Instance: inst})
}

// Variant opens a variant and runs the cases of the workload that its own
// parameters name, like Cases; where largest is not 0, those of at most that size, or
// the smallest, for tools that slow a device down.
func Variant(ctx context.Context, d device.Device, s device.Stream, sub subject.Subject, v *device.Variant, largest int) (n int, err error) {
	fixed := map[string]string{}
	for i, name := range sub.Family().Params {
		fixed[name] = v.Values[i]
	}
	cases, err := sub.Cases(fixed)
	if err != nil {
		return 0, err
	}
	if largest > 0 {
		cases = upTo(largest, cases, func(size int) bool { return sub.Feasible(v, d.Facts(), size) == nil })
	}
	r, err := sub.Open(d, v)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return Cases(ctx, d, s, sub, v, r, cases)
}

// upTo are the cases of at most a size, or those of the smallest that is feasible
// where none is.
func upTo(largest int, cases []subject.Case, feasible func(size int) bool) []subject.Case {
	least := math.MaxInt
	for _, c := range cases {
		if size := c.Instance.Size(); feasible(size) {
			least = min(least, size)
		}
	}
	return slices.DeleteFunc(cases, func(c subject.Case) bool { return c.Instance.Size() > max(largest, least) })
}

func one(s device.Stream, r subject.Runner, c subject.Case) (err error) {
	job, err := r.Prepare(c.Instance)
	if err != nil {
		return fmt.Errorf("case %s: prepare: %w", c.Name, err)
	}
	defer func() {
		if cerr := job.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("case %s: close: %w", c.Name, cerr)
		}
	}()
	for run := 1; run <= Runs; run++ {
		if err := Once(s, job); err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := job.Check(s); err != nil {
			return &Failure{Case: c.Name, Run: run, Err: err}
		}
	}
	return nil
}

// Once runs a job from poisoned outputs to its end.
func Once(s device.Stream, job subject.Job) error {
	if err := job.Reset(s); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	if err := job.Run(s); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := s.Sync(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// Status is the status of a trial whose variant ended with an error.
func Status(err error) trial.Status {
	var wrong *Failure
	switch {
	case err == nil:
		return trial.OK
	case errors.As(err, &wrong):
		return trial.Verify
	case errors.Is(err, device.ErrMemory): // also where no case fits into the memory
		return trial.Memory
	case errors.Is(err, ErrNoCase), errors.Is(err, subject.ErrCannot):
		return trial.Constraint
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return trial.Skipped
	}
	return trial.Launch
}
