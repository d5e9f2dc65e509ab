// Package t4 reads and writes results of autotuners in the community's T4 form, schema 1.0.0 of
// https://github.com/KernelTuner/kernel_tuner (kernel_tuner/schema/T4).
package t4

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Version of the schema.
const Version = "1.0.0"

// Results are the results of one search space on one device, or of several.
type Results struct {
	Version  string            `json:"schema_version"`
	Metadata map[string]string `json:"metadata"`
	Results  []Result          `json:"results"`
}

// A Result is of one configuration. Times are milliseconds.
type Result struct {
	Timestamp     string         `json:"timestamp,omitempty"`
	Configuration map[string]any `json:"configuration"` // by parameter: a json.Number, a text or a bool
	Times         Times          `json:"times"`
	Invalidity    string         `json:"invalidity"` // Correct, or what went wrong
	Correctness   float64        `json:"correctness"`
	Measurements  []Measurement  `json:"measurements"`
	Objectives    []string       `json:"objectives"` // names of measurements
}

// Values of Result.Invalidity.
const (
	Correct     = "correct"
	Timeout     = "timeout"
	Compile     = "compile"
	Runtime     = "runtime"
	Incorrect   = "correctness"
	Constraints = "constraints"
)

// Times are what a trial took. Kernel Tuner writes compilation where the schema says compilation_time.
type Times struct {
	Compilation float64   `json:"compilation,omitempty"`
	Compiling   float64   `json:"compilation_time,omitempty"`
	Framework   float64   `json:"framework"`
	Search      float64   `json:"search_algorithm"`
	Validation  float64   `json:"validation"`
	Runs        []float64 `json:"runtimes"`
}

// A Measurement is one quantity. The value is a json.Number, a text or a list.
type Measurement struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
}

// Read reads results.
func Read(r io.Reader) (*Results, error) {
	var f Results
	d := json.NewDecoder(r)
	d.UseNumber()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("T4 results: %w", err)
	}
	if major, _, _ := strings.Cut(f.Version, "."); major != "1" {
		return nil, fmt.Errorf("T4 results: schema version %q, expected %s", f.Version, Version)
	}
	return &f, nil
}

// Write writes results.
func (f *Results) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// Text is the value of a parameter as the label of a variant has it.
func (r *Result) Text(param string) (string, bool) {
	x, ok := r.Configuration[param]
	return fmt.Sprint(x), ok
}

// Time is the first objective, in milliseconds; 0 where the configuration is not valid.
func (r *Result) Time() float64 {
	if r.Invalidity != Correct || len(r.Objectives) == 0 {
		return 0
	}
	for _, m := range r.Measurements {
		if m.Name == r.Objectives[0] {
			if n, ok := m.Value.(json.Number); ok {
				x, _ := n.Float64() // 0 for an error
				return x
			}
		}
	}
	return 0
}

// Cost is what the trial took but for its runs, in milliseconds.
func (r *Result) Cost() float64 {
	return r.Times.Compilation + r.Times.Compiling + r.Times.Framework + r.Times.Search + r.Times.Validation
}
