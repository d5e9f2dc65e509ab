package kernels

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
)

// explainFlags are the flags of `explain` and a problem.
type explainFlags struct {
	placement.Placement
	problem *subject.Problem
	size    int
	family  string
	asked   paramFlags
	json    bool
}

func explainCommand(a *run.App, all subject.Problems) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show which variant solve would run at a size, and why",
		RunE:  run.GroupAction(all.Names()),
		Args:  cobra.ArbitraryArgs,
	}
	for k := range all {
		cmd.AddCommand(explainProblemCommand(a, &all[k]))
	}
	return cmd
}

// explainProblemCommand explains the choice among variants of one problem, for each workload or those with some
// values of the problem's parameters.
func explainProblemCommand(a *run.App, p *subject.Problem) *cobra.Command {
	s := explainFlags{problem: p, asked: paramFlags{}}
	cmd := &cobra.Command{
		Use:   p.Name,
		Short: "Explain the choice among the variants of " + p.Name,
		Long: `Print, for each family of kernels and each workload, the variant that solve would
choose at a size, the reason, and the other variants with their times, measured or
predicted. The command runs and measures nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return explain(cmd.Context(), a, &s, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	run.AddPlacement(f, &s.Placement, "device", "threads")
	f.IntVar(&s.size, "size", 0, "number of "+p.Names(p.Subjects))
	f.StringVar(&s.family, "family", "", "family to explain (default: all that run on the device)")
	s.asked.registerFlags(cmd, p, "")
	run.AddOptions(f, s.Fields().Select("tuned"))
	f.BoolVar(&s.json, "json", false, "print one JSON object a choice")
	return cmd
}

func explain(ctx context.Context, a *run.App, s *explainFlags, given *pflag.FlagSet) error {
	if err := effect.CheckFlags(given, []effect.Rule{run.ThreadsRule(s.Device)}); err != nil {
		return run.AsUsage(err)
	}
	if most := s.problem.Largest(s.problem.Subjects); s.size < 1 || s.size > most {
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
	picked, err := tuning.FindFamilies(s.problem.Subjects, s.family, facts)
	if err != nil {
		return run.AsUsage(err)
	}
	n, beyond := 0, subject.Unit{}
	for _, sub := range picked {
		if unit := s.problem.ForSubject(sub); s.size > unit.Most {
			beyond = unit // which solves leave to other families
			continue
		}
		for _, fixed := range tuning.SelectWorkloads(sub, s.asked.requestedValues()) {
			x := tuning.Explain(a.Name(), db, sub, facts, fixed, s.size, s.problem.ForSubject(sub).Name)
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
