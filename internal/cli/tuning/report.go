package tuning

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"coalesce/autotune/page"
	"coalesce/autotune/trial"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

func (e Env) reportCommand() *cobra.Command {
	var html, table, figures string
	cmd := &cobra.Command{
		Use:   "report TRIALS…",
		Short: "Make a page of recorded trials: winners, progress, and the worth of each parameter",
		Long: `Make one self-contained HTML page of the trials that coalesce tune has recorded.
For each family, device and workload it shows the fastest variant of each size, the
best time so far against the time spent, the speed-up over the safe variant, the loss
with each parameter at another value, a heat map for each pair of parameters, the loss
with one variant for all sizes, and the trials that failed, with reasons. Lists at its
top filter by family, size and device.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if html == "" && table == "" && figures == "" {
				return e.Usage("nothing to write: expected --output, --csv or --svg")
			}
			return e.report(cmd.Context(), files, html, table, figures)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&html, "output", "o", "", "write the page to this file")
	f.StringVar(&table, "csv", "", "write a table to this file, a line a trial")
	f.StringVar(&figures, "svg", "", "write every figure into this folder, a file each")
	return cmd
}

func (e Env) report(ctx context.Context, files []string, html, table, figures string) error {
	var trials []trial.Trial
	for _, path := range files {
		found, err := trial.Load(path)
		if err != nil {
			return err
		}
		for _, damage := range found.Damaged {
			e.Damaged(damage)
		}
		trials = append(trials, found.Trials...)
	}
	var families []*device.Family
	for _, s := range e.Subjects {
		families = append(families, s.Family())
	}
	studies := page.Studies(trials, families)
	if html != "" {
		if err := whole.Write(ctx, html, func(w io.Writer) error { return page.HTML(w, studies) }); err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%s: %s of %s\n", html, ui.Count(len(trials), "trial"), ui.Count(len(studies), "workload"))
	}
	if table != "" {
		if err := whole.Write(ctx, table, func(w io.Writer) error { return page.CSV(w, trials) }); err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%s: %s\n", table, ui.Count(len(trials), "trial"))
	}
	if figures != "" {
		n, err := page.SVG(figures, studies)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%s: %d figures\n", figures, n)
	}
	return nil
}
