package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

func TestDecide(t *testing.T) {
	f := family(8)
	m := func(x int, med, mad int64) Measured {
		return Measured{Variant: &f.Variants[x], Sample: trial.Sample{N: 10, Median: med, MAD: mad}}
	}
	often := func(x int, med, mad int64) Measured {
		r := m(x, med, mad)
		r.Sample.N = 80
		return r
	}
	label := func(x int) string { return f.Variants[x].Label }
	for name, tc := range map[string]struct {
		results   []Measured
		incumbent string
		want      int
	}{
		"faster by 2 %":           {[]Measured{m(1, 1000, 0), m(2, 980, 0)}, label(1), 2},
		"faster by 0.9 %":         {[]Measured{m(1, 1000, 0), m(2, 991, 0)}, label(1), 1},
		"faster by 2 %, noisy":    {[]Measured{m(1, 1000, 15), m(2, 980, 15)}, label(1), 1},
		"by 12 %, noisy, often":   {[]Measured{often(1, 1000, 80), often(2, 880, 70)}, label(1), 2},
		"by 5 %, noisy, often":    {[]Measured{often(1, 1000, 80), often(2, 950, 70)}, label(1), 1},
		"tie: the faster median":  {[]Measured{m(0, 2000, 0), m(3, 1000, 0), m(2, 1005, 0), m(5, 1008, 0)}, label(0), 3},
		"equal: lexical":          {[]Measured{m(0, 2000, 0), m(5, 1000, 0), m(1, 1000, 0)}, label(0), 1},
		"faster by half, scatter": {[]Measured{often(1, 1000, 20), often(2, 500, 60)}, label(1), 1},
		"holder scatters":         {[]Measured{often(1, 1000, 110), often(2, 500, 10)}, label(1), 1},
		"tied but for the holder": {[]Measured{m(0, 1000, 0), m(1, 985, 0), m(4, 995, 0)}, label(0), 1},
		"no incumbent":            {[]Measured{m(3, 1000, 0), m(2, 900, 0)}, "", 2},
		"incumbent not here":      {[]Measured{m(3, 1000, 0), m(2, 900, 0)}, label(7), 2},
		"incumbent alone":         {[]Measured{m(3, 1000, 0)}, label(3), 3},
	} {
		if v, why, _ := PickWinner(tc.results, tc.incumbent, NoiseLimit); v != &f.Variants[tc.want] || why == "" {
			t.Errorf("%s: %v (%s), want %s", name, v.Label, why, label(tc.want))
		}
	}
}

// What was timed on one instance alone, or twice, does not take the crown.
func TestUnprovenDoNotWin(t *testing.T) {
	f := family(4)
	m := func(x int, med int64, n, instances int) Measured {
		return Measured{Variant: &f.Variants[x], Sample: trial.Sample{N: n, Median: med}, Instances: instances}
	}
	list := contenders([]Measured{m(1, 500, 50, 1), m(2, 600, 2, 2), m(3, 900, 3, 2), m(0, 1000, 5, 1)}, f.Variants[0].Label)
	if v, _, _ := PickWinner(list, f.Variants[0].Label, NoiseLimit); v != &f.Variants[3] {
		t.Errorf("%s won, want the one with three samples of two instances", v.Label)
	}
}

// A second instance that takes twice the time of the first does not make noise of it:
// what all have in common is taken out, what one of them has stays.
func TestInstancesAreLevelled(t *testing.T) {
	of := func(medians ...int64) *candidate {
		c := &candidate{rounds: map[int][]trial.Sample{}}
		for _, m := range medians {
			c.rounds[20] = append(c.rounds[20], trial.Sample{N: 1, Median: m, Q1: m - 10, Q3: m + 10, Min: m - 20, MAD: 10})
		}
		return c
	}
	all := []*candidate{of(1000, 2000), of(1500, 3000), of(1200, 3000), of(900)}
	rescaleRound(all, 20, 1)
	for i, want := range []int64{1000, 1500, 1500} {
		if got := all[i].rounds[20][1]; got.Median != want || got.MAD != 5 || got.Q1 != want-5 || got.Min != want-10 {
			t.Errorf("variant %d: %+v, want %d ns", i, got, want)
		}
	}
	if got := poolSamples(all[0].rounds[20]); got.MAD > 10 || got.N != 2 {
		t.Errorf("pooled: %+v", got)
	}
	rescaleRound([]*candidate{of(900)}, 20, 1) // nobody has a second round
}

// Wherever a search is cut, times are those of the first instance, also of a variant that had a second
// one, of three times the time, when the other had not.
func TestCutRoundsAreLevelled(t *testing.T) {
	truth := func(v *device.Variant, size int) time.Duration {
		return time.Duration(size) * time.Duration(1000+80*v.Hash) * time.Microsecond
	}
	sizes := 0
	for n := range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		b, instance := newBench(nil), 0
		b.plan = func(a TrialRequest) trial.Status { instance = a.Instance; return "" }
		b.truth = func(v *device.Variant, size int) time.Duration { return truth(v, size) * time.Duration(1+2*instance) }
		b.cancel = func(i int) {
			if i == n {
				cancel()
			}
		}
		o, err := Run(ctx, b, plan(b, family(2)))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range o.Sizes {
			for _, m := range s.Results {
				if long := float64(m.Sample.Median) / float64(truth(m.Variant, s.Size)); long < 0.95 || long > 1.05 {
					t.Errorf("cut at %d: size %d, %s took %.1f times its time", n, s.Size, m.Variant.Label, long)
				}
			}
		}
		sizes += len(o.Sizes)
	}
	if sizes == 0 {
		t.Error("no size was decided")
	}
}

