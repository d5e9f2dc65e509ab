package assignment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Session solves instances one after the other and loads kernels once. The last instance stays loaded, its costs and the
// workspace of its algorithms on the devices: SolveAgain solves it without taking memory. The Options may be changed
// between solves, except for Devices, which the caller closes after the session. A session belongs to one goroutine at a time.
type Session struct {
	Options
	inst *problem.Instance
	p    *problem.Normal
	job  *job // nil: no instance is loaded
	held device.Scope
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) {
	if _, err := o.LeadDevice(); err != nil && !(o.Bottleneck && len(o.Devices) == 0) {
		return nil, fmt.Errorf("open assignment: %w", err)
	}
	s := &Session{Options: o}
	s.KeepLoaded(&s.held)
	return s, nil
}

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, inst *problem.Instance) (*Result, error) {
	return s.solve(ctx, &run{Session: s, next: inst})
}

// SolveAgain solves the instance that Load or Solve has loaded.
func (s *Session) SolveAgain(ctx context.Context) (*Result, error) {
	return s.solve(ctx, &run{Session: s, again: true})
}

func (s *Session) solve(ctx context.Context, r *run) (*Result, error) {
	if found, err := s.byPaths(ctx, r); found != nil || err != nil {
		return found, err
	}
	ctx, cancel := s.WithTimeLimit(ctx)
	defer cancel()
	found, err := solve.Run(ctx, &s.Settings, r)
	if err == nil && s.KBest > 1 {
		err = s.rankMatchings(ctx, found)
	}
	if err != nil && !errors.Is(err, solve.ErrInfeasible) {
		err = fmt.Errorf("solve assignment: %w", err)
	}
	return found, err
}

// longPaths is longer than paths may take, which nothing ends.
const longPaths = time.Second

// byPaths solves an instance that the plan has one core solve on its own, and keeps it as the session's; nil where others do.
func (s *Session) byPaths(ctx context.Context, r *run) (*Result, error) {
	inst := r.next
	if r.again {
		if inst = s.inst; s.job != nil || inst == nil {
			return nil, nil
		}
		r.next, r.again = inst, false // where this does not solve it
	}
	d, err := s.LeadDevice()
	if err != nil || d.Facts().Kind != device.Host || len(s.Devices) > 1 || s.RankCount() > 1 || s.Algorithm != "" || s.Variant != "" || s.Start != nil ||
		s.Bottleneck || s.KBest > 1 || s.Unchecked || ctx.Err() != nil || s.check() != nil || s.TimeLimit > 0 && s.TimeLimit < longPaths || !takesPaths(inst) {
		return nil, nil
	}
	reading, reason := paths.ByShape, ""
	if inst.Rows*inst.Cols >= chosenFrom || s.Tuning != nil {
		way, err := chooseHostWay(&s.Settings, d.Facts(), inst)
		if err != nil || !isPaths(way.Variant) {
			return nil, err
		}
		if reading = readingOf(way.Variant); way.Level != tuned.Predicted {
			reason = way.Reason()
		}
	}
	began := time.Now()
	q := quicks.Get().(*QuickSolver)
	defer quicks.Put(q)
	column, duals, c, ok := q.prove(inst, reading)
	if !ok {
		return nil, nil
	}
	found := q.result(inst, began, slices.Clone(column), duals, c)
	if found == nil {
		return nil, nil
	}
	if found.Duals = nil; s.Duals {
		found.Duals = &problem.Duals{U: slices.Clone(duals.U), V: slices.Clone(duals.V), Scale: duals.Scale}
	}
	found.Device, found.Reason = s.solvedOn(), cmp.Or(reason, found.Reason)
	s.Logf("%s on %s: %s", found.Variant, found.Device, found.Reason)
	err = s.unload()
	s.inst = inst
	return found, err
}

// Load plans for an instance of any size, takes the memory that solving it needs, and copies its costs to the
// devices. It replaces the one that was loaded. After an error Load can be called again.
func (s *Session) Load(ctx context.Context, inst *problem.Instance) error {
	if err := s.load(ctx, inst); err != nil {
		return fmt.Errorf("load assignment: %w", err)
	}
	return nil
}

func (s *Session) load(ctx context.Context, inst *problem.Instance) error {
	if inst == nil {
		return inst.Check()
	}
	if err := cmp.Or(s.unload(), s.check()); err != nil {
		return err
	}
	var p *problem.Normal
	var err error
	if s.RankCount() > 1 {
		inst, p, err = s.ownRows(inst)
	} else {
		p, err = problem.Normalise(inst)
	}
	if err != nil {
		return err
	}
	var j *job
	switch {
	case inst.Transports():
		j, err = &job{p: p, options: s.Options, plan: plan{method: &transportMethod, reason: "the method for supplies and capacities"}}, s.checkTransport()
	case s.Bottleneck:
		j, err = &job{p: p, options: s.Options, plan: plan{method: &families.Method{Name: "bottleneck"}, reason: "the method for the worst pair"}}, checkComparable(inst)
	case len(s.Devices) > 1 && !inst.Dense():
		err = solve.InvalidInput("Devices", "found %d, expected one: several devices take dense costs only", len(s.Devices))
	default:
		j, err = prepare(ctx, p, s.Options, nil)
	}
	if err != nil {
		return err
	}
	s.inst, s.p, s.job = inst, p, j
	return nil
}

// unload gives back the memory of the instance.
func (s *Session) unload() error {
	j := s.job
	s.inst, s.p = nil, nil
	if s.job = nil; j == nil {
		return nil
	}
	return j.Close()
}

// Close gives back the memory and the kernels.
func (s *Session) Close() error { return errors.Join(s.unload(), s.held.Close()) }
