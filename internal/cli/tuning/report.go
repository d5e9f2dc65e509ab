package tuning

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/autotune"
	"coalesce/autotune/page"
	"coalesce/autotune/t4"
	"coalesce/autotune/trial"
	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

func (e Env) reportCommand() *cobra.Command {
	var html, table, figures, exchange string
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
			if html == "" && table == "" && figures == "" && exchange == "" {
				return e.Usage("nothing to write: expected --output, --csv, --svg or --t4")
			}
			return e.report(cmd.Context(), files, html, table, figures, exchange)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&html, "output", "o", "", "write the page to this file")
	f.StringVar(&table, "csv", "", "write a table to this file, a line a trial")
	f.StringVar(&figures, "svg", "", "write every figure into this folder, a file each")
	f.StringVar(&exchange, "t4", "", "write the trials to this file as results in T4 form, which other tuners read; of several families, devices or workloads a file each, FILE-1.json and so on")
	return cmd
}

func (e Env) report(ctx context.Context, files []string, html, table, figures, exchange string) error {
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
		if err := atomicfile.Write(ctx, html, func(w io.Writer) error { return page.HTML(w, studies) }); err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%s: %s of %s\n", html, ui.Count(len(trials), "trial"), ui.Count(len(studies), "workload"))
	}
	if table != "" {
		if err := atomicfile.Write(ctx, table, func(w io.Writer) error { return page.CSV(w, trials) }); err != nil {
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
	if exchange != "" {
		spaces := t4.FromTrials(trials)
		for i, space := range spaces {
			path := exchange
			if len(spaces) > 1 {
				path = fmt.Sprintf("%s-%d.json", strings.TrimSuffix(exchange, ".json"), i+1)
			}
			if err := atomicfile.Write(ctx, path, space.Write); err != nil {
				return err
			}
			fmt.Fprintf(e.Out, "%s: %s of %s on %s, workload %s\n", path, ui.Count(len(space.Results), "result"), space.Metadata["kernel"], space.Metadata["device"], space.Metadata["workload"])
		}
	}
	return nil
}

// ReadT4 reads the results in T4 form that tuning begins with; nil for no path. It is an error if they fit no task's family.
func ReadT4(path string, tasks []autotune.Task) (*t4.Results, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	results, err := t4.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !slices.ContainsFunc(tasks, func(t autotune.Task) bool { return len(results.Fastest(t.Subject.Family())) > 0 }) {
		return nil, fmt.Errorf("%s: no valid result is of a variant that is tuned, expected the parameters of its family", path)
	}
	return results, nil
}
