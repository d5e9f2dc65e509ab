package autotune

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// CrossoverSizes are the sizes of tasks' workloads at which one winner overtakes another: of each two sizes next to
// each other that db has different winners of, for the device's class, the one halfway, as logarithms. Choices
// there rest on predicted times alone. Left out are pairs where one of the two winners takes at most alikeTime
// longer than the fastest at both sizes, sizes closer than nearby, and sizes at which solves choose no variant.
// Each task that CrossoverSizes returns has one workload, its Sizes ascending.
func CrossoverSizes(tasks []Task, db *tuned.Database, facts device.Facts) []Task {
	entries := db.Entries()
	var all []Task
	for _, t := range tasks {
		f := t.Subject.Family()
		for _, w := range t.workloads() {
			var has []tuned.Entry
			for _, e := range entries {
				if e.Family != f.Name || e.Class != facts.Class() || !maps.Equal(e.Fixed, w) {
					continue
				}
				if _, valid := e.Result(e.Winner).Valid(f); valid {
					has = append(has, e)
				}
			}
			slices.SortFunc(has, func(a, b tuned.Entry) int { return cmp.Compare(a.Size, b.Size) })
			var sizes []int
			for i := 1; i < len(has); i++ {
				low, high := &has[i-1], &has[i]
				size := int(math.Round(math.Sqrt(float64(low.Size) * float64(high.Size))))
				close := size <= low.Size || size >= high.Size || float64(high.Size) < nearby*float64(low.Size)
				alike := slower(low, high.Winner) <= alikeTime || slower(high, low.Winner) <= alikeTime
				if _, chosen, err := DescribeWorkload(t.Subject, w, facts, size); !close && !alike && err == nil && chosen {
					sizes = append(sizes, size)
				}
			}
			if len(sizes) > 0 {
				t.Fixed, t.Sizes = []map[string]string{w}, sizes
				all = append(all, t)
			}
		}
	}
	return all
}

// What CrossoverSizes leaves out.
const (
	alikeTime = 0.02 // of the fastest variant's time
	nearby    = 1.05 // one size over the other
)

// slower is how much longer than the fastest a variant takes at a tuned size, as a share of the fastest's
// time; infinite where it was not measured there.
func slower(e *tuned.Entry, label string) float64 {
	mine := e.Result(label)
	if mine == nil {
		return math.Inf(1)
	}
	least := mine.Nanos
	for _, r := range e.Results {
		least = min(least, r.Nanos)
	}
	return float64(mine.Nanos)/float64(least) - 1
}
