package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A Measured is a verified variant with its time at one size.
type Measured struct {
	Variant *device.Variant
	Sample  trial.Sample
	Work    float64 // basic operations a run does
	Final   bool    // measured in the final rounds, not in screening alone
}

// Margin is the least relative difference of two medians that is taken for
// real: 1 %, or, where the samples scatter more, twice the pooled relative MAD, or
// four standard errors of that difference where so many samples make that less. The
// median of n normal samples has a standard error of 1.86 MAD/√n.
func Margin(a, b *trial.Sample) float64 {
	va, vb := a.Noise()*a.Noise(), b.Noise()*b.Noise()
	errors := 4 * 1.86 * math.Sqrt(va/float64(max(1, a.N))+vb/float64(max(1, b.N)))
	return max(0.01, min(2*math.Sqrt((va+vb)/2), errors))
}

// faster reports whether a beats b by more than the margin.
func faster(a, b *trial.Sample) bool {
	return float64(a.Median) < float64(b.Median)*(1-Margin(a, b))
}

// Decide picks the winner of one size. The incumbent (a label, "" for none)
// keeps the crown unless a challenger beats it by more than the margin. Among
// the challengers that do, those within the margin of the fastest are tied; a
// tie goes to the smaller block, then to the lexically first label, so that
// near-ties do not flip between sessions. why is a phrase for reports.
func Decide(f *device.Family, results []Measured, incumbent string) (winner *device.Variant, why string) {
	challengers := results
	var holder *Measured
	for i := range results {
		if results[i].Variant.Label == incumbent {
			holder = &results[i]
		}
	}
	if holder != nil {
		challengers = nil
		for _, m := range results {
			if faster(&m.Sample, &holder.Sample) {
				challengers = append(challengers, m)
			}
		}
		if len(challengers) == 0 {
			return holder.Variant, "kept: no other is faster by more than the noise"
		}
	}
	if len(challengers) == 0 {
		return nil, "nothing measured"
	}
	fastest := slices.MinFunc(challengers, func(a, b Measured) int { return cmp.Compare(a.Sample.Median, b.Sample.Median) })
	var tied []Measured
	for _, m := range challengers {
		if !faster(&fastest.Sample, &m.Sample) {
			tied = append(tied, m)
		}
	}
	best := slices.MinFunc(tied, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(block(f, a.Variant), block(f, b.Variant)), cmp.Compare(a.Variant.Label, b.Variant.Label))
	})
	if len(tied) > 1 {
		return best.Variant, fmt.Sprintf("tied with %d within the noise", len(tied)-1)
	}
	return best.Variant, "fastest"
}

// block is the variant's threads a block; 0 where the family has no such
// parameter.
func block(f *device.Family, v *device.Variant) int {
	n, err := strconv.Atoi(f.Value(v, "block"))
	if err != nil {
		return 0
	}
	return n
}

// pool joins the samples of several rounds: medians of their statistics. The
// scatter is that within rounds or between them, whichever is larger.
func pool(rounds []trial.Sample) trial.Sample {
	out := trial.Sample{Min: math.MaxInt64}
	var med, q1, q3, mad []int64
	for _, r := range rounds {
		out.N += r.N
		out.Min = min(out.Min, r.Min)
		out.Repeat = r.Repeat
		med, q1, q3, mad = append(med, r.Median), append(q1, r.Q1), append(q3, r.Q3), append(mad, r.MAD)
	}
	out.Median, out.Q1, out.Q3 = median(med), median(q1), median(q3)
	var between []int64
	for _, m := range med {
		between = append(between, max(m-out.Median, out.Median-m))
	}
	out.MAD = max(median(mad), median(between))
	return out
}

func median(x []int64) int64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return x[n/2-1] + (x[n/2]-x[n/2-1])/2
}
