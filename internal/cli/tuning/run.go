package tuning

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

// ProgressLine is the progress line of tuning.
func ProgressLine(e autotune.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s size %d: %s %d/%d", e.Family, e.Fixed["value"], e.Size, e.Phase, e.Done, e.Total)
	if e.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", e.Failed)
	}
	if e.BestTime > 0 {
		fmt.Fprintf(&b, ", best %s", ui.Duration(e.BestTime))
		if e.SafeTime > 0 {
			fmt.Fprintf(&b, " (%+.0f %% of the safe point's time)", 100*e.VsSafe)
		}
	}
	if e.Remaining > 0 {
		fmt.Fprintf(&b, ", %s left", e.Remaining.Round(time.Second))
	}
	return b.String()
}

// ReportUndecided counts the sizes that a budget did not reach, and estimates the budget that would.
func ReportUndecided(say func(string), sums []autotune.Summary) {
	open, all, missing := 0, 0, time.Duration(0)
	for i := range sums {
		open += len(sums[i].Undecided)
		all += len(sums[i].Undecided) + len(sums[i].Winners) + sums[i].Earlier
		missing += sums[i].Missing
	}
	if open == 0 {
		return
	}
	line := fmt.Sprintf("%d of %s not decided for lack of time; the same command again goes on", open, ui.Count(all, "size"))
	if missing > 0 {
		line += fmt.Sprintf(", and takes about %s for them", missing.Round(time.Second))
	}
	say(line)
}

// EarlierWinners returns the winners that a file has, which those of a tune will go to; nil where the file does not
// exist, which is an error if there must be one. It makes the folder, and tries to write there: an hour of
// tuning must not end in finding out.
func EarlierWinners(path string, must bool) (*tuned.Database, error) {
	if err := writable(path); err != nil {
		return nil, err
	}
	db, err := tuned.Load(path)
	if errors.Is(err, os.ErrNotExist) && !must {
		return nil, nil
	}
	return db, err
}

// writable makes the folder of a file, and a file in it that it removes again.
func writable(path string) error {
	if err := trial.CheckRegularFile(path); err != nil {
		return fmt.Errorf("save %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tuned-*")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// CrossoverSizes are autotune.CrossoverSizes of tasks; say gets a line where there are none.
func CrossoverSizes(say func(string), tasks []autotune.Task, known *tuned.Database, facts device.Facts) []autotune.Task {
	some := autotune.CrossoverSizes(tasks, known, facts)
	if len(some) == 0 {
		say(fmt.Sprintf("nothing to tune: no winner of %s overtakes another between two tuned sizes", facts.Class()))
	}
	return some
}

// SelectPart is the part of the tasks that text names, K/N. Its errors are mistakes in the
// command line.
func SelectPart(text string, tasks []autotune.Task, known *tuned.Database, facts device.Facts) ([]autotune.Task, error) {
	k, n, err := autotune.ParsePart(text)
	if err != nil {
		return nil, fmt.Errorf("--part is %w", err)
	}
	return autotune.PartOfTasks(tasks, known, facts, k, n), nil
}

// WinnersOver returns the winners of a file over others; the file may not exist yet.
func WinnersOver(path string, under *tuned.Database) (*tuned.Database, error) {
	own, err := tuned.Load(path)
	switch {
	case err == nil:
		return own.Over(under), nil
	case errors.Is(err, os.ErrNotExist):
		return under, nil
	}
	return nil, err
}

// MergeRank takes over what a rank tuned: winners into the file at path, its report to out and
// its errors to talk. Rank 0's winners are there, and its errors were told.
func MergeRank(path string, rank int, winners []byte, sums []autotune.Summary, out io.Writer, text []byte, talk io.Writer, errs string) error {
	if rank > 0 && len(text) > 0 && text[0] != '{' { // a report for people
		text = append([]byte{'\n'}, text...)
	}
	if _, err := out.Write(text); err != nil || rank == 0 {
		return err
	}
	if errs = strings.TrimSpace(errs); errs != "" {
		fmt.Fprintf(talk, "%s\n", strings.Replace(errs, "coalesce: ", fmt.Sprintf("coalesce: rank %d: ", rank), 1))
	}
	if len(winners) == 0 {
		return nil
	}
	db, err := tuned.Decode(fmt.Sprintf("winners of rank %d", rank), winners)
	if err != nil {
		return err
	}
	return autotune.SaveWinners(path, db, sums)
}
