package autotune_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A simulation tunes families of 4 to 60 variants, the best of which are known, on a clock that only
// their runs move.
type simulation struct {
	clock *fake.Clock
	tasks []autotune.Task
	truth map[string]func(v, size int) time.Duration // by family
	sums  []autotune.Summary
	db    *tuned.Database
	card  string // UUID
}

// simulatedFamilies are n families. seed is that of the noise, not of the times.
func simulatedFamilies(n int, seed uint64) *simulation {
	s := &simulation{clock: &fake.Clock{T: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, truth: map[string]func(v, size int) time.Duration{}}
	noise := rand.New(rand.NewPCG(seed, 9))
	for k := range n {
		name := fmt.Sprintf("toy/%02d", k)
		rng := rand.New(rand.NewPCG(uint64(k), 8))
		speed := make([]float64, 4+rng.IntN(57))
		for v := range speed {
			speed[v] = 1 + rng.Float64()
		}
		s.truth[name] = func(v, size int) time.Duration {
			return time.Duration(float64(size) * 100e3 * speed[v])
		}
		sub := &fake.Subject{Plants: make([]string, len(speed)), Clock: s.clock, Cost: func(v, size int) time.Duration {
			return time.Duration(float64(s.truth[name](v, size)) * math.Exp(0.003*noise.NormFloat64()))
		}}
		f := *sub.Family()
		f.Name = name
		s.tasks = append(s.tasks, autotune.Task{Subject: named{sub, &f}, Sizes: []int{100, 200, 400}})
	}
	return s
}

// tune is one call of TuneAll with a budget, on what those before found.
func (s *simulation) tune(t *testing.T, seed uint64, budget time.Duration, trials string) (elapsed time.Duration) {
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake", UUID: s.card}, Clock: s.clock}
	begin := s.clock.T
	s.sums = nil
	db, err := autotune.TuneAll(t.Context(), s.tasks, autotune.Options{
		Device: d, Facts: d.F, Seed: seed, Budget: budget, Now: s.clock.Now, Database: s.db, Trials: trials,
	}, func(sum autotune.Summary, _ error) { s.sums = append(s.sums, sum) })
	if err != nil {
		t.Fatal(err)
	}
	s.db = db
	return s.clock.T.Sub(begin)
}

// keys are the winners, by family and size.
func (s *simulation) keys() map[string]string {
	keys := map[string]string{}
	for _, e := range s.db.Entries() {
		keys[fmt.Sprintf("%s %d", e.Family, e.Size)] = e.Winner
	}
	return keys
}

// regret is how much longer the winners take than the best, in the median.
func (s *simulation) regret() float64 {
	var all []float64
	for _, e := range s.db.Entries() {
		var v int
		fmt.Sscanf(e.Winner, "v=%d", &v)
		took, best := s.truth[e.Family](v, e.Size), time.Hour
		for _, task := range s.tasks {
			if f := task.Subject.Family(); f.Name == e.Family {
				for k := range f.Variants {
					best = min(best, s.truth[e.Family](k, e.Size))
				}
			}
		}
		all = append(all, float64(took)/float64(best)-1)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// A budget too short for all sizes decides one of each family before it decides two of any, keeps to
// its time, and tells what it left out; two runs decide the same sizes.
func TestShortBudgetsDecideTheSame(t *testing.T) {
	const families = 12
	for _, c := range []struct {
		budget      time.Duration
		least, most int // sizes decided, of 36
	}{{16 * time.Second, 1, 12}, {time.Minute, 12, 35}, {6 * time.Minute, 36, 36}} {
		a, b := simulatedFamilies(families, 1), simulatedFamilies(families, 2)
		if took := a.tune(t, 11, c.budget, ""); took > c.budget+c.budget/10+time.Second {
			t.Errorf("%v: took %v", c.budget, took)
		}
		b.tune(t, 12, c.budget, "")
		one, two := a.keys(), b.keys()
		both, same := 0, 0
		perFamily := map[string]int{}
		for k, w := range one {
			perFamily[k[:len("toy/00")]]++
			if v, ok := two[k]; ok {
				both++
				if v == w {
					same++
				}
			}
		}
		union := len(one) + len(two) - both
		t.Logf("%v: %d and %d of %d sizes decided, %d in both, %d the same; regret %.1f %% in the median", c.budget, len(one), len(two), 3*families, both, same, 100*a.regret())
		if len(one) < c.least || len(one) > c.most || union-both > 1 && 10*both < 9*max(len(one), len(two)) {
			t.Errorf("%v: %d and %d sizes decided, %d in both; expected %d to %d, nine of ten in both", c.budget, len(one), len(two), both, c.least, c.most)
		}
		for name, n := range perFamily {
			if len(one) <= families && n > 1 {
				t.Errorf("%v: %d sizes of %s are decided, and of others none", c.budget, n, name)
			}
		}
		undecided, missing := 0, time.Duration(0)
		for _, sum := range a.sums {
			undecided += len(sum.Undecided)
			missing += sum.Missing
		}
		if len(a.sums) != families || undecided+len(one) != 3*families || (missing > 0) != (undecided > 0) {
			t.Errorf("%v: %d summaries, %d decided, %d not, for which %v are missing", c.budget, len(a.sums), len(one), undecided, missing)
		}
	}
}

// Several short calls come to what one long one does: none repeats a trial, and sizes that are decided
// are not begun again before all others are.
func TestShortCallsGoOn(t *testing.T) {
	s, trials := simulatedFamilies(12, 1), filepath.Join(t.TempDir(), "trials.jsonl")
	before := 0
	for call := range 6 {
		s.tune(t, 11, 40*time.Second, trials)
		keys := s.keys()
		if len(keys) < before || before < 36 && len(keys) == before {
			t.Errorf("call %d: %d sizes are decided, %d were before", call, len(keys), before)
		}
		before = len(keys)
		undecided, all := 0, 0
		for _, sum := range s.sums {
			undecided += len(sum.Undecided)
			all += len(sum.Undecided) + len(sum.Winners) + sum.Earlier
		}
		if undecided != 36-before || all != 36 && before < 36 { // searches that came to their end are not told of again
			t.Errorf("call %d: tells of %d undecided sizes of %d, expected %d of 36", call, undecided, all, 36-before)
		}
		t.Logf("call %d: %d sizes decided, regret %.1f %% in the median", call, before, 100*s.regret())
	}
	if before != 36 {
		t.Errorf("%d of 36 sizes are decided", before)
	}
	found, err := trial.Load(trials)
	if err != nil {
		t.Fatal(err)
	}
	// A variant is screened once, but for the safe point, which is measured again now and then: no search
	// begins anew while others are not at their end.
	seen, ended := map[string]int{}, map[string]int{}
	for _, x := range found.Trials {
		if x.Action == trial.ActionDone {
			ended[x.Family]++
		}
		if x.Action == trial.ActionMeasure && x.Phase == search.PhaseScreen && x.Variant[:4] != "v=0," {
			if k := fmt.Sprint(x.Family, x.Variant, x.Size); seen[k] > 0 {
				t.Errorf("%s was screened again", k)
			} else {
				seen[k]++
			}
		}
	}
	t.Logf("%d of 12 searches came to their end", len(ended))
}

// A call on another card of the class decides sizes that have no winner yet before it decides any again.
func TestAnotherCardGoesOn(t *testing.T) {
	s, trials := simulatedFamilies(12, 1), filepath.Join(t.TempDir(), "trials.jsonl")
	before := 0
	for call := range 3 {
		s.card = fmt.Sprint("card ", call)
		s.tune(t, 11, 40*time.Second, trials)
		keys := len(s.keys())
		if keys < before+7 && keys < 36 { // some time goes to what is decided again beside a faster neighbour
			t.Errorf("call %d: %d sizes are decided, %d were before", call, keys, before)
		}
		before = keys
	}
	if before == 36 {
		t.Fatal("all sizes are decided, expected some that have no winner yet")
	}
	found, err := trial.Load(trials)
	if err != nil {
		t.Fatal(err)
	}
	cards := map[string]string{}
	for _, x := range found.Trials {
		if x.Action == trial.ActionMeasure && x.Phase == search.PhaseFinal {
			if k := fmt.Sprint(x.Family, x.Size); cards[k] == "" {
				cards[k] = x.UUID
			} else if cards[k] != x.UUID {
				t.Errorf("%s, size %d: decided on two cards, while other sizes are not decided", x.Family, x.Size)
			}
		}
	}
}

// again changes the entry of a family's size in what a long tune found, tunes for some seconds on another card,
// in which few sizes are decided, and returns the entry then.
func again(t *testing.T, family string, size int, change func(*tuned.Entry)) tuned.Entry {
	s := simulatedFamilies(12, 1)
	s.tune(t, 11, 6*time.Minute, "")
	entries := s.db.Entries()
	e := &entries[slices.IndexFunc(entries, func(e tuned.Entry) bool { return e.Family == family && e.Size == size })]
	change(e)
	db, err := tuned.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	s.db, s.card = db, "another card"
	s.tune(t, 11, 8*time.Second, "")
	then, ok := s.db.Lookup(e.Family, e.Class, tuned.Workload{Fixed: e.Fixed, Size: e.Size})
	if !ok {
		t.Fatalf("%s has no entry of size %d any more", family, size)
	}
	return then
}

// A winner that was compared with no other variant is decided again before those that were.
func TestLoneWinnersGoFirst(t *testing.T) {
	e := again(t, "toy/07", 100, func(e *tuned.Entry) { e.Results = []tuned.Result{*e.Result(e.Winner)} })
	if len(e.Results) < 2 {
		t.Errorf("%d results, expected the size to be decided again first", len(e.Results))
	}
}

// So is a winner that was never compared with the fastest variant of the nearest size, which is then
// tried.
func TestPromisingGoFirst(t *testing.T) {
	fastest := ""
	e := again(t, "toy/07", 400, func(e *tuned.Entry) {
		fastest = e.Winner
		e.Results = slices.DeleteFunc(e.Results, func(r tuned.Result) bool { return r.Variant == fastest })[:2]
		e.Winner = e.Results[0].Variant
	})
	if e.Winner != fastest {
		t.Errorf("the winner is %s, expected that %s, the winner at size 200, is tried first", e.Winner, fastest)
	}
}
