package tuned

import (
	"cmp"
	"math"
	"slices"
	"time"

	"coalesce/runtime/device"
)

// A Candidate is one of the variants that a choice was made among.
type Candidate struct {
	Variant  *device.Variant
	Time     time.Duration // measured at Size, or predicted, as from another class's time there; 0: not known
	Size     int           // the size at which Time was measured or is predicted
	Slowdown float64       // over the fastest candidate, whether that can run or not; of an all-rounder the mean over all sizes
	Refused  error         // why the variant cannot run here or is passed over for this instance; nil: it takes part
}

// Candidates are the variants with results that the choice rests on, fastest first: those measured at its size or at
// those next to it. Where nothing was measured, or on devices unlike this one alone, there are none. w and feasible are those of Choose.
func (c Choice) Candidates(w Workload, feasible func(*device.Variant) error) []Candidate {
	if c.low == nil || c.Level == FamilyDefault {
		return nil
	}
	s := search{family: c.family, w: w, feasible: feasible}
	x := w.interpolate(c.here.sms, c.low, c.high)
	var list []Candidate
	for r, log := range x.candidates() {
		k := Candidate{Variant: r.variant, Size: w.Size, Time: time.Duration(math.Round(math.Exp(log))), Slowdown: log}
		if c.low == c.high {
			k.Size = c.low.measured
		}
		s.why = nil
		if !s.eligible(r.variant, &x) {
			k.Refused = s.why
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Slowdown, b.Slowdown), cmp.Compare(a.Variant.Label, b.Variant.Label))
	})
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Slowdown = math.Exp(list[i].Slowdown - list[0].Slowdown)
	}
	return list
}
