package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/facets"
	"coalesce/internal/cli/structures"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
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
	keep         csg.Checkpoint
	sizes        string
}

func (a *app) solveCSGCommand() *cobra.Command {
	s := csgFlags{solveFlags: solveFlags{several: true}}
	cmd := &cobra.Command{
		Use:   "csg FILE... | --distribution NAME --agents N [--seed S]",
		Short: "Find the partition of agents into coalitions that is worth the most",
		Long: `Coalition structure generation: given a value for every coalition of n agents,
find the partition of the agents whose blocks' values add up to the most.

FILE is a characteristic function, plain or compressed with gzip, xz or zstd; -
is standard input:

  .npy   2^n values of any integer or floating type, by coalition number:
         agent i is bit i-1, so that entry 5 = 101b is the coalition {1, 3}
  CSV    rows of a coalition and its value: "1 3",12.5 (agents by number or name)
  JSON   {"1,3": 12.5} or {"agents": ["ann", "bob"], "values": {"ann bob": 7}}

A CSV or JSON file must have every coalition but the empty one, unless --missing
gives the others a value. --missing=-inf forbids them. --names says what agents
1, 2, 3 and so on are called: all that a table may name, in the bits' order. Of
several files each is solved, and --json prints a line for each.

--device cuda:all, or cuda:0,1 and so on, solves on several GPUs together: each
holds the table of all coalitions without the last agent, and makes its share.

Instead of a file, --distribution draws the values from a distribution of the
literature, each a function of the seed and the coalition alone:

  ` + ui.Wrap(strings.Join(csg.Distributions(), ", "), 76, "\n  "),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"seed", "type"} {
				if len(args) > 0 && cmd.Flags().Changed(name) {
					return usagef("--%s is for --distribution: a file holds its values", name)
				}
			}
			return a.solveCSG(cmd.Context(), &s, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&s.missing, "missing", "", "value of coalitions that a CSV or JSON file lacks: a number or -inf (default: an error)")
	f.StringSliceVar(&s.names, "names", nil, "the agents' names in order, such as ann,bob,cleo (default: the file's own)")
	f.StringVar(&s.distribution, "distribution", "", "draw the instance instead of reading it")
	f.IntVar(&s.agents, "agents", 0, "agents of a drawn instance")
	f.Uint64Var(&s.seed, "seed", 1, "seed of a drawn instance")
	f.StringVar(&s.value, "type", string(csg.Float64), "type of a drawn instance's values: int32, int64, float32 or float64")
	f.StringVar(&s.values, "values", "", "also write the value of every coalition's best partition to this .npy file, for coalesce query csg (3 times the work, twice the memory)")
	f.StringVar(&s.sizes, "sizes", "", "how many members a block may have, such as 1-3,5 or 2- (default: any number)")
	f.StringVar(&s.keep.Path, "checkpoint", "", "append finished levels of the tiles to this file, to go on with after an interruption")
	f.BoolVar(&s.keep.Resume, "resume", false, "go on with the file of --checkpoint, on any device")
	s.register(f)
	s.registerAlgorithm(f, "method", []string{string(csg.ByPrices), string(csg.Apart), string(csg.DP), string(csg.IDP)}, "prices, or which splittings are evaluated: dp and idp are the published programs")
	return cmd
}

