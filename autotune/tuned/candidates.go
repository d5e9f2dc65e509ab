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

// Candidates are the variants with results that the choice rests on, fastest first:
// those measured at its size or at the nearest, predicted between and beyond two sizes,
// or over all sizes. Where nothing was measured, or for a family default, there are
// none. w and feasible are those of Choose.
func (c Choice) Candidates(w Workload, feasible func(*device.Variant) error) []Candidate {
	var list []Candidate
	add := func(v *device.Variant, size int, log float64) {
		x := Candidate{Variant: v, Size: size, Slowdown: log}
		if size > 0 {
			x.Time = time.Duration(math.Round(math.Exp(log)))
		}
		if feasible != nil {
			x.Refused = feasible(v)
		}
		if x.Refused == nil && w.Similar != nil && (c.Level != Exact || c.size != w.Size) {
			x.Refused = w.Similar(v)
		}
		list = append(list, x)
	}
	switch c.Level {
	case Exact, Nearest:
		for _, r := range c.low.usable {
			add(r.variant, c.low.size, r.log)
		}
	case Interpolated, Extrapolated:
		x := spanning(w.target(c.sms), c.size, c.low, c.high)
		for r, log := range x.all() {
			add(r.variant, c.size, log)
		}
	case DeviceDefault:
		for _, r := range c.pool.rounders {
			add(r.variant, 0, r.log)
		}
	default:
		return nil
	}
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Slowdown, b.Slowdown), cmp.Compare(a.Variant.Label, b.Variant.Label))
	})
	for i := len(list) - 1; i >= 0; i-- {
		least := list[0].Slowdown
		if c.Level == DeviceDefault {
			least = 0
		}
		list[i].Slowdown = math.Exp(list[i].Slowdown - least)
	}
	return list
}
