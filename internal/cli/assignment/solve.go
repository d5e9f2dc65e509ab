// Package assignment has the commands about linear assignment: solve and generate, what verify knows of them, and what they print.
package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// solveFlags are the flags of `solve assignment`.
type solveFlags struct {
	run.SolveFlags
	drawing
	reading assignment.ReadOptions
	// begin from the duals in this JSON file, such as an earlier result's
	start   string `option:"start"`
	costs   costFlags
	options assignment.Options

	ranks collective.Ranks // the processes that share the rows of one instance; nil: this process solves alone
}

// costFlags say what the costs of points are, and which pairs are too dear.
type costFlags struct {
	// leave rows unmatched rather than match pairs dearer than this; a row and a column left alone cost as much together
	limit string `option:"limit"`
	// units that each row ships: a whole number, or a file with one for each row; the answer is a flow
	supply string `option:"supply"`
	// units that each column takes at most: a whole number, or a file with one for each column; the answer is a flow
	capacity string `option:"capacity"`
	// two files of points, for rows and columns, instead of a file of costs
	points []string `option:"points"`
	// distance of points
	metric problem.Metric `option:"metric"`
	// cut distances to integers
	floor bool `option:"floor"`
}

// SolveCommand is `solve assignment`.
func SolveCommand(a *run.App) *cobra.Command {
	s := solveFlags{SolveFlags: run.SolveFlags{Several: true, Families: assignment.Subjects()}, drawing: newDrawing(), costs: costFlags{metric: problem.Euclidean}}
	cmd := &cobra.Command{
		Use:   "assignment FILE... | --points ROWS,COLUMNS | --kind NAME --rows N [--cols M]",
		Short: "Match rows to columns so that the costs of the pairs add up to the least",
		Long: `Linear assignment: given a cost for every pair of a row and a column, match rows
to columns, each at most once and as many as there can be, so that the costs of
the matched pairs add up to the least, or with --maximize to the most.

FILE is plain or compressed with gzip, xz or zstd; - is standard input:

  .npy    a matrix of any integer or floating type, mapped where that can be
  CSV     a row a line, with or without names; a file with two readings is an
          error, and --header and --index decide
  .mtx    Matrix Market; coordinates are sparse, with explicit zeros
  .asn    DIMACS assignment problems, sparse
  orlib   the number n, then n*n costs (OR-Library)
  assignp the number n, then lines of row, column, cost, from 1 (OR-Library)
  triples lines of row, column, cost, sparse (--format triples); rows and columns
          are numbered from 0, or from 1 where none is 0, or have names

inf forbids a pair (-inf when maximising); so do 2147483647 in a .npy file of
int32 and 9223372036854775807 in one of int64. If no full matching exists, the
answer is a proof of that, and the exit code is 1. Rows and columns are numbered
from 0, as in NumPy.

--k-best K lists K matchings, the best first. --bottleneck makes the dearest pair as
cheap as possible, or with --maximize the cheapest as dear, in place of the sum.

--supply and --capacity say how many units each row ships and each column takes at
most, from 0: a whole number for all, or a file. All of the side whose sum is less is
shipped, over any pairs, and the answer is a flow: how much goes from a row to a
column. With a capacity alone each row ships one unit.

With several files the command solves each, and --json prints a line for each.
Small dense matrices that follow one another are solved in one launch.

--device cuda:all, or cuda:0,1 and so on, spreads the rows of the matrix over
several GPUs. A matrix that the first GPU cannot hold is spread anyway, unless
--device names a GPU. Under a launcher of MPI, ranks that have a GPU each share the
rows of one dense matrix, or of points (docs/cluster.md).

--points takes two files with a point a line, for rows and for columns; costs
are their distances, computed when needed. Instead of a file, --kind draws an
instance:

` + describeKinds(),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return solveFiles(cmd.Context(), a, &s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	for _, options := range []option.List{s.reading.Fields(), s.costs.Fields(), s.Drawing.Fields()} {
		run.AddOptions(f, options)
	}
	options := s.options.Fields()
	run.AddOptions(f, options)
	run.AddFormerName(f, "family", options.Find("algorithm"))
	run.AddOptions(f, s.Fields())
	s.SolveFlags.Register(f)
	return cmd
}

func (s *solveFlags) validate(a *run.App, args []string) error {
	if err := s.checkSource(args); err != nil {
		return err
	}
	if err := s.CheckEffects(append(s.effectRules(args), s.solveEffects()...)); err != nil {
		return err
	}
	if s.options.Bottleneck || s.transports() {
		s.Device = device.Host
	}
	if s.Kind != "" {
		if err := s.drawing.check(); err != nil {
			return run.AsUsage(err)
		}
	}
	return s.SolveFlags.Check(a, len(args))
}

// checkSource checks the flags that say where the costs are and how they are read.
func (s *solveFlags) checkSource(args []string) error {
	sources := 0
	for _, given := range []bool{len(args) > 0, s.costs.points != nil, s.Kind != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources != 1:
		return run.Usagef("expected one of a FILE, --points ROWS,COLUMNS and --kind NAME, found %d", sources)
	case s.costs.points != nil && len(s.costs.points) != 2:
		return run.Usagef("--points has %d files, expected two: points of rows and of columns", len(s.costs.points))
	case s.costs.limit != "" && !number(s.costs.limit):
		return run.Usagef("--limit is %q, expected a number", s.costs.limit)
	}
	return nil
}

func number(text string) bool {
	x, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// instance reads the costs from a file or from files of points, or draws them.
func (s *solveFlags) instance(a *run.App, args []string) (*problem.Instance, error) {
	free := a.Free()
	o := s.reading
	o.Memory = free.Bytes
	var err error
	var inst *problem.Instance
	switch {
	case s.Kind != "":
		inst, err = s.draw(free, s.ranks)
	case s.costs.points != nil:
		inst, err = assignment.ReadPoints(s.costs.points[0], s.costs.points[1], s.costs.metric, s.costs.floor, o)
	default:
		inst, err = read(a, args[0], o)
	}
	if err != nil {
		return nil, err
	}
	inst.Maximize = s.reading.Maximize
	if s.costs.limit != "" {
		limit, err := strconv.ParseFloat(s.costs.limit, 64)
		if err != nil {
			return nil, err
		}
		if whole, err := strconv.ParseInt(s.costs.limit, 10, 64); err == nil && int64(limit) != whole {
			return nil, fmt.Errorf("--limit is %s, expected a number that a float64 holds, such as %.0f", s.costs.limit, limit)
		}
		inst.Limit = &limit
	}
	return inst, s.amounts(inst)
}

// amounts sets the supplies and capacities.
func (s *solveFlags) amounts(inst *problem.Instance) (err error) {
	if s.costs.supply != "" {
		if inst.Supply, err = assignment.ReadAmounts(s.costs.supply, inst.Rows); err != nil {
			return fmt.Errorf("--supply: %w", err)
		}
	}
	if s.costs.capacity != "" {
		if inst.Capacity, err = assignment.ReadAmounts(s.costs.capacity, inst.Cols); err != nil {
			return fmt.Errorf("--capacity: %w", err)
		}
	}
	return inst.Check()
}

// transports reports whether the answer is a flow.
func (s *solveFlags) transports() bool { return s.costs.supply != "" || s.costs.capacity != "" }

func solveFiles(ctx context.Context, a *run.App, s *solveFlags, args []string) error {
	if err := s.validate(a, args); err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{""} // one instance, which is drawn or given by points
	}
	each := func(db *tuned.Database, devices []device.Device) error {
		o := s.options
		o.Tuning, o.Devices = db, devices
		var held device.Scope
		defer held.Close()
		o.KeepLoaded(&held)
		q := queue{a: a, s: s, options: o, left: args}
		defer q.close(ctx)
		return a.SolveEach(ctx, s.JSON, args, func(path string) error {
			if a.Team != nil || a.Folder != "" {
				q.left = []string{path} // ranks and folders take files in any order
			}
			err := q.solveNext(ctx)
			if s.costs.points != nil && err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), s.costs.points[0]) {
				err = fmt.Errorf("%s: %w", strings.Join(s.costs.points, ","), err)
			}
			return err
		})
	}
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		switch {
		case a.Team == nil || len(args) > 1 || a.Folder != "":
		case devices[0].Facts().Kind == device.Host:
			return a.OnRankZero("hosts solve one assignment in one process", func() error {
				return a.WithDevices(s.Device, s.Threads, func(own []device.Device) error { return each(db, own) })
			})
		case s.start != "":
			return a.OnRankZero("duals to begin from are for one process", func() error { return each(db, devices) })
		case s.options.KBest > 1 || s.options.Bottleneck:
			return a.OnRankZero("the k best matchings and the worst pair are for one process", func() error { return each(db, devices) })
		case !s.Verify:
			s.ranks = a.Team
		}
		return each(db, devices)
	})
}

