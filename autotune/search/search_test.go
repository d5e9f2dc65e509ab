package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// bench replays a simulated device: every variant has a true time at every
// size, samples scatter, and the clock goes on by what a trial would take.
type bench struct {
	rng    *rand.Rand
	clock  time.Time
	truth  func(v *device.Variant, size int) time.Duration
	noise  float64
	plan   func(a TrialRequest) trial.Status // "" for ok
	asked  []TrialRequest
	cancel func(n int) // called before trial n
	others func(v *device.Variant) float64
}

func newBench(truth func(*device.Variant, int) time.Duration) *bench {
	return &bench{rng: rand.New(rand.NewPCG(1, 2)), clock: time.Unix(0, 0), truth: truth, noise: 0.002}
}

func (b *bench) RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error) {
	if b.cancel != nil {
		b.cancel(len(b.asked))
	}
	if err := ctx.Err(); err != nil {
		return trial.Trial{Status: trial.Skipped}, err
	}
	b.asked = append(b.asked, a)
	t := trial.Trial{Status: trial.OK, Variant: a.Variant.Label, Size: a.Size, Action: a.Action}
	wall := 10 * time.Millisecond
	if b.plan != nil {
		if s := b.plan(a); s != "" {
			t.Status, t.Error = s, "planted"
			if s == trial.Timeout {
				wall = a.Timeout
			}
		}
	}
	if a.Action == trial.ActionMeasure && t.Status == trial.OK {
		n := 5
		if !a.Brief {
			n = 20
		}
		exact := float64(b.truth(a.Variant, a.Size))
		med := exact * math.Exp(b.noise*b.rng.NormFloat64())
		t.Hot = &trial.Sample{N: n, Median: int64(med), Q1: int64(med * (1 - b.noise)), Q3: int64(med * (1 + b.noise)), Min: int64(med * (1 - 2*b.noise)), MAD: int64(med * b.noise), Repeat: 1}
		if b.others != nil {
			t.Hot.Others = b.others(a.Variant)
		}
		if a.Bound > 0 && time.Duration(med) > a.Bound {
			n = 1
		}
		wall += time.Duration(float64(n) * med)
	}
	t.Wall = int64(wall)
	b.clock = b.clock.Add(wall)
	return t, nil
}

func (b *bench) now() time.Time { return b.clock }

// family has n variants x=0…n-1 with block=32·(1+x mod 4); x=0 is safe.
func family(n int) *device.Family {
	f := &device.Family{Name: "toy/family", Params: []string{"x", "block", "value"}}
	for x := range n {
		values := []string{fmt.Sprint(x), fmt.Sprint(32 * (1 + x%4)), "int32"}
		f.Variants = append(f.Variants, device.Variant{
			Label: fmt.Sprintf("x=%s,block=%s,value=%s", values[0], values[1], values[2]), Values: values, Safe: x == 0, Hash: uint64(x),
		})
	}
	f.Variants = append(f.Variants, device.Variant{Label: "x=0,block=32,value=float64", Values: []string{"0", "32", "float64"}, Safe: true})
	return f
}

// bowl is fastest at x = 37 for small sizes and 42 for large ones.
func bowl(v *device.Variant, size int) time.Duration {
	var x int
	fmt.Sscanf(v.Label, "x=%d", &x)
	best := 37
	if size >= 22 {
		best = 42
	}
	return time.Duration(float64(time.Millisecond) * float64(size) * (1 + 0.1*math.Abs(float64(x-best))))
}

func plan(b *bench, f *device.Family) Plan {
	return Plan{Family: f, Fixed: map[string]string{"value": "int32"}, Sizes: []int{16, 20, 24}, Seed: 7, Now: b.now}
}

func winners(o Outcome) string {
	var s []string
	for _, w := range o.Sizes {
		s = append(s, fmt.Sprintf("%d:%s", w.Size, strings.SplitN(w.Winner.Label, ",", 2)[0]))
	}
	return strings.Join(s, " ")
}

