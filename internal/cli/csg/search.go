package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// tableAgents is the most agents of a graph that becomes a table unless the search is
// asked for: tables of so many take less than a second.
const tableAgents = 24

// searchFlags say what a graph is.
type searchFlags struct{ reading anytime.ReadOptions }

// isGraph reports whether a FILE is a graph.
func (s *searchFlags) isGraph(path string) bool {
	return s.reading.Format != "" || anytime.FormatOf(path) != ""
}

// readGraph reads FILE, which may be standard input, as a graph.
func (s *searchFlags) readGraph(a *run.App, path string) (*anytime.Instance, error) {
	o := s.reading
	o.Memory = a.Free().Bytes
	if path == run.Dash {
		return anytime.ReadFrom(a.In, run.StandardInput, o)
	}
	return anytime.Read(path, o)
}

// isSearched reports whether the search solves so many agents, in place of a table of all coalitions: if
// the flags ask for the search, or the agents are more than TableAgents.
func isSearched(algorithm string, agents, table int) bool {
	return algorithm == anytime.Algorithm || algorithm == "" && agents > table
}

// mostAgents is the most agents of a distribution.
func mostAgents(algorithm string) int {
	if isSearched(algorithm, anytime.MostDrawn, problem.MaxAgents) {
		return anytime.MostDrawn
	}
	return problem.MaxAgents
}

// tableOf is the table of all coalitions of a graph, or an error if it exceeds the free memory.
func tableOf(ctx context.Context, g *anytime.Instance, free memory.Free) (*problem.Instance, error) {
	if err := free.CheckFits("the values and the table of "+ui.Count(g.N, "agent"), 2*float64(problem.Footprint(g.N, problem.Int64))); err != nil {
		return nil, fmt.Errorf("%w: --algorithm %s needs none", err, anytime.Algorithm)
	}
	return g.Table(ctx)
}

// solveGraph searches a graph or a distribution, and prints.
func solveGraph(ctx context.Context, a *run.App, s *solveFlags, session *csg.Session, path string, g *anytime.Instance, read time.Duration) error {
	switch {
	case a.HasOneInstance():
		return a.OnRankZero("a search is one process's", func() error { return solveGraph(ctx, a, s, session, path, g, read) })
	case s.Device != "auto" && s.Device != "host":
		return run.Usagef("--device is %s: the search runs on a host", s.Device)
	}
	if err := s.CheckEffects(s.effectRules(path, bySearch)); err != nil {
		return err
	}
	p := a.Progress()
	defer p.Close()
	o := anytime.Options{Settings: session.Settings, Payoff: s.options.Payoff}
	o.Seed = s.seed
	if err := s.readStart(a, &o.Settings, g.N, g.Names); err != nil {
		return err
	}
	p.SetLimit(cmp.Or(o.TimeLimit, anytime.DefaultLimit))
	o.Progress = func(now solve.Incumbent) { p.Set("searching %s: %s", ui.Count(g.N, "agent"), now) }
	var r *anytime.Result
	err := a.WithDevices("host", s.Threads, func(host []device.Device) (err error) { // the session's device may be a GPU
		o.Devices = host
		r, err = anytime.Solve(ctx, g, o)
		return err
	})
	if err != nil {
		return err
	}
	r.Seconds.Read = read.Seconds()
	p.Close()
	err = s.draw(ctx, a, &r.Report, foundBlocks(r))
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, writeFound(a.Out, r, r.Device))
}
