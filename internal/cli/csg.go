package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/structures"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// csgFlags are the flags of `solve csg`.
type csgFlags struct {
	solveFlags
	missing      string
	names        []string
	distribution string
	agents       int
	seed         uint64
	value        string
	values       string // file for the values of all coalitions' best partitions
	sizes        string
	search       structures.Search
	options      csg.Options
}

func (a *app) solveCSGCommand() *cobra.Command {
	s := csgFlags{solveFlags: solveFlags{several: true, families: csg.Subjects()}}
	cmd := &cobra.Command{
		Use:   "csg FILE... | --distribution NAME --agents N [--seed S]",
		Short: "Find the partition of agents into coalitions that is worth the most",
		Long:  structures.AboutSolve(),
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.solveCSG(cmd.Context(), &s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&s.missing, "missing", "", "value of coalitions that a CSV or JSON file lacks: a number or -inf (default: an error)")
	f.StringSliceVar(&s.names, "names", nil, "the agents' names in order, such as ann,bob,cleo (default: the file's own)")
	f.StringVar(&s.distribution, "distribution", "", "draw the instance instead of reading it")
	f.IntVar(&s.agents, "agents", 0, "agents of a drawn instance")
	f.Uint64Var(&s.seed, "seed", 1, "seed of a drawn instance, or of a search")
	f.StringVar(&s.value, "type", string(csg.Float64), "type of a drawn instance's values: int16, int32, int64, float32 or float64")
	f.StringVar(&s.values, "values", "", "also write the value of every coalition's best partition to this .npy file, for coalesce query csg (3 times the work, twice the memory)")
	f.StringVar(&s.sizes, "sizes", "", "how many members a block may have, such as 1-3,5 or 2- (default: any number)")
	s.search.Register(f)
	options := s.options.Fields()
	options.Named("algorithm").Extend(anytime.Algorithm, anytime.Algorithm+" searches a graph")
	addOptions(f, options)
	addFormerName(f, "method", options.Named("algorithm"))
	s.registerChoice(f)
	return cmd
}

func (s *csgFlags) check(a *app, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("expected a FILE, or --distribution NAME --agents N")
	case s.distribution != "" && !slices.Equal(args, []string{""}):
		return usagef("expected a FILE or --distribution, found both")
	case s.distribution != "" && (s.agents < 1 || s.agents > structures.MostAgents(s.options.Algorithm)):
		return usagef("--agents is %d, expected 1 to %d", s.agents, structures.MostAgents(s.options.Algorithm))
	case s.distribution != "" && structures.Searches(s.options.Algorithm, s.agents, csg.MaxAgents) && csg.Value(s.value) != csg.Float64:
		return usagef("--type is %s: a search draws values as %s", s.value, csg.Float64)
	case s.distribution != "" && !slices.Contains(csg.Distributions(), s.distribution):
		return usagef("distribution %q: expected one of %s", s.distribution, strings.Join(csg.Distributions(), ", "))
	case csg.Value(s.value).Size() == 0:
		return usagef("--type is %q, expected int16, int32, int64, float32 or float64", s.value)
	case s.values != "" && len(args) > 1:
		return usagef("--values is for one instance, found %d files", len(args))
	case s.values != "" && !strings.EqualFold(filepath.Ext(s.values), ".npy"):
		return usagef("--values is %s, expected a .npy file", s.values)
	case s.values != "" && s.options.Algorithm != "" && s.options.Algorithm != string(csg.Apart):
		return usagef("--values is for --algorithm %s, found --algorithm %s", csg.Apart, s.options.Algorithm)
	case s.options.Checkpoint != "" && (len(args) > 1 || s.values != ""):
		return usagef("--checkpoint is for one instance, without --values")
	case s.options.Checkpoint != "" && s.options.Algorithm != "" && s.options.Algorithm != string(csg.Apart):
		return usagef("--checkpoint is kept by --algorithm %s alone", csg.Apart)
	}
	for _, path := range args {
		if err := s.effective(s.effects(path, s.way(path))); err != nil {
			return err
		}
	}
	if s.missing != "" {
		if err := csg.CheckMissing(s.missing); err != nil {
			return usagef("--missing: %w", err)
		}
	}
	if _, err := csg.ParseSizes(cmp.Or(s.sizes, "1-")); err != nil {
		return usagef("--sizes: %w", err)
	}
	if err := s.search.Check(); err != nil {
		return usageError{err}
	}
	return s.solveFlags.check(a)
}