// solveOn solves on o's devices. If --device auto or a kind picked one device and its memory does
// not suffice, all devices of that kind solve together.
func solveOn(ctx context.Context, a *run.App, s *solveFlags, inst *problem.Instance, o assignment.Options) (*assignment.Result, error) {
	r, err := assignment.Solve(ctx, inst, o)
	kind := o.Devices[0].Facts().Kind
	if len(o.Devices) > 1 || a.Team != nil || !errors.Is(err, device.ErrMemory) || kind == device.Host || s.Device != "auto" && s.Device != kind {
		return r, err
	}
	all, failed := a.OpenDevices(kind+":all", s.Threads)
	if failed != nil || len(all) < 2 {
		return nil, errors.Join(err, failed, devices.Close(all))
	}
	o.Devices = all
	r, failed = assignment.Solve(ctx, inst, o)
	return r, errors.Join(failed, devices.Close(all))
}

// compareWithReference solves with the reference and compares values. Those of floats may differ by twice
// the gap of the reference's certificate.
func compareWithReference(ctx context.Context, d device.Device, inst *problem.Instance, r *assignment.Result) (string, error) {
	ref, err := run.Await(ctx, func() (*assignment.Result, error) {
		return assignment.Solve(ctx, inst, assignment.Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: "reference"}})
	})
	if err != nil {
		return "", run.UnverifiedError(err)
	}
	if !ref.Proven { // the best so far
		return "", run.UnverifiedError(context.Canceled)
	}
	if gap := math.Abs(r.Value.Float() - ref.Value.Float()); r.Value.String() != ref.Value.String() && !(gap <= 2*ref.Certificate.Gap) {
		return "", run.AsCheck(fmt.Errorf("the answer is worth %s, the reference finds %s", r.Value.String(), ref.Value.String()))
	}
	same := "too"
	if ref.Value.String() != r.Value.String() {
		same = "(rounding leaves both open)"
	}
	return fmt.Sprintf("the sequential reference finds %s %s (its solve took %s, %.3g times this one's)",
		ref.Value.String(), same, ui.Seconds(ref.Seconds.Solve), ref.Seconds.Solve/r.Seconds.Solve), nil
}

