package tuned

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// A target is what times are predicted for: a device's multiprocessors, and of a workload the size, the spread and what
// has room.
type target struct {
	spread func(v *device.Variant, size, sms int) (parts, atOnce int)
	last   float64 // weight of the last round
	holds  func(v *device.Variant, size int) bool
	size   int
	sms    int
}

func (w *Workload) target(sms int) target {
	return target{w.Spread, cmp.Or(w.LastRound, lastRound), w.Holds, w.Size, sms}
}

// lastRound is Workload.LastRound where that is 0. Of 0, 0.3 and 0.5 to 1 by tenths, 0.5 and 0.6 come nearest to the fastest: of
// assignment/batch, each tuned size predicted from the others, 1.0 % in the mean, 2.3 with 0 and 1.4 with 1 (TestLeftOut -v
// in bench/tuning), and from those half as large and less 3.3, 14.2 and 4.0 % (TestLargerSizes).
const lastRound = 0.6

// uneven is the logarithm of how much longer a candidate's parts take there than if all rounds were full.
func (to *target) uneven(c *candidate) float64 {
	if to.spread == nil {
		return 0
	}
	parts, atOnce := to.spread(c.variant, to.size, to.sms)
	if parts < 1 || atOnce < 1 {
		return 0
	}
	return to.last * math.Log(float64((parts+atOnce-1)/atOnce*atOnce)/float64(parts))
}

// even is the logarithm of a result's time, less what the last round took longer where that was measured.
func (to *target) even(c *candidate, t *tunedSize) float64 {
	there := target{spread: to.spread, last: to.last, size: t.measured, sms: t.sms}
	return c.log - there.uneven(c)
}

// A span predicts times at a size from those at two tuned sizes.
type span struct {
	target
	low, high *tunedSize
	at        float64 // where the size lies: 0 at low and 1 at high, or beyond them
	growth    float64 // median logarithm of the times at high over those at low, of the variants measured at both
	common    int     // number of those
}

// spanning is the span of two tuned sizes for a target, whose size is the given one in the pool's terms.
func spanning(to target, size int, low, high *tunedSize) span {
	x := span{target: to, low: low, high: high, at: max(-2, min(3, logRatio(size, low.size)/logRatio(high.size, low.size)))}
	var room [2 * Kept]float64 // one of these may be far off, if a single sample was disturbed
	grown := room[:0]
	for i := range low.usable {
		c := &low.usable[i]
		if d := high.find(c.variant); d != nil {
			grown = append(grown, x.even(d, high)-x.even(c, low))
		}
	}
	if x.common = len(grown); x.common > 0 {
		slices.Sort(grown)
		x.growth = (grown[(x.common-1)/2] + grown[x.common/2]) / 2
	}
	return x
}

// all are the variants measured at either size, with the logarithms of their predicted times.
func (x *span) all() iter.Seq2[*candidate, float64] {
	return func(yield func(*candidate, float64) bool) {
		for i := range x.low.usable {
			if c := &x.low.usable[i]; !yield(c, x.between(c, x.high.find(c.variant))) {
				return
			}
		}
		for i := range x.high.usable {
			if d := &x.high.usable[i]; x.low.find(d.variant) == nil && !yield(d, x.between(nil, d)) {
				return
			}
		}
	}
}

// log is the logarithm of a variant's predicted time; the variant was measured at one of the two sizes.
func (x *span) log(v *device.Variant) float64 { return x.between(x.low.find(v), x.high.find(v)) }

// unseen is the logarithm by which a variant without a result at a tuned size is taken to be slower there
// than others that grow like it, where the size has many results: searches leave out variants that were slow at
// a glance or at another size. The fewer results there are, the likelier the variant was not tried. Of 0.05 to
// 0.6, alike for all sizes or growing with the results, 0.15 to 0.2 at Kept results came nearest to the fastest
// at the sizes of TestLeftOut in bench/tuning.
const unseen = 0.2

// between predicts from a variant's results at the two sizes, of which one may be nil.
func (x *span) between(c, d *candidate) float64 {
	switch {
	case d == nil:
		return x.along(c, x.low, x.at, x.growth, x.high) + x.uneven(c)
	case c == nil:
		return x.along(d, x.high, 1-x.at, -x.growth, x.low) + x.uneven(d)
	}
	low, high := x.even(c, x.low), x.even(d, x.high)
	near, beyond := low+max(0, min(1, x.at))*(high-low), x.at-max(0, min(1, x.at))
	return near + beyond*(ownGrowth*(high-low)+(1-ownGrowth)*x.growth) + x.uneven(c)
}

// ownGrowth is the part of a variant's own growth between two sizes by which it grows beyond them; the rest is
// the growth that all have in common. Of 0, 0.25, 0.5, 0.75 and 1 the three in the middle come nearest to the fastest where
// each size is predicted from those half as large and less: 3.4 % in the mean, 3.6 with 0 and 4.5 with 1 (TestLargerSizes in
// bench/tuning).
const ownGrowth = 0.25

// along is the logarithm of a time that is known at one of the two sizes, from, a part of the way to the other, t. At t
// the time is taken to be what those have grown to that were measured at both and, of a variant that has room for t, some
// more: in that direction at least a tenth more than the winner's, as else the search would have come to it (Promising).
func (x *span) along(c *candidate, from *tunedSize, part, growth float64, t *tunedSize) float64 {
	here := x.even(c, from)
	switch {
	case x.holds != nil && !x.holds(c.variant, t.measured):
		return here + part*growth
	case part < 0:
		return here + part*growth - part*t.doubt()
	}
	there := here + growth + t.doubt()
	if t.winner != nil && len(t.usable) > 1 {
		there = max(there, x.even(t.winner, t)+math.Log(closeTo))
	}
	return (1-part)*here + part*there
}

// doubt is the logarithm by which a variant without a result at the size is taken to be slower there: from what
// measured times are off by, where nothing was compared, to unseen.
func (t *tunedSize) doubt() float64 {
	least := math.Log1p(tied)
	return least + (unseen-least)*min(1, float64(len(t.usable)-1)/(Kept-1))
}
