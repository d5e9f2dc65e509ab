package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/measure"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/bench/result"
	"coalesce/runtime/device"
)

const (
	finalists  = 6                  // of the first glance, that the rounds begin with
	hopeless   = 2                  // times the best: a glance ends after one sample
	behind     = 1.3                // times the best: a kernel takes part in no round
	lost       = 4                  // times the best: an algorithm takes part in no round
	noisy      = 0.03               // more than this between two times of one variant: rounds go on
	patience   = 4                  // times as many rounds, at most
	nextRandom = 0x9e3779b97f4a7c15 // between the seeds of two instances
)

// measureDrawn measures drawn workloads.
func (b *bench) measureDrawn(n int) error {
	entries := slices.Clone(b.shipped)
	for _, s := range b.sources {
		if s.own != nil {
			entries = append(entries, s.own.Entries()...)
		}
	}
	list, err := partOf(drawWorkloads(b.subjects, entries, b.Facts, b.settings.seed, n, b.settings.largest), b.settings.part)
	if err != nil {
		return err
	}
	for _, w := range list {
		if !b.measured(w) {
			return nil
		}
	}
	return nil
}

// compareWinners measures where two files have different winners of one key.
func (b *bench) compareWinners() error {
	if len(b.sources) != 3 {
		return errors.New("expected two files to compare")
	}
	same := 0
	for _, e := range b.sources[1].own.Entries() {
		at := slices.IndexFunc(b.subjects, func(s subject.Subject) bool { return s.Family().Name == e.Family })
		other, ok := b.sources[2].own.Lookup(e.Family, e.Class, tuned.Workload{Fixed: e.Fixed, Size: e.Size})
		if at < 0 || e.Class != b.Facts.Class() || !ok {
			continue
		}
		if e.Winner == other.Winner {
			same++
			continue
		}
		if !b.measured(workload{b.subjects[at], e.Fixed, e.Size}) {
			return nil
		}
	}
	fmt.Printf("%d keys with one winner, %d with two\n", same, len(b.File.Rows))
	return nil
}

// measured adds a workload's row, unless it is there; false where time is over.
func (b *bench) measured(w workload) bool {
	f := w.subject.Family()
	if slices.ContainsFunc(b.Kept, func(c result.Choice) bool {
		return c.Family == f.Name && c.Size == w.size && maps.Equal(c.Fixed, w.fixed)
	}) {
		return true
	}
	if b.OutOfTime() {
		return false
	}
	row := result.Choice{Family: f.Name, Fixed: w.fixed, Size: w.size}
	if err := b.timeRegrets(w, &row); err != nil {
		if b.Ctx.Err() != nil {
			return false
		}
		row.Failed = err.Error()
	}
	b.AddRow(row)
	fmt.Printf("%s %v, size %d: best %s %.4g s, noise %.1f %% %s\n", row.Family, row.Fixed, row.Size, row.Best, row.Seconds, 100*row.Noise, row.Failed)
	for _, c := range row.Chosen {
		fmt.Printf("    %-16s %+6.1f %%  %s: %s\n", c.By, 100*c.Regret, c.Level, c.Variant)
	}
	return true
}

// timeRegrets times what is chosen beside the best.
func (b *bench) timeRegrets(w workload, row *result.Choice) (err error) {
	chosen, err := b.sourceChoices(w)
	if err != nil {
		return err
	}
	_, varied := w.subject.(subject.VaryingSubject)
	instances, rounds, seconds := 2, (b.settings.rounds+1)/2*2, totalTime
	if varied {
		instances, rounds, seconds = patience*b.settings.rounds, b.settings.rounds, typicalTime // each round has its own
	}
	jobs := boundVariants{b: b, w: w, keep: !varied}
	defer func() { err = errors.Join(err, jobs.close()) }()
	field, variants, err := b.field(w, chosen)
	if err != nil {
		return err
	}
	row.Variants = variants
	times := map[*device.Variant][][]float64{} // by instance
	var twice [][]float64                      // of the first of the field, again
	var best *device.Variant
	for k, most := 0, patience*rounds; k < rounds; k++ {
		at := k % instances
		for i := -1; i < len(field); i++ {
			v := field[max(0, i)]
			took, err := jobs.time(v, at, measure.Options{Cap: b.settings.each, MinSamples: 1})
			if err != nil {
				return err
			}
			if i < 0 {
				twice = add(twice, at, took)
			} else {
				times[v] = add(times[v], at, took)
			}
		}
		if k < rounds-1 {
			continue
		}
		best = slices.MinFunc(field, func(x, y *device.Variant) int { return cmp.Compare(seconds(times[x]), seconds(times[y])) })
		unsure := relativeGap(seconds(times[field[0]]), seconds(twice)) > noisy
		if varied {
			unsure = slices.ContainsFunc(chosen, func(c pick) bool {
				regret := seconds(times[c.variant])/seconds(times[best]) - 1
				return regret > noisy && ratioNoise(times[c.variant], times[best]) > regret
			})
		}
		if unsure && rounds < most && !b.OutOfTime() {
			rounds += 2 // of kernels one of each instance
		}
	}
	row.Best, row.Seconds = best.Label, seconds(times[best])
	row.Noise = relativeGap(seconds(times[field[0]]), seconds(twice))
	for _, c := range chosen {
		c.Seconds = seconds(times[c.variant])
		c.Regret = c.Seconds/row.Seconds - 1
		if varied {
			c.Noise = ratioNoise(times[c.variant], times[best])
		}
		row.Chosen = append(row.Chosen, c.MeasuredChoice)
	}
	return nil
}

