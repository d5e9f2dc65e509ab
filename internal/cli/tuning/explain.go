package tuning

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

// An Explanation is a choice, as explain prints it. Its members are those of the JSON
// object.
type Explanation struct {
	Family     string            `json:"family"`
	Fixed      map[string]string `json:"fixed"` // the workload's parameters
	Size       int               `json:"size"`
	Unit       string            `json:"unit"` // what a size is a number of
	Device     string            `json:"device"`
	Level      string            `json:"level"`   // what the choice rests on; empty: no variant fits
	Variant    string            `json:"variant"` // label; empty: no variant fits
	Reason     string            `json:"reason"`
	Candidates []candidate       `json:"candidates"` // fastest first
}

type candidate struct {
	Variant  string  `json:"variant"`
	Seconds  float64 `json:"seconds"`  // measured or predicted; 0: not known
	Size     int     `json:"size"`     // that Seconds is for
	Slowdown float64 `json:"slowdown"` // over the fastest candidate
	Refused  string  `json:"refused"`  // why it does not take part; empty: it does
}

// Explain is the choice that a program makes when it solves; nil where problems with these parameters
// take the workload of another type, which fits them better.
func Explain(program string, db *tuned.Database, sub subject.Subject, facts device.Facts, fixed map[string]string, size int, unit string) *Explanation {
	f := sub.Family()
	x := &Explanation{Family: f.Name, Fixed: fixed, Size: size, Unit: unit, Device: facts.String(), Candidates: []candidate{}}
	w, chosen, err := autotune.DescribeWorkload(sub, fixed, facts, size)
	if err == nil && !chosen {
		return nil
	}
	feasible := func(v *device.Variant) error {
		return cmp.Or(facts.CheckLoadable(f, v), sub.Feasible(v, facts, size))
	}
	var c tuned.Choice
	if err == nil {
		c, err = db.Choose(f, facts, w, feasible)
	}
	if err != nil {
		x.Reason = err.Error()
		return x
	}
	x.Level, x.Variant, x.Reason = c.Level, c.Variant.Label, c.ReasonOf(program)
	for _, k := range c.Candidates(w, feasible) {
		one := candidate{Variant: k.Variant.Label, Seconds: k.Time.Seconds(), Size: k.Size, Slowdown: k.Slowdown}
		if k.Refused != nil {
			one.Refused = k.Refused.Error()
		}
		x.Candidates = append(x.Candidates, one)
	}
	return x
}

// Write prints an explanation: what was chosen, why, and the candidates.
func (x *Explanation) Write(out io.Writer) error {
	var work string
	for _, p := range slices.Sorted(maps.Keys(x.Fixed)) {
		work += " " + p + "=" + x.Fixed[p]
	}
	var head ui.Table
	head.Row("family", fmt.Sprintf("%s%s on %s, size %d (%s)", x.Family, work, x.Device, x.Size, x.Unit))
	if x.Variant != "" {
		head.Row("variant", x.Variant)
	}
	head.Row("reason", x.Reason)
	if err := head.Write(out); err != nil {
		return err
	}
	if len(x.Candidates) > 0 {
		var t ui.Table
		t.AlignRight(1, 2, 3)
		t.Row("", "time", "at size", "slowdown", "variant")
		for _, k := range x.Candidates {
			mark, took, at, label := "", "-", "-", k.Variant
			if k.Variant == x.Variant {
				mark = "*"
			}
			if k.Seconds > 0 {
				took, at = ui.Duration(time.Duration(k.Seconds*float64(time.Second))), fmt.Sprint(k.Size)
			}
			if k.Refused != "" {
				label += " (not here: " + k.Refused + ")"
			}
			t.Row(mark, took, at, fmt.Sprintf("%.2f", k.Slowdown), label)
		}
		if err := t.Write(out); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}