// effectRules is the table of the flags of `solve assignment` and `verify` that say where the costs are and how they are read.
func (s *solveFlags) effectRules(args []string) []effect.Rule {
	source := "--points"
	switch {
	case s.Kind != "":
		source = "--kind " + s.Kind
	case len(args) > 0:
		source = run.NameOf(args[0])
	}
	text := s.reading.Format == "" || s.reading.Format == "csv" || s.reading.Format == "triples"
	return append([]effect.Rule{
		{Flags: "format header index", For: "files", Found: effect.UnlessRequested(s.Kind == "", source)},
		{Flags: "header index", For: "CSV files", Found: effect.UnlessRequested(text, "--format "+s.reading.Format)},
		{Flags: "metric floor", For: "--points", Found: effect.UnlessRequested(s.costs.points != nil, source)},
	}, s.drawing.effectRules(source)...)
}

// solveEffects is the table of the other flags of `solve assignment`.
func (s *solveFlags) solveEffects() []effect.Rule {
	return []effect.Rule{
		{Flags: "k-best duals limit start check algorithm variant threads pin frozen tuned record-untuned verify", For: "sums of costs", Found: effect.UnlessRequested(!s.options.Bottleneck, "--bottleneck")},
		{Flags: "device", For: "sums of costs", Found: effect.UnlessRequested(!s.options.Bottleneck || s.Device == devices.Auto || s.Device == device.Host, "--bottleneck, which the host looks for")},
		{Flags: "k-best bottleneck limit start algorithm variant verify", For: "matchings", Found: effect.UnlessRequested(!s.transports(), "--supply or --capacity")},
		{Flags: "device", For: "matchings", Found: effect.UnlessRequested(!s.transports() || s.Device == devices.Auto || s.Device == device.Host, "--supply or --capacity: the host finds flows")},
		{Flags: "duals", For: "--json, which holds them", Found: effect.UnlessRequested(s.JSON, "no --json")},
		run.ThreadsRule(s.Device),
	}
}

// read reads FILE, which may be standard input.
func read(a *run.App, path string, o assignment.ReadOptions) (*problem.Instance, error) {
	if path == run.Dash {
		return assignment.ReadFrom(a.In, -1, run.StandardInput, o)
	}
	return assignment.Read(path, o)
}
