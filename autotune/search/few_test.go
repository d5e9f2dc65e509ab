package search

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// Variants that run at few sizes are tried there early: where time is short, one that runs at the least size
// alone, and is the fastest there, wins.
func TestMadeForFewSizes(t *testing.T) {
	alone := func(v *device.Variant) bool {
		return strings.HasPrefix(v.Label, "x=6,") || strings.HasPrefix(v.Label, "x=7,")
	}
	b := newBench(func(v *device.Variant, size int) time.Duration {
		if alone(v) {
			return time.Millisecond
		}
		return 2 * time.Millisecond
	})
	p := plan(b, family(12))
	p.Feasible = func(v *device.Variant, size int) error {
		if alone(v) && size > 16 {
			return errors.New("no room")
		}
		return nil
	}
	p.Turn, p.Screened, p.Budget, p.Grace = 2, 12, time.Millisecond, time.Minute
	o, err := Run(t.Context(), b, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Sizes) != 1 || o.Sizes[0].Size != 16 || !alone(o.Sizes[0].Winner) {
		t.Errorf("winners %s, expected one that runs at size 16 alone", winners(o))
	}
	tried := map[string]bool{}
	for _, a := range b.asked {
		if a.Phase == PhaseSize {
			tried[a.Variant.Label] = true
		}
	}
	if len(tried) != leastTried {
		t.Errorf("%d variants were tried at size 16, expected %d, for which there was time", len(tried), leastTried)
	}
}

// A safe point that takes more than ten times as long at a glance is not timed again, nor one that takes a
// third longer where other processes cannot have been the reason.
func TestBeyondDoubt(t *testing.T) {
	for _, c := range []struct {
		slower       float64
		alone, again bool
	}{{9, false, true}, {11, false, false}, {1.2, true, true}, {1.4, true, false}} {
		b := newBench(func(v *device.Variant, _ int) time.Duration {
			if v.Safe {
				return time.Duration(c.slower * float64(3*time.Millisecond))
			}
			return 3 * time.Millisecond
		})
		p := plan(b, family(3))
		p.Sizes, p.Alone = []int{20}, c.alone
		o, err := Run(t.Context(), b, p)
		if err != nil || len(o.Sizes) != 1 || o.Sizes[0].Winner.Safe || o.Sizes[0].Safe == "" {
			t.Fatalf("winners %s, %v", winners(o), err)
		}
		finals := 0
		for _, a := range b.asked {
			if a.Phase == PhaseFinal && a.Variant.Safe {
				finals++
			}
		}
		if finals > 0 != c.again {
			t.Errorf("%v times as slow, alone %t: %d measurements in the final", c.slower, c.alone, finals)
		}
	}
}

// What is fast at the size of a turn is measured at the sizes next to it that were decided without it, and wins
// there where it is faster than the winner, which is measured again.
func TestTurnsCross(t *testing.T) {
	label := func(x int) string { return family(60).Variants[x].Label }
	for _, c := range []struct {
		winner int           // of size 20
		time   time.Duration // that was measured of it there
		want   string        // what is measured at size 20
		again  string        // the winner there, "" where it stays
	}{
		{37, 20 * time.Millisecond, "x=42", ""}, // takes 30 ms; others than x=42 take a tenth more at the turn's size
		{37, 60 * time.Millisecond, "x=42 x=37", ""},
		{30, 34 * time.Millisecond, "x=42 x=30", "x=42"},
	} {
		b := newBench(bowl)
		p := plan(b, family(60))
		p.Turn, p.Have = 3, map[int]DecidedSize{20: {Winner: label(c.winner), Time: c.time, Labels: []string{label(c.winner), label(41)}}}
		o, err := Run(t.Context(), b, p)
		if err != nil || winners(o) != "24:x=42" || len(o.Crossed) != 1 {
			t.Fatalf("winners %s, crossed to %d sizes, %v", winners(o), len(o.Crossed), err)
		}
		var got []string
		for _, m := range o.Crossed[0].Results {
			if want := bowl(m.Variant, 20); math.Abs(float64(m.Sample.Median)/float64(want)-1) > 0.05 {
				t.Errorf("%s takes %v at size 20, expected about %v", m.Variant.Label, time.Duration(m.Sample.Median), want)
			}
			got = append(got, m.Variant.Label[:4])
		}
		again := ""
		if w := o.Crossed[0].Winner; w != nil {
			again = w.Label[:4]
		}
		if text := strings.Join(got, " "); text != c.want || again != c.again || o.Crossed[0].Size != 20 {
			t.Errorf("winner x=%d: crossed to size %d: %q, won by %q; expected %q and %q", c.winner, o.Crossed[0].Size, text, again, c.want, c.again)
		}
	}
}

// A size at which the winner of another is faster at a glance than its own is decided again.
func TestFasterCrossingWins(t *testing.T) {
	crossed := 0
	const seeds = 8
	for seed := range uint64(seeds) {
		b := newBench(func(v *device.Variant, size int) time.Duration {
			switch x := v.Values[0]; {
			case size == 24 && x == "40", size == 16 && x == "40":
				return 10 * time.Millisecond
			case size == 20 && x == "5":
				return 10 * time.Millisecond
			}
			return 20 * time.Millisecond
		})
		p := plan(b, family(64))
		p.Seed = seed
		p.Promising = map[int][]string{24: {p.Family.Variants[40].Label}}
		p.Budget, p.Grace = 30*time.Second, 5*time.Second // within which the rounds that a winner needs are run
		o, err := Run(t.Context(), b, p)
		if err != nil {
			t.Fatal(err)
		}
		again := 0
		for _, a := range b.asked {
			if a.Phase == PhaseCross && a.Size == 16 && a.Variant.Values[0] == "40" && !a.Brief {
				again = 1
			}
		}
		crossed += again
		if text := winners(o); text != "16:x=40 20:x=5 24:x=40" && text != "16:x=40 24:x=40" {
			t.Errorf("seed %d: winners %s", seed, text)
		}
	}
	if crossed == 0 || crossed == seeds {
		t.Errorf("measured again with %d of %d seeds, expected some: what finds it at its own size need not", crossed, seeds)
	}
}
