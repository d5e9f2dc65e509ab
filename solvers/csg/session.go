package csg

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"coalesce/runtime/device"
)

// A Session solves instances one after the other. Kernels are loaded once, and the memory
// of a solve serves the next one of as many agents and the same variant. The Options may
// be changed between solves, except for the Devices, which the caller goes on to own and
// closes. One goroutine at a time may use a session.
type Session struct {
	Options
	held   device.Scope
	loaded *runner    // of the last solve; nil: none yet
	mu     sync.Mutex // of idle and over: a solve that outlived its context may give memory back late
	idle   *job       // a job of an earlier solve, whose memory the next one may take; nil: none
	over   bool       // closed
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) {
	if _, err := o.First(); err != nil {
		return nil, fmt.Errorf("open csg: %w", err)
	}
	s := &Session{Options: o}
	s.KeepLoaded(&s.held)
	return s, nil
}

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, inst *Instance) (*Result, error) {
	return s.SolveKept(ctx, inst, nil)
}

// SolveKept is the package's SolveKept.
func (s *Session) SolveKept(ctx context.Context, inst *Instance, keep *Checkpoint) (*Result, error) {
	r, err := s.solveChecked(ctx, inst, keep)
	if err != nil {
		return r, fmt.Errorf("solve csg: %w", err)
	}
	return r, nil
}

// Close gives back memory and kernels.
func (s *Session) Close() error {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	return errors.Join(s.unload(), s.held.Close())
}

// idleBytes is the most memory that stays taken between solves. Larger tables take
// longer to fill than to take.
const idleBytes = 256 << 20

// take returns memory for a solve: the idle memory where it fits the variant and the number of
// agents, else new memory.
func (s *Session) take(f *device.Family, v *device.Variant, inst *Instance) (*job, error) {
	if r := s.loaded; r == nil || r.variant != v || r.ranks != s.Ranks {
		if err := s.unload(); err != nil {
			return nil, err
		}
		var err error
		if s.loaded, err = openAll(s.Options, f, v); err != nil {
			s.loaded = nil
			return nil, err
		}
	}
	if err := s.free(func(j *job) bool { return j.by != s.loaded }); err != nil {
		return nil, err
	}
	if j := s.taken(); j != nil {
		j.inst = inst
		return j, nil
	}
	return s.loaded.prepare(inst)
}

// free frees the idle memory if useless says that no further solve can use it.
func (s *Session) free(useless func(j *job) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.idle
	if j == nil || !useless(j) {
		return nil
	}
	s.idle = nil
	return j.Close()
}

// taken hands the idle memory to the caller, nil where there is none.
func (s *Session) taken() *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.idle
	s.idle = nil
	return j
}

// giveBack takes memory back from a solve that ended with err.
func (s *Session) giveBack(j *job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.over || s.idle != nil || memory(j.by.family, j.by.variant, j.inst.N, 1) > idleBytes {
		j.Close()
		return
	}
	s.idle = j
}

// unload frees what the last solve left.
func (s *Session) unload() error {
	err := s.free(func(*job) bool { return true })
	if s.loaded != nil {
		err = errors.Join(err, s.loaded.Close())
		s.loaded = nil
	}
	return err
}
