// Package csg has the commands about coalition structures: solve, query and generate, what verify knows of them, and what they print.
package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/listed"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// solveFlags are the flags of `solve csg`.
type solveFlags struct {
	run.SolveFlags
	reading csg.ReadOptions
	// draw the instance instead of reading it
	distribution string `option:"distribution" words:"csg.Distributions()"`
	// agents of a drawn instance
	agents int `option:"agents" min:"1"`
	// seed of a drawn instance, or of a search
	seed uint64 `option:"seed"`
	// type of a drawn instance's values
	value problem.Value `option:"type"`
	// also write the value of every coalition's best partition to this .npy file, for coalesce query csg (3 times the work, twice the memory)
	values string `option:"values"`
	// numbers of members that a block may have, such as 1-3,5 or 2-
	sizes problem.Sizes `option:"sizes" default:"any number"`
	// begin with the structure in this file: the agents of a block a line, by number or name, or an earlier result's JSON
	start       string `option:"start"`
	constraints listed.Constraints
	search      searchFlags
	options     csg.Options
}

// SolveCommand is `solve csg`.
func SolveCommand(a *run.App) *cobra.Command {
	s := solveFlags{SolveFlags: run.SolveFlags{Several: true, Families: csg.Subjects()}, seed: 1, value: problem.Float64}
	cmd := &cobra.Command{
		Use:   "csg FILE... | --distribution NAME --agents N [--seed S]",
		Short: "Find the partition of agents into coalitions that is worth the most",
		Long:  aboutSolve(),
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return solveFiles(cmd.Context(), a, &s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	for _, options := range []option.List{s.reading.Fields(), s.Fields(), s.constraints.Fields(), s.search.reading.Fields()} {
		run.AddOptions(f, options)
	}
	options := s.options.Fields()
	options.Find("algorithm").Extend(anytime.Algorithm, anytime.Algorithm+" searches a graph")
	options.Find("algorithm").Extend(listed.Algorithm, listed.Algorithm+" solves few coalitions that are listed")
	run.AddOptions(f, options)
	run.AddFormerName(f, "method", options.Find("algorithm"))
	s.Register(f)
	return cmd
}

func (s *solveFlags) check(a *run.App, args []string) error {
	switch {
	case len(args) == 0:
		return run.Usagef("expected a FILE, or --distribution NAME --agents N")
	case s.distribution != "" && !slices.Equal(args, []string{""}):
		return run.Usagef("expected a FILE or --distribution, found both")
	case s.distribution != "" && (s.agents < 1 || s.agents > mostAgents(s.options.Algorithm)):
		return run.Usagef("--agents is %d, expected 1 to %d", s.agents, mostAgents(s.options.Algorithm))
	case s.distribution != "" && isSearched(s.options.Algorithm, s.agents, problem.MaxAgents) && s.value != problem.Float64:
		return run.Usagef("--type is %s: a search draws values as %s", s.value, problem.Float64)
	case s.values != "" && len(args) > 1:
		return run.Usagef("--values is for one instance, found %d files", len(args))
	case s.values != "" && !strings.EqualFold(filepath.Ext(s.values), ".npy"):
		return run.Usagef("--values is %s, expected a .npy file", s.values)
	case s.values != "" && s.options.Algorithm != "" && s.options.Algorithm != string(csg.Apart):
		return run.Usagef("--values is for --algorithm %s, found --algorithm %s", csg.Apart, s.options.Algorithm)
	case s.options.Checkpoint != "" && (len(args) > 1 || s.values != ""):
		return run.Usagef("--checkpoint is for one instance, without --values")
	case s.options.Checkpoint != "" && s.options.Algorithm != "" && s.options.Algorithm != string(csg.Apart):
		return run.Usagef("--checkpoint is kept by --algorithm %s alone", csg.Apart)
	}
	for _, path := range args {
		if err := s.CheckEffects(s.effectRules(path, s.method(path))); err != nil {
			return err
		}
	}
	if s.reading.Missing != "" {
		if err := csg.CheckMissing(s.reading.Missing); err != nil {
			return run.Usagef("--missing: %w", err)
		}
	}
	return s.SolveFlags.Check(a, len(args))
}

func solveFiles(ctx context.Context, a *run.App, s *solveFlags, args []string) error {
	if s.distribution != "" && len(args) == 0 {
		args = []string{""} // one instance, which is drawn
	}
	if err := s.check(a, args); err != nil {
		return err
	}
	if a.Team != nil && s.values != "" {
		return run.Usagef("--values is for one process, found %d ranks", a.Team.Size())
	}
	if s.values != "" {
		if err := atomicfile.CheckWritable(s.values); err != nil {
			return err
		}
	}
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		return solve.WithSession(csg.Open, s.options, func(session *csg.Session) error {
			return a.SolveEach(ctx, s.JSON, args, func(path string) error { return solveOne(ctx, a, s, session, path) })
		})
	})
}