func (s *csgFlags) check(a *app, args []string) error {
	switch {
	case len(args) == 0 && s.distribution == "":
		return usagef("expected a FILE, or --distribution NAME --agents N")
	case len(args) > 0 && s.distribution != "":
		return usagef("expected a FILE or --distribution, found both")
	case len(args) > 0 && s.agents != 0:
		return usagef("--agents is for --distribution: a file says how many agents it has")
	case s.distribution != "" && (s.agents < 1 || s.agents > csg.MaxAgents):
		return usagef("--agents is %d, expected 1 to %d", s.agents, csg.MaxAgents)
	case s.distribution != "" && !slices.Contains(csg.Distributions(), s.distribution):
		return usagef("distribution %q: expected one of %s", s.distribution, strings.Join(csg.Distributions(), ", "))
	case csg.Value(s.value).Size() == 0:
		return usagef("--type is %q, expected int32, int64, float32 or float64", s.value)
	case s.values != "" && len(args) > 1:
		return usagef("--values is for one instance, found %d files", len(args))
	case s.values != "" && !strings.EqualFold(filepath.Ext(s.values), ".npy"):
		return usagef("--values is %s, expected a .npy file", s.values)
	case s.keep.Resume && s.keep.Path == "":
		return usagef("--resume is for --checkpoint FILE")
	case s.sizes != "" && s.values != "":
		return usagef("--values knows no --sizes")
	case s.keep.Path != "" && (len(args) > 1 || s.values != ""):
		return usagef("--checkpoint is for one instance, without --values")
	case s.keep.Path != "" && s.algorithm != "" && s.algorithm != string(csg.Apart):
		return usagef("--checkpoint is kept by --algorithm %s alone", csg.Apart)
	case s.distribution != "" && s.missing != "":
		return usagef("--missing is for files: a distribution lacks no coalition")
	case s.distribution != "" && s.names != nil:
		return usagef("--names is for files: a distribution's agents are numbers")
	}
	if s.missing != "" {
		if err := csg.CheckMissing(s.missing); err != nil {
			return usagef("--missing: %w", err)
		}
	}
	if _, err := csg.ParseSizes(cmp.Or(s.sizes, "1-")); err != nil {
		return usagef("--sizes: %w", err)
	}
	return s.solveFlags.check(a)
}

func (a *app) solveCSG(ctx context.Context, s *csgFlags, args []string) error {
	if err := s.check(a, args); err != nil {
		return err
	}
	if a.team != nil && s.values != "" {
		return usagef("--values is for one process, found %d ranks", a.team.Size())
	}
	if err := a.handOver(s.device); err != nil {
		return err
	}
	db, err := a.tuningData(ctx, &s.solveFlags)
	if err != nil {
		return err
	}
	if s.distribution != "" {
		args = []string{""} // one instance, of no file
	}
	return a.withDevices(s.device, s.threads, func(devices []device.Device) error {
		o := s.settings(db)
		o.Devices = devices
		return solve.With(csg.Open, o, func(session *csg.Session) error {
			return a.each(ctx, s.json, args, func(path string) error { return a.solveOneCSG(ctx, s, session, path) })
		})
	})
}

