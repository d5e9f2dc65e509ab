package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/kernels"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Session solves instances one after the other. Kernels are loaded once, and the memory
// of a solve serves the next one of as many agents and the same variant. The Options may
// be changed between solves, except for the Devices, which the caller goes on to own and
// closes. One goroutine at a time may use a session.
type Session struct {
	Options
	modules device.Scope // that are loaded on the devices
	pool    kernels.Pool
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) {
	if _, err := o.LeadDevice(); err != nil {
		return nil, fmt.Errorf("open csg: %w", err)
	}
	s := &Session{Options: o}
	s.KeepLoaded(&s.modules)
	return s, nil
}

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, inst *problem.Instance) (*Result, error) {
	r := &run{Session: s, inst: inst}
	restore := func() {}
	if inst != nil && inst.IsMinimized() {
		restore = s.negateSettings()
	}
	found, err := solve.Run(ctx, &s.Settings, r)
	if restore(); found != nil {
		found.Target = s.Target
	}
	if errors.Is(err, problem.ErrCheck) {
		err = cmp.Or(r.inst.CheckUnchanged(), err)
	}
	if err != nil {
		return found, fmt.Errorf("solve csg: %w", err)
	}
	return found, nil
}

// negateSettings makes the target and the progress those of negated values, until the returned function makes them as they were.
func (s *Session) negateSettings() (restore func()) {
	target, progress := s.Target, s.Progress
	if target != nil {
		negated := -*target
		s.Target = &negated
	}
	if progress != nil {
		s.Progress = func(now solve.Incumbent) {
			now.Value, now.Bound = now.Value.Negated(), now.Bound.Negated()
			progress(now)
		}
	}
	return func() { s.Target, s.Progress = target, progress }
}

// Close gives back memory and kernels.
func (s *Session) Close() error { return errors.Join(s.pool.Close(), s.modules.Close()) }