// A near-tie must not flip between sessions: whatever the noise, the winner of
// the first session is the winner of the next.
func TestNearTiesDoNotFlip(t *testing.T) {
	flat := func(v *device.Variant, size int) time.Duration {
		var x int
		fmt.Sscanf(v.Label, "x=%d", &x)
		return time.Millisecond + time.Duration(x%3)*500*time.Nanosecond
	}
	f := family(32)
	previous := map[int]string{}
	for session := range 20 {
		b := newBench(flat)
		b.rng = rand.New(rand.NewPCG(uint64(session), 3))
		p := plan(b, f)
		p.Previous = previous
		o, err := Run(t.Context(), b, p)
		if err != nil || len(o.Sizes) != 3 {
			t.Fatal(err, len(o.Sizes))
		}
		now := map[int]string{}
		for _, s := range o.Sizes {
			now[s.Size] = s.Winner.Label
			if was := previous[s.Size]; was != "" && was != s.Winner.Label {
				t.Errorf("session %d, size %d: %s became %s", session, s.Size, was, s.Winner.Label)
			}
		}
		previous = now
	}
}

// Rounds of a single sample each have quartiles that are apart as far as the rounds are: else a file of
// winners would say that they do not scatter.
func TestQuartilesOfRounds(t *testing.T) {
	var rounds []trial.Sample
	for _, ns := range []int64{5e6, 16e6, 22e6} {
		rounds = append(rounds, trial.Sample{N: 1, Median: ns, Q1: ns, Q3: ns, Min: ns})
	}
	if s := poolSamples(rounds); s.Median != 16e6 || s.MAD != 6e6 || s.Q1 != 10e6 || s.Q3 != 22e6 {
		t.Errorf("pooled to %+v", s)
	}
	same := trial.Sample{N: 5, Median: 10, Q1: 8, Q3: 13, Min: 7, MAD: 1}
	if s := poolSamples([]trial.Sample{same, same}); s.Q1 != 8 || s.Q3 != 13 || s.MAD != 1 {
		t.Errorf("pooled to %+v", s)
	}
}

// Where each round timed another instance, a variant beats another by the ratios of their times: beyond
// 1 %, and by Student's test.
func TestRoundsAreCompared(t *testing.T) {
	for _, c := range []struct {
		name  string
		logs  []float64 // of the ratios
		beats bool
	}{
		{"half a percent in every round", []float64{-0.005, -0.005, -0.005, -0.005}, false},
		{"two percent in every round", []float64{-0.02, -0.02, -0.02, -0.02}, true},
		{"a fifth, by three rounds that scatter", []float64{-0.14, -0.2, -0.26}, false},
		{"a fifth, by three rounds that agree", []float64{-0.19, -0.2, -0.21}, true},
		{"a fifth, by six rounds that scatter", []float64{-0.14, -0.2, -0.26, -0.14, -0.2, -0.26}, true},
		{"slower", []float64{0.2, 0.2, 0.2}, false},
	} {
		a, b := Measured{Rounds: make([]float64, len(c.logs)), Varied: true}, Measured{Rounds: make([]float64, len(c.logs)), Varied: true}
		for r, x := range c.logs {
			b.Rounds[r] = 1e6 * float64(r+1)
			a.Rounds[r] = b.Rounds[r] * math.Exp(x)
		}
		if got := a.beats(&b); got != c.beats {
			t.Errorf("%s: beats %v, expected %v", c.name, got, c.beats)
		}
	}
}

// Of those that are tied with the fastest by rounds, the first label wins, whichever of them was lucky.
func TestTiesOfRounds(t *testing.T) {
	f := family(3)
	of := func(v int, rounds ...float64) Measured {
		return Measured{Variant: &f.Variants[v], Sample: trial.Sample{N: 4, Median: int64(rounds[0])}, Instances: 4, Rounds: rounds, Varied: true}
	}
	holder := of(2, 9e6, 9e6, 9e6, 9e6)
	for _, c := range []struct {
		name        string
		first, next []float64 // of the first label and of the next
		want        int
	}{
		{"the next label was luckier", []float64{1.02e6, 1.01e6, 1.03e6, 1e6}, []float64{1e6, 1.02e6, 1e6, 1.01e6}, 0},
		{"the next label is faster", []float64{1.3e6, 1.31e6, 1.29e6, 1.3e6}, []float64{1e6, 1e6, 1e6, 1e6}, 1},
	} {
		if won, why, _ := PickWinner([]Measured{of(0, c.first...), of(1, c.next...), holder}, f.Variants[2].Label, NoiseLimit); won != &f.Variants[c.want] {
			t.Errorf("%s: %s won, %s; expected %s", c.name, won.Label, why, f.Variants[c.want].Label)
		}
	}
}
