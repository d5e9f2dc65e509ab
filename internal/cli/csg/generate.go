package csg

import (
	"cmp"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/cli/whole"
)

func GenerateCommand(a *run.App) *cobra.Command {
	var w Drawing
	var output string
	cmd := &cobra.Command{
		Use:   "csg --agents N [--weights NAME] [--density SHARE] --output FILE.rud",
		Short: "Write a graph whose agents form coalitions",
		Long:  AboutDrawing,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(run.CheckPlain(output), w.Check(output)); err != nil {
				return run.AsUsage(err)
			}
			if err := w.Fits(a.Free()); err != nil {
				return err
			}
			g, err := run.Await(cmd.Context(), w.Draw)
			if err != nil {
				return err
			}
			return whole.Write(cmd.Context(), output, g.Write)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	w.Register(f)
	return cmd
}
