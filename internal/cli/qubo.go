package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/programs"
	"coalesce/internal/cli/whole"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// readFlags say how to read a binary quadratic program.
type readFlags struct {
	format  string
	form    string
	sense   string
	problem int
	header  string
	index   string

	tables [2]csv.Answer // to header and index
}

func (s *readFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.format, "format", "", "read FILE as "+strings.Join(qubo.Formats(), ", ")+" (default: told by name and content)")
	f.StringVar(&s.form, "form", "", "its coefficients are those of a qubo, ising or maxcut (default: the format's)")
	f.StringVar(&s.sense, "sense", "", "maximize or minimize (default: the format's)")
	f.IntVar(&s.problem, "problem", 0, "which problem of a file of several, from 1")
	f.StringVar(&s.header, "header", "", "CSV: yes or no, the first line is names (default: told by the file, which is an error where it leaves it open)")
	f.StringVar(&s.index, "index", "", "CSV: yes or no, the first column is names")
}

func (s *readFlags) check() error {
	switch qubo.Form(s.form) {
	case "", qubo.QUBO, qubo.Ising, qubo.MaxCut:
	default:
		return usagef("--form is %q, expected qubo, ising or maxcut", s.form)
	}
	switch qubo.Sense(s.sense) {
	case "", qubo.Maximize, qubo.Minimize:
	default:
		return usagef("--sense is %q, expected maximize or minimize", s.sense)
	}
	if s.problem < 0 {
		return usagef("--problem is %d, expected 1 or more", s.problem)
	}
	for k, flag := range []struct{ name, text string }{{"header", s.header}, {"index", s.index}} {
		answer, err := csv.ParseAnswer(flag.text)
		if err != nil {
			return usagef("--%s: %v", flag.name, err)
		}
		s.tables[k] = answer
	}
	if s.format != "" && qubo.About(s.format) == "" {
		return usagef("--format is %q, expected one of %s", s.format, strings.Join(qubo.Formats(), ", "))
	}
	return nil
}

func (s *readFlags) options(free int64) qubo.ReadOptions {
	return qubo.ReadOptions{Format: s.format, Form: qubo.Form(s.form), Sense: qubo.Sense(s.sense), Problem: s.problem, Header: s.tables[0], Index: s.tables[1], Memory: free}
}

// quboFlags are the flags of `solve qubo`.
type quboFlags struct {
	solveFlags
	readFlags
	start string
	fix   []string
	plot  string

	options qubo.Options
}

