package qubo

import (
	"github.com/spf13/pflag"

	"coalesce/internal/cli/run"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// A Verification has the flags of `verify` for answers of qubo. Format is that of the instance; Header and Index say whether a CSV
// file's first line and column are names.
type Verification struct {
	Format        string
	Header, Index csv.YesOrNo

	flags solveFlags
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	run.AddOptions(f, v.flags.reading.Fields().Select("form", "sense", "problem").ForProblem("qubo"))
	run.AddOptions(f, v.flags.options.Fields().Select("fix").ForProblem("qubo"))
}

// Verdict checks a result against the program in FILE.
func (v *Verification) Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	o := &v.flags.reading
	o.Format, o.Header, o.Index = v.Format, v.Header, v.Index
	if err := run.CheckOptions(o.Fields()); err != nil {
		return nil, err
	}
	inst, _, err := v.flags.instance(a, path)
	if err != nil {
		return nil, err
	}
	return qubo.Verify(inst, result)
}