// solveOne reads or draws, solves and prints.
func solveOne(ctx context.Context, a *run.App, s *solveFlags, session *csg.Session, path string) error {
	p := a.Progress()
	defer p.Close()
	facts := session.WeakestFacts()
	if s.distribution != "" && isSearched(s.options.Algorithm, s.agents, problem.MaxAgents) {
		inst, err := anytime.NewDrawn(s.distribution, s.agents, s.seed)
		if err != nil {
			return run.AsUsage(err)
		}
		return solveGraph(ctx, a, s, session, path, inst, 0)
	}
	s.constraints.Sizes = s.sizes
	if s.constraints.Minimize && !s.takesTable() {
		s.reading.Form = listed.Few
	}
	there := drawnOnDevices(&session.Options, s.Verify || s.values != "" || s.sizes != 0 || s.constraints.Minimize || s.constraints.List() || s.options.Payoff != "")
	if s.distribution != "" {
		value, free := s.value, a.Free()
		if there {
			free = memory.Free{} // no limit: this machine holds no values
		}
		takes := func(n int) error {
			return cmp.Or(checkMemory(n, value, free), csg.CheckSize(facts, n, value, ranks.CountDevices(a.Team, session.Devices)))
		}
		if err := withLargest(s.agents, takes); err != nil {
			return err
		}
	}
	start := time.Now()
	var graph *anytime.Instance
	var list *listed.Instance
	inst, err := run.Await(ctx, func() (inst *problem.Instance, err error) {
		if s.distribution != "" {
			p.Set("drawing %s from %s", ui.Count(s.agents, "agent"), s.distribution)
			if inst, err = newDrawnInstance(s.distribution, s.agents, s.seed, s.value, there); err == nil {
				list, err = s.listOf(inst)
			}
			return inst, err
		}
		run.ShowReading(p, path)
		if !s.search.isGraph(path) {
			inst, list, err = s.readGame(a, path)
			return inst, err
		}
		if graph, err = s.search.readGraph(a, path); err != nil {
			return nil, err
		}
		if s.lists(true) || s.options.Algorithm == "" && (s.constraints.Minimize || s.sizes != 0 && graph.N > tableAgents) {
			list, err = listed.FromGraph(graph, &s.constraints)
			return nil, err
		}
		if isSearched(s.options.Algorithm, graph.N, tableAgents) {
			return nil, nil
		}
		return tableOf(ctx, graph, a.Free())
	})
	if err != nil {
		return a.ReadError(err)
	}
	if list != nil {
		p.Close()
		return solveListed(ctx, a, s, session, path, list, time.Since(start))
	}
	if inst == nil {
		p.Close()
		return solveGraph(ctx, a, s, session, path, graph, time.Since(start))
	}
	if s.options.Algorithm == anytime.Algorithm {
		return run.Usagef("--algorithm %s is for graphs: %s is a table of all coalitions", anytime.Algorithm, inst.Source)
	}
	if err := s.CheckEffects(s.effectRules(path, byTable)); err != nil { // of a graph, whose agents are known now
		return err
	}
	if err := inst.Constrain(s.constraints); err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	if err := s.readStart(a, &session.Settings, inst.N, inst.Names); err != nil {
		return err
	}
	same := inst.Bytes() // on all ranks
	if session.Start != nil {
		same = fmt.Append(nil, crc32.Checksum(same, crc32.MakeTable(crc32.Castagnoli)), session.Start)
	}
	if session.Ranks, err = a.JoinRanks(session.Devices, true, same); err != nil {
		return err
	}
	p.SetLimit(session.TimeLimit)
	p.Set("solving %s on %s", ui.Count(inst.N, "agent"), session.DeviceNames())
	session.Log = func(line string) { p.Set("solving %s: %s", ui.Count(inst.N, "agent"), line) }
	estimate := describeProgress()
	session.Progress = func(now solve.Incumbent) {
		p.SetShare(cmp.Or(now.Share, -1), "solving %s: %s", ui.Count(inst.N, "agent"), estimate(now))
	}
	r, err := run.AwaitBest(ctx, func() (*csg.Result, error) { return s.solve(ctx, inst, session) })
	if r == nil || !s.JSON && errors.Is(err, solve.ErrInfeasible) {
		return run.SolverError(err, problem.ErrCheck)
	}
	r.Seconds.Read = read
	verified, err := s.CompareWithReference(a, p, r.Stopped, err, func() (string, error) { return compareWithReference(ctx, inst, r) })
	if run.IsRefuted(err) {
		return err
	}
	p.Close()
	err = errors.Join(a.AnswerError(ctx, err), s.draw(ctx, a, &r.Report, r.Certificate.Blocks))
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, writeResult(a.Out, r, facts.Name, verified))
}