func TestSearchFindsTheBest(t *testing.T) {
	for _, strategy := range []string{Halving, Exhaustive} {
		b := newBench(bowl)
		p := plan(b, family(64))
		p.Strategy = strategy
		var last Progress
		p.Observe = func(q Progress) { last = q }
		o, err := Run(t.Context(), b, p)
		if err != nil || o.Stopped != Done {
			t.Fatalf("%s: %v, %v", strategy, o.Stopped, err)
		}
		if got := winners(o); got != "16:x=37 20:x=37 24:x=42" {
			t.Errorf("%s: winners %s", strategy, got)
		}
		if o.Points != 64 || o.Tried != 64 || len(o.Failures) != 0 {
			t.Errorf("%s: %d points, %d tried, %d failures", strategy, o.Points, o.Tried, len(o.Failures))
		}
		if last.Counts[trial.OK] != len(b.asked) {
			t.Errorf("%s: progress counts %v of %d trials", strategy, last.Counts, len(b.asked))
		}
		for _, s := range o.Sizes { // winners of one size are measured at all
			for _, x := range []string{"x=37,", "x=42,"} {
				found := false
				for _, m := range s.Results {
					found = found || strings.HasPrefix(m.Variant.Label, x)
				}
				if !found {
					t.Errorf("%s: size %d has no result of %s", strategy, s.Size, x)
				}
			}
			if !s.Complete || s.Safe == "" {
				t.Errorf("%s: size %d: complete %v, safe %q", strategy, s.Size, s.Complete, s.Safe)
			}
		}
		t.Logf("%s: %d trials, %v simulated", strategy, len(b.asked), b.clock.Sub(time.Unix(0, 0)))
	}
}

func TestVerifiedBeforeTimedAndSafeFirst(t *testing.T) {
	b := newBench(bowl)
	p := plan(b, family(64))
	p.Previous = map[int]string{20: "x=5,block=64,value=int32"}
	p.Likely = []string{"x=9,block=64,value=int32", "of another family"}
	if _, err := Run(t.Context(), b, p); err != nil {
		t.Fatal(err)
	}
	verified := map[string]bool{}
	for _, a := range b.asked {
		switch a.Action {
		case trial.ActionVerify:
			if verified[a.Variant.Label] {
				t.Errorf("%s verified twice", a.Variant.Label)
			}
			verified[a.Variant.Label] = true
		case trial.ActionMeasure:
			if !verified[a.Variant.Label] {
				t.Errorf("%s timed before it was verified", a.Variant.Label)
			}
		}
	}
	if got := b.asked[0].Variant.Label; got != "x=0,block=32,value=int32" {
		t.Errorf("first tried %s, want the safe point", got)
	}
	if got := b.asked[2].Variant.Label; got != "x=5,block=64,value=int32" {
		t.Errorf("tried next %s, want the earlier winner", got)
	}
	if got := b.asked[4].Variant.Label; got != p.Likely[0] {
		t.Errorf("tried then %s, want what won elsewhere", got)
	}
}

func TestFailuresNeverWin(t *testing.T) {
	for _, status := range []trial.Status{trial.Verify, trial.Launch, trial.Timeout, trial.Compile, trial.Memory} {
		for _, action := range []string{trial.ActionVerify, trial.ActionMeasure} {
			b := newBench(bowl)
			p := plan(b, family(64))
			seen := 0
			b.plan = func(a TrialRequest) trial.Status {
				// Wrong answers may show late, under load: the fourth time.
				if strings.HasPrefix(a.Variant.Label, "x=37,") && a.Action == action {
					if seen++; action == trial.ActionVerify || seen >= 4 {
						return status
					}
				}
				return ""
			}
			o, err := Run(t.Context(), b, p)
			if err != nil {
				t.Fatal(err)
			}
			if status == trial.Memory && action == trial.ActionMeasure {
				continue // too large for one size says nothing of its answers
			}
			if len(o.Failures) != 1 || o.Failures[0].Status != status {
				t.Errorf("%s at %s: failures %v", status, action, o.Failures)
			}
			for _, s := range o.Sizes {
				for _, m := range s.Results {
					if strings.HasPrefix(m.Variant.Label, "x=37,") {
						t.Errorf("%s at %s: the variant has a result at size %d", status, action, s.Size)
					}
				}
			}
			if len(o.Sizes) != 3 {
				t.Errorf("%s at %s: %d sizes decided", status, action, len(o.Sizes))
			}
		}
	}
}

func TestMemoryBarsLargerSizes(t *testing.T) {
	b := newBench(bowl)
	b.plan = func(a TrialRequest) trial.Status {
		if strings.HasPrefix(a.Variant.Label, "x=42,") && a.Action == trial.ActionMeasure && a.Size >= 24 {
			return trial.Memory
		}
		return ""
	}
	o, err := Run(t.Context(), b, plan(b, family(64)))
	if err != nil {
		t.Fatal(err)
	}
	if got := winners(o); got != "16:x=37 20:x=37 24:x=41" && got != "16:x=37 20:x=37 24:x=43" {
		t.Errorf("winners %s", got)
	}
}