func (a *app) solveCSG(ctx context.Context, s *csgFlags, args []string) error {
	if s.distribution != "" && len(args) == 0 {
		args = []string{""} // one instance, which is drawn
	}
	if err := s.check(a, args); err != nil {
		return err
	}
	if a.team != nil && s.values != "" {
		return usagef("--values is for one process, found %d ranks", a.team.Size())
	}
	if s.values != "" {
		if err := whole.Ready(s.values); err != nil {
			return err
		}
	}
	return a.solving(ctx, &s.solveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		return solve.With(csg.Open, s.options, func(session *csg.Session) error {
			return a.each(ctx, s.json, args, func(path string) error { return a.solveOneCSG(ctx, s, session, path) })
		})
	})
}

// solveOneCSG reads or draws, solves and prints.
func (a *app) solveOneCSG(ctx context.Context, s *csgFlags, session *csg.Session, path string) error {
	p := a.progress()
	defer p.Close()
	facts := session.Weakest()
	if s.distribution != "" && structures.Searches(s.options.Algorithm, s.agents, csg.MaxAgents) {
		inst, err := anytime.Drawn(s.distribution, s.agents, s.seed)
		if err != nil {
			return usageError{err}
		}
		return a.solveGraph(ctx, s, session, path, inst, 0)
	}
	there := structures.DrawsThere(&session.Options, s.verify || s.values != "" || s.sizes != "")
	if s.distribution != "" {
		value, free := csg.Value(s.value), a.free()
		if there {
			free = memory.Free{} // no limit: this machine holds no values
		}
		takes := func(n int) error {
			return cmp.Or(structures.Fits(n, value, free), csg.Takes(facts, n, value, ranks.Members(a.team, session.Devices)))
		}
		if err := structures.Largest(s.agents, takes); err != nil {
			return err
		}
	}
	start := time.Now()
	var graph *anytime.Instance
	inst, err := await(ctx, func() (inst *csg.Instance, err error) {
		if s.distribution != "" {
			p.Set("drawing %s from %s", ui.Count(s.agents, "agent"), s.distribution)
			return structures.Draw(s.distribution, s.agents, s.seed, csg.Value(s.value), there)
		}
		p.Set("reading %s", called(path))
		if s.search.Graph(path) {
			if graph, err = a.readGraph(&s.search, path); err != nil || structures.Searches(s.options.Algorithm, graph.N, structures.TableAgents) {
				return nil, err
			}
			return structures.Table(ctx, graph, a.free())
		}
		return a.readCSG(path, csg.ReadOptions{Missing: s.missing, Names: s.names, Limit: a.free().Bytes})
	})
	if err != nil {
		return err
	}
	if inst == nil {
		p.Close()
		return a.solveGraph(ctx, s, session, path, graph, time.Since(start))
	}
	if s.options.Algorithm == anytime.Algorithm {
		return usagef("--algorithm %s is for graphs: %s is a table of all coalitions", anytime.Algorithm, inst.Source)
	}
	if err := s.effective(s.effects(path, tableWay)); err != nil { // of a graph, whose agents are known now
		return err
	}
	if s.sizes != "" {
		sizes, err := csg.ParseSizes(s.sizes)
		if err := cmp.Or(err, inst.Restrict(sizes)); err != nil {
			return err
		}
	}
	read := time.Since(start).Seconds()
	if session.Ranks, err = a.together(session.Devices, true, inst.Bytes()); err != nil {
		return err
	}
	p.Set("solving %s on %s", ui.Count(inst.N, "agent"), session.Where())
	session.Log = func(line string) { p.Set("solving %s: %s", ui.Count(inst.N, "agent"), line) }
	estimate := structures.Estimate()
	session.Progress = func(now solve.Incumbent) { p.Set("solving %s: %s", ui.Count(inst.N, "agent"), estimate(now)) }
	r, err := awaitBest(ctx, func() (*csg.Result, error) { return s.solve(ctx, inst, session) })
	if r == nil || !s.json && errors.Is(err, solve.ErrInfeasible) {
		return solverError(err)
	}
	r.Seconds.Read = read
	verified, err := s.verified(a, p, r.Stopped, err, func() (string, error) { return verifyCSG(ctx, inst, r) })
	if refuted(err) {
		return err
	}
	p.Close()
	err = a.answered(ctx, err)
	if s.json {
		return errors.Join(err, printJSON(a.out, r))
	}
	return errors.Join(err, structures.WriteResult(a.out, r, facts.Name, verified))
}

