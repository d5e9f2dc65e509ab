package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// Each size that the binary's data have of a GPU's kernels is left out in turn and predicted from the
// others of the same class: what is chosen takes little more than the fastest of those measured there, in
// the mean. -v prints the levels and the worst.
func TestLeftOut(t *testing.T) {
	regrets := predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
		return f.Target != "" && of != other && of.Class == other.Class
	})
	for level, limit := range map[string]float64{tuned.Interpolated: 0.02, tuned.Extrapolated: 0.03} {
		if mean := mean(regrets[level]); mean > limit {
			t.Errorf("%s: %.1f %% in the mean, expected %.0f %% at most", level, 100*mean, 100*limit)
		}
	}
	if len(regrets[tuned.Interpolated]) < 50 {
		t.Errorf("%d sizes were interpolated, expected 50 or more", len(regrets[tuned.Interpolated]))
	}
}

// What a class of GPUs has is predicted from what others have, which for an H100 is an H200's: winners of
// one are winners of the other, or nearly so.
func TestOtherClass(t *testing.T) {
	regrets := predicted(t, func(_ *device.Family, of, other *tuned.Entry) bool {
		return strings.Contains(of.Class, "H100") && of.Class != other.Class
	})
	if n, mean := len(regrets[tuned.Exact]), mean(regrets[tuned.Exact]); n < 50 || mean > 0.02 {
		t.Errorf("%d sizes, %.1f %% in the mean, expected 50 or more and 2 %% at most", n, 100*mean)
	}
}

// Each size of kernels that a class of GPUs has is left out, there and in the other class, and predicted from
// what both have at other sizes.
func TestBothClasses(t *testing.T) {
	for _, class := range []string{"H100", "H200"} {
		regrets := predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
			return f.Target != "" && strings.Contains(of.Class, class) && (of.Size != other.Size || !maps.Equal(of.Fixed, other.Fixed))
		})
		if n, mean := len(regrets[tuned.Interpolated]), mean(regrets[tuned.Interpolated]); n < 50 || mean > 0.02 {
			t.Errorf("%s, interpolated: %d sizes, %.1f %% in the mean, expected 50 or more and 2 %% at most", class, n, 100*mean)
		}
	}
}

// Sizes that tune does not take by default, of which most lie where one winner overtakes another
// (--between), are predicted from those that it takes.
func TestOtherSizes(t *testing.T) {
	usual := map[string][]int{}
	for _, s := range subjects() {
		usual[s.Family().Name] = s.Sizes(device.Facts{Kind: device.CUDA})
	}
	regrets := predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
		return of.Class == other.Class && !slices.Contains(usual[f.Name], of.Size) && slices.Contains(usual[f.Name], other.Size)
	})
	if n, mean := len(regrets[tuned.Interpolated]), mean(regrets[tuned.Interpolated]); n < 200 || mean > 0.02 {
		t.Errorf("%d sizes, %.1f %% in the mean, expected 200 or more and 2 %% at most", n, 100*mean)
	}
}

// Each size is predicted from those of its class that are at most half as large, as where a tune ended before it came
// to the largest.
func TestLargerSizes(t *testing.T) {
	regrets := predicted(t, func(_ *device.Family, of, other *tuned.Entry) bool {
		return of.Class == other.Class && 2*other.Size <= of.Size
	})
	if n, mean := len(regrets[tuned.Extrapolated]), mean(regrets[tuned.Extrapolated]); n < 200 || mean > 0.045 {
		t.Errorf("%d sizes, %.1f %% in the mean, expected 200 or more and 4.5 %% at most", n, 100*mean)
	}
}