// add adds a time of the instance at that place, which the list has already or comes next.
func add(of [][]float64, at int, took float64) [][]float64 {
	if at == len(of) {
		of = append(of, nil)
	}
	of[at] = append(of[at], took)
	return of
}

// relativeGap is how much longer the longer of two times takes.
func relativeGap(x, y float64) float64 { return max(x, y)/min(x, y) - 1 }

// field are the variants that the rounds time: the first of a glance at all that run, and what is chosen.
func (b *bench) field(w workload, chosen []pick) (field []*device.Variant, variants int, err error) {
	first := map[*device.Variant]float64{}
	least := 0.0
	_, varied := w.subject.(subject.VaryingSubject) // whose runs are whole solves
	jobs := boundVariants{b: b, w: w, check: true}
	for _, v := range w.candidates(b.Facts) {
		took, err := jobs.time(v, 0, measure.Options{Cap: b.settings.each, MinSamples: 1, Samples: 5, Bound: time.Duration(hopeless * least * 1e9)})
		if errors.Is(err, device.ErrMemory) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		field = append(field, v)
		if first[v] = took; least == 0 || took < least {
			least = took
		}
	}
	variants = len(field)
	slices.SortFunc(field, func(x, y *device.Variant) int { return cmp.Compare(first[x], first[y]) })
	field = field[:min(finalists, len(field))]
	limit := behind * least
	if varied {
		limit = lost * least
	}
	field = slices.DeleteFunc(field, func(v *device.Variant) bool { return first[v] > limit })
	for _, c := range chosen {
		if !slices.Contains(field, c.variant) {
			field = append(field, c.variant)
		}
	}
	return field, variants, nil
}

// totalTime is the sum of the medians of each instance's times.
func totalTime(of [][]float64) (sum float64) {
	for _, times := range of {
		sum += result.Median(times)
	}
	return sum
}

// typicalTime is the geometric mean of the medians of each instance's times, in which an instance that takes
// long counts as much as others. The tuner compares algorithms so.
func typicalTime(of [][]float64) float64 {
	sum := 0.0
	for _, times := range of {
		sum += math.Log(result.Median(times))
	}
	return math.Exp(sum / float64(len(of)))
}

// ratioNoise is two standard errors of the ratio of two variants' times on an instance, each instance an
// observation.
func ratioNoise(x, y [][]float64) float64 {
	var sum, squares float64
	n := float64(len(x))
	for k := range x {
		d := math.Log(result.Median(x[k]) / result.Median(y[k]))
		sum, squares = sum+d, squares+d*d
	}
	return math.Exp(2*math.Sqrt(max(0, squares-sum*sum/n)/(n*max(1, n-1)))) - 1
}

// A pick is the choice of a source.
type pick struct {
	result.MeasuredChoice
	variant *device.Variant
}

// sourceChoices are those of each source, and the safe variant.
func (b *bench) sourceChoices(w workload) ([]pick, error) {
	work, _, err := autotune.DescribeWorkload(w.subject, w.fixed, b.Facts, w.size)
	if err != nil {
		return nil, err
	}
	runs := func(v *device.Variant) error { return w.checkRunnable(v, b.Facts) }
	var list []pick
	for _, s := range append(slices.Clone(b.sources), source{"safe", &tuned.Database{}, nil}) {
		asked := work
		if s.name == "safe" {
			asked.Prior = tuned.Prior{}
		}
		c, err := s.db.Choose(w.subject.Family(), b.Facts, asked, runs)
		if err != nil {
			return nil, err
		}
		list = append(list, pick{result.MeasuredChoice{By: s.name, Level: c.Level, Variant: c.Variant.Label}, c.Variant})
	}
	return list, nil
}

// summaryLines is a line for each source: regret's median and worst, and how many rows lie
// within 3 and 10 %, or within their noise where that is more.
func summaryLines(rows []result.Choice) string {
	of := map[string][]result.MeasuredChoice{}
	var names []string
	var noise []float64
	for _, r := range rows {
		for _, c := range r.Chosen {
			if of[c.By] == nil {
				names = append(names, c.By)
			}
			of[c.By] = append(of[c.By], c)
		}
		if r.Succeeded() {
			noise = append(noise, r.Noise)
		}
	}
	var text strings.Builder
	within := func(list []result.MeasuredChoice, limit float64) (n int) {
		for _, c := range list {
			if c.Regret <= max(limit, c.Noise) {
				n++
			}
		}
		return n
	}
	for _, name := range names {
		var list []float64
		for _, c := range of[name] {
			list = append(list, c.Regret)
		}
		fmt.Fprintf(&text, "%-16s regret: median %.1f %%, worst %.1f %%; within 3 %%: %d, within 10 %%: %d of %d\n",
			name, 100*result.Median(list), 100*slices.Max(list), within(of[name], 0.03), within(of[name], 0.10), len(list))
	}
	if len(noise) > 0 {
		fmt.Fprintf(&text, "%-16s noise of one variant timed twice: median %.1f %%, worst %.1f %%\n", "", 100*result.Median(noise), 100*slices.Max(noise))
	}
	return text.String()
}