// readStart reads the structure to begin with, of n agents, into settings.
func (s *solveFlags) readStart(a *run.App, into *solve.Settings, n int, names []string) error {
	if s.start == "" {
		return nil
	}
	text, err := a.ReadStart(s.start, "structure")
	if err != nil {
		return err
	}
	into.Start, err = csg.ParseBlocks(text, run.NameOf(s.start), n, names)
	return err
}

// compareWithReference solves with the reference and compares values, which may differ by the larger of their gaps. It returns the
// text for the user, and sets the result's time of verification.
func compareWithReference(ctx context.Context, inst *problem.Instance, r *csg.Result) (string, error) {
	ref, err := run.Await(ctx, func() (*csg.Result, error) { return csg.Reference(inst, csg.DP) })
	if err != nil {
		return "", run.UnverifiedError(err)
	}
	r.Seconds.Verify = ref.Seconds.Solve
	above, most := r.Value.Float()-ref.Value.Float(), *ref.Gap
	if r.Minimize {
		above = -above
	}
	if r.Proven {
		above, most = math.Abs(above), max(most, *r.Gap)
	}
	if r.Value != ref.Value && !(above <= most) {
		return "", run.AsCheck(fmt.Errorf("the answer is worth %s, the reference finds %s", r.Value, ref.Value))
	}
	same := "too"
	switch {
	case r.Value != ref.Value && r.Proven:
		same = "(rounding leaves both open)"
	case r.Value != ref.Value:
		same = "beyond the target"
	}
	return fmt.Sprintf("the sequential reference finds %s %s (its solve took %s, %.3g times this one's)",
		ref.Value, same, ui.Seconds(ref.Seconds.Solve), ref.Seconds.Solve/r.Seconds.Solve), nil
}

// solve solves and, where asked to, writes the values of all coalitions' best partitions.
func (s *solveFlags) solve(ctx context.Context, inst *problem.Instance, session *csg.Session) (*csg.Result, error) {
	if s.values == "" {
		return session.Solve(ctx, inst)
	}
	r, cover, err := csg.SolveCover(ctx, inst, session.Options)
	if cover == nil {
		if err == nil { // the solve was ended
			r.Notes = append(r.Notes, fmt.Sprintf("the values of all coalitions are not known: %s was not written", s.values))
		}
		return r, err
	}
	return r, errors.Join(err, atomicfile.Write(ctx, s.values, func(w io.Writer) error { return csg.WriteCover(w, inst, cover) }))
}

