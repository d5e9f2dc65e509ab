// Package model has the command about models with constraints: solve, what verify knows of them, and what it prints.
package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/model"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// solveFlags are the flags of `solve model`.
type solveFlags struct {
	run.SolveFlags
	// begin with the values in this file: pairs such as north=1 between blanks, or an earlier result's JSON
	start string `option:"start"`

	options model.Options
}

// SolveCommand is `solve model`.
func SolveCommand(a *run.App) *cobra.Command {
	s := solveFlags{SolveFlags: run.SolveFlags{Families: slices.Concat(model.Subjects(), qubo.Subjects())}}
	cmd := &cobra.Command{
		Use:   "model FILE...",
		Short: "Find the best solution of a model of binary variables with constraints",
		Long: `Models of binary variables, spins and bounded integers: an objective of products of
any degree, and linear constraints. One-hot groups and cardinalities are kept by the
moves of the search, which finds weights for the other constraints itself; a feasible
answer is never lost for one that is not. Small models are proven. The search ends at
the time limit, at the target, or where its best is proven; ctrl-C ends it too, with
the best so far.

FILE is plain or compressed; - is standard input. The formats:

` + describeFormats() + `

Name and content decide the format. A model of degree two without constraints is solved
as by "solve qubo", on all devices; one of degree three or four without constraints is
searched on GPUs too; other models are searched on the host.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Usagef("expected a FILE")
			}
			return solveFiles(cmd.Context(), a, &s, args)
		},
	}
	cmd.Flags().SortFlags = false
	s.options.Seed = 1
	run.AddOptions(cmd.Flags(), s.options.Fields())
	run.AddOptions(cmd.Flags(), s.Fields())
	s.Register(cmd.Flags())
	return cmd
}

func describeFormats() string {
	var b strings.Builder
	for _, name := range model.Formats() {
		fmt.Fprintf(&b, "  %-8s%s\n", name, ui.Wrap(model.DescribeFormat(name), 68, "\n"+strings.Repeat(" ", 10)))
	}
	return strings.TrimRight(b.String(), "\n")
}

func solveFiles(ctx context.Context, a *run.App, s *solveFlags, paths []string) error {
	if err := s.Check(a, len(paths)); err != nil {
		return err
	}
	if err := s.CheckEffects([]effect.Rule{run.ThreadsRule(s.Device)}); err != nil {
		return err
	}
	s.options.Threads = s.Threads
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		return a.SolveEach(ctx, s.JSON, paths, func(path string) error { return solveOne(ctx, a, s, path) })
	})
}

// solveOne reads, solves and prints.
func solveOne(ctx context.Context, a *run.App, s *solveFlags, path string) error {
	p := a.Progress()
	defer p.Close()
	name, began, o := run.NameOf(path), time.Now(), s.options
	run.ShowReading(p, path)
	m, err := run.Await(ctx, func() (*problem.Model, error) { return read(a, path) })
	if err != nil {
		return a.ReadError(err)
	}
	if s.start != "" {
		text, err := a.ReadStart(s.start, "values")
		if err != nil {
			return err
		}
		if o.Start, err = m.ParseStart(text, run.NameOf(s.start)); err != nil {
			return err
		}
	}
	read := time.Since(began).Seconds()
	if p.SetLimit(o.TimeLimit); o.TimeLimit == 0 && o.Work == 0 {
		p.SetLimit(model.DefaultLimit)
	}
	o.Log = func(line string) { p.Set("%s: %s", name, line) }
	o.Progress = run.ShowIncumbent(p, fmt.Sprintf("%s: %s", name, m.Sense), "moves")
	r, failed := model.Solve(ctx, m, o)
	if r == nil {
		return fmt.Errorf("%s: %w", name, failed)
	}
	r.Seconds.Read = read
	verified, failed := s.CompareWithReference(a, p, ctx.Err() != nil, failed, func() (string, error) { return compareWithReference(ctx, m, r, o.Fix) })
	if run.IsRefuted(failed) {
		return failed
	}
	p.Close()
	if failed != nil {
		failed = run.SolverError(fmt.Errorf("%s: %w", name, failed), problem.ErrCheck)
	}
	failed = errors.Join(a.AnswerError(ctx, failed), s.Draw(ctx, a, func() (*picture.Drawing, error) { return Picture(m, r) }))
	if s.JSON {
		return errors.Join(failed, run.PrintJSON(a.Out, r))
	}
	return errors.Join(failed, writeResult(a.Out, r, m, verified))
}

// compareWithReference visits all solutions of a small model.
func compareWithReference(ctx context.Context, m *problem.Model, r *model.Result, fix []string) (string, error) {
	m, err := m.Fixing(fix)
	if err != nil {
		return "", err
	}
	best, err := run.Await(ctx, func() (*big.Rat, error) { return model.Reference(m) })
	if err != nil {
		return "", run.UnverifiedError(err)
	}
	if best == nil {
		return "", run.AsCheck(errors.New("the reference finds no feasible solution"))
	}
	found := problem.RatText(best)
	value, ok := r.Value.Rat()
	bound, bounded := r.Bound.Rat()
	if ok && r.Proven && bounded && value.Cmp(best) != 0 && bound.Cmp(best) != 0 && value.Cmp(bound) == 0 {
		return "", run.AsCheck(fmt.Errorf("the value %s is said to be optimal, the reference finds %s", r.Value, found))
	}
	return "the best of all solutions is " + found, nil
}

// read reads FILE, which may be standard input, within the free memory.
func read(a *run.App, path string) (*problem.Model, error) {
	if path == run.Dash {
		return model.ReadFrom(a.In, run.StandardInput, a.Free().Bytes)
	}
	return model.Read(path, a.Free().Bytes)
}

// writeResult writes an answer for people.
func writeResult(out io.Writer, r *model.Result, m *problem.Model, verified string) error {
	const shown = 200
	var t ui.Table
	switch {
	case r.Feasible:
		t.Row("value", fmt.Sprintf("%s (%sd)", r.Value, r.Sense))
	case r.Proven:
		t.Row("value", "none: no solution keeps the constraints")
	default:
		t.Row("value", "none: no feasible solution was found")
	}
	if len(r.Solution) > 0 {
		t.Row("solution", byName(r, m, shown))
	}
	broken := 0
	for _, c := range r.Constraints {
		if !c.Holds {
			broken++
		}
	}
	switch {
	case len(r.Constraints) == 0:
	case broken == 0:
		t.Row("constraints", fmt.Sprintf("%s hold", ui.Count(len(r.Constraints), "constraint")))
	default:
		t.Row("constraints", fmt.Sprintf("%d of %d are broken", broken, len(r.Constraints)))
	}
	const most = 12
	for k, c := range r.Constraints {
		if k == most {
			t.Row("", "… (--json prints all)")
			break
		}
		t.Row("  "+c.Name, describeConstraint(c))
	}
	t.Row("instance", fmt.Sprintf("%s (%s, read as %s)", r.Instance, m, r.Format))
	switch {
	case r.Proven:
		t.Row("proven", r.Certificate.Reason)
	case r.Bound != "":
		t.Row("bound", fmt.Sprintf("%s: %s", r.Bound, r.Certificate.Reason))
	}
	t.Row("checked", "value and sums were recomputed from the coefficients")
	if verified != "" {
		t.Row("verified", verified)
	}
	if r.Target != nil {
		t.Row("target", run.TargetText(&r.Report))
	}
	t.Row("time", fmt.Sprintf("read %s, solve %s", ui.Seconds(r.Seconds.Read), ui.Seconds(r.Seconds.Solve)))
	t.Row("work", fmt.Sprintf("%s, seed %d", ui.Count(int(r.Moves), "move"), r.Seed))
	t.Row("algorithm", r.Algorithm)
	for _, note := range r.Notes {
		t.Row("note", note)
	}
	return t.Write(out)
}

// Picture draws the variables of the constraints, those with a value other than 0 in colour, where both are few, above the best
// value over time.
func Picture(m *problem.Model, r *model.Result) (*picture.Drawing, error) {
	if len(r.History) == 0 {
		return nil, errors.New("no feasible solution was found to draw the value of")
	}
	steps := make([]picture.Step, len(r.History))
	for k, h := range r.History {
		steps[k] = picture.Step{Seconds: h.Seconds, Value: h.Value.Float()}
	}
	title := fmt.Sprintf("%s: %sd %s after %s", r.Instance, r.Sense, r.Value, ui.Seconds(steps[len(steps)-1].Seconds))
	progress := picture.Progress(title, steps, r.Seconds.Solve, ui.Seconds)
	const few = 40
	if len(m.Constraints) == 0 || max(len(m.Constraints), len(m.Variables)) > few {
		return progress, nil
	}
	rows, columns := make([]string, len(m.Variables)), make([]string, len(m.Constraints))
	var cells []picture.Cell
	for j := range m.Constraints {
		columns[j] = m.Label(j)
		for _, x := range m.Constraints[j].Terms {
			cells = append(cells, picture.Cell{Row: int(x.Variable), Column: j, Chosen: r.Solution[x.Variable] != 0})
		}
	}
	for i, v := range m.Variables {
		rows[i] = fmt.Sprintf("%s = %d", v.Name, r.Solution[i])
	}
	grid, err := picture.Grid(fmt.Sprintf("%s: variables in their constraints, worth %s", r.Instance, r.Value), rows, columns, cells)
	if err != nil {
		return nil, err
	}
	return picture.Stack(grid, progress), nil
}

// describeConstraint is a constraint's sum between its bounds.
func describeConstraint(c model.Constraint) string {
	text := string(c.Value)
	switch {
	case c.Low == c.High:
		text += ", to be " + string(c.Low)
	case c.Low == "":
		text += ", at most " + string(c.High)
	case c.High == "":
		text += ", at least " + string(c.Low)
	default:
		text += fmt.Sprintf(", %s to %s", c.Low, c.High)
	}
	if !c.Holds {
		text += ": broken"
	}
	return text
}

// byName is a solution as names and values, of at most so many characters; zeros are left out.
func byName(r *model.Result, m *problem.Model, most int) string {
	var b strings.Builder
	for i, value := range r.Solution {
		if value == 0 {
			continue
		}
		pair := fmt.Sprintf("%s=%d", m.Variables[i].Name, value)
		if b.Len()+len(pair) > most {
			return b.String() + " …"
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(pair)
	}
	if b.Len() < most/2 {
		b.WriteString(" (all others are 0)")
	}
	return strings.TrimSpace(b.String())
}

// Verdict checks a result against the model in FILE.
func Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	m, err := read(a, path)
	if err != nil {
		return nil, err
	}
	return model.Verify(m, result)
}
