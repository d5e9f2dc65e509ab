package tempering

import (
	"context"
	"slices"
	"testing"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
)

func TestTemperByRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.Sparse(40, func(i int) int64 { return int64(i%5) - 2 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := range 40 {
			pairs[[2]int{min(k, (k+1)%40), max(k, (k+1)%40)}] = 3 - 6*int64(k%2)
			pairs[[2]int{min(k, (k+7)%40), max(k, (k+7)%40)}] = -3
		}
		return pairs
	}())
	m := startTemper(t, d, "block=64,state=shared,weight=unit", p, settings{2, 3})
	type run struct {
		told           []int64
		did            search.Work
		rounds, elites int
	}
	walk := func(r search.Rules) (out run) {
		o := search.Options{Began: time.Now(), Seed: 9, Work: 40000, Rules: r, Start: make([]uint64, 1),
			Take: func() []uint64 { out.rounds++; return nil }, // before every round
			Elite: func(v int64, x []uint64) {
				if out.elites++; p.Value(x) != v {
					t.Errorf("an elite of %d, recomputed %d", v, p.Value(x))
				}
			}}
		var err error
		if out.did, err = m.Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &out.told)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	same := func(a, b run) bool {
		return slices.Equal(a.told, b.told) && a.did == b.did && a.rounds == b.rounds && a.elites == b.elites
	}
	base := walk(search.Rules{})
	if base.did.Restarts != 0 || !same(base, walk(search.Rules{Round: workRound, Restart: search.Never, Pool: elite.DefaultSize, Distance: 1})) {
		t.Errorf("defaults: %+v, given: %+v", base, walk(search.Rules{Round: workRound, Restart: search.Never, Pool: elite.DefaultSize, Distance: 1}))
	}
	if short := walk(search.Rules{Round: 4}); short.rounds < 3*base.rounds {
		t.Errorf("%d rounds of 4 sweeps, %d of %d", short.rounds, base.rounds, workRound)
	}
	if small := walk(search.Rules{Pool: 2, Round: 4}); small.elites > 2 || base.elites <= 2 {
		t.Errorf("%d elites of 2, %d of %d", small.elites, base.elites, elite.DefaultSize)
	}
	anew := walk(search.Rules{Round: 2, Restart: 5})
	if anew.did.Restarts < 2*2 || !same(anew, walk(search.Rules{Round: 2, Restart: 5})) || anew.told[len(anew.told)-1] < base.told[len(base.told)-1] {
		t.Errorf("began anew after 5 rounds: %+v, expected at least as good as %+v", anew, base)
	}
	if never := walk(search.Rules{Round: 2, Restart: search.Never}); never.did.Restarts != 0 {
		t.Errorf("%d restarts, expected none", never.did.Restarts)
	}
	twice := temperingRun{tempering: new(tempering), pool: elite.NewPool(p, elite.DefaultSize, 1+p.N/500), Rounds: search.Options{Seed: 9, Start: []uint64{1}}.NewRounds(t.Context(), nil)}
	seeds := []uint64{twice.Seed}
	for range 2 {
		twice.Restarts++
		if err := twice.restart(); err != nil || slices.Contains(seeds, twice.Seed) || twice.Start != nil {
			t.Errorf("begins anew with seed %d after %d, at %x (%v)", twice.Seed, seeds, twice.Start, err)
		}
		seeds = append(seeds, twice.Seed)
	}
	// Rounds of so many sweeps also where time is the limit, and no longer than that.
	r := temperingRun{tempering: m, sweepRates: sweepRates{pace: 1e-3}, Rounds: search.Options{Deadline: time.Now().Add(time.Hour), Rules: search.Rules{Round: 7}}.NewRounds(t.Context(), nil)}
	if most, _ := r.roundLength(1); most != 7 {
		t.Errorf("a round of %d sweeps, expected 7", most)
	}
	r.Deadline = time.Now()
	if most, _ := r.roundLength(1); most != 1 {
		t.Errorf("a round of %d sweeps when time is over, expected 1", most)
	}
}

// Defaults that are given as rules stay as they are.
func TestTemperDefaults(t *testing.T) {
	for _, n := range []int{0, 1, 13, 100, 2500, 50000} {
		if got := withRules((search.Rules{}), n); got != withRules(got, n) {
			t.Errorf("%d variables: temper's defaults are %s, given they are %s", n, got, withRules(got, n))
		}
	}
}

// On a large torus the tuner compares variants with room for cluster moves alone, as solves choose no others
// there.
func TestTunedWithClusters(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	const n = 47365 // shared memory has room for replicas, and none for cluster moves
	seen := map[string]int{}
	for i := range qubo.Temper.Variants {
		v := &qubo.Temper.Variants[i]
		if qubo.Temper.Value(v, "weight") != "unit" {
			continue
		}
		state, err := qubo.Temper.Value(v, "state"), Subject{}.Feasible(v, facts, n)
		if (err == nil) != (state == "global") {
			t.Errorf("%s: %v, expected state=global alone to be compared", v.Label, err)
		}
		seen[state]++
	}
	if seen["shared"] == 0 || seen["global"] == 0 {
		t.Errorf("variants by state: %v", seen)
	}
}
