// Package report tells what a run of the tuner found, as text for people and as
// JSON for programs. All that it prints is in the summary.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/trial"
)

// JSON writes the summary as one indented document.
func JSON(w io.Writer, s *autotune.Summary) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteText writes a table of winners with their speed-up over the safe point, and
// one of failures with their reasons.
func WriteText(w io.Writer, s *autotune.Summary) error {
	p := &printer{w: w}
	p.printf("%s on %s: %s\n", s.Family, s.Device, stopped(s))
	p.printf("%d variants, %d not feasible, %d tried; trials: %s\n", s.Points, s.Infeasible, s.Tried, counts(s.Counts))
	if s.Resumed > 0 {
		p.printf("%d of the trials are of a run that was cut short\n", s.Resumed)
	}
	if c := s.Compiled; c.Time >= time.Second {
		p.printf("%d variants compiled in %v, of which the device waited %v\n", c.Variants, c.Time.Round(time.Second/10), c.Waited.Round(time.Second/10))
	}
	if s.Drift > 0 {
		p.printf("warning: the safe point's time changed by up to %.0f %% while screening; the device was not at rest\n", 100*s.Drift)
	}
	switch {
	case s.Tried > 0 && len(s.Counts) > 0 && s.Counts[trial.OK] == 0:
		p.printf("\nno winner: no variant ran to its end\n")
	case len(s.Winners) > 0 || len(s.Noisy) == 0:
		p.winners(s.Winners)
	}
	p.undecided(s)
	p.failures(s.Failures)
	if p.err != nil {
		return fmt.Errorf("report: %w", p.err)
	}
	return nil
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table prints rows of cells separated by tabs.
func (p *printer) table(rows []string) {
	if p.err != nil {
		return
	}
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, r)
	}
	p.err = t.Flush()
}

// undecided tells which sizes the budget did not reach, and which were measured in too much noise.
func (p *printer) undecided(s *autotune.Summary) {
	if n := len(s.Noisy); n > 0 {
		p.printf("\nsizes not decided, as samples scatter, or other processes computed, by more than --noise allows: %d", n)
		p.keys(s.Noisy)
	}
	if n := len(s.Undecided); n > 0 {
		p.printf("\nsizes not decided for lack of time: %d", n)
		if s.Missing > 0 {
			p.printf(", which take about %v", s.Missing.Round(time.Second))
		}
		p.keys(s.Undecided)
	}
}

// keys ends a line with sizes by workload.
func (p *printer) keys(keys []autotune.Key) {
	const most = 6
	var order []string
	sizes := map[string][]string{}
	for _, k := range keys {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(k.Fixed)) {
			parts = append(parts, name+"="+k.Fixed[name])
		}
		w := strings.Join(parts, ",")
		if sizes[w] == nil {
			order = append(order, w)
		}
		sizes[w] = append(sizes[w], fmt.Sprint(k.Size))
	}
	for k, w := range order {
		if k == most {
			p.printf("; %d workloads more", len(order)-most)
			break
		}
		p.printf("; %s", strings.TrimSpace(w+" "+strings.Join(sizes[w], " ")))
	}
	p.printf("\n")
}

func (p *printer) winners(ws []autotune.Winner) {
	if len(ws) == 0 {
		p.printf("\nno winner: too little was measured to prove one\n")
		return
	}
	rows := []string{"fixed\tsize\twinner\ttime\t±\tvs safe\trate\tceiling\tof\twhy"}
	for _, w := range ws {
		vs := "-"
		if w.Speedup > 0 {
			vs = fmt.Sprintf("%.2f×", w.Speedup)
		}
		rate := "-"
		if w.Rate > 0 {
			rate = fmt.Sprintf("%.3g/s", w.Rate)
		}
		why := w.Why
		if !w.Complete {
			why += " (not complete)"
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%.1f%%\t%s\t%s\t%s\t%d\t%s",
			fixed(w.Fixed), w.Size, w.Variant, FormatDuration(w.Time), 100*w.Noise, vs, rate, trial.ShareText(w.Share, w.Ceiling), w.Measured, why))
	}
	p.printf("\n")
	p.table(rows)
}

func (p *printer) failures(fs []autotune.Failure) {
	if len(fs) == 0 {
		return
	}
	rows := []string{"failed\tsize\tvariant\treason"}
	for _, f := range fs {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s", f.Status, f.Size, f.Variant, oneLine(f.Error)))
	}
	p.printf("\n")
	p.table(rows)
}

func stopped(s *autotune.Summary) string {
	return fmt.Sprintf("%s after %s", s.Stopped, s.Elapsed.Round(100*time.Millisecond))
}

// counts lists the statuses that occurred.
func counts(c map[trial.Status]int) string {
	var parts []string
	for _, s := range trial.Statuses {
		if n := c[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", s, n))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func fixed(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ",")
}

// oneLine shortens a message for a table.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return s
}

// FormatDuration writes a time with four digits.
func FormatDuration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.4g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.4g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.4g µs", d.Seconds()*1e6)
}