// solveOneCSG reads or draws, solves and prints.
func (a *app) solveOneCSG(ctx context.Context, s *csgFlags, session *csg.Session, path string) error {
	p := a.progress()
	defer p.Close()
	facts := session.Devices[0].Facts()
	there := structures.DrawsThere(&session.Options, s.verify || s.values != "" || s.sizes != "")
	if s.distribution != "" {
		value := csg.Value(s.value)
		free := a.free()
		if there {
			free = 0 // of no interest
		}
		takes := func(n int) error { return cmp.Or(fits(n, value, free), csg.Takes(facts, n, value)) }
		if err := structures.Largest(s.agents, takes); err != nil {
			return err
		}
	}
	start := time.Now()
	inst, err := await(ctx, func() (*csg.Instance, error) {
		if s.distribution != "" {
			p.Set("drawing %d agents from %s", s.agents, s.distribution)
			return structures.Draw(s.distribution, s.agents, s.seed, csg.Value(s.value), there)
		}
		p.Set("reading %s", called(path))
		return a.readCSG(path, csg.ReadOptions{Missing: s.missing, Names: s.names, Limit: a.free()})
	})
	if err != nil {
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
	p.Set("solving %d agents on %s", inst.N, session.Where())
	session.Log = func(line string) { p.Set("solving %d agents: %s", inst.N, line) }
	estimate := structures.Estimate()
	session.Progress = func(now solve.Incumbent) { p.Set("solving %d agents: %s", inst.N, estimate(now)) }
	r, err := awaitBest(ctx, func() (*csg.Result, error) { return s.solve(ctx, inst, session) })
	if r != nil {
		r.Seconds.Read = read
	}
	if r != nil && (r.Stopped || errors.Is(err, device.ErrLost)) { // the best so far, and how the solve ended
		p.Close()
		if s.json {
			return errors.Join(err, printJSON(a.out, r))
		}
		return errors.Join(err, a.printCSG(r, facts, ""))
	}
	if errors.Is(err, solve.ErrInfeasible) && s.json {
		p.Close()
		return errors.Join(err, printJSON(a.out, r))
	}
	if err != nil {
		return solverError(err)
	}
	verified := ""
	if s.verify {
		p.Set("verifying with the reference")
		if verified, err = verifyCSG(ctx, inst, r); err != nil {
			return err
		}
	}
	p.Close()
	if s.json {
		return printJSON(a.out, r)
	}
	return a.printCSG(r, facts, verified)
}

// solve solves and, where asked to, writes the values of all coalitions' best partitions.
func (s *csgFlags) solve(ctx context.Context, inst *csg.Instance, session *csg.Session) (*csg.Result, error) {
	if s.keep.Path != "" {
		return session.SolveKept(ctx, inst, &s.keep)
	}
	if s.values == "" {
		return session.Solve(ctx, inst)
	}
	r, cover, err := csg.SolveCover(ctx, inst, session.Options)
	if err != nil {
		return r, err
	}
	return r, whole.Write(ctx, s.values, func(w io.Writer) error { return csg.WriteNPY(w, cover) })
}

// freeMemory is the memory in bytes that this machine has for an instance, 0
// where the system does not tell.
func freeMemory() int64 {
	d := host.Open(1)
	defer d.Close()
	return d.Facts().Free
}

// fits holds the values of n agents against the free memory: Go cannot refuse
// to allocate, it ends the program.
func fits(n int, value csg.Value, free int64) error {
	if need := csg.Footprint(n, value); free > 0 && need > free {
		return fmt.Errorf("%s take %s as %s, and this machine has %s of free memory", ui.Count(n, "agent"), ui.GiB(need), value, ui.GiB(free))
	}
	return nil
}

// solverError tells an answer that was found and refuted from one that was
// not found.
func solverError(err error) error {
	if errors.Is(err, csg.ErrCheck) {
		return checkError{err}
	}
	return err
}

// verifyCSG solves with the reference and compares totals, which may differ by
// what both are proven to be within.
func verifyCSG(ctx context.Context, inst *csg.Instance, r *csg.Result) (string, error) {
	start := time.Now()
	ref, err := await(ctx, func() (*csg.Result, error) { return csg.Reference(inst, csg.DP) })
	if err != nil {
		return "", fmt.Errorf("verify: %w", err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	if gap := math.Abs(r.Value.Float() - ref.Value.Float()); r.Value != ref.Value && !(gap <= max(*r.Gap, *ref.Gap)) {
		return "", checkError{fmt.Errorf("the answer is worth %s, the reference finds %s", r.Value, ref.Value)}
	}
	same := "too"
	if r.Value != ref.Value {
		same = "(rounding leaves both open)"
	}
	return fmt.Sprintf("the sequential reference finds %s %s (its solve took %s, %.3g times this one's)",
		ref.Value, same, ui.Seconds(ref.Seconds.Solve), ref.Seconds.Solve/r.Seconds.Solve), nil
}

// printCSG writes an answer for people.
func (a *app) printCSG(r *csg.Result, facts device.Facts, verified string) error {
	var blocks ui.Table
	blocks.Right(0)
	blocks.Row("value", "block")
	for _, b := range r.Certificate.Blocks {
		blocks.Row(b.Value, "{"+strings.Join(b.Agents, ", ")+"}")
	}
	blocks.Row(r.Value.String(), fmt.Sprintf("total, %s of %s", ui.Count(len(r.Certificate.Blocks), "block"), ui.Count(r.Size["agents"], "agent")))
	if err := blocks.Write(a.out); err != nil {
		return err
	}
	fmt.Fprintln(a.out)

	told := facets.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s)", r.Instance, ui.Count(r.Size["agents"], "agent"), r.Type),
		Checked:  fmt.Sprintf("the blocks are a partition and their values add up to %s", r.Certificate.Sum),
		Verified: verified, Splittings: r.Splittings, Name: facts.Name,
	}
	return told.Write(a.out)
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
		Long: `Query reads the values of all coalitions' best partitions, which "coalesce solve csg
INSTANCE --values VALUES.npy" has written, and answers from them: the best structure of
the agents of --coalition, by number or name, or with --best the K best, each once, the
best first. Structures with a forbidden block are left out. Flags that say how INSTANCE
is read are those of solve, and have to be given again.

The exit code is 3 where VALUES.npy is not the table of INSTANCE, as far as the answer
shows.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.queryCSG(cmd.Context(), &s, args) },
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
		return a.readCSG(args[0], csg.ReadOptions{Missing: s.csg.missing, Names: s.csg.names, Limit: a.free()})
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
		return a.readCSG(args[1], csg.ReadOptions{Names: inst.Names, Sums: true, Limit: a.free()})
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
