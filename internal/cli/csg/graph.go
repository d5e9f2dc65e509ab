package csg

import (
	"context"
	"time"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// readGraph reads FILE, which may be standard input, as a graph.
func readGraph(a *run.App, s *Search, path string) (*anytime.Instance, error) {
	if path == run.Dash {
		return s.Read(a.In, run.StandardInput, a.Free().Bytes)
	}
	return s.Read(nil, path, a.Free().Bytes)
}

// solveGraph searches a graph or a distribution, and prints.
func solveGraph(ctx context.Context, a *run.App, s *solveFlags, session *csg.Session, path string, g *anytime.Instance, read time.Duration) error {
	switch {
	case a.Single():
		return a.Alone("a search is one process's", func() error { return solveGraph(ctx, a, s, session, path, g, read) })
	case s.Device != "auto" && s.Device != "host":
		return run.Usagef("--device is %s: the search runs on a host", s.Device)
	}
	if err := s.CheckEffects(s.effects(path, searchWay)); err != nil {
		return err
	}
	p := a.Progress()
	defer p.Close()
	o := s.search.Options(session.Settings, s.seed)
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
	if p.Close(); s.JSON {
		return run.PrintJSON(a.Out, r)
	}
	return WriteFound(a.Out, r, r.Device)
}
