package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/tuning"
	"coalesce/internal/placement"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
)

// explainFlags are the flags of `explain` and a problem.
type explainFlags struct {
	placement.Placement
	size   int
	unit   tuning.Unit // of the problem's sizes
	family string
	asked  map[string]*[]string // values of fixed parameters, by the parameter
	json   bool
}

func explainCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show which variant solve would run at a size, and why",
		RunE:  group("csg, auction, assignment or qubo"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(
		explainProblemCommand(a, "csg", agents, csg.Subjects(), "value", "method"),
		explainProblemCommand(a, "auction", goods, auction.Subjects(), "value"),
		explainProblemCommand(a, "assignment", sides, assignment.Subjects(), "value", "range", "metric"),
		explainProblemCommand(a, "qubo", variables, qubo.Subjects(), "row", "weight"),
	)
	return cmd
}

// What the sizes of the problems' families count.
var (
	agents    = tuning.Unit{Name: "agents", Most: csg.MaxAgents}
	goods     = tuning.Unit{Name: "contested goods", Most: auction.MaxContested}
	sides     = tuning.Unit{Name: "rows and columns", Most: assignment.MaxSide}
	variables = tuning.Unit{Name: "variables", Most: 1 << 16}
)

// explainProblemCommand explains the choice among variants of one problem, whose sizes
// count units, for each workload or those with some values of params.
func explainProblemCommand(a *run.App, name string, unit tuning.Unit, subjects []subject.Subject, params ...string) *cobra.Command {
	s := explainFlags{unit: unit, asked: map[string]*[]string{}}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Explain the choice among the variants of " + name,
		Long: `Print, for each family of kernels and each workload, the variant that solve would
choose at a size, the reason, and the other variants with their times, measured or
predicted. The command runs and measures nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return explain(cmd.Context(), a, &s, cmd.Flags(), subjects)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	run.AddPlacement(f, &s.Placement, "device", "threads")
	f.IntVar(&s.size, "size", 0, "number of "+unit.Names(subjects))
	f.StringVar(&s.family, "family", "", "family to explain (default: all that run on the device)")
	for _, p := range params {
		s.asked[p] = f.StringSlice(p, nil, "explain workloads with these values of "+p+" only (default: all)")
	}
	run.AddOptions(f, s.Fields().Select("tuned"))
	f.BoolVar(&s.json, "json", false, "print one JSON object a choice")
	return cmd
}

func explain(ctx context.Context, a *run.App, s *explainFlags, given *pflag.FlagSet, subjects []subject.Subject) error {
	if err := effect.Mistake(given, []effect.Rule{run.ThreadsRule(s.Device)}); err != nil {
		return run.AsUsage(err)
	}
	if most := s.unit.Largest(subjects); s.size < 1 || s.size > most {
		return run.Usagef("--size is %d, expected 1 to %d", s.size, most)
	}
	if err := a.HandOver(s.Device); err != nil {
		return err
	}
	db, err := run.Await(ctx, func() (*tuned.Database, error) { return a.Database(s.Tuned) })
	if err != nil {
		return err
	}
	var facts device.Facts
	err = a.WithDevice(s.Device, s.Threads, func(d device.Device) error {
		facts = d.Facts()
		return nil
	})
	if err != nil {
		return err
	}
	picked, err := tuning.Families(subjects, s.family, facts)
	if err != nil {
		return run.AsUsage(err)
	}
	asked := map[string][]string{}
	for p, values := range s.asked {
		asked[p] = *values
	}
	n, beyond := 0, tuning.Unit{}
	for _, sub := range picked {
		if unit := s.unit.Of(sub); s.size > unit.Most {
			beyond = unit // which solves leave to other families
			continue
		}
		for _, fixed := range tuning.Workloads(sub, asked) {
			x := tuning.Explain(db, sub, facts, fixed, s.size, s.unit.Of(sub).Name)
			if x == nil {
				continue
			}
			n++
			if s.json {
				err = run.PrintJSON(a.Out, x)
			} else {
				err = x.Write(a.Out)
			}
			if err != nil {
				return err
			}
		}
	}
	if n == 0 && beyond.Most > 0 {
		return run.Usagef("--size is %d, expected 1 to %d %s", s.size, beyond.Most, beyond.Name)
	}
	if n == 0 {
		return run.Usagef("no workload of %s has the values asked for", picked[0].Family().Name)
	}
	return nil
}
