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
	// Scatter is the relative MAD of the samples of one instance, by which Plan.Noise judges the variant: that of Sample,
	// where times depend on the instance the median of the rounds'.
	Scatter float64
	Work    float64        // basic operations a run does
	Ceiling *trial.Ceiling // nil: not known
	Final   bool           // measured in the final rounds, not in screening alone
	// Instances is how many random instances the samples are of.
	Instances int
	// Rounds are the medians of the final's rounds, in nanoseconds; nil where there was none.
	Rounds []float64
	Varied bool // times depend on the instance, and each round timed another
}

// NoiseLimit is the relative MAD above which times crown no one, unless a plan names another.
const NoiseLimit = 0.10

// What a winner needs, unless it is the incumbent.
const (
	leastSamples   = 3
	leastInstances = 2
	leastRounds    = 3    // where times depend on the instance
	sameSpeed      = 0.05 // relative difference of two that are tied there, below which the label decides
	steady         = 0.03 // relative difference that rounds alone prove, where they do not
)

// isProven reports whether enough was measured of a variant for it to win.
func (m *Measured) isProven() bool {
	return m.Sample.N >= leastSamples && m.Instances >= leastInstances && (!m.Varied || len(m.Rounds) >= leastRounds)
}

// Margin is the least relative difference of two medians that is taken for real: 1 %, or, where the
// samples scatter more, the lesser of twice the pooled relative MAD and four standard errors of the
// difference. The median of n normal samples has a standard error of 1.86 MAD/√n.
func Margin(a, b *trial.Sample) float64 {
	va, vb := a.Noise()*a.Noise(), b.Noise()*b.Noise()
	errors := 4 * 1.86 * math.Sqrt(va/float64(max(1, a.N))+vb/float64(max(1, b.N)))
	return max(0.01, min(2*math.Sqrt((va+vb)/2), errors))
}

// faster reports whether a beats b by more than the margin.
func faster(a, b *trial.Sample) bool {
	return float64(a.Median) < float64(b.Median)*(1-Margin(a, b))
}

// student99 and student95 are quantiles of Student's t distribution with 2, 3, … degrees of freedom.
var student99 = []float64{6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764, 2.718}
var student95 = []float64{2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740}

// quantile is one of these for the mean over so many rounds, three or more.
func quantile(student []float64, rounds int) float64 {
	return student[min(rounds-leastRounds, len(student)-1)]
}

// ratio is meanLogRatio where times depend on the instance; it reports false where they do not.
func ratio(a, b *Measured) (mean, err float64, ok bool) {
	if !a.Varied || !b.Varied {
		return 0, 0, false
	}
	return meanLogRatio(a, b, math.Inf(1))
}

// meanLogRatio is the mean of the logarithm of a's time over b's in the rounds that had both, and the standard error
// of that mean. Logarithms above limit count as limit, and those below -limit as that. It reports false for
// fewer than three rounds.
func meanLogRatio(a, b *Measured, limit float64) (mean, err float64, ok bool) {
	x := ratios(a, b, limit)
	if x == nil {
		return 0, 0, false
	}
	n, sum, squares := float64(len(x)), 0.0, 0.0
	for _, x := range x {
		sum, squares = sum+x, squares+x*x
	}
	mean = sum / n
	return mean, math.Sqrt(max(0, squares-sum*mean) / (n * (n - 1))), true
}

// ratios are these logarithms; nil for fewer than three rounds.
func ratios(a, b *Measured, limit float64) (x []float64) {
	n := min(len(a.Rounds), len(b.Rounds))
	if n < leastRounds {
		return nil
	}
	for r := range n {
		x = append(x, min(max(math.Log(max(1, a.Rounds[r])/max(1, b.Rounds[r])), -limit), limit))
	}
	return x
}

// beats reports whether a takes less time than b, beyond the margin. The ratio of the times in each round is one
// observation, and where times depend on the instance a beats b where their mean is below 1 by a one-sided test
// at 1 %: the mean of the ratios, or that of ratios of which those above 2 count as 2 and those below 1/2 as
// 1/2. Where b takes fifty times as long on some instances, the ratios scatter so much that the first test fails
// though a is faster on every instance. Where times do not depend on the instance, the test tells of differences
// of 3 % and more that are less than the samples of a round scatter by; a difference of medians counts if it is more than
// the rounds scatter by, at 5 %.
func (m *Measured) beats(b *Measured) bool {
	mean, err, ok := meanLogRatio(m, b, math.Inf(1))
	within, errWithin, _ := meanLogRatio(m, b, math.Ln2)
	tested, apart := false, true
	if ok {
		n := min(len(m.Rounds), len(b.Rounds))
		t := quantile(student99, n)
		tested = mean < math.Log(0.99) && (mean < -t*err || within < -t*errWithin)
		apart = mean < -quantile(student95, n)*err
	}
	if ok && m.Varied && b.Varied {
		return tested
	}
	return (apart && faster(&m.Sample, &b.Sample) || tested && mean < math.Log(1-steady)) && m.aheadInRounds(b)
}

// aheadInRounds reports whether the measurement took less time than b in all rounds that had both, but for one
// in four: where another process computes now and then, medians of few rounds are not enough.
func (m *Measured) aheadInRounds(b *Measured) bool {
	n, lost := min(len(m.Rounds), len(b.Rounds)), 0
	for r := range n {
		if m.Rounds[r] >= b.Rounds[r] {
			lost++
		}
	}
	return lost <= n/4
}

