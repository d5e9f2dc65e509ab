package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A Measured is a verified variant with its time at one size.
type Measured struct {
	Variant *device.Variant
	Sample  trial.Sample
	Work    float64 // basic operations a run does
	Final   bool    // measured in the final rounds, not in screening alone
	// Instances is how many random instances the samples are of.
	Instances int
}

// What a winner needs, unless it is the incumbent.
const (
	leastSamples   = 3
	leastInstances = 2
	noiseLimit     = 0.10 // relative MAD above which times crown no one
)

// proven reports whether enough was measured of a variant for it to win.
func (m *Measured) proven() bool {
	return m.Sample.N >= leastSamples && m.Instances >= leastInstances
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
// keeps the crown unless a challenger beats it by more than the margin, and where
// its samples or theirs scatter by more than a tenth. Of the challengers the one
// with the least median wins, then the lexically first label. why is a phrase for
// reports.
func Decide(results []Measured, incumbent string) (winner *device.Variant, why string) {
	challengers := results
	var holder *Measured
	for i := range results {
		if results[i].Variant.Label == incumbent {
			holder = &results[i]
		}
	}
	if holder != nil {
		challengers = nil
		noisy := 0.0
		for _, m := range results {
			if !faster(&m.Sample, &holder.Sample) {
				continue
			}
			if noise := max(m.Sample.Noise(), holder.Sample.Noise()); noise > noiseLimit {
				noisy = max(noisy, noise)
				continue
			}
			challengers = append(challengers, m)
		}
		if len(challengers) == 0 && noisy > 0 {
			return holder.Variant, fmt.Sprintf("kept: samples scatter by %.0f %%, over the %.0f %% that crown a winner", 100*noisy, 100*noiseLimit)
		}
		if len(challengers) == 0 {
			return holder.Variant, "kept: no other is faster by more than the noise"
		}
	}
	if len(challengers) == 0 {
		return nil, "nothing measured"
	}
	best := slices.MinFunc(challengers, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(a.Sample.Median, b.Sample.Median), cmp.Compare(a.Variant.Label, b.Variant.Label))
	})
	if n := tied(challengers, &best.Sample); n > 1 {
		return best.Variant, fmt.Sprintf("the least median, tied with %d within the noise", n-1)
	}
	return best.Variant, "fastest"
}

// tied counts those that a sample does not beat by more than the margin.
func tied(results []Measured, best *trial.Sample) int {
	n := 0
	for i := range results {
		if !faster(best, &results[i].Sample) {
			n++
		}
	}
	return n
}

// level scales the samples of a round to the first round's instance and clock: by the
// median change of those that were in both, which is common to all of them.
func level(all []*state, size, round int) {
	var changes []float64
	for _, c := range all {
		if r := c.rounds[size]; len(r) > round && r[0].Median > 0 {
			changes = append(changes, float64(r[round].Median)/float64(r[0].Median))
		}
	}
	if len(changes) == 0 {
		return
	}
	slices.Sort(changes)
	factor := (changes[(len(changes)-1)/2] + changes[len(changes)/2]) / 2
	if factor <= 0 {
		return
	}
	for _, c := range all {
		if r := c.rounds[size]; len(r) > round {
			for _, ns := range []*int64{&r[round].Median, &r[round].Q1, &r[round].Q3, &r[round].Min, &r[round].MAD} {
				*ns = int64(math.Round(float64(*ns) / factor))
			}
		}
	}
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
