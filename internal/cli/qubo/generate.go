package qubo

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/solvers/qubo"
)

// GenerateCommand is `generate qubo`.
func GenerateCommand(a *run.App) *cobra.Command {
	var n, density int
	var seed int64
	var to, output string
	cmd := &cobra.Command{
		Use:   "qubo --variables N --density PERCENT --seed S --output FILE [--to FORMAT]",
		Short: "Write a binary quadratic program of G. Palubeckis' generator",
		Long: `Draw an instance with Palubeckis' generator of 2002 and write it: maximise xᵀQx
with coefficients from -100 to 100. The instances of the literature are

  p3000.1 to .5   density 50, 80, 80, 100, 100   seed 31000 to 35000
  p4000.1 to .5   density 50, 80, 80, 100, 100   seed 41000 to 45000
  p5000.1 to .5   density 50, 80, 80, 100, 100   seed 51000 to 55000
  p6000.1 and .3  density 50, 100                seed 61000, 64000
  p7000.1 and .2  density 50, 80                 seed 71000, 72000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return run.Usagef("expected --output FILE")
			}
			to = cmp.Or(to, qubo.FormatOf(output), "orlib")
			if qubo.About(to) == "" {
				return run.Usagef("--to is %q, expected one of the formats of coalesce convert", to)
			}
			if n < 1 {
				return run.Usagef("--variables is %d, expected 1 or more", n)
			}
			if err := a.Free().CheckFits(fmt.Sprintf("the coefficients of %s at density %d", ui.Count(n, "variable"), density), 24*float64(n)*float64(n)*float64(density)/100); err != nil {
				return err
			}
			if err := run.CheckPlain(output); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("drawing %d variables", n)
			inst, err := run.Await(cmd.Context(), func() (*qubo.Instance, error) { return qubo.Palubeckis(n, density, seed) })
			if cmd.Context().Err() == nil && err != nil {
				return run.AsUsage(err)
			}
			if err != nil {
				return err
			}
			p.Set("writing %s", output)
			return write(cmd.Context(), a, p.PrintLine, inst, output, to)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&n, "variables", 0, "number of variables")
	f.IntVar(&density, "density", 100, "percentage of the pairs that are drawn")
	f.Int64Var(&seed, "seed", 31000, "the generator's first state, 1 to 2147483646")
	f.StringVarP(&output, "output", "o", "", "the file to write")
	f.StringVar(&to, "to", "", "its format (default: told by its name, else orlib)")
	return cmd
}
