package tuning

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coalesce/autotune"
	"coalesce/internal/ui"
)

// Line is the progress line of tuning.
func Line(e autotune.Event) string {
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

// Writable makes the folder of the file that the winners will go to and tries
// to write there: an hour of tuning must not end in finding out.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("save %s: found no regular file, expected one: winners are written and read again", path)
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
