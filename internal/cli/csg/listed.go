package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/listed"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// lists reports whether the flags ask for a list of coalitions, which branch and cut solves, in place of a table of all or of a graph.
func (s *solveFlags) lists(graph bool) bool {
	return s.options.Algorithm == listed.Algorithm || graph && s.options.Algorithm == "" && s.constraints.List()
}

// listOf is the list of a table's coalitions where constraints of few agents or the flags ask for it, else nil.
func (s *solveFlags) listOf(inst *problem.Instance) (*listed.Instance, error) {
	switch {
	case s.lists(false):
		return listed.New(inst)
	case s.takesTable():
		return nil, nil
	case s.constraints.List():
		return listed.NewSmall(inst), nil
	case s.reading.Form == listed.Few:
		return listed.NewFew(inst), nil
	}
	return nil, nil
}

// takesTable reports whether the flags ask for a table of all coalitions.
func (s *solveFlags) takesTable() bool {
	return s.options.Algorithm != "" || s.options.Variant != "" || s.values != "" || s.options.Checkpoint != "" || s.Verify
}

// readGame reads FILE, which may be standard input, as a table of all coalitions or a list of some.
func (s *solveFlags) readGame(a *run.App, path string) (*problem.Instance, *listed.Instance, error) {
	if s.takesTable() && !s.lists(false) {
		inst, err := readTable(a, path, s.reading)
		return inst, nil, err
	}
	inst, list, err := readListed(a, path, s.reading, s.lists(false))
	if err == nil && inst != nil {
		list, err = s.listOf(inst)
	}
	return inst, list, err
}

// readListed reads FILE as a list of coalitions where that is forced or where its size says so, else as a table of all.
func readListed(a *run.App, path string, o csg.ReadOptions, forced bool) (*problem.Instance, *listed.Instance, error) {
	o.Limit = a.Free().Bytes
	if path == run.Dash {
		return listed.ReadFrom(a.In, -1, run.StandardInput, o, forced)
	}
	return listed.Read(path, o, forced)
}

// solveListed solves a list of coalitions, and prints.
func solveListed(ctx context.Context, a *run.App, s *solveFlags, session *csg.Session, path string, inst *listed.Instance, read time.Duration) error {
	if a.HasOneInstance() {
		return a.OnRankZero("a list of coalitions is one process's", func() error { return solveListed(ctx, a, s, session, path, inst, read) })
	}
	p := a.Progress()
	defer p.Close()
	o := listed.Options{Settings: session.Settings, Constraints: s.constraints, Payoff: s.options.Payoff}
	o.Algorithm = s.options.Algorithm
	if err := s.readStart(a, &o.Settings, inst.N, inst.Names); err != nil {
		return err
	}
	what := fmt.Sprintf("%s of %s", ui.Count(len(inst.Coalitions), "coalition"), ui.Count(inst.N, "agent"))
	p.SetLimit(o.TimeLimit)
	p.Set("solving %s", what)
	o.Log = func(line string) { p.Set("solving %s: %s", what, line) }
	o.Progress = func(now solve.Incumbent) { p.Set("solving %s: %s", what, now) }
	r, err := run.AwaitBest(ctx, func() (*listed.Result, error) { return listed.Solve(ctx, inst, o) })
	if r == nil || err != nil && !s.JSON {
		return run.SolverError(err, problem.ErrCheck)
	}
	r.Seconds.Read = read.Seconds()
	p.Close()
	err = errors.Join(err, s.draw(ctx, a, &r.Report, listedBlocks(r)))
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, writeListed(a.Out, r))
}

// listedBlocks are the blocks of an answer; none where no structure is allowed.
func listedBlocks(r *listed.Result) []problem.Block {
	if r.Certificate == nil {
		return nil
	}
	blocks := make([]problem.Block, len(r.Certificate.Blocks))
	for k, b := range r.Certificate.Blocks {
		blocks[k] = problem.Block{Agents: b.Agents, Value: b.Value}
	}
	return blocks
}

// writeListed writes the answer of a list of coalitions for people.
func writeListed(out io.Writer, r *listed.Result) error {
	n := r.Size["agents"]
	if err := cmp.Or(writeBlocks(out, listedBlocks(r), r.Value, n), writePayoff(out, r.Payoff, r.Names)); err != nil {
		return err
	}
	return run.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s)", r.Instance, ui.Count(n, "agent"), ui.Count(r.Size["coalitions"], "coalition")),
		Checked:  fmt.Sprintf("the blocks are a partition of allowed coalitions and their values add up to %s", r.Certificate.Sum),
		Name:     ui.Count(runtime.GOMAXPROCS(0), "core"),
	}.Write(out)
}
