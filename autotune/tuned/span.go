package tuned

import (
	"iter"
	"math"

	"coalesce/runtime/device"
)

// A span predicts times at a size from those at two tuned sizes.
type span struct {
	low, high *tunedSize
	at        float64 // where the size lies: 0 at low and 1 at high, or beyond them
	growth    float64 // mean logarithm of the times at high over those at low, of the variants measured at both
	common    int     // number of those
}

// spanning is the span of two tuned sizes for a size.
func spanning(size int, low, high *tunedSize) span {
	x := span{low: low, high: high, at: max(-2, min(3, logRatio(size, low.size)/logRatio(high.size, low.size)))}
	for i := range low.usable {
		c := &low.usable[i]
		if d := high.find(c.variant); d != nil {
			x.common++
			x.growth += (d.log - c.log - x.growth) / float64(x.common)
		}
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

// unseen is the logarithm by which a variant that was not measured at a tuned size is taken to be slower
// there than others that grow like it, where the size has several results: searches leave out variants that
// were slow at a glance or at another size. Of 0.02 to 2, 0.3 and 0.6 came nearest to the fastest at the sizes of
// TestLeftOut in bench/tuning.
const unseen = 0.3

// between predicts from a variant's results at the two sizes, of which one may be nil.
func (x *span) between(c, d *candidate) float64 {
	switch {
	case d == nil:
		return c.log + x.at*x.growth + math.Abs(x.at)*x.high.doubt()
	case c == nil:
		return d.log - (1-x.at)*x.growth + math.Abs(1-x.at)*x.low.doubt()
	}
	return (1-x.at)*c.log + x.at*d.log
}

// doubt is the logarithm by which a variant without a result at the size is taken to be slower there.
func (t *tunedSize) doubt() float64 {
	if len(t.usable) < 2 { // nothing was compared
		return math.Log1p(tied)
	}
	return unseen
}
