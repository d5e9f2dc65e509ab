package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/ui"
	"coalesce/solvers/csg"
)

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

// An answerToQuery is what query prints with --json.
type answerToQuery struct {
	Problem    string             `json:"problem"`
	Instance   string             `json:"instance"`
	Coalition  []string           `json:"coalition"`
	Structures []rankedAnswer     `json:"structures"`
	Seconds    map[string]float64 `json:"seconds"`
}

type rankedAnswer struct {
	Value  float64    `json:"value"`
	Blocks [][]string `json:"blocks"`
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
	if s.json {
		x := answerToQuery{Problem: "csg", Instance: inst.Source, Coalition: names(inst, coalition), Structures: []rankedAnswer{},
			Seconds: map[string]float64{"read": read, "solve": time.Since(start).Seconds()}}
		for _, f := range found {
			y := rankedAnswer{Value: f.Value, Blocks: [][]string{}}
			for _, b := range f.Structure {
				y.Blocks = append(y.Blocks, names(inst, b))
			}
			x.Structures = append(x.Structures, y)
		}
		return printJSON(a.out, x)
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(a.out, "every structure of %s has a forbidden block\n", inst.Coalition(coalition))
		return err
	}
	var t ui.Table
	t.Right(0)
	t.Row("value", "structure")
	for _, f := range found {
		var blocks []string
		for _, b := range f.Structure {
			blocks = append(blocks, inst.Coalition(b))
		}
		t.Row(strconv.FormatFloat(f.Value, 'f', -1, 64), strings.Join(blocks, " "))
	}
	return t.Write(a.out)
}

// names are those of a coalition's agents.
func names(inst *csg.Instance, coalition uint64) []string {
	list := []string{}
	for _, agent := range csg.Agents(coalition) {
		list = append(list, inst.Name(agent))
	}
	return list
}
