package tuned

import (
	"iter"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// The constants of all predictions are logarithms. Values near these choose as well on the recorded rows (bench/tuning).
const (
	// proven is the lead of a winner: the tuner, too, has a winner beaten by that much.
	proven = 0.03
	// close is how much more time than the fastest a variant may take that is worth a try or may stand in for it.
	close = 0.1
	// unseen is how much slower than others a variant is taken to be at a tuned size where it has no result: searches leave
	// out what was slow at a glance or at another size.
	unseen = 0.25
	// lastWave is the weight of a last wave, from 0, its share alone, to 1, as long as a full one.
	lastWave = 0.7
)

// A interpolation predicts times at a workload's size from those at the two tuned sizes around it, or at the one next to it. A
// variant's time is the common growth from the lower size to the higher, times the variant's own factor. The factor's
// logarithm changes in proportion to the size's logarithm.
type interpolation struct {
	w         *Workload
	sms       int        // multiprocessors of the device
	low, high *tunedSize // the same where one stands alone
	at        float64    // where the size lies, from 0 at low to 1 at high
	growth    float64    // from low to high, a logarithm
}

func (w *Workload) interpolate(sms int, low, high *tunedSize) interpolation {
	x := interpolation{w: w, sms: sms, low: low, high: high}
	if low != high {
		x.at = logRatio(w.Size, low.size) / logRatio(high.size, low.size)
		x.growth = w.timeGrowth(low, high)
	}
	return x
}

// timeGrowth is the median logarithm of the times at one tuned size over those at another, of the variants measured at both:
// one of these may be far off, if a single sample was disturbed. Without such variants it is that of the fastest.
func (w *Workload) timeGrowth(low, high *tunedSize) float64 {
	var room [4 * Kept]float64
	grown := room[:0]
	for i := range low.usable {
		c := &low.usable[i]
		if d := high.find(c.variant); d != nil {
			grown = append(grown, w.whole(d, high)-w.whole(c, low))
		}
	}
	n := len(grown)
	if n == 0 {
		return high.usable[0].log - low.usable[0].log
	}
	slices.Sort(grown)
	return (grown[(n-1)/2] + grown[n/2]) / 2
}

// candidates are the variants measured at either size, with the logarithms of their predicted times.
func (x *interpolation) candidates() iter.Seq2[*candidate, float64] {
	return func(yield func(*candidate, float64) bool) {
		for i := range x.low.usable {
			if c := &x.low.usable[i]; !yield(c, x.log(c, x.high.find(c.variant))) {
				return
			}
		}
		for i := range x.high.usable {
			if d := &x.high.usable[i]; x.low.find(d.variant) == nil && !yield(d, x.log(nil, d)) {
				return
			}
		}
	}
}

// log is the logarithm of a variant's predicted time, from its results at the two sizes, one of which may be nil.
func (x *interpolation) log(c, d *candidate) float64 {
	var v *device.Variant
	var low, high float64
	switch {
	case c == nil:
		v, high = d.variant, x.w.whole(d, x.high)-x.growth
		low = high + x.w.doubt(v, x.low)
	case d == nil:
		v, low = c.variant, x.w.whole(c, x.low)
		high = low + x.w.doubt(v, x.high)
	default:
		v, low, high = c.variant, x.w.whole(c, x.low), x.w.whole(d, x.high)-x.growth
	}
	return low + x.at*(high-low+x.growth) + x.w.waveCost(v, x.w.Size, x.sms)
}

// doubt is how much slower a variant without a result at a tuned size is taken to be there: not at all where it has no
// room for that size, or no other was compared with the winner.
func (w *Workload) doubt(v *device.Variant, t *tunedSize) float64 {
	if len(t.usable) < 2 || w.HasRoom != nil && !w.HasRoom(v, t.measured) {
		return 0
	}
	return unseen
}

// winnerBonus is the logarithm of the part of its predicted time by which a variant goes before others for having won, at each
// of the two sizes.
func (x *interpolation) winnerBonus(v *device.Variant) float64 {
	return min(x.low.lead(v), x.high.lead(v))
}

// lead has a winner go before variants with lesser times, which their samples do not prove.
func (t *tunedSize) lead(v *device.Variant) float64 {
	if t.winner != v {
		return 0
	}
	return t.winnerLog - t.usable[0].log + proven
}

// whole is the logarithm of a result's time, less what its last wave cost where it was measured.
func (w *Workload) whole(c *candidate, t *tunedSize) float64 {
	return c.log - w.waveCost(c.variant, t.measured, t.on.class.sms)
}

// waveCost is WaveCost, 0 where there is none.
func (w *Workload) waveCost(v *device.Variant, size, sms int) float64 {
	if w.WaveCost == nil {
		return 0
	}
	return w.WaveCost(v, size, sms)
}

// WaveQuantization is the WaveCost of work that is cut into so many equal parts, of which so many run at once: a last wave
// that is not full takes more than its share, so that times grow by steps.
func WaveQuantization(parts, atOnce int) float64 {
	if parts < 1 || atOnce < 1 {
		return 0
	}
	waves := (parts + atOnce - 1) / atOnce
	return lastWave * math.Log(float64(waves*atOnce)/float64(parts))
}
