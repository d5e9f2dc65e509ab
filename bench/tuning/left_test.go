package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
)

// Each size that the binary's data have of a GPU's kernels is left out in turn and predicted from the
// others of the same class: what is chosen among the variants that were measured there takes little more
// than the fastest of these, in the mean. -v prints the levels and the worst.
func TestLeftOut(t *testing.T) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	entries := shipped.Entries()
	subjects := slices.Concat(csg.Subjects(), auction.Subjects(), assignment.Subjects(), qubo.Subjects())
	regrets := map[string][]float64{}
	for i, e := range entries {
		at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == e.Family })
		if at < 0 || !strings.HasPrefix(e.Class, "cuda|") || len(e.Results) < 2 || subjects[at].Family().Target == "" {
			continue
		}
		facts := device.Facts{Kind: device.CUDA, Name: strings.Split(e.Class, "|")[1], ThreadsPerBlock: 1024, Memory: 80 << 30, Free: 78 << 30}
		if _, err := fmt.Sscanf(e.Class, "cuda|"+facts.Name+"|%d.%d|%dsm|smem%d", &facts.Major, &facts.Minor, &facts.SMs, &facts.SharedPerBlock); err != nil || facts.Class() != e.Class {
			t.Fatalf("%s is not the class %s: %v", facts.Class(), e.Class, err)
		}
		rest := slices.DeleteFunc(slices.Delete(slices.Clone(entries), i, i+1), func(o tuned.Entry) bool { return o.Class != e.Class || o.Family != e.Family })
		db, err := tuned.New(rest...)
		if err != nil {
			t.Fatal(err)
		}
		w, _, err := autotune.Describe(subjects[at], e.Fixed, facts, e.Size)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for _, r := range e.Results {
			best = min(best, float64(r.Nanos))
		}
		c, err := db.Choose(subjects[at].Family(), facts, w, func(v *device.Variant) error {
			if e.Result(v.Label) == nil {
				return errors.New("not measured")
			}
			return nil
		})
		if err != nil {
			continue // no variant of the left out size is in this binary
		}
		regret := float64(e.Result(c.Variant.Label).Nanos)/best - 1
		regrets[c.Level] = append(regrets[c.Level], regret)
		if regret > 0.1 {
			t.Logf("%s on %s, %v, size %d: %.0f %% (%s)", e.Family, facts.Name, e.Fixed, e.Size, 100*regret, c.Level)
		}
	}
	for level, list := range regrets {
		mean, within := 0.0, 0
		for _, r := range list {
			mean += math.Log1p(r) / float64(len(list))
			if r <= 0.1 {
				within++
			}
		}
		t.Logf("%s: %d sizes, %.1f %% more than the fastest in the mean, %d within 10 %%", level, len(list), 100*math.Expm1(mean), within)
		if limit := map[string]float64{tuned.Interpolated: 0.03, tuned.Extrapolated: 0.04}[level]; limit > 0 && math.Expm1(mean) > limit {
			t.Errorf("%s: %.1f %% in the mean, expected %.0f %% at most", level, 100*math.Expm1(mean), 100*limit)
		}
	}
	if len(regrets[tuned.Interpolated]) < 50 {
		t.Errorf("%d sizes were interpolated, expected 50 or more", len(regrets[tuned.Interpolated]))
	}
}