// verifyCSG solves with the reference and compares values.
func verifyCSG(ctx context.Context, inst *csg.Instance, r *csg.Result) (string, error) {
	ref, err := await(ctx, func() (*csg.Result, error) { return csg.Reference(inst, csg.DP) })
	if err != nil {
		return "", unverified(err)
	}
	said, err := structures.Compare(r, ref)
	if err != nil {
		return "", checkError{err}
	}
	return said, nil
}

// solve solves and, where asked to, writes the values of all coalitions' best partitions.
func (s *csgFlags) solve(ctx context.Context, inst *csg.Instance, session *csg.Session) (*csg.Result, error) {
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
	return r, errors.Join(err, whole.Write(ctx, s.values, func(w io.Writer) error { return csg.WriteCover(w, inst, cover) }))
}

// solverError turns the error of an answer that a check refuted into a checkError.
func solverError(err error) error {
	if errors.Is(err, csg.ErrCheck) {
		return checkError{err}
	}
	return err
}

// queryFlags are the flags of `query csg`.
type queryFlags struct {
	csg       csgFlags
	coalition string
	best      int
	json      bool
}

func (a *app) queryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask a table that a solve has kept",
		RunE:  a.group("csg"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.queryCSGCommand())
	return cmd
}

func (a *app) queryCSGCommand() *cobra.Command {
	var s queryFlags
	cmd := &cobra.Command{
		Use:   "csg INSTANCE VALUES.npy [--coalition AGENTS] [--best K]",
		Short: "The best structures of some or all agents, without solving again",
		Long:  structures.AboutQuery,
		Args:  cobra.ExactArgs(2),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.queryCSG(cmd.Context(), &s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&s.coalition, "coalition", "", `the agents asked for, such as "1 3" or "ann,bob" (default: all)`)
	f.IntVar(&s.best, "best", 1, "how many structures, the best first")
	f.StringVar(&s.csg.missing, "missing", "", "value of coalitions that a CSV or JSON file lacks")
	f.StringSliceVar(&s.csg.names, "names", nil, "the agents' names in order")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	return cmd
}

func (a *app) queryCSG(ctx context.Context, s *queryFlags, args []string) error {
	if s.best < 1 {
		return usagef("--best is %d, expected 1 or more", s.best)
	}
	p := a.progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", called(args[0]))
	inst, err := await(ctx, func() (*csg.Instance, error) {
		return a.readCSG(args[0], csg.ReadOptions{Missing: s.csg.missing, Names: s.csg.names, Limit: a.free().Bytes})
	})
	if err != nil {
		return err
	}
	coalition := inst.Grand()
	if s.coalition != "" {
		if coalition, err = csg.ParseCoalition(inst, s.coalition); err != nil {
			return usagef("--%w", err)
		}
	}
	p.Set("reading %s", called(args[1]))
	cover, err := await(ctx, func() (*csg.Instance, error) {
		return a.readCSG(args[1], csg.ReadOptions{Names: inst.Names, CoverOf: inst, Limit: a.free().Bytes})
	})
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	start = time.Now()
	p.Set("looking for the best %d", s.best)
	found, err := csg.BestFew(ctx, inst, cover, coalition, s.best)
	if err != nil {
		return solverError(fmt.Errorf("%s: %w", called(args[1]), err))
	}
	p.Close()
	answer := structures.Answer{Instance: inst, Coalition: coalition, Found: found, Read: read, Solve: time.Since(start).Seconds()}
	if s.json {
		return printJSON(a.out, answer.Object())
	}
	return answer.Write(a.out)
}
