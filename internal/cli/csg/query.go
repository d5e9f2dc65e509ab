package csg

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
)

// queryFlags are the flags of `query csg`.
type queryFlags struct {
	reading csg.ReadOptions
	// agents asked for, such as "1 3" or "ann,bob"
	coalition string `option:"coalition" default:"all"`
	// number of structures, the best first
	best int `option:"best" min:"1"`
	// print one JSON object
	json bool `option:"json"`
}

// QueryCommand is `query csg`.
func QueryCommand(a *run.App) *cobra.Command {
	s := queryFlags{best: 1}
	cmd := &cobra.Command{
		Use:   "csg INSTANCE VALUES.npy [--coalition AGENTS] [--best K]",
		Short: "The best structures of some or all agents, without solving again",
		Long:  aboutQuery,
		Args:  cobra.ExactArgs(2),
		RunE:  func(cmd *cobra.Command, args []string) error { return query(cmd.Context(), a, &s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	run.AddOptions(f, s.Fields())
	run.AddOptions(f, s.reading.Fields())
	return cmd
}

func query(ctx context.Context, a *run.App, s *queryFlags, args []string) error {
	p := a.Progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", run.NameOf(args[0]))
	inst, err := run.Await(ctx, func() (*problem.Instance, error) {
		return readTable(a, args[0], s.reading)
	})
	if err != nil {
		return err
	}
	coalition := inst.GrandCoalition()
	if s.coalition != "" {
		if coalition, err = csg.ParseCoalition(inst, s.coalition); err != nil {
			return run.Usagef("--%w", err)
		}
	}
	p.Set("reading %s", run.NameOf(args[1]))
	cover, err := run.Await(ctx, func() (*problem.Instance, error) {
		return readTable(a, args[1], csg.ReadOptions{Names: inst.Names, CoverOf: inst})
	})
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	start = time.Now()
	p.Set("looking for the best %d", s.best)
	found, err := csg.BestFew(ctx, inst, cover, coalition, s.best)
	if err != nil {
		return run.SolverError(fmt.Errorf("%s: %w", run.NameOf(args[1]), err), problem.ErrCheck)
	}
	p.Close()
	answer := queryAnswer{instance: inst, coalition: coalition, found: found, read: read, solve: time.Since(start).Seconds()}
	if s.json {
		return run.PrintJSON(a.Out, answer.object())
	}
	return answer.write(a.Out)
}

// A queryAnswer has the best structures of a coalition, best first, and the seconds of reading and of the
// search.
type queryAnswer struct {
	instance    *problem.Instance
	coalition   uint64
	found       []csg.Ranked
	read, solve float64
}

type queryObject struct {
	Problem    string             `json:"problem"`
	Instance   string             `json:"instance"`
	Coalition  []string           `json:"coalition"`
	Structures []queryStructure   `json:"structures"`
	Seconds    map[string]float64 `json:"seconds"`
}

type queryStructure struct {
	Value  float64    `json:"value"`
	Blocks [][]string `json:"blocks"`
}

// object is the JSON object that query prints with --json.
func (a *queryAnswer) object() any {
	x := queryObject{Problem: "csg", Instance: a.instance.Source, Coalition: names(a.instance, a.coalition), Structures: []queryStructure{},
		Seconds: map[string]float64{"read": a.read, "solve": a.solve}}
	for _, f := range a.found {
		y := queryStructure{f.Value, make([][]string, len(f.Structure))}
		for k, b := range f.Structure {
			y.Blocks[k] = names(a.instance, b)
		}
		x.Structures = append(x.Structures, y)
	}
	return x
}

// write writes a table for people.
func (a *queryAnswer) write(w io.Writer) error {
	if len(a.found) == 0 {
		_, err := fmt.Fprintf(w, "every structure of %s has a forbidden block\n", a.instance.Coalition(a.coalition))
		return err
	}
	var t ui.Table
	t.AlignRight(0)
	t.Row("value", "structure")
	for _, f := range a.found {
		var blocks []string
		for _, b := range f.Structure {
			blocks = append(blocks, a.instance.Coalition(b))
		}
		t.Row(strconv.FormatFloat(f.Value, 'f', -1, 64), strings.Join(blocks, " "))
	}
	return t.Write(w)
}

// names are the names of a coalition's agents.
func names(inst *problem.Instance, coalition uint64) []string {
	list := []string{}
	for _, agent := range problem.Agents(coalition) {
		list = append(list, inst.Name(agent))
	}
	return list
}