// Whatever a host is tuned for has a winner for each set of vector instructions, from which other hosts choose.
func TestHosts(t *testing.T) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, instructions := range []string{"avx512", "avx2", "sse4.2"} {
		sizes := 0
		for _, name := range []string{"AMD EPYC", "another"} {
			facts := device.Facts{Kind: device.Host, Name: name, Instructions: instructions, SMs: 2, ThreadsPerBlock: 1, Memory: 16 << 30, Free: 16 << 30}
			for _, s := range subjects() {
				if !autotune.Here(s, facts) {
					continue
				}
				for _, fixed := range s.Workloads() {
					for _, n := range s.Sizes(facts) {
						if len(workload{s, fixed, n}.candidates(facts)) < 2 {
							continue
						}
						w, chosen, err := autotune.Describe(s, fixed, facts, n)
						if err != nil || !chosen {
							t.Fatalf("%s %v, size %d: %v", s.Family().Name, fixed, n, err)
						}
						c, err := shipped.Choose(s.Family(), facts, w, func(*device.Variant) error { return nil })
						if err != nil || c.Level != tuned.Exact {
							t.Errorf("%s %v, size %d on %s: %s, %v", s.Family().Name, fixed, n, facts.Class(), c.Level, err)
						}
						sizes++
					}
				}
			}
		}
		if sizes < 40 {
			t.Errorf("%s: %d choices, expected 40 or more", instructions, sizes)
		}
	}
}

// predicted are the regrets of choices from those entries of the same family that known says may be known, by
// level. A variant that was not measured at the size counts as slow as the slowest that was kept there for its speed, as
// the safe variant is not; where fewer than tuned.Kept were kept, nothing is known of such a choice, and the size is passed over.
func predicted(t *testing.T, known func(f *device.Family, of, other *tuned.Entry) bool) map[string][]float64 {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	entries := shipped.Entries()
	subjects := subjects()
	regrets, families := map[string][]float64{}, map[string][]float64{}
	for i := range entries {
		e := &entries[i]
		at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == e.Family })
		if at < 0 || !strings.HasPrefix(e.Class, "cuda|") || len(e.Results) < 2 {
			continue
		}
		family := subjects[at].Family()
		var rest []tuned.Entry
		for j := range entries {
			if o := &entries[j]; o.Family == e.Family && known(family, e, o) {
				rest = append(rest, *o)
			}
		}
		if len(rest) == 0 {
			continue
		}
		facts := device.Facts{Kind: device.CUDA, Name: strings.Split(e.Class, "|")[1], ThreadsPerBlock: 1024, Memory: 80 << 30, Free: 78 << 30}
		if _, err := fmt.Sscanf(e.Class, "cuda|"+facts.Name+"|%d.%d|%dsm|smem%d", &facts.Major, &facts.Minor, &facts.SMs, &facts.SharedPerBlock); err != nil || facts.Class() != e.Class {
			t.Fatalf("%s is not the class %s: %v", facts.Class(), e.Class, err)
		}
		db, err := tuned.New(rest...)
		if err != nil {
			t.Fatal(err)
		}
		w, _, err := autotune.Describe(subjects[at], e.Fixed, facts, e.Size)
		if err != nil {
			t.Fatal(err)
		}
		c, err := db.Choose(family, facts, w, func(v *device.Variant) error {
			return subjects[at].Feasible(v, facts, e.Size)
		})
		if err != nil {
			continue // no variant of the size is in this binary
		}
		best, took := math.Inf(1), 0.0
		for _, r := range e.Results {
			best = min(best, float64(r.Nanos))
			if r.Variant != tuned.SafeVariant(family).Label {
				took = max(took, float64(r.Nanos))
			}
		}
		if r := e.Result(c.Variant.Label); r != nil {
			took = float64(r.Nanos)
		} else if len(e.Results) < tuned.Kept {
			continue
		}
		regret := took/best - 1
		regrets[c.Level] = append(regrets[c.Level], regret)
		families[e.Family] = append(families[e.Family], regret)
		if regret > 0.1 {
			t.Logf("%s on %s, %v, size %d: %.0f %% (%s)", e.Family, facts.Name, e.Fixed, e.Size, 100*regret, c.Level)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Logf("%s: %d sizes, %.2f %% in the mean", name, len(families[name]), 100*mean(families[name]))
	}
	for level, list := range regrets {
		within := 0
		for _, r := range list {
			if r <= 0.1 {
				within++
			}
		}
		t.Logf("%s: %d sizes, %.1f %% more than the fastest in the mean, %d within 10 %%", level, len(list), 100*mean(list), within)
	}
	return regrets
}

// mean is the geometric mean of times over the fastest's, less 1; 0 of none.
func mean(regrets []float64) float64 {
	sum := 0.0
	for _, r := range regrets {
		sum += math.Log1p(r) / float64(len(regrets))
	}
	return math.Expm1(sum)
}
