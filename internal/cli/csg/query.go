package csg

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/solvers/csg"
)

// queryFlags are the flags of `query csg`.
type queryFlags struct {
	csg       solveFlags
	coalition string
	best      int
	json      bool
}

func QueryCommand(a *run.App) *cobra.Command {
	var s queryFlags
	cmd := &cobra.Command{
		Use:   "csg INSTANCE VALUES.npy [--coalition AGENTS] [--best K]",
		Short: "The best structures of some or all agents, without solving again",
		Long:  AboutQuery,
		Args:  cobra.ExactArgs(2),
		RunE:  func(cmd *cobra.Command, args []string) error { return query(cmd.Context(), a, &s, args) },
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

func query(ctx context.Context, a *run.App, s *queryFlags, args []string) error {
	if s.best < 1 {
		return run.Usagef("--best is %d, expected 1 or more", s.best)
	}
	p := a.Progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", run.NameOf(args[0]))
	inst, err := run.Await(ctx, func() (*csg.Instance, error) {
		return readTable(a, args[0], csg.ReadOptions{Missing: s.csg.missing, Names: s.csg.names, Limit: a.Free().Bytes})
	})
	if err != nil {
		return err
	}
	coalition := inst.Grand()
	if s.coalition != "" {
		if coalition, err = csg.ParseCoalition(inst, s.coalition); err != nil {
			return run.Usagef("--%w", err)
		}
	}
	p.Set("reading %s", run.NameOf(args[1]))
	cover, err := run.Await(ctx, func() (*csg.Instance, error) {
		return readTable(a, args[1], csg.ReadOptions{Names: inst.Names, CoverOf: inst, Limit: a.Free().Bytes})
	})
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	start = time.Now()
	p.Set("looking for the best %d", s.best)
	found, err := csg.BestFew(ctx, inst, cover, coalition, s.best)
	if err != nil {
		return run.SolverError(fmt.Errorf("%s: %w", run.NameOf(args[1]), err), csg.ErrCheck)
	}
	p.Close()
	answer := Answer{Instance: inst, Coalition: coalition, Found: found, Read: read, Solve: time.Since(start).Seconds()}
	if s.json {
		return run.PrintJSON(a.Out, answer.Object())
	}
	return answer.Write(a.Out)
}
