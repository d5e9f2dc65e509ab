package qubo

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/formats"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// DefaultLimit ends a solve that nothing else would end.
const DefaultLimit = 10 * time.Second

// Options of Solve: the settings of all solvers, and what searches add. Devices are of one kind, and all of them search.
// Without a TimeLimit, DefaultLimit holds, or none where Work is set.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" algorithm.about:"search with" time_limit.default:"10s, or none with {work}"`
	// stop after so many flips: the answer then depends on [Options.Seed], [Options.Rules] and the device alone
	Work int64 `option:"work" min:"1" default:"no limit"`
	// find so many distinct solutions
	Solutions int `option:"solutions" min:"1" max:"2147483647" default:"only the best"`
	// variables in which those of [Options.Solutions] differ at least
	Distance int `option:"distance" flag:"min-distance" min:"1" max:"2147483647" default:"1"`
	// parts of the search to leave out, to measure their worth
	Without []string `option:"without" words:"PartNames(\"\")" default:"none"`
	// parameters of the search, as in tenure=20,stall=10000, which docs/qubo.md describes
	Rules  Rules  `option:"rules" default:"each engine's own"`
	Starts Starts `option:""`
	// fix variables: 0=1,7=0 makes the first 1 and the eighth 0; north=0 names one where variables have names
	Fix []string `option:"fix" default:"those that the instance fixes"`
	// search all variables but those that the instance fixes, without preprocessing
	Unreduced bool `option:"unreduced" flag:"no-preprocessing"`

	// put the proof of a bound by frustration into the answer, where there is one
	Certificate bool `option:"certificate"`

	// bytes that the host may take besides the instance
	Memory int64 `option:"memory" min:"1" default:"no limit, in the command what is free"`

	Threads  int      // goroutines of a search on the host; 0: the device's cores
	Exchange Exchange // with another search of the same instance; nil: none. Solves with Work ignore it
}

func (o Options) check() error {
	if err := solve.CheckOptions(o.Fields()); err != nil {
		return err
	}
	if o.Threads < 0 {
		return solve.InvalidInput("Threads", "found %d, expected at least 0", o.Threads)
	}
	if o.RankCount() > 1 && o.Solutions > 1 {
		return solve.InvalidInput("Solutions", "found %d on %d ranks, expected 1: several are looked for by one process", o.Solutions, o.RankCount())
	}
	if err := o.Rules.Check(); err != nil {
		return solve.AsInputError(err)
	}
	return o.checkWithout()
}

// Solve looks for the best solution of an instance on o's devices until a limit is met, or until
// its best is proven: by fixing every variable, by visiting every solution of the rest, or by
// meeting a bound. The end of ctx and the time limit end it with the best so far; Stopped says so.
//
// The instance is checked first (Instance.Check): a malformed one is an error.
// The value in the result was recomputed from the instance's coefficients.
// Errors of coefficients wrap ErrCoefficient, those of memory device.ErrMemory,
// those of a wrong answer ErrCheck. Those of a device that was lost on the way wrap
// device.ErrLost, and the result, where it is not nil, is the best until then.
func Solve(ctx context.Context, inst *problem.Instance, o Options) (r *Result, err error) {
	err = solve.WithSession(Open, o, func(s *Session) error {
		r, err = s.Solve(ctx, inst)
		return err
	})
	return r, err
}

// A Session solves instances one after the other and loads kernels once. The Options may be
// changed between solves, except for Devices, which the caller closes after the session. A session
// belongs to one goroutine at a time.
type Session struct {
	Options
	held device.Scope
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) {
	if _, err := o.LeadDevice(); err != nil {
		return nil, err
	}
	s := &Session{Options: o}
	s.KeepLoaded(&s.held)
	return s, nil
}

// Close unloads the kernels.
func (s *Session) Close() error { return s.held.Close() }

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, inst *problem.Instance) (*Result, error) {
	o := s.Options
	if o.TimeLimit == 0 && o.Work == 0 {
		o.TimeLimit = DefaultLimit
	}
	return solve.Run(ctx, &o.Settings, &run{inst: inst, o: o})
}

// takeStart takes the solution to begin with from the settings.
func (r *run) takeStart() error {
	start, err := solve.StartAs[problem.Bits](&r.o.Settings)
	if err != nil || r.o.Start == nil {
		return err
	}
	r.start = start.Words()
	return start.CheckFor(r.inst.N)
}

// Plan implements solve.Work.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[string]], error) {
	o, inst := &r.o, r.inst
	d, err := o.LeadDevice()
	if err != nil {
		return nil, nil, err
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if err := onDevice(d, inst); err != nil {
		return nil, nil, err
	}
	if inst, err = inst.Fixing(o.Fix); err != nil {
		return nil, nil, solve.InvalidInput("Fix", "%w", err)
	}
	if err := r.takeStart(); err != nil {
		return nil, nil, err
	}
	r.inst = inst
	if r.plan, err = planFor(d.Facts(), *o); err != nil {
		return nil, nil, err
	}
	if err := o.checkParts(r.plan.engine.name); err != nil {
		return nil, nil, err
	}
	if err := o.Starts.Check(r.plan.engine.name); err != nil {
		return nil, nil, solve.AsInputError(err)
	}
	if err := o.Rules.CheckFor(r.plan.engine.name, o.Without, inst.N); err != nil {
		return nil, nil, solve.AsInputError(err)
	}
	for _, other := range o.Devices[1:] {
		if kind := other.Facts().Kind; kind != d.Facts().Kind {
			return nil, nil, solve.InvalidInput("Devices", "found two kinds, %s and %s, expected one", d.Facts(), other.Facts())
		}
	}
	need := inst.Memory()
	if o.Logf("takes about %s of memory besides the instance", device.Size(need)); o.Memory > 0 && need > o.Memory {
		return nil, nil, fmt.Errorf("besides the instance solving would take %w: %w", formats.MemoryShortage(float64(need), o.Memory), device.ErrMemory)
	}
	r.out = newResult(inst, *o)
	search := func() (string, error) {
		r.limits = limitsOf(ctx, time.Now(), len(inst.Col))
		return r.solve()
	}
	return r.out, slices.Values([]solve.Attempt[string]{{Name: r.plan.engine.name, Run: search}}), nil
}