// How a coalition structure is solved, as far as the flags say.
const (
	eitherMethod = iota // the agents of a graph, which the file has, decide
	byTable             // by a table of all coalitions
	bySearch
)

// method is how `solve csg` solves a FILE, or a distribution where the name is empty, by the flags alone.
func (s *solveFlags) method(path string) int {
	graph := s.distribution == "" && s.search.isGraph(path)
	switch {
	case s.options.Algorithm == anytime.Algorithm || s.distribution != "" && isSearched(s.options.Algorithm, s.agents, problem.MaxAgents):
		return bySearch
	case graph && s.options.Algorithm == "":
		return eitherMethod
	}
	return byTable
}

// effectRules is the table of `solve csg` for a FILE and a method.
func (s *solveFlags) effectRules(path string, method int) []effect.Rule {
	drawn := s.distribution != ""
	graph := !drawn && s.search.isGraph(path)
	source := run.NameOf(path)
	if drawn {
		source = "--distribution " + s.distribution
	}
	table, search := effect.UnlessRequested(method != byTable, source+", a table of all coalitions"), effect.UnlessRequested(method != bySearch, source+", which is searched")
	lists := s.lists(graph) || s.constraints.Minimize && method == eitherMethod
	seed := table
	if drawn {
		seed = ""
	}
	return []effect.Rule{
		{Flags: "agents type", For: "--distribution", Found: effect.UnlessRequested(drawn, source)},
		{Flags: "seed", For: "--distribution and searches", Found: seed},
		{Flags: "target", For: "one structure", Found: effect.UnlessRequested(s.values == "", "--values, which has the values of all coalitions")},
		{Flags: "format missing names order", For: "files", Found: effect.UnlessRequested(!drawn, source)},
		{Flags: "missing names order", For: "tables", Found: effect.UnlessRequested(!graph, source+", a graph")},
		{Flags: "values checkpoint resume verify", For: "tables of all coalitions", Found: search},
		{Flags: "payoff", For: "tables of all coalitions and, but for the nucleolus, graphs", Found: effect.UnlessRequested(method != bySearch || !drawn && s.options.Payoff != "nucleolus", source+", which is searched")},
		{Flags: "sizes", For: "tables, and lists of coalitions", Found: effect.UnlessRequested(method != bySearch && (method != eitherMethod || s.sizes != 0), source+", which is searched")},
		{Flags: "blocks together separate edges", For: "tables and lists of coalitions", Found: search},
		{Flags: "values verify", For: "any number of blocks", Found: effect.UnlessRequested(s.constraints.Blocks == listed.Counts{}, "--blocks")},
		{Flags: "values", For: "constraints on sizes alone", Found: effect.UnlessRequested(!s.constraints.List(), "constraints on blocks")},
		{Flags: "minimize", For: "tables and lists of coalitions", Found: search},
		{Flags: "minimize", For: "one structure", Found: effect.UnlessRequested(s.values == "", "--values, which has the largest values of all coalitions")},
		{Flags: "values checkpoint resume verify variant pin frozen tuned record-untuned", For: "tables of all coalitions", Found: effect.UnlessRequested(!lists, "coalitions that are listed one by one")},
		{Flags: "edges", For: "tables and lists of coalitions", Found: effect.UnlessRequested(!graph, source+", a graph, which has --connected")},
		{Flags: "connected", For: "graphs", Found: effect.UnlessRequested(graph, source)},
		{Flags: "variant pin frozen tuned record-untuned", For: "algorithms with kernels", Found: search},
		{Flags: "resume", For: "--checkpoint FILE", Found: effect.UnlessRequested(s.options.Checkpoint != "", "no --checkpoint")},
		run.ThreadsRule(s.Device),
	}
}

// readTable reads FILE, which may be standard input, within the free memory.
func readTable(a *run.App, path string, o csg.ReadOptions) (*problem.Instance, error) {
	o.Limit = a.Free().Bytes
	if path == run.Dash {
		return csg.ReadFrom(a.In, -1, run.StandardInput, o)
	}
	return csg.Read(path, o)
}
