// Package qubo has the commands about binary quadratic programs: solve, convert and generate, what verify knows of them, and what
// they print.
package qubo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// solveFlags are the flags of `solve qubo`.
type solveFlags struct {
	run.SolveFlags
	reading qubo.ReadOptions
	// begin with the solution in this file: a digit a variable, or an earlier result's JSON
	start string `option:"start"`

	options qubo.Options
}

// SolveCommand is `solve qubo`.
func SolveCommand(a *run.App) *cobra.Command {
	s := solveFlags{SolveFlags: run.SolveFlags{Several: true, Families: qubo.Subjects()}}
	cmd := &cobra.Command{
		Use:   "qubo FILE...",
		Short: "Find the best solution of a binary quadratic program, an Ising model or a maximum cut",
		Long: `Binary quadratic programming: choose x in {0,1}^n so that xᵀQx is largest or
smallest; or the spins of an Ising model; or the sides of a graph's nodes so that
the edges between them weigh the most. The search ends at the time limit, at the
target, or where its best is proven; ctrl-C ends it too, with the best so far.

FILE is plain, compressed with gzip, xz or zstd, or the one file of a zip archive;
- is standard input. The formats:

` + describeFormats() + `

Name and content decide the format. If they leave open whether a file holds a QUBO, a
graph to be cut or an Ising model, or its sense, give --format, --form or --sense: a
file of n, m and lines of three numbers is an error without. The answer shows how the
file was read. With several files the command solves each with limits of its own, and
--json prints a line for each.

--device cuda:all, or cuda:0,1 and so on, searches on several GPUs, which exchange
the best that they find.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return solveFiles(cmd.Context(), a, &s, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	run.AddOptions(f, s.reading.Fields())
	s.options.Seed = 1
	options := s.options.Fields()
	run.AddOptions(f, options)
	run.AddFormerName(f, "engine", options.Find("algorithm"))
	run.AddOptions(f, s.Fields())
	s.SolveFlags.Register(f)
	return cmd
}

func (s *solveFlags) validate(a *run.App, args []string) error {
	if len(args) == 0 {
		return run.Usagef("expected a FILE")
	}
	if err := s.SolveFlags.Check(a, len(args)); err != nil {
		return err
	}
	if err := s.CheckEffects(s.effects()); err != nil {
		return err
	}
	if given, now := s.options.Memory, a.Free; given > 0 {
		a.Free = func() memory.Free {
			if free := now(); free.Bytes > 0 && free.Bytes < given {
				return free
			}
			return memory.Free{Bytes: given, By: "--memory"}
		}
	}
	s.options.Threads, s.options.Memory = s.Threads, a.Free().Bytes
	if err := s.options.Starts.Check(s.options.Algorithm); err != nil {
		return run.Usagef("%v", err)
	}
	return nil
}

// instance reads a file, fixes the variables of --fix, and reads the solution of --start, which has no variables where there is none.
func (s *solveFlags) instance(a *run.App, path string) (*problem.Instance, problem.Bits, error) {
	inst, err := read(a, path, s.reading)
	if err != nil {
		return nil, problem.Bits{}, err
	}
	if inst, err = inst.Fixing(s.options.Fix); err != nil {
		return nil, problem.Bits{}, fmt.Errorf("--fix: %w", err)
	}
	if s.start == "" {
		return inst, problem.Bits{}, nil
	}
	text, err := a.ReadStart(s.start, "solution")
	if err != nil {
		return nil, problem.Bits{}, err
	}
	start, err := qubo.ParseStart(text, s.start, inst.N)
	return inst, start, err
}

func solveFiles(ctx context.Context, a *run.App, s *solveFlags, paths []string) error {
	if err := s.validate(a, paths); err != nil {
		return err
	}
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		return solve.WithSession(qubo.Open, s.options, func(session *qubo.Session) error {
			return a.SolveEach(ctx, s.JSON, paths, func(path string) error { return solveOne(ctx, a, s, session, path) })
		})
	})
}

// solveOne reads, solves and prints.
func solveOne(ctx context.Context, a *run.App, s *solveFlags, session *qubo.Session, file string) error {
	path := run.NameOf(file)
	p := a.Progress()
	defer p.Close()
	began := time.Now()
	run.ShowReading(p, file)
	var start problem.Bits
	inst, err := run.Await(ctx, func() (inst *problem.Instance, err error) {
		inst, start, err = s.instance(a, file)
		return inst, err
	})
	if err != nil {
		return a.ReadError(err)
	}
	if s.start != "" {
		session.Start = start
	}
	read := time.Since(began).Seconds()
	if need := inst.Memory(); need > 1<<30 {
		p.PrintLine("%s: solving takes about %s besides the instance", path, device.Size(need))
	}
	if session.Ranks, err = a.JoinRanks(session.Devices, false, qubo.Digest(inst, start)); err != nil {
		return err
	}
	if p.SetLimit(s.options.TimeLimit); s.options.TimeLimit == 0 && s.options.Work == 0 {
		p.SetLimit(qubo.DefaultLimit)
	}
	session.Log = func(line string) { p.Set("%s: %s", path, line) }
	session.Progress = run.ShowIncumbent(p, fmt.Sprintf("%s: %s", path, inst.Sense), "flips")
	r, failed := run.BestOn(ctx, a, session.Devices, func() (*qubo.Result, error) { return session.Solve(ctx, inst) })
	if errors.Is(failed, problem.ErrCheck) {
		return run.AsCheck(fmt.Errorf("%s: %w", path, failed))
	}
	if failed != nil {
		failed = fmt.Errorf("%s: %w", path, failed)
	}
	if r == nil {
		return failed
	}
	r.Seconds.Read = read
	verified, failed := s.CompareWithReference(a, p, ctx.Err() != nil, failed, func() (string, error) { return compareWithReference(ctx, inst, r, s.options) })
	if run.IsRefuted(failed) {
		return failed
	}
	if s.JSON && verified != "" {
		r.Notes = append(slices.Clip(r.Notes), verified)
	}
	p.Close()
	failed = a.AnswerError(ctx, failed)
	failed = errors.Join(failed, s.Draw(ctx, a, func() (*picture.Drawing, error) { return draw(inst, r) }))
	if s.JSON {
		return errors.Join(failed, run.PrintJSON(a.Out, r))
	}
	return errors.Join(failed, writeResult(a.Out, r, inst, session.Devices[0].Facts(), verified))
}

// compareWithReference searches with the reference, with the same limits. A worse value of the reference proves
// nothing; a better value than one that is said to be proven is an error.
func compareWithReference(ctx context.Context, inst *problem.Instance, r *qubo.Result, o qubo.Options) (string, error) {
	o.Algorithm, o.Variant, o.Rules, o.Devices, o.Unreduced, o.Solutions = "reference", "", qubo.Rules{}, o.Devices[:1], true, 0
	ref, err := qubo.Solve(ctx, inst, o)
	if err != nil {
		return "", run.UnverifiedError(err)
	}
	better := ref.Value.Float() > r.Value.Float()
	if inst.Sense == problem.Minimize {
		better = ref.Value.Float() < r.Value.Float()
	}
	if better && r.Proven {
		return "", run.AsCheck(fmt.Errorf("the value %s is said to be optimal, the reference finds %s", r.Value, ref.Value))
	}
	return fmt.Sprintf("the sequential reference finds %s", ref.Value), nil
}

// effects is the table of `solve qubo`.
func (s *solveFlags) effects() []effect.Rule {
	o := &s.options
	return append(run.AlgorithmRules(o.Fields(), o.Algorithm),
		effect.Rule{Flags: "min-distance", For: "--solutions of 2 or more", Found: effect.UnlessRequested(o.Solutions > 1, fmt.Sprint(max(1, o.Solutions)))},
		run.ThreadsRule(s.Device))
}

// read reads FILE, which may be standard input, within the free memory.
func read(a *run.App, path string, o qubo.ReadOptions) (*problem.Instance, error) {
	o.Memory = a.Free().Bytes
	if path == run.Dash {
		return qubo.ReadFrom(a.In, run.StandardInput, o)
	}
	return qubo.Read(path, o)
}