func TestBudget(t *testing.T) {
	for _, budget := range []time.Duration{time.Second, 4 * time.Second, 10 * time.Second, 20 * time.Second, 3 * time.Minute} {
		b := newBench(bowl)
		p := plan(b, family(64))
		p.Budget = budget
		o, err := Run(t.Context(), b, p)
		if err != nil {
			t.Fatal(err)
		}
		used := b.clock.Sub(time.Unix(0, 0))
		t.Logf("%v: %s, %d trials, winners %s", budget, o.Stopped, len(b.asked), winners(o))
		if used > budget+5*time.Second {
			t.Errorf("budget %v: used %v", budget, used)
		}
		if want := map[bool]string{true: OverBudget, false: Done}[budget < 3*time.Minute]; o.Stopped != want {
			t.Errorf("budget %v: stopped %q after %v, want %q", budget, o.Stopped, used, want)
		}
		for _, s := range o.Sizes {
			if s.Safe == "" || s.Winner == nil || bowl(s.Winner, s.Size) > bowl(p.Family.Variant(s.Safe), s.Size) {
				t.Errorf("budget %v: winner %v at size %d is worse than the safe point %q", budget, s.Winner, s.Size, s.Safe)
			}
		}
		least := map[time.Duration]int{10 * time.Second: 1, 20 * time.Second: 2, 3 * time.Minute: 3}[budget]
		if len(o.Sizes) < least {
			t.Errorf("budget %v: %d sizes decided, want %d or more", budget, len(o.Sizes), least)
		}
	}
}

func TestInterruptKeepsWhatIsProven(t *testing.T) {
	f := family(64)
	for n := range 120 {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(bowl)
		b.cancel = func(i int) {
			if i == n {
				cancel()
			}
		}
		p := plan(b, f)
		p.Previous = map[int]string{20: "x=30,block=96,value=int32"}
		o, err := Run(ctx, b, p)
		cancel()
		if err != nil || o.Stopped != Interrupted || len(b.asked) != n {
			t.Fatalf("cut at %d: %v, stopped %q after %d trials", n, err, o.Stopped, len(b.asked))
		}
		for _, s := range o.Sizes {
			// Proven: both the safe point and the earlier winner were measured.
			if s.Size == 20 && bowl(s.Winner, 20) > bowl(f.Variant(p.Previous[20]), 20) {
				t.Errorf("cut at %d: %s replaces a faster earlier winner", n, s.Winner.Label)
			}
		}
		if n < 4 && len(o.Sizes) > 0 {
			t.Errorf("cut at %d: winners %s out of nothing", n, winners(o))
		}
	}
}

// Wherever a search is interrupted, on a host whose samples scatter as on one at rest, a winner's own samples are within the
// noise, and it was timed in rounds and compared with the others: no incumbent stays for want of trials.
func TestInterruptedWinnersAreProven(t *testing.T) {
	f := family(7)
	for _, c := range []struct {
		name  string
		noise func(v *device.Variant) float64 // relative, of samples
		least int                             // winners in all
	}{
		{"at rest", func(*device.Variant) float64 { return 0.002 }, 50},
		{"busy", func(*device.Variant) float64 { return 0.4 }, 0},
		{"the incumbent scatters", func(v *device.Variant) float64 { return 0.002 + float64(v.Hash/6)*0.9 }, 0},
	} {
		decided := 0
		for n := range 150 {
			ctx, cancel := context.WithCancel(t.Context())
			b := newBench(func(v *device.Variant, size int) time.Duration {
				return time.Duration(size) * time.Millisecond * time.Duration(100+v.Hash) / 100
			})
			b.cancel = func(i int) {
				if b.noise = 0; i == n {
					cancel()
				}
			}
			b.plan = func(a TrialRequest) trial.Status { b.noise = c.noise(a.Variant); return "" }
			p := plan(b, f)
			p.Previous = map[int]string{20: f.Variants[6].Label}
			o, err := Run(ctx, b, p)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range o.Sizes {
				decided++
				var won *Measured
				for i := range s.Results {
					if s.Results[i].Variant == s.Winner {
						won = &s.Results[i]
					}
				}
				if won.Scatter > NoiseLimit || len(won.Rounds) < leastInstances {
					t.Errorf("%s, cut at %d: at size %d %s won after %d rounds, ±%.0f %%", c.name, n, s.Size, s.Winner.Label, len(won.Rounds), 100*won.Scatter)
				}
				if rivals := len(s.Results); rivals < 7 {
					t.Errorf("%s, cut at %d: at size %d %s won over %d variants of 7", c.name, n, s.Size, s.Winner.Label, rivals)
				}
			}
		}
		if decided < c.least {
			t.Errorf("%s: %d sizes decided, expected %d or more", c.name, decided, c.least)
		}
		t.Logf("%s: %d sizes decided", c.name, decided)
	}
}

