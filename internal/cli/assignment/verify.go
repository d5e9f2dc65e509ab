package assignment

import (
	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/solvers/assignment"
	"coalesce/solvers/solve"
)

// An Verification has the flags of `verify` for answers of assignment. Format is that of the instance, and Duals a file of
// the duals, empty where the answer has them or has none.
type Verification struct {
	Format, Duals string

	flags solveFlags
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	f.BoolVar(&v.flags.maximize, "maximize", false, "assignment: the matching that is worth the most was asked for")
	f.StringVar(&v.flags.limit, "limit", "", "assignment: rows were left unmatched rather than match pairs dearer than this")
	f.StringVar(&v.flags.header, "header", "", "assignment, qubo: whether the first line of a CSV file is names: yes or no")
	f.StringVar(&v.flags.index, "index", "", "assignment, qubo: whether the first column of a CSV file is names: yes or no")
	f.StringSliceVar(&v.flags.points, "points", nil, "assignment: two files of points, for rows and columns, instead of INSTANCE")
	f.StringVar(&v.flags.metric, "metric", string(assignment.Euclidean), "assignment: distance of points")
	f.BoolVar(&v.flags.floor, "floor", false, "assignment: distances are cut to integers")
}

// ByPoints reports whether points give the costs.
func (v *Verification) ByPoints() bool { return v.flags.points != nil }

// Tables says whether a CSV file's first line and first column are names: yes, no or empty.
func (v *Verification) Tables() (header, index string) {
	return v.flags.header, v.flags.index
}

// Effects is the table of the flags for an INSTANCE, or for points.
func (v *Verification) Effects(args []string) []effect.Rule { return v.flags.effects(args) }

// Verdict checks a result against the costs in a FILE, or of points.
func (v *Verification) Verdict(a *run.App, result []byte, args []string) (*solve.Verdict, error) {
	v.flags.format = v.Format
	if err := v.flags.source(args); err != nil {
		return nil, err
	}
	inst, err := v.flags.instance(a, args)
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	var duals []byte
	if v.Duals != "" {
		if duals, err = a.ReadWhole(v.Duals, min(run.MaxAnswer, assignment.MaxDuals(inst))); err != nil {
			return nil, err
		}
	}
	return assignment.Verify(inst, result, duals)
}
