package assignment

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/solvers/assignment/problem"
)

// GenerateCommand is `generate assignment`.
func GenerateCommand(a *run.App) *cobra.Command {
	w := newDrawing()
	var output string
	cmd := &cobra.Command{
		Use:   "assignment --kind NAME --rows N [--cols M] --output FILE.npy|FILE.mtx",
		Short: "Write the costs of an assignment problem",
		Long: `Draw an assignment problem and write its costs: as .npy, or with --density as
Matrix Market coordinates. The kinds are:

` + describeKinds(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return run.Usagef("expected --output FILE")
			}
			if err := cmp.Or(w.check(), effect.CheckFlags(cmd.Flags(), w.effectRules("--kind "+w.Kind)), run.CheckPlain(output), w.checkOutput(output)); err != nil {
				return run.AsUsage(err)
			}
			p := a.Progress()
			defer p.Close()
			p.Set("drawing %d x %d", w.Rows, w.Cols)
			inst, err := run.Await(cmd.Context(), func() (*problem.Instance, error) { return w.draw(a.Free(), nil) })
			if err != nil {
				return err
			}
			return atomicfile.Write(cmd.Context(), output, func(w io.Writer) error { return writeCosts(w, inst) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	run.AddOptions(f, w.Fields().Except("keep_points"))
	return cmd
}
