// Package tuning holds the commands about winners and trials: merge, compare, report and doctor,
// and the output of explain. It measures no kernel, and opens devices only as the command line
// does.
package tuning

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune"
	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

// Env has the parts of the command line that these commands use.
type Env struct {
	Program  string // its name
	Out      io.Writer
	Device   func(name string, threads int, work func(device.Device) error) error // opens, works, closes
	Path     func() (string, error)                                               // of the user's own
	Subjects []subject.Subject
	Damaged  func(trial.DamagedLine)                // tells of a line of trials that is left out
	Usage    func(format string, args ...any) error // a mistake in the command line
}

// Commands are merge, compare, report and doctor.
func (e Env) Commands() []*cobra.Command {
	return []*cobra.Command{e.mergeCommand(), e.compareCommand(), e.reportCommand(), e.doctorCommand()}
}

func (e Env) mergeCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Join files of tuned winners; where two have a winner for a size, the later stays",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			if output == "" {
				return e.Usage("--output is missing: expected the file to write")
			}
			return e.merge(files, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; to keep the winners it has, name it among FILE… too")
	return cmd
}

func (e Env) merge(files []string, output string) error {
	return trial.WithFolderLock(filepath.Dir(output), func() error {
		all := &tuned.Database{}
		for _, path := range files {
			db, err := tuned.Load(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.Out, "%s: %s\n", path, ui.Count(db.Len(), "entry"))
			all = tuned.Merge(all, db)
		}
		if err := all.Save(output); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Out, "%s: %s written\n", output, ui.Count(all.Len(), "entry"))
		return err
	})
}

func (e Env) compareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare A B",
		Short: "Compare the winners of two files, size by size",
		Long: `Compare the winners of two files of tuned winners, size by size. Faster and slower
mean that the medians differ by more than their noise. Not known means that one of the
files has no winner for the size or no scatter of it, or scatters by over a tenth. The
times are those of the sessions that measured them, perhaps on different days.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, files []string) error {
			a, err := tuned.Load(files[0])
			if err != nil {
				return err
			}
			b, err := tuned.Load(files[1])
			if err != nil {
				return err
			}
			return e.compare(a, b)
		},
	}
}

func (e Env) compare(a, b *tuned.Database) error {
	type pair struct{ a, b *tuned.Entry }
	pairs := map[string]*pair{}
	for i, db := range []*tuned.Database{a, b} {
		for _, entry := range db.Entries() {
			p := pairs[entry.Key()]
			if p == nil {
				p = &pair{}
				pairs[entry.Key()] = p
			}
			if i == 0 {
				p.a = &entry
			} else {
				p.b = &entry
			}
		}
	}
	var t ui.Table
	t.Row("family", "device", "workload", "size", "verdict", "A", "B", "winner of B")
	counts := map[string]int{}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		p := pairs[key]
		verdict := Verdict(p.a, p.b)
		counts[verdict]++
		some := p.a
		if p.b != nil {
			some = p.b
		}
		t.Row(some.Family, some.Class, formatWorkload(some.Fixed), fmt.Sprint(some.Size), verdict, took(p.a), took(p.b), winner(p.a, p.b))
	}
	if err := t.Write(e.Out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Out, "%d same, %d faster, %d slower, %d not known\n", counts[Same], counts[Faster], counts[Slower], counts[NotKnown])
	return err
}

// Verdicts of a comparison.
const (
	Same     = "same"
	Faster   = "faster"
	Slower   = "slower"
	NotKnown = "not known"
)

// Verdict says of the winner of b whether it takes less time than that of a, beyond the
// noise of both; nil stands for a size without one.
func Verdict(a, b *tuned.Entry) string {
	const tooNoisy = 0.10
	if a == nil || b == nil {
		return NotKnown
	}
	x, y := sample(a), sample(b)
	switch {
	case x.N < 3 || y.N < 3 || x.Q3 == 0 || y.Q3 == 0 || x.Noise() > tooNoisy || y.Noise() > tooNoisy:
		return NotKnown
	case float64(y.Median) < float64(x.Median)*(1-search.Margin(&x, &y)):
		return Faster
	case float64(x.Median) < float64(y.Median)*(1-search.Margin(&x, &y)):
		return Slower
	}
	return Same
}

// sample is the time of an entry's winner; half of the quartiles' distance stands for the
// deviation, which entries do not keep.
func sample(e *tuned.Entry) trial.Sample {
	r := e.Result(e.Winner)
	return trial.Sample{N: r.Samples, Median: r.Nanos, Q1: r.Q1, Q3: r.Q3, MAD: (r.Q3 - r.Q1) / 2}
}

func took(e *tuned.Entry) string {
	if e == nil {
		return "-"
	}
	return ui.Duration(time.Duration(e.Result(e.Winner).Nanos))
}

func winner(a, b *tuned.Entry) string {
	switch {
	case b == nil:
		return "-"
	case a != nil && a.Winner == b.Winner:
		return "that of A"
	}
	return b.Winner
}

// formatWorkload writes a workload in a stable order.
func formatWorkload(w map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(w)) {
		parts = append(parts, k+"="+w[k])
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ",")
}

// ownEntries are the user's entries beside those of the binary.
func (e Env) ownEntries(named string) (*tuned.Database, error) {
	shipped, err := tuned.Embedded()
	if err != nil {
		return nil, err
	}
	path := named
	if path == "" {
		if path, err = e.Path(); err != nil {
			return shipped, nil // no folder of the user's: the binary's alone
		}
	}
	db, err := tuned.Load(path)
	if errors.Is(err, os.ErrNotExist) && named == "" {
		return shipped, nil
	}
	if err != nil {
		return nil, err
	}
	return tuned.Merge(shipped, db), nil
}

// subjectsOn are the subjects of a problem, "" for all, that run on a device.
func (e Env) subjectsOn(problem string, facts device.Facts) []subject.Subject {
	return slices.DeleteFunc(slices.Clone(e.Subjects), func(s subject.Subject) bool {
		return !autotune.RunsOn(s, facts) || problem != "" && !strings.HasPrefix(s.Family().Name, problem+"/")
	})
}
