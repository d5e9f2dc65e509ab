package qubo

import (
	"coalesce/runtime/emulated/emulatedtest"
	"context"
	"slices"
	"testing"
	"time"
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
	twice := tempering{temper: new(temper), pool: newPool(p, poolSize, 1+p.n/500), o: searchOptions{seed: 9, start: []uint64{1}}}
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

// Defaults that are given as rules stay as they are.
func TestTemperDefaults(t *testing.T) {
	for _, n := range []int{0, 1, 13, 100, 2500, 50000} {
		if got := temperRulesBy((Rules{}), n); got != temperRulesBy(got, n) {
			t.Errorf("%d variables: temper's defaults are %s, given they are %s", n, got, temperRulesBy(got, n))
		}
	}
}
