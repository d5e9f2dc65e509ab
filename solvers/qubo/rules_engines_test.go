package qubo

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
)

func TestTemperByRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := sparseProblem(40, func(i int) int64 { return int64(i%5) - 2 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := range 40 {
			pairs[[2]int{min(k, (k+1)%40), max(k, (k+1)%40)}] = 3 - 6*int64(k%2)
			pairs[[2]int{min(k, (k+7)%40), max(k, (k+7)%40)}] = -3
		}
		return pairs
	}())
	m := startTemper(t, d, "block=64,state=shared,weight=unit", p, temperRules{2, 3})
	type run struct {
		told           []int64
		did            work
		rounds, elites int
	}
	search := func(r Rules) (out run) {
		o := searchOptions{began: time.Now(), seed: 9, work: 40000, rules: r, start: make([]uint64, 1),
			progress: func(work) { out.rounds++ },
			elite: func(v int64, x []uint64) {
				if out.elites++; p.value(x) != v {
					t.Errorf("an elite of %d, recomputed %d", v, p.value(x))
				}
			}}
		var err error
		if out.did, err = m.search(context.Background(), p, o, bulkFound(t, p, &out.told)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	same := func(a, b run) bool {
		return slices.Equal(a.told, b.told) && a.did == b.did && a.rounds == b.rounds && a.elites == b.elites
	}
	base := search(Rules{})
	if base.did.Restarts != 0 || !same(base, search(Rules{Round: workRound, Restart: Never, Pool: poolSize, Distance: 1})) {
		t.Errorf("defaults: %+v, given: %+v", base, search(Rules{Round: workRound, Restart: Never, Pool: poolSize, Distance: 1}))
	}
	if short := search(Rules{Round: 4}); short.rounds < 3*base.rounds {
		t.Errorf("%d rounds of 4 sweeps, %d of %d", short.rounds, base.rounds, workRound)
	}
	if small := search(Rules{Pool: 2, Round: 4}); small.elites > 2 || base.elites <= 2 {
		t.Errorf("%d elites of 2, %d of %d", small.elites, base.elites, poolSize)
	}
	anew := search(Rules{Round: 2, Restart: 5})
	if anew.did.Restarts < 2*2 || !same(anew, search(Rules{Round: 2, Restart: 5})) || anew.told[len(anew.told)-1] < base.told[len(base.told)-1] {
		t.Errorf("began anew after 5 rounds: %+v, expected at least as good as %+v", anew, base)
	}
	if never := search(Rules{Round: 2, Restart: Never}); never.did.Restarts != 0 {
		t.Errorf("%d restarts, expected none", never.did.Restarts)
	}
	twice := tempering{temper: new(temper), pool: newPool(p, 0), o: searchOptions{seed: 9, start: []uint64{1}}}
	seeds := []uint64{twice.o.seed}
	for range 2 {
		if err := twice.again(); err != nil || slices.Contains(seeds, twice.o.seed) || twice.o.start != nil {
			t.Errorf("begins anew with seed %d after %d, at %x (%v)", twice.o.seed, seeds, twice.o.start, err)
		}
		seeds = append(seeds, twice.o.seed)
	}
	// Rounds of so many sweeps also where time is the limit, and no longer than that.
	r := tempering{temper: m, pace: 1e-3, o: searchOptions{deadline: time.Now().Add(time.Hour), rules: Rules{Round: 7}}}
	if most, _ := r.sweeps(1); most != 7 {
		t.Errorf("a round of %d sweeps, expected 7", most)
	}
	r.o.deadline = time.Now()
	if most, _ := r.sweeps(1); most != 1 {
		t.Errorf("a round of %d sweeps when time is over, expected 1", most)
	}
}

// The engines of a team take the rules that they have; one that none has is
// refused.
func TestTeamTakesRules(t *testing.T) {
	d := emulatedtest.Open(t)
	ring := sparseProblem(30, func(int) int64 { return 1 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := range 29 {
			pairs[[2]int{k, k + 1}] = -3
		}
		return pairs
	}())
	for _, c := range []struct {
		p    *normal
		o    Options
		used map[string]Rules // of which those given are compared
		want string
	}{
		{bulkFor("int8", 30, 4), Options{Rules: Rules{Tenure: 9, Searches: 2}}, map[string]Rules{"bulk": {Tenure: 9, Searches: 2}, "host": {Tenure: 9}}, ""},
		{ring, Options{Rules: Rules{Tenure: 9, Restart: 4}}, map[string]Rules{"temper": {Restart: 4}, "host": {Tenure: 9}}, ""},
		{ring, Options{Rules: Rules{Searches: 2}}, nil, "rule searches: engine host and temper has not got it"},
		{ring, Options{Rules: Rules{Tenure: 9}, Without: []string{"host"}}, nil, "rule tenure: engine temper has not got it"},
		{ring, Options{Rules: Rules{Stall: 9}, Without: []string{"temper", "bulk"}}, map[string]Rules{"host": {Stall: 9}}, ""},
	} {
		e, err := openTeam(d, c.p, c.o)
		if err != nil {
			t.Fatal(err)
		}
		err = c.o.Rules.refusedBy(e.used)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.o.Rules, err, c.want)
		}
		if got, want := slices.Sorted(maps.Keys(e.used)), slices.Sorted(maps.Keys(c.used)); c.want == "" && !slices.Equal(got, want) {
			t.Errorf("%s: searched by %v, expected %v", c.o.Rules, got, want)
		}
		for name, given := range c.used {
			got := e.used[name]
			for _, k := range ruleList {
				if want := *k.of(&given); want != 0 && *k.of(&got) != want {
					t.Errorf("%s: %s uses %s", c.o.Rules, name, got)
				}
			}
		}
		if e.close != nil {
			if err := e.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A result says by which rules it was found, which repeat it.
func TestSolveByRules(t *testing.T) {
	on := map[string]device.Device{"host": host.Open(2), "bulk": emulatedtest.Open(t)}
	defer on["host"].Close()
	inst, err := Palubeckis(60, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	for engine, d := range on {
		solve := func(r Rules) *Result {
			out, err := Solve(t.Context(), d, inst, Options{Engine: engine, Work: 30000, Seed: 3, Unreduced: true, Rules: r})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		given := Rules{Tenure: 7, Stall: 50}
		a := solve(given)
		b, c := solve(given), solve(a.Used[engine])
		for _, other := range []*Result{b, c} {
			if other.Solution.String() != a.Solution.String() || other.Work != a.Work || len(other.History) != len(a.History) || !maps.Equal(a.Used, other.Used) {
				t.Errorf("%s: %v %+v by %s, %v %+v by %s", engine, a.Value, a.Work, a.Rules, other.Value, other.Work, other.Rules)
			}
		}
		base := solve(Rules{})
		if base.Used[engine] == a.Used[engine] || engine == "host" && base.Work == a.Work { // shorter walks
			t.Errorf("%s: %s are not used: %+v", engine, given, a.Work)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Rules Rules            `json:"rules"`
			Used  map[string]Rules `json:"rules_used"`
		}
		if err := json.Unmarshal(text, &read); err != nil || read.Rules != given || !maps.Equal(read.Used, a.Used) || read.Used[engine].Tenure != 7 || read.Used[engine].Pool == 0 {
			t.Errorf("%s: %+v (%v)", engine, read, err)
		}
	}
}
