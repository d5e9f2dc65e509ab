package csg

import (
	"context"

	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// A Verification has the flags of `verify` for answers of csg. Format is that of a graph, empty where the name of its file decides.
type Verification struct {
	Format  string
	missing string
	names   []string
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	f.StringVar(&v.missing, "missing", "", "csg: value of coalitions that a CSV or JSON file lacks")
	f.StringSliceVar(&v.names, "names", nil, "csg: the agents' names in order")
}

// Effects is the table of the flags for an INSTANCE.
func (v *Verification) Effects(path string) []effect.Rule {
	graph := (&searchFlags{format: v.Format}).isGraph(path)
	return []effect.Rule{{Flags: "missing names", For: "tables", Found: effect.Unless(!graph, run.NameOf(path)+", a graph")}}
}

// Verdict checks a result against a table, or against a graph: its partition, or its table if that was solved.
func (v *Verification) Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	search := searchFlags{format: v.Format}
	if !search.isGraph(path) {
		inst, err := readTable(a, path, csg.ReadOptions{Missing: v.missing, Names: v.names, Limit: a.Free().Bytes})
		if err != nil {
			return nil, err
		}
		return csg.Verify(inst, result)
	}
	if err := search.check(); err != nil {
		return nil, run.AsUsage(err)
	}
	g, err := search.read(a, path)
	if err != nil {
		return nil, err
	}
	if anytime.IsResult(result) {
		return anytime.Verify(g, result)
	}
	inst, err := tableOf(context.Background(), g, a.Free())
	if err != nil {
		return nil, err
	}
	return csg.Verify(inst, result)
}