func (a *app) solveQUBOCommand() *cobra.Command {
	s := quboFlags{solveFlags: solveFlags{several: true, families: qubo.Subjects()}}
	cmd := &cobra.Command{
		Use:   "qubo FILE...",
		Short: "Find the best solution of a binary quadratic program, an Ising model or a maximum cut",
		Long: `Binary quadratic programming: choose x in {0,1}^n so that xᵀQx is largest or
smallest; or the spins of an Ising model; or the sides of a graph's nodes so that
the edges between them weigh the most. The search ends at the time limit, at the
target, or where its best is proven; ctrl-C ends it too, with the best so far.

FILE is plain, compressed with gzip, xz or zstd, or the one file of a zip archive;
- is standard input. The formats:

` + programs.Formats() + `

Name and content decide the format. If they leave open whether a file holds a QUBO, a
graph to be cut or an Ising model, or its sense, give --format, --form or --sense: a
file of n, m and lines of three numbers is an error without. The answer shows how the
file was read. With several files the command solves each with limits of its own, and
--json prints a line for each.

--device cuda:all, or cuda:0,1 and so on, searches on several GPUs, which exchange
the best that they find.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f := cmd.Flags().Lookup("problem"); f.Changed && s.problem == 0 { // which stands for the default when it is not given
				return usagef("--problem is 0, expected 1 or more")
			}
			return a.solveQUBO(cmd.Context(), &s, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	s.readFlags.register(f)
	s.options.Seed = 1
	options := s.options.Fields()
	addOptions(f, options)
	addFormerName(f, "engine", options.Named("algorithm"))
	f.StringVar(&s.start, "start", "", "begin with the solution in this file: a digit a variable, or an earlier result's JSON")
	f.StringSliceVar(&s.fix, "fix", nil, "fix variables: 0=1,7=0 makes the first 1 and the eighth 0; north=0 names one where variables have names")
	f.StringVar(&s.plot, "plot", "", "draw the best value over time into this SVG file (one FILE only)")
	s.solveFlags.registerChoice(f)
	return cmd
}

func (s *quboFlags) validate(a *app, args []string) error {
	if len(args) == 0 {
		return usagef("expected a FILE")
	}
	if err := cmp.Or(s.readFlags.check(), s.solveFlags.check(a)); err != nil {
		return err
	}
	if err := s.effective(s.effects()); err != nil {
		return err
	}
	if given, now := s.options.Memory, a.free; given > 0 {
		a.free = func() memory.Free {
			if free := now(); free.Bytes > 0 && free.Bytes < given {
				return free
			}
			return memory.Free{Bytes: given, By: "--memory"}
		}
	}
	s.options.Threads, s.options.Memory = s.Threads, a.free().Bytes
	if err := s.options.Starts.Check(s.options.Algorithm); err != nil {
		return usagef("%v", err)
	}
	switch {
	case s.plot != "" && len(args) > 1:
		return usagef("--plot is for one FILE, found %d", len(args))
	case s.plot != "":
		return whole.Ready(s.plot)
	}
	return nil
}

// maxStart is the largest file of a solution to begin with, in bytes: an earlier
// result of the largest instance.
const maxStart = 1 << 28

// instance reads a file, and sets the variables of --fix and the solution of --start.
func (s *quboFlags) instance(a *app, path string) (*qubo.Instance, error) {
	inst, err := a.readQUBO(path, s.readFlags.options(a.free().Bytes))
	if err != nil {
		return nil, err
	}
	fixed := map[int]string{}
	for _, pair := range s.fix {
		if inst.N == 0 {
			return nil, fmt.Errorf("--fix: found %q, and no variables to fix", pair)
		}
		at := strings.LastIndexByte(pair, '=')
		name, value := pair[:max(at, 0)], pair[at+1:]
		i, ok := inst.Variable(name)
		if !ok || value != "0" && value != "1" {
			return nil, fmt.Errorf("--fix: found %q, expected a variable %s, = and 0 or 1", pair, variablesOf(inst))
		}
		if before, ok := fixed[i]; ok && before != value {
			return nil, fmt.Errorf("--fix: found %q after %s=%s, expected one value for a variable", pair, name, before)
		}
		fixed[i] = value
		inst.Fix(i, value == "1")
	}
	if s.start == "" {
		return inst, nil
	}
	text, err := a.readWhole(s.start, maxStart)
	if err != nil {
		return nil, fmt.Errorf("read the solution to begin with: %w", err)
	}
	return inst, inst.Begin(text, s.start)
}

// variablesOf says, in an error, which names variables have: some of them, and whether their numbers are taken too.
func variablesOf(inst *qubo.Instance) string {
	numbers := fmt.Sprintf("from 0 to %d", inst.N-1)
	if inst.Names == nil {
		return numbers
	}
	some := inst.Names[:min(len(inst.Names), 5)]
	list := "of " + strings.Join(some, ", ")
	if len(some) < len(inst.Names) {
		list += ", …"
	}
	if _, ok := inst.Variable("0"); ok {
		list += ", or a number " + numbers
	}
	return list
}

func (a *app) solveQUBO(ctx context.Context, s *quboFlags, paths []string) error {
	if err := s.validate(a, paths); err != nil {
		return err
	}
	return a.solving(ctx, &s.solveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		return solve.With(qubo.Open, s.options, func(session *qubo.Session) error {
			return a.each(ctx, s.json, paths, func(path string) error { return a.solveOneQUBO(ctx, s, session, path) })
		})
	})
}

// solveOneQUBO reads, solves and prints.
func (a *app) solveOneQUBO(ctx context.Context, s *quboFlags, session *qubo.Session, file string) error {
	path := called(file)
	p := a.progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", path)
	inst, err := await(ctx, func() (*qubo.Instance, error) { return s.instance(a, file) })
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	if need := inst.Memory(); need > 1<<30 {
		p.PrintLine("%s: solving takes about %s besides the instance", path, device.Size(need))
	}
	if session.Ranks, err = a.together(session.Devices, false, qubo.Digest(inst)); err != nil {
		return err
	}
	session.Log = func(line string) { p.Set("%s: %s", path, line) }
	session.Progress = standing(p, fmt.Sprintf("%s: %s", path, inst.Sense), "flips")
	r, failed := bestOn(ctx, a, session.Devices, func() (*qubo.Result, error) { return session.Solve(ctx, inst) })
	if errors.Is(failed, qubo.ErrCheck) {
		return checkError{fmt.Errorf("%s: %w", path, failed)}
	}
	if failed != nil {
		failed = fmt.Errorf("%s: %w", path, failed)
	}
	if r == nil {
		return failed
	}
	r.Seconds.Read = read
	verified, failed := s.verified(a, p, ctx.Err() != nil, failed, func() (string, error) { return verifyQUBO(ctx, inst, r, s.options) })
	if refuted(failed) {
		return failed
	}
	if s.json && verified != "" {
		r.Notes = append(slices.Clip(r.Notes), verified)
	}
	p.Close()
	failed = a.answered(ctx, failed)
	if s.plot != "" { // after ctrl-C too; the answer is printed even if the plot cannot be written
		failed = errors.Join(failed, a.answered(ctx, programs.Plot(ctx, s.plot, r)))
	}
	if s.json {
		return errors.Join(failed, printJSON(a.out, r))
	}
	return errors.Join(failed, programs.Print(a.out, r, inst, session.Devices[0].Facts(), verified))
}

// verifyQUBO searches with the reference, with the same limits. A worse value of the reference proves
// nothing; a better value than one that is said to be proven is an error.
func verifyQUBO(ctx context.Context, inst *qubo.Instance, r *qubo.Result, o qubo.Options) (string, error) {
	o.Algorithm, o.Variant, o.Rules, o.Devices, o.Unreduced, o.Solutions = "reference", "", qubo.Rules{}, o.Devices[:1], true, 0
	ref, err := qubo.Solve(ctx, inst, o)
	if err != nil {
		return "", unverified(err)
	}
	better := ref.Value.Float() > r.Value.Float()
	if inst.Sense == qubo.Minimize {
		better = ref.Value.Float() < r.Value.Float()
	}
	if better && r.Proven {
		return "", checkError{fmt.Errorf("the value %s is said to be optimal, the reference finds %s", r.Value, ref.Value)}
	}
	return fmt.Sprintf("the sequential reference finds %s", ref.Value), nil
}
