package tuning

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune"
	"coalesce/autotune/page"
	"coalesce/autotune/report"
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
		Short: "Print or chart recorded trials: winners, progress, and the worth of each parameter",
		Long: `Print the fastest variant of each size of the trials that tune has recorded, with its
share of the device's ceiling: the bandwidth of its memory or its rate of arithmetic,
whichever a run needs longer for. A share above 100 % means that data stay in caches.

With --output the command makes one self-contained HTML page of them. For each family, device and workload it shows the fastest variant of each size, the
best time so far against the time spent, the speed-up over the safe variant, the loss
with each parameter at another value, a heat map for each pair of parameters, the loss
with one variant for all sizes, and the trials that failed, with reasons. Lists at its
top filter by family, size and device.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
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
	if html == "" && table == "" && figures == "" && exchange == "" {
		return e.fastest(studies)
	}
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

// fastest prints the fastest variant of each size.
func (e Env) fastest(studies []*page.Study) error {
	for _, s := range studies {
		var t ui.Table
		t.AlignRight(0, 1, 2, 3)
		t.Row("size", "time", "vs safe", "measured", "ceiling", "variant")
		for _, size := range s.Sizes {
			best, versus := size.Best(), "-"
			if x := size.Speedup(); x > 0 {
				versus = fmt.Sprintf("%.2f×", x)
			}
			t.Row(strconv.Itoa(size.Size), report.FormatDuration(time.Duration(best.Nanos)), versus, strconv.Itoa(len(size.Points)),
				trial.ShareText(best.Ceiling.Share(best.Nanos)), best.Variant)
		}
		fmt.Fprintf(e.Out, "%s on %s, workload %s\n", s.Family, ui.EscapeControl(s.Class), s.Workload())
		if err := t.Write(e.Out); err != nil {
			return err
		}
		fmt.Fprintln(e.Out)
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
