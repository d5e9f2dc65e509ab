// Package result is the form in which benchmark results are committed: the
// experiment, the device, the command, and every row behind the tables and
// plots.
package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A File is one experiment of coalition structures on one device.
type File = Experiment[Row]

// Experiment is one experiment on one device, with rows of some form.
type Experiment[R any] struct {
	Experiment string `json:"experiment"`
	Device     string `json:"device"` // the device's name
	Driver     string `json:"driver"`
	Commit     string `json:"commit"`
	Command    string `json:"command"`
	Date       string `json:"date"`
	Unfinished bool   `json:"unfinished,omitempty"` // rows were left out, or went wrong
	Rows       []R    `json:"rows"`
}

// Measured is a row of any form.
type Measured interface {
	Succeeded() bool // nothing went wrong
}

// Succeeded reports that nothing went wrong.
func (r Row) Succeeded() bool { return r.Failed == "" }

// A Row is one variant at one size. Seconds cover the whole launch sequence,
// values resident on the device.
type Row struct {
	Name       string    `json:"name"`
	Variant    string    `json:"variant,omitempty"`
	Method     string    `json:"method,omitempty"`
	Agents     int       `json:"agents"`
	Seed       uint64    `json:"seed,omitempty"`
	Value      string    `json:"value,omitempty"`   // the optimum, where it is compared; of a search the best
	Devices    int       `json:"devices,omitempty"` // where there are several
	Splittings float64   `json:"splittings"`        // evaluated a run
	Runs       []float64 `json:"seconds"`           // of every run, in order
	Sent       []float64 `json:"sent,omitempty"`    // of these, drawing the values on the device or sending them
	Bound      string    `json:"bound,omitempty"`   // of a search, where one is known
	Proven     bool      `json:"proven,omitempty"`  // of a search with a bound
	Checked    float64   `json:"checked,omitempty"` // seconds of the check of a proof
	Reached    *float64  `json:"reached,omitempty"` // seconds after which the search had what the other one found in the end
	Cycles     []uint64  `json:"cycles,omitempty"`
	Bounds     string    `json:"bounds,omitempty"` // of the cycles: printed, where GPU-CSG has its checkpoints; else the third stands after initialSplit
	Failed     string    `json:"failed,omitempty"`
}

// Median of the runs, in seconds; 0 when there are none.
func (r Row) Median() float64 { return Median(r.Runs) }

// Median of numbers; 0 when there are none.
func Median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Rate is splittings a second at the median.
func (r Row) Rate() float64 {
	if m := r.Median(); m > 0 {
		return r.Splittings / m
	}
	return 0
}

// Write stores f as dir/NAME.json.
func (f *Experiment[R]) Write(dir, name string) error {
	f.Date = cmp.Or(f.Date, time.Now().UTC().Format(time.DateOnly))
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o644)
}

// Load loads a file that Write stored, with rows of some form.
func Load[R any](path string) (*Experiment[R], error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f Experiment[R]
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &f, nil
}
