package assignment

import (
	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/solve"
)

// A Verification has the flags of `verify` for answers of assignment. Format is that of the instance.
type Verification struct {
	Format string
	// JSON file of the duals, where RESULT lacks them
	duals string `option:"duals"`

	flags solveFlags
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	run.AddOptions(f, v.Fields().ForProblem("assignment"))
	reading := v.flags.reading.Fields()
	run.AddOptions(f, reading.Select("maximize").ForProblem("assignment"))
	run.AddOptions(f, reading.Select("header", "index").ForProblem("assignment, qubo"))
	v.flags.costs.metric = problem.Euclidean
	run.AddOptions(f, v.flags.costs.Fields().ForProblem("assignment"))
}

// ByPoints reports whether points give the costs.
func (v *Verification) ByPoints() bool { return v.flags.costs.points != nil }

// Tables says whether a CSV file's first line and first column are names: yes, no or empty.
func (v *Verification) Tables() (header, index csv.YesOrNo) {
	return v.flags.reading.Header, v.flags.reading.Index
}

// EffectRules is the table of the flags for an INSTANCE, or for points.
func (v *Verification) EffectRules(args []string) []effect.Rule { return v.flags.effectRules(args) }

// Verdict checks a result against the costs in a FILE, or of points.
func (v *Verification) Verdict(a *run.App, result []byte, args []string) (*solve.Verdict, error) {
	v.flags.reading.Format = v.Format
	if err := run.CheckOptions(v.flags.reading.Fields()); err != nil {
		return nil, err
	}
	if err := v.flags.checkSource(args); err != nil {
		return nil, err
	}
	inst, err := v.flags.instance(a, args)
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	var duals []byte
	if v.duals != "" {
		if duals, err = a.ReadWhole(v.duals, min(run.MaxAnswer, assignment.MaxDuals(inst))); err != nil {
			return nil, err
		}
	}
	return assignment.Verify(inst, result, duals)
}
