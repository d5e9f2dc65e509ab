package qubo

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
)

// A drawing says which instance to draw.
type drawing struct {
	// number of variables
	variables int `option:"variables" min:"1"`
	// percentage of the pairs that are drawn
	density int `option:"density" min:"0" max:"100"`
	// first state of the generator, 1 to 2147483646
	seed int64 `option:"seed" min:"1" max:"2147483646"`
}

// GenerateCommand is `generate qubo`.
func GenerateCommand(a *run.App) *cobra.Command {
	d := drawing{density: 100, seed: 31000}
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
			if qubo.DescribeFormat(to) == "" {
				return run.Usagef("--to is %q, expected one of the formats of coalesce convert", to)
			}
			if d.variables == 0 {
				return run.Usagef("expected --variables N")
			}
			if err := a.Free().CheckFits(fmt.Sprintf("the coefficients of %s at density %d", ui.Count(d.variables, "variable"), d.density), 24*float64(d.variables)*float64(d.variables)*float64(d.density)/100); err != nil {
				return err
			}
			if err := run.CheckPlain(output); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("drawing %d variables", d.variables)
			inst, err := run.Await(cmd.Context(), func() (*problem.Instance, error) { return qubo.Palubeckis(d.variables, d.density, d.seed) })
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
	run.AddOptions(f, d.Fields())
	f.StringVarP(&output, "output", "o", "", "the file to write")
	f.StringVar(&to, "to", "", "its format (default: told by its name, else orlib)")
	return cmd
}
