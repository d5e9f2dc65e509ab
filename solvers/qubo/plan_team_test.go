package qubo

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/internal/tempering"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// The engines of a team take the rules that they have; one that none has is
// refused.
func TestTeamTakesRules(t *testing.T) {
	d := emulatedtest.Open(t)
	ring := qubotest.Sparse(30, func(int) int64 { return 1 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := range 29 {
			pairs[[2]int{k, k + 1}] = -3
		}
		return pairs
	}())
	for _, c := range []struct {
		p    *problem.Normal
		o    Options
		used map[string]Rules // of which those given are compared
		want string
	}{
		{qubotest.DenseFor("int8", 30, 4), Options{Rules: Rules{Tenure: 9, Searches: 2}}, map[string]Rules{"bulk": {Tenure: 9, Searches: 2}, "host": {Tenure: 9}}, ""},
		{ring, Options{Rules: Rules{Tenure: 9, Restart: 4}}, map[string]Rules{"temper": {Restart: 4}, "host": {Tenure: 9}}, ""},
		{ring, Options{Rules: Rules{Searches: 2}}, nil, "rule searches: engine host and temper has not got it"},
		{ring, Options{Rules: Rules{Tenure: 9}, Without: []string{"host"}}, nil, "rule tenure: engine temper has not got it"},
		{ring, Options{Rules: Rules{Stall: 9}, Without: []string{"temper", "bulk"}}, map[string]Rules{"host": {Stall: 9}}, ""},
	} {
		e, err := openTeam(c.p, on(d, c.o).setup())
		if err != nil {
			t.Fatal(err)
		}
		err = c.o.Rules.RefusedBy(e.Used)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.o.Rules, err, c.want)
		}
		if got, want := slices.Sorted(maps.Keys(e.Used)), slices.Sorted(maps.Keys(c.used)); c.want == "" && !slices.Equal(got, want) {
			t.Errorf("%s: searched by %v, expected %v", c.o.Rules, got, want)
		}
		_, tempers := e.Used["temper"]
		if beside, ok := e.Beside.(host.Companion); ok && slices.Contains(beside.Without, host.Replicas) != tempers {
			t.Errorf("%s: beside %v the host leaves out %q", c.o.Rules, slices.Sorted(maps.Keys(e.Used)), beside.Without)
		}
		for name, given := range c.used {
			got := e.Used[name]
			for _, want := range strings.Split(given.String(), ",") {
				if !slices.Contains(strings.Split(got.String(), ","), want) {
					t.Errorf("%s: %s uses %s", c.o.Rules, name, got)
				}
			}
		}
		if e.Close != nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Members of a team share the best and the target, and end together.
func TestTeam(t *testing.T) {
	inst, err := Palubeckis(150, 100, 78)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	target := p.Objective(solved(t, inst, Options{Work: 200000}).Value.Float())
	last := int64(math.MinInt64)
	start := time.Now()
	did, err := search.Islands{Members: []search.Searcher{reference.Search{}}, Beside: host.Companion{}}.Search(t.Context(), p, search.Options{Began: start, Deadline: start.Add(20 * time.Second), Target: &target, Elite: func(int64, []uint64) {}},
		func(v int64, x []uint64, _ time.Duration) {
			if v <= last || p.Value(x) != v {
				t.Errorf("told %d after %d of a solution worth %d", v, last, p.Value(x))
			}
			last = v
		})
	if err != nil || last < target || did.Flips == 0 {
		t.Errorf("%d, target %d, %+v: %v", last, target, did, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%v to the target", took)
	}
}

// TestTemperEngine holds the engine, and the team, against the best of all
// solutions, also where coefficients are rounded.
func TestTemperEngine(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int64{1, 90, 1 << 40} {
		p := qubotest.Sparse(20, func(int) int64 { return r.Int64N(5) }, func() map[[2]int]int64 {
			pairs := map[[2]int]int64{}
			for k := range 20 {
				pairs[[2]int{min(k, (k+1)%20), max(k, (k+1)%20)}] = -r.Int64N(size) - 1
			}
			return pairs
		}())
		for k := range p.Diag {
			p.Diag[k] *= size
		}
		best, _ := reference.Exhaust(p)
		for name, open := range map[string]func(*problem.Normal, search.Setup) (search.OpenedEngine, error){"temper": tempering.Open, "team": openTeam} {
			e, err := open(p, search.Setup{Settings: solve.Settings{Devices: []device.Device{d, d}[:1+size%2]}})
			if err != nil {
				t.Fatal(err)
			}
			var values []int64
			o := search.Options{Began: time.Now(), Target: &best, Seed: 3, Workers: 1, Deadline: time.Now().Add(time.Minute)}
			if _, err := e.Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &values)); err != nil || values[len(values)-1] != best {
				t.Errorf("%s, weights up to %d, %s: found %d (%v), the best is %d", name, size, e.Label, values, err, best)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	dense := qubotest.Dense(30, 4, 1, 4, 1, 1)
	if e, err := openTeam(dense, search.Setup{Settings: solve.Settings{Devices: []device.Device{d}}}); err != nil || tempering.PrefersReplicaExchange(dense) || tempering.HasVariant(e.Label) {
		t.Errorf("a dense problem is searched by %s (%v)", e.Label, err)
	} else if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// Parts are left out where the engines are opened.
func TestEnginesWithout(t *testing.T) {
	p := qubotest.DenseFor("int8", 30, 4)
	e, err := host.Open(p, search.Setup{Without: []string{"tabu"}})
	if h, ok := e.Members[0].(host.Search); err != nil || !ok || !slices.Equal(h.Without, []string{"tabu"}) {
		t.Errorf("the host searches by %+v (%v)", e.Members, err)
	}
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		without []string
		is      func(search.Islands) bool
	}{
		{nil, func(l search.Islands) bool { return len(l.Members) == 1 && l.Beside != nil }},
		{[]string{"host"}, func(l search.Islands) bool { _, ok := l.Members[0].(*tabu.Island); return ok && l.Beside == nil }},
		{[]string{"bulk", "reheat"}, func(l search.Islands) bool {
			b, ok := l.Members[0].(host.Companion)
			return ok && l.Beside == nil && slices.Contains(b.Without, "reheat")
		}},
		{[]string{"cross", "anneal"}, func(l search.Islands) bool {
			return slices.Contains(l.Members[0].(*tabu.Island).Without, "cross") && slices.Contains(l.Beside.(host.Companion).Without, "anneal")
		}},
	} {
		e, err := openTeam(p, search.Setup{Settings: solve.Settings{Devices: []device.Device{d}}, Without: c.without})
		if err != nil {
			t.Fatal(err)
		}
		if !c.is(e.Islands) {
			t.Errorf("without %v: a search by %+v", c.without, e.Islands)
		}
		if e.Close != nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
