package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/autotune/kernel/kerneltest"
	"coalesce/autotune/tuned"
	genqubo "coalesce/generated/qubo"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
)

func TestFlips(t *testing.T) { kerneltest.Run(t, Subjects()...) }

// Runs with equal seeds find the same solutions by the same flips, whatever variant makes these.
func TestVariantsAgree(t *testing.T) {
	for _, most := range []int64{1, 100, 1000, 100000, 1 << 40} {
		for _, share := range []uint64{3, 1} { // one in so many pairs has a weight
			p := draw.Dense(150, func(i, j int) int64 {
				u := draw.RandomWord(uint64(most), uint64(min(i, j)), uint64(max(i, j)))
				if u%share != 0 {
					return 0
				}
				return 2 * (int64(u>>8%uint64(2*most+1)) - most)
			}, func(i int) int64 { return int64(i%7) - 3 })
			w := flipsWorkload(p.N, shareOf(p), widthsOf(p.Spans()), hostFacts())
			var first qubotest.Report
			tried := 0
			for i := range genqubo.Hostflips.Variants {
				v := &genqubo.Hostflips.Variants[i]
				if genqubo.Hostflips.CheckWorkload(v, w.Fixed) != nil {
					continue
				}
				got := qubotest.RunSearch(t, Search{Flips: v}, p, search.Options{Seed: 7, Work: 30000, Workers: 2})
				if tried++; tried == 1 {
					first = got
				}
				if !slices.Equal(got.Values, first.Values) || got.Work != first.Work {
					t.Errorf("weights to %d, %s: %v, expected %v", most, v.Label, got.Work, first.Work)
				}
			}
			if none := qubotest.RunSearch(t, Search{}, p, search.Options{Seed: 7, Work: 30000, Workers: 2}); tried < 2 || !slices.Equal(none.Values, first.Values) {
				t.Errorf("weights to %d: %d variants for %v, or no variant finds others", most, tried, w.Fixed)
			}
		}
	}
}

// The variant that a user pins lays the weights out, of the host's search and of that beside a device; sparse problems have none.
func TestChosenFlips(t *testing.T) {
	p := qubotest.Dense(500, 100, 1, 1<<20, 0.9, 3)
	w := flipsWorkload(p.N, shareOf(p), widthsOf(p.Spans()), hostFacts())
	tried := 0
	for i := range genqubo.Hostflips.Variants {
		v := &genqubo.Hostflips.Variants[i]
		if genqubo.Hostflips.CheckWorkload(v, w.Fixed) != nil {
			continue
		}
		tried++
		var o search.Setup
		o.Tuning = (&tuned.Database{}).WithPolicy(tuned.Policy{Pinned: map[string]string{genqubo.Hostflips.Name: v.Label}, Frozen: true})
		e, err := Open(p, o)
		if err != nil || e.Label != v.Label {
			t.Fatalf("%s: opened with %q, %v", v.Label, e.Label, err)
		}
		m := layOutRows[int8, int32](p, 0, 1, new(deadline), e.Members[0].(Search).Flips)
		want := fmt.Sprintf("*host.denseRows[%s,int32]", genqubo.Hostflips.Value(v, "weight"))
		if got := fmt.Sprintf("%T", m); got != want {
			t.Errorf("%s: laid out as %s, expected %s", v.Label, got, want)
		}
		if c, err := CompanionOf(p, o); err != nil || c.Flips != v {
			t.Errorf("%s: the companion has %v, %v", v.Label, c.Flips, err)
		}
	}
	if tried < 3 || w.Fixed["sum"] != "int32" {
		t.Errorf("%d variants for %v", tried, w.Fixed)
	}
	torus := qubotest.Torus(rand.New(rand.NewPCG(1, 1)), 12)
	if e, err := Open(torus, search.Setup{}); err != nil || e.Label != "" {
		t.Errorf("a sparse problem has variant %q, %v", e.Label, err)
	}
	var o search.Setup // a host that nobody tuned, and no guesses
	o.Tuning = (&tuned.Database{}).WithPolicy(tuned.Policy{Frozen: true})
	if _, err := Open(p, o); !errors.Is(err, tuned.ErrNotTuned) {
		t.Errorf("frozen: %v", err)
	}
	if _, err := CompanionOf(p, o); err != nil {
		t.Errorf("a companion, frozen: %v", err)
	}
}
