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
	found, err := solve.Run(ctx, &s.Settings, r)
	if errors.Is(err, problem.ErrCheck) {
		err = cmp.Or(r.inst.CheckUnchanged(), err)
	}
	if err != nil {
		return found, fmt.Errorf("solve csg: %w", err)
	}
	return found, nil
}

// Close gives back memory and kernels.
func (s *Session) Close() error { return errors.Join(s.pool.Close(), s.modules.Close()) }
