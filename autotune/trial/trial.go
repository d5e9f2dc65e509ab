// Package trial has the record of one attempt to verify or measure a variant, and the append-only file
// of such records. Every trial leaves a record: also that of a variant that did not compile, crashed or
// answered wrongly, with the reason.
package trial

import (
	"fmt"
	"slices"
	"time"

	"coalesce/runtime/device"
)

// Schema is what every record begins with; the number is the major version.
const Schema = "trial/1"

// Protocol names the measuring protocol of autotune/measure.
const Protocol = "mp1"

// A Status is the outcome of a trial.
type Status string

// The statuses of a trial.
const (
	OK         Status = "ok"         // verified, or verified and measured
	Constraint Status = "constraint" // not feasible at this size on this device
	Compile    Status = "compile"    // could not be compiled or loaded
	Launch     Status = "launch"     // failed while running, or took the worker with it
	Verify     Status = "verify"     // ran and answered wrongly: a bug
	Timeout    Status = "timeout"    // did not end in time, worker killed
	Memory     Status = "oom"        // the device could not hold the instance
	Skipped    Status = "skipped"    // not tried, or interrupted
)

// Statuses are all statuses, in the order of reports.
var Statuses = []Status{OK, Constraint, Compile, Launch, Verify, Timeout, Memory, Skipped}

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool {
	return slices.Contains(Statuses, s)
}

// Actions of a trial.
const (
	ActionVerify  = "verify"  // answer every case of the subject
	ActionMeasure = "measure" // time a random instance, then verify again
	ActionDone    = "done"    // no trial: the search of a workload ended here
)

// A Trial is one record.
type Trial struct {
	Schema      string            `json:"schema"`
	Protocol    string            `json:"protocol"`
	Session     string            `json:"session,omitempty"` // one run of the tuner
	Time        time.Time         `json:"time"`
	Family      string            `json:"family"`
	FamilyHash  string            `json:"family_hash"` // 16 hexadecimal digits
	Variant     string            `json:"variant"`     // label
	VariantHash string            `json:"variant_hash"`
	Class       string            `json:"class"` // device.Facts.Class
	Driver      string            `json:"driver,omitempty"`
	UUID        string            `json:"uuid,omitempty"` // which card: provenance
	Fixed       map[string]string `json:"fixed"`
	Size        int               `json:"size"`
	Seed        uint64            `json:"seed"` // of the instance that was timed
	Action      string            `json:"action"`
	Phase       string            `json:"phase,omitempty"` // of the search
	Status      Status            `json:"status"`
	Error       string            `json:"error,omitempty"` // why the status is not ok
	Cases       int               `json:"cases,omitempty"` // answered correctly, each twice; in a worker's first measurement of a variant, or a verification
	Timing
	Wall int64 `json:"wall_ns"` // of the whole trial
}

// A Timing is what a measurement found.
type Timing struct {
	Cold    *Sample  `json:"cold,omitempty"`    // L2 flushed before each sample
	Hot     *Sample  `json:"hot,omitempty"`     // caches as the run before left them
	Stop    string   `json:"stop,omitempty"`    // why sampling ended
	Work    float64  `json:"work,omitempty"`    // basic operations a run does
	Ceiling *Ceiling `json:"ceiling,omitempty"` // of the device, for such a run
}

// A Ceiling bounds the speed of a run: the least bytes and operations that it needs, over its device's peaks. Zero
// means not known.
type Ceiling struct {
	Bytes      float64      `json:"bytes,omitempty"`      // moved between device memory and processors
	Bandwidth  float64      `json:"bandwidth,omitempty"`  // bytes a second
	Operations float64      `json:"operations,omitempty"` // additions and multiplications
	Arithmetic device.Value `json:"arithmetic,omitempty"` // their type
	Rate       float64      `json:"rate,omitempty"`       // operations of the type a second
}

// Share is the part of the ceiling that a run of so many nanoseconds reaches, and which peak is the ceiling: "bandwidth", or the type of the
// arithmetic. It exceeds 1 where data stay in caches. 0 means not known.
func (c *Ceiling) Share(nanos float64) (part float64, of string) {
	if c == nil || nanos <= 0 {
		return 0, ""
	}
	if c.Bytes > 0 && c.Bandwidth > 0 {
		part, of = c.Bytes/c.Bandwidth*1e9/nanos, "bandwidth"
	}
	if c.Operations > 0 && c.Rate > 0 {
		if x := c.Operations / c.Rate * 1e9 / nanos; x > part {
			part, of = x, string(c.Arithmetic)
		}
	}
	return part, of
}

// ShareText writes a share of Ceiling.Share: "63 % of bandwidth", or "-" where it is not known.
func ShareText(part float64, of string) string {
	if of == "" {
		return "-"
	}
	if part >= 0.1 {
		return fmt.Sprintf("%.0f %% of %s", 100*part, of)
	}
	return fmt.Sprintf("%.2g %% of %s", 100*part, of)
}

// New begins a record of a variant on a device.
func New(f *device.Family, v *device.Variant, facts device.Facts) Trial {
	return Trial{
		Schema:      Schema,
		Protocol:    Protocol,
		Family:      f.Name,
		FamilyHash:  fmt.Sprintf("%016x", f.Hash),
		Variant:     v.Label,
		VariantHash: fmt.Sprintf("%016x", v.Hash),
		Class:       facts.Class(),
		Driver:      facts.Driver,
		UUID:        facts.UUID,
	}
}

// Best is the sample by which variants are compared: cold if the device's L2 size is known, because a
// solver solves each instance once, else hot; nil if the trial measured nothing.
func (t *Trial) Best() *Sample {
	if t.Cold != nil {
		return t.Cold
	}
	return t.Hot
}

// A Sample is the statistics of one kind of samples. Times are nanoseconds for
// one run of the launch sequence.
type Sample struct {
	N      int   `json:"n"`
	Median int64 `json:"med_ns"`
	Q1     int64 `json:"q1_ns"`
	Q3     int64 `json:"q3_ns"`
	Min    int64 `json:"min_ns"`
	MAD    int64 `json:"mad_ns"` // median absolute deviation from the median
	Repeat int   `json:"repeat"` // runs between the two events of a sample
	// Others is the part, 0 to 1, of the host's cores that other processes took meanwhile.
	Others float64 `json:"others,omitempty"`
}

// Noise is the relative median absolute deviation.
func (s *Sample) Noise() float64 {
	if s.Median <= 0 {
		return 0
	}
	return float64(s.MAD) / float64(s.Median)
}
