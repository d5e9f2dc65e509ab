package csg

import (
	"context"

	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/listed"
	"coalesce/solvers/solve"
)

// A Verification has the flags of `verify` for answers of csg. Format is that of a graph, empty where the name of its file decides.
type Verification struct {
	Format  string
	reading csg.ReadOptions
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	run.AddOptions(f, v.reading.Fields().ForProblem("csg"))
}

// EffectRules is the table of the flags for an INSTANCE.
func (v *Verification) EffectRules(path string) []effect.Rule {
	search := searchFlags{reading: anytime.ReadOptions{Format: v.Format}}
	return []effect.Rule{{Flags: "missing names order", For: "tables", Found: effect.UnlessRequested(!search.isGraph(path), run.NameOf(path)+", a graph")}}
}

// Verdict checks a result against a table, or against a graph: its partition, or its table if that was solved.
func (v *Verification) Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	search := searchFlags{reading: anytime.ReadOptions{Format: v.Format}}
	lists := listed.IsResult(result)
	if !search.isGraph(path) && lists {
		_, inst, err := readListed(a, path, v.reading, true)
		if err != nil {
			return nil, err
		}
		return listed.Verify(inst, result)
	}
	if !search.isGraph(path) {
		inst, err := readTable(a, path, v.reading)
		if err != nil {
			return nil, err
		}
		return csg.Verify(inst, result)
	}
	if err := run.CheckOptions(search.reading.Fields()); err != nil {
		return nil, err
	}
	g, err := search.readGraph(a, path)
	if err != nil {
		return nil, err
	}
	if lists {
		return listed.VerifyGraph(g, result)
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
