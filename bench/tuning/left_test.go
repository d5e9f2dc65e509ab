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

// Each size that the binary's data have of kernels is left out in turn and predicted from the others of the same class: the
// choice takes little longer than the fastest variant measured there. -v prints the counts by level, family and device, and
// the worst.
func TestLeftOut(t *testing.T) {
	predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
		return f.Target != "" && of != other && of.Class == other.Class
	}).expect(t, 700, 0.93, 0.028)
}

// What a class of devices has is predicted from what others have, which for an H100 is an H200's and for an H200 an H100's.
func TestOtherClass(t *testing.T) {
	predicted(t, func(_ *device.Family, of, other *tuned.Entry) bool { return of.Class != other.Class }).expect(t, 900, 0.9, 0.06)
}

// Each size of kernels is left out, of all classes, and predicted from what all have at other sizes. Sizes of qubo/stableset are few and
// change the words of a lane, so that the nearest winner takes up to half as long again where a size is missing.
func TestBothClasses(t *testing.T) {
	predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
		return f.Target != "" && (of.Size != other.Size || !maps.Equal(of.Fixed, other.Fixed))
	}).expect(t, 700, 0.955, 0.021)
}

// The sizes of tune's default predict the others, most of which lie where one winner overtakes
// another (--between).
func TestOtherSizes(t *testing.T) {
	usual := map[string][]int{}
	for _, s := range tunedSubjects() {
		usual[s.Family().Name] = s.Sizes(device.Facts{Kind: device.CUDA})
	}
	predicted(t, func(f *device.Family, of, other *tuned.Entry) bool {
		return of.Class == other.Class && !slices.Contains(usual[f.Name], of.Size) && slices.Contains(usual[f.Name], other.Size)
	}).expect(t, 200, 0.93, 0.035)
}

// Each size is predicted from those of its class that are at most half as large, as where a tune ended before it came
// to the largest. Square matrices of 100 rows are the worst of assignment/fused: its winners up to 50 rows take up to 2.6 times as long there.
func TestLargerSizes(t *testing.T) {
	predicted(t, func(_ *device.Family, of, other *tuned.Entry) bool {
		return of.Class == other.Class && 2*other.Size <= of.Size
	}).expect(t, 450, 0.87, 0.058)
}

// Whatever a host is tuned for has a winner for each set of vector instructions, from which other hosts choose. Of assignment/hostalgorithm
// none ships: the shape predicts its algorithms.
func TestHosts(t *testing.T) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, instructions := range []string{"avx512", "avx2", "sse4.2"} {
		sizes := 0
		for _, name := range []string{"AMD EPYC", "another"} {
			facts := device.Facts{Kind: device.Host, Name: name, Instructions: instructions, SMs: 2, ThreadsPerBlock: 1, Memory: 16 << 30, Free: 16 << 30}
			for _, s := range tunedSubjects() {
				if !autotune.RunsOn(s, facts) {
					continue
				}
				for _, fixed := range s.Workloads() {
					for _, n := range s.Sizes(facts) {
						if len(workload{s, fixed, n}.candidates(facts)) < 2 {
							continue
						}
						w, chosen, err := autotune.DescribeWorkload(s, fixed, facts, n)
						if err != nil || !chosen {
							t.Fatalf("%s %v, size %d: %v", s.Family().Name, fixed, n, err)
						}
						c, err := shipped.Choose(s.Family(), facts, w, func(*device.Variant) error { return nil })
						if ships := s.Family().Name != "assignment/hostalgorithm"; err != nil || ships && c.Level != tuned.Exact {
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

// A regret is what a choice takes over the fastest that was measured at the size, less 1.
type regret struct {
	family, device, level string
	share                 float64
}

type regrets []regret

// predicted are the regrets of choices from those entries of the same family that known says may be known. A variant that
// was not measured at the size counts as slow as the slowest that was kept there for its speed, as the safe variant is
// not; where fewer than tuned.Kept were kept, nothing is known of such a choice, and the size is passed over.
func predicted(t *testing.T, known func(f *device.Family, of, other *tuned.Entry) bool) (list regrets) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	entries := shipped.Entries()
	subjects := tunedSubjects()
	for i := range entries {
		e := &entries[i]
		at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == e.Family })
		if at < 0 || len(e.Results) < 2 {
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
		facts := factsOf(t, e.Class)
		db, err := tuned.New(rest...)
		if err != nil {
			t.Fatal(err)
		}
		w, _, err := autotune.DescribeWorkload(subjects[at], e.Fixed, facts, e.Size)
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
		r := regret{e.Family, facts.Name + " " + facts.Instructions, c.Level, took/best - 1}
		if list = append(list, r); r.share > 0.1 {
			t.Logf("%s on %s, %v, size %d: %.0f %% (%s)", r.family, r.device, e.Fixed, e.Size, 100*r.share, r.level)
		}
	}
	return list
}

// factsOf are the facts of a class of devices.
func factsOf(t *testing.T, class string) device.Facts {
	part := strings.Split(class, "|")
	facts := device.Facts{Kind: part[0], Name: part[1], ThreadsPerBlock: 1024, Memory: 80 << 30, Free: 78 << 30}
	if facts.Kind == device.Host {
		facts.ThreadsPerBlock, facts.Instructions = 1, part[2]
	} else if _, err := fmt.Sscanf(part[2], "%d.%d", &facts.Major, &facts.Minor); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(part[3]+part[4], "%dsmsmem%d", &facts.SMs, &facts.SharedPerBlock); err != nil || facts.Class() != class {
		t.Fatalf("%s is not the class %s: %v", facts.Class(), class, err)
	}
	return facts
}

// expect logs how many regrets are within 2, 5 and 10 %, by family, device and level, and expects so many in all, a share of
// them within 10 %, and a geometric mean.
func (list regrets) expect(t *testing.T, least int, within10, most float64) {
	t.Helper()
	for _, by := range []func(r regret) string{func(r regret) string { return r.family }, func(r regret) string { return r.device },
		func(r regret) string { return r.level }, func(regret) string { return "all" }} {
		groups := map[string][]float64{}
		for _, r := range list {
			groups[by(r)] = append(groups[by(r)], r.share)
		}
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			of := groups[name]
			t.Logf("%-22s %3d sizes; within 2 %%: %3d, 5 %%: %3d, 10 %%: %3d; mean %.2f %%, worst %.0f %%",
				name, len(of), within(of, 0.02), within(of, 0.05), within(of, 0.1), 100*mean(of), 100*slices.Max(of))
			if name == "all" && (len(of) < least || float64(within(of, 0.1)) < within10*float64(len(of)) || mean(of) > most) {
				t.Errorf("expected %d sizes or more, %.0f %% of them within 10 %%, and a mean of %.1f %% at most", least, 100*within10, 100*most)
			}
		}
	}
}

// within counts the regrets of at most a limit.
func within(regrets []float64, limit float64) (n int) {
	for _, r := range regrets {
		if r <= limit {
			n++
		}
	}
	return n
}

// mean is the geometric mean of times over the fastest's, less 1; 0 of none.
func mean(regrets []float64) float64 {
	sum := 0.0
	for _, r := range regrets {
		sum += math.Log1p(r) / float64(len(regrets))
	}
	return math.Expm1(sum)
}