func TestBenchErrorEndsTheSearch(t *testing.T) {
	broken := errors.New("no worker")
	_, err := Run(t.Context(), failing{broken}, Plan{Family: family(3), Sizes: []int{4}})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) RunExperiment(context.Context, TrialRequest) (trial.Trial, error) {
	return trial.Trial{}, f.err
}

func TestFeasible(t *testing.T) {
	b := newBench(bowl)
	p := plan(b, family(64))
	p.Feasible = func(v *device.Variant, size int) error {
		if strings.Contains(v.Label, "block=32,") || strings.HasPrefix(v.Label, "x=42,") && size < 24 {
			return errors.New("no")
		}
		return nil
	}
	o, err := Run(t.Context(), b, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range b.asked {
		if p.Feasible(a.Variant, a.Size) != nil {
			t.Errorf("asked for %s at size %d", a.Variant.Label, a.Size)
		}
	}
	if got := winners(o); got != "16:x=37 20:x=37 24:x=42" || o.Infeasible != 16 {
		t.Errorf("winners %s, %d infeasible", got, o.Infeasible)
	}
}

// A winner rests on three samples or more, of two instances, each at every size; a tie in
// the final rounds asks for more of them, a clear winner does not.
func TestWinnersAreProven(t *testing.T) {
	for name, tc := range map[string]struct {
		second float64 // time of x=2, where x=1 takes 1 ms and others 2
		rounds int     // of x=1
	}{"clear": {1.5, 3}, "tied": {1.001, 6}} {
		b := newBench(func(v *device.Variant, _ int) time.Duration {
			ms := map[string]float64{"1": 1, "2": tc.second}[v.Values[0]]
			if ms == 0 {
				ms = 2
			}
			return time.Duration(ms * float64(time.Millisecond))
		})
		p := plan(b, family(16))
		p.Sizes = []int{20}
		o, err := Run(t.Context(), b, p)
		if err != nil || !strings.HasPrefix(o.Sizes[0].Winner.Label, "x=1,") && name == "clear" {
			t.Fatalf("%s: %v, %+v", name, err, o.Sizes)
		}
		n, instances := 0, map[int]int{}
		for _, a := range b.asked {
			if a.Phase == PhaseFinal && a.Variant.Values[0] == "1" {
				n++
				instances[a.Instance]++
			}
		}
		if n != tc.rounds || len(instances) < leastInstances {
			t.Errorf("%s: %d final rounds of instances %v, want %d of %d instances or more", name, n, instances, tc.rounds, leastInstances)
		}
		for _, m := range o.Sizes[0].Results {
			if m.Variant == o.Sizes[0].Winner && (m.Instances < leastInstances || m.Sample.N < leastSamples) {
				t.Errorf("%s: the winner has %d samples of %d instances", name, m.Sample.N, m.Instances)
			}
		}
	}
}

// What is slow at the middle size and the fastest at the largest is found there, where
// the budget allows to look.
func TestBestOfTheLargestSize(t *testing.T) {
	truth := func(v *device.Variant, size int) time.Duration {
		ms := 1.0
		switch {
		case v.Values[0] == "61" && size == 24:
			ms = 0.5
		case v.Values[0] == "61":
			ms = 3
		}
		return time.Duration(ms * float64(time.Millisecond))
	}
	b := newBench(truth)
	p := plan(b, family(64))
	p.Budget = 100 * time.Second
	o, err := Run(t.Context(), b, p)
	if err != nil || len(o.Sizes) != 3 || !strings.HasPrefix(o.Sizes[2].Winner.Label, "x=61,") {
		t.Errorf("%v, winners %s", err, winners(o))
	}
}

// The winner of one size is measured at the others, where it had not come to its turn.
func TestWinnersCrossSizes(t *testing.T) {
	b := newBench(func(v *device.Variant, size int) time.Duration {
		switch {
		case size < 24:
			return time.Second
		case v.Values[0] == "40":
			return time.Millisecond / 2
		}
		return time.Millisecond
	})
	p := plan(b, family(64))
	p.Strategy, p.Budget = Exhaustive, 100*time.Second
	o, err := Run(t.Context(), b, p)
	if err != nil {
		t.Fatal(err)
	}
	crossed := map[int]bool{}
	for _, a := range b.asked {
		if a.Phase == PhaseCross && a.Variant.Values[0] == "40" {
			crossed[a.Size] = true
		}
	}
	if !crossed[16] || !crossed[20] {
		t.Errorf("winners %s; that of size 24 was crossed with sizes %v, want 16 and 20", winners(o), crossed)
	}
}

// TestNeighboursFirst has a budget for a third of a space whose parameters act apart: what
// is near the best so far is tried early enough to find the best of all.
func TestNeighboursFirst(t *testing.T) {
	f := &device.Family{Name: "toy/family", Params: []string{"a", "b", "c", "d", "value"}}
	for x := range 256 {
		values := []string{fmt.Sprint(x & 3), fmt.Sprint(x >> 2 & 3), fmt.Sprint(x >> 4 & 3), fmt.Sprint(x >> 6), "int32"}
		label := fmt.Sprintf("a=%s,b=%s,c=%s,d=%s,value=int32", values[0], values[1], values[2], values[3])
		f.Variants = append(f.Variants, device.Variant{Label: label, Values: values, Safe: x == 0, Hash: uint64(x)})
	}
	for seed := range uint64(8) {
		b := newBench(func(v *device.Variant, size int) time.Duration {
			slow := 1.0
			for k, best := range []string{"2", "1", "3", "2"} {
				if v.Values[k] != best {
					slow *= 1.2
				}
			}
			return time.Duration(slow * float64(time.Millisecond))
		})
		p := plan(b, f)
		p.Sizes, p.Seed, p.Budget = []int{20}, seed, 3*time.Second
		o, err := Run(t.Context(), b, p)
		if err != nil || o.Stopped != OverBudget || o.Tried > 96 {
			t.Fatalf("seed %d: %v, %v, %d tried", seed, o.Stopped, err, o.Tried)
		}
		if got := o.Sizes[0].Winner.Label; got != "a=2,b=1,c=3,d=2,value=int32" {
			t.Errorf("seed %d: %s after %d of %d", seed, got, o.Tried, o.Points)
		}
	}
}

// The middle size comes first, and the parts of the time left add up to all of it, to each
// size by its place.
func TestTurns(t *testing.T) {
	for n := 1; n <= 5; n++ {
		var sizes []int
		for i := range n {
			sizes = append(sizes, i)
		}
		order, parts := sizeSchedule(sizes)
		left := 1.0
		for k, i := range order {
			got := left * parts[k]
			if want := 2 * float64(i+1) / float64(n*(n+1)); math.Abs(got-want) > 1e-12 {
				t.Errorf("size %d of %d gets %.3f, want %.3f", i, n, got, want)
			}
			left -= got
		}
		if math.Abs(left) > 1e-12 || order[0] != n/2 || len(order) != n {
			t.Errorf("%d sizes in the order %v leave %.3f", n, order, left)
		}
	}
}

// Where time is short, a size is decided by the best and what it has to beat, and never for
// what was beaten at a first glance.
func TestShortBudgets(t *testing.T) {
	const known = "x=40,block=32,value=int32"
	decided := 0
	for run := range 4 * 39 {
		ms := 500 * (1 + run%39)
		b := newBench(bowl)
		p := plan(b, family(64))
		p.Seed = uint64(run / 39)
		p.Previous = map[int]string{}
		p.Budget = time.Duration(ms) * time.Millisecond
		for _, size := range p.Sizes {
			p.Previous[size] = known
		}
		o, err := Run(t.Context(), b, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range o.Sizes {
			decided++
			if bowl(w.Winner, w.Size) > bowl(p.Family.Variant(known), w.Size) {
				t.Errorf("%d ms: %s won at size %d, slower than what won before", ms, w.Winner.Label, w.Size)
			}
		}
	}
	if decided < 75 {
		t.Errorf("%d sizes decided within 39 budgets with four seeds, want 75 or more", decided)
	}
}