// noise is the larger scatter of two; 0 where rounds were compared, whose test knows of it.
func (m *Measured) noise(b *Measured) float64 {
	if _, _, ok := ratio(m, b); ok {
		return 0
	}
	return max(m.Sample.Noise(), b.Sample.Noise())
}

// before orders challengers: the faster first.
func (m *Measured) before(b *Measured) int {
	if mean, _, ok := ratio(m, b); ok {
		return cmp.Or(cmp.Compare(mean, 0), cmp.Compare(m.Variant.Label, b.Variant.Label))
	}
	return cmp.Or(cmp.Compare(m.Sample.Median, b.Sample.Median), cmp.Compare(m.Variant.Label, b.Variant.Label))
}

// PickWinner picks the winner of one size. The incumbent (a label, "" for none)
// keeps the crown unless a challenger beats it by more than the margin, and where
// its samples or theirs scatter by more than limit, a relative MAD. Of the challengers the one
// with the least median wins, then the lexically first label. Where times depend on the instance
// variants are compared round by round, and of those that are tied with the fastest, and take within
// 5 % or a standard error of its time, the lexically first label wins. why is a phrase for reports; noisy says that only
// scattered samples keep the incumbent.
func PickWinner(results []Measured, incumbent string, limit float64) (winner *device.Variant, why string, noisy bool) {
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
			if !m.beats(holder) {
				continue
			}
			if m.noise(holder) > limit {
				noisy = true
				continue
			}
			challengers = append(challengers, m)
		}
		if len(challengers) == 0 {
			return holder.Variant, "kept: no other is faster by more than the noise", noisy
		}
	}
	if len(challengers) == 0 {
		return nil, "nothing measured", false
	}
	best := slices.MinFunc(challengers, func(a, b Measured) int { return a.before(&b) })
	var tied []Measured
	for _, m := range challengers {
		if !best.beats(&m) {
			tied = append(tied, m)
		}
	}
	if len(tied) == 1 {
		return best.Variant, "fastest", false
	}
	first := best
	for _, m := range tied {
		if mean, err, ok := ratio(&m, &best); ok && mean < max(math.Log(1+sameSpeed), err) && m.Variant.Label < first.Variant.Label {
			first = m
		}
	}
	if first.Variant != best.Variant {
		return first.Variant, fmt.Sprintf("the first label of %d that are tied within the noise", len(tied)), false
	}
	return best.Variant, fmt.Sprintf("the least median, tied with %d within the noise", len(tied)-1), false
}

// undecidedVariants are the winner and the variants that it may be slower than by more than half of limit, a relative MAD; nil where
// there are none. It may be slower than a variant unless the ratios of both times in each round prove, by a one-sided test
// at 5 %, that it is not. The larger of their mean and their median has to pass: a host that is faster during a few trials
// moves the mean. Fewer than three rounds prove nothing, as where a search was interrupted, unless the winner is faster by
// more than the margin. Variants that dropped out of the rounds were beaten. Where times depend on the instance nothing is
// undecided: the first label of a tie wins.
func (o *SizeOutcome) undecidedVariants(limit float64) (open []*device.Variant) {
	won := slices.IndexFunc(o.Results, func(m Measured) bool { return m.Variant == o.Winner })
	if won < 0 {
		return nil
	}
	winner := &o.Results[won]
	for i := range o.Results {
		m := &o.Results[i]
		if i == won || m.Varied || len(m.Rounds) < len(winner.Rounds)-1 || winner.beats(m) {
			continue
		}
		x := ratios(winner, m, math.Ln2)
		mean, err, ok := meanLogRatio(winner, m, math.Ln2)
		if !ok || max(mean, sortedMedian(x))+quantile(student95, len(x))*err > math.Log1p(limit/2) {
			open = append(open, m.Variant)
		}
	}
	if open != nil {
		open = append(open, o.Winner)
	}
	return open
}

// machineBusy reports whether other processes took more than limit of the cores during times that may have
// made the winner: its own, or those of a variant that might be faster with these cores.
func machineBusy(results []Measured, winner *device.Variant, limit float64) bool {
	won := slices.IndexFunc(results, func(m Measured) bool { return m.Variant == winner })
	return len(results) > 1 && slices.ContainsFunc(results, func(m Measured) bool {
		undisturbed := float64(m.Sample.Median) * (1 - m.Sample.Others)
		return m.Sample.Others > limit && (m.Variant == winner || undisturbed < float64(results[won].Sample.Median))
	})
}

// rescaleRound scales the samples of a round to the first round's instance and clock: by the
// median change of those that were in both, which is common to all of them.
func rescaleRound(all []*candidate, size, round int) {
	var changes []float64
	for _, c := range all {
		if r := c.rounds[size]; len(r) > round && r[0].Median > 0 {
			changes = append(changes, float64(r[round].Median)/float64(r[0].Median))
		}
	}
	if len(changes) == 0 {
		return
	}
	factor := sortedMedian(changes)
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

// sortedMedian is the median of a list, which it sorts.
func sortedMedian(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// poolSamples joins the samples of several rounds: medians of their statistics. The
// scatter is that within rounds or between them, whichever is larger; the quartiles, which are what
// files of winners keep of it, lie at least as far from the median. What other processes took is the mean.
func poolSamples(rounds []trial.Sample) trial.Sample {
	out := trial.Sample{Min: math.MaxInt64}
	var med, q1, q3, mad []int64
	for _, r := range rounds {
		out.N += r.N
		out.Others += r.Others / float64(len(rounds))
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
	out.Q1, out.Q3 = min(out.Q1, max(out.Min, out.Median-out.MAD)), max(out.Q3, out.Median+out.MAD)
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
