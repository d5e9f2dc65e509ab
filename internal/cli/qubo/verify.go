package qubo

import (
	"github.com/spf13/pflag"

	"coalesce/internal/cli/run"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// A Verification has the flags of `verify` for answers of qubo. Format is that of the instance; Header and Index are yes, no or
// empty, and say whether a CSV file's first line and column are names.
type Verification struct {
	Format, Header, Index string

	flags solveFlags
}

// Register adds the flags.
func (v *Verification) Register(f *pflag.FlagSet) {
	f.StringVar(&v.flags.form, "form", "", "qubo: coefficients are those of a qubo, ising or maxcut")
	f.StringVar(&v.flags.sense, "sense", "", "qubo: maximize or minimize")
	f.IntVar(&v.flags.problem, "problem", 0, "qubo: which problem of a file of several, from 1")
	f.StringSliceVar(&v.flags.fix, "fix", nil, "qubo: variables that have to be fixed in the result, such as 0=1,7=0 or north=0")
}

// Verdict checks a result against the program in FILE.
func (v *Verification) Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	v.flags.format, v.flags.header, v.flags.index = v.Format, v.Header, v.Index
	if err := v.flags.readFlags.check(); err != nil {
		return nil, err
	}
	inst, err := v.flags.instance(a, path)
	if err != nil {
		return nil, err
	}
	return qubo.Verify(inst, result)
}
