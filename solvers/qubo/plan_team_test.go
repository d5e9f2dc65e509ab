package qubo

import (
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

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
		e, err := openTeam(d, c.p, c.o.setup())
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
			for _, want := range strings.Split(given.String(), ",") {
				if !slices.Contains(strings.Split(got.String(), ","), want) {
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

// Members of a team share the best and the target, and end together.
func TestTeam(t *testing.T) {
	inst, err := Palubeckis(150, 100, 78)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.normal()
	if err != nil {
		t.Fatal(err)
	}
	target := p.objective(solved(t, inst, Options{Work: 200000}).Value.Float())
	last := int64(math.MinInt64)
	start := time.Now()
	did, err := team{referenceSearch{}, beside{}}.search(t.Context(), p, searchOptions{began: start, deadline: start.Add(20 * time.Second), target: &target, elite: func(int64, []uint64) {}},
		func(v int64, x []uint64, _ time.Duration) {
			if v <= last || p.value(x) != v {
				t.Errorf("told %d after %d of a solution worth %d", v, last, p.value(x))
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
		p := sparseProblem(20, func(int) int64 { return r.Int64N(5) }, func() map[[2]int]int64 {
			pairs := map[[2]int]int64{}
			for k := range 20 {
				pairs[[2]int{min(k, (k+1)%20), max(k, (k+1)%20)}] = -r.Int64N(size) - 1
			}
			return pairs
		}())
		for k := range p.diag {
			p.diag[k] *= size
		}
		best, _ := exhaust(p)
		for name, open := range map[string]func(device.Device, *normal, setup) (opened, error){"temper": openTemperEngine, "team": openTeam} {
			e, err := open(d, p, setup{others: []device.Device{d}[:int(size%2)]})
			if err != nil {
				t.Fatal(err)
			}
			var values []int64
			o := searchOptions{began: time.Now(), target: &best, seed: 3, workers: 1, deadline: time.Now().Add(time.Minute)}
			if _, err := e.search.search(context.Background(), p, o, bulkFound(t, p, &values)); err != nil || values[len(values)-1] != best {
				t.Errorf("%s, weights up to %d, %s: found %d (%v), the best is %d", name, size, e.label, values, err, best)
			}
			if err := e.close(); err != nil {
				t.Error(err)
			}
		}
	}
	dense := bulkProblem(30, 4, 1, 4, 1, 1)
	if e, err := openTeam(d, dense, setup{}); err != nil || sparse(dense) || temperLabel(e.label) {
		t.Errorf("a dense problem is searched by %s (%v)", e.label, err)
	} else if err := e.close(); err != nil {
		t.Error(err)
	}
}

// Parts are left out where the engines are opened.
func TestEnginesWithout(t *testing.T) {
	p := bulkFor("int8", 30, 4)
	e, err := openHostEngine(nil, p, setup{without: []string{"tabu"}})
	if h, ok := e.search.(hostSearch); err != nil || !ok || !slices.Equal(h.without, []string{"tabu"}) {
		t.Errorf("the host searches by %+v (%v)", e.search, err)
	}
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		without []string
		is      func(search) bool
	}{
		{nil, func(s search) bool { t, ok := s.(team); return ok && len(t) == 2 }},
		{[]string{"host"}, func(s search) bool { _, ok := s.(*bulk); return ok }},
		{[]string{"bulk", "reheat"}, func(s search) bool { b, ok := s.(beside); return ok && slices.Contains(b.without, "reheat") }},
		{[]string{"cross", "anneal"}, func(s search) bool {
			t := s.(team)
			return slices.Contains(t[0].(*bulk).without, "cross") && slices.Contains(t[1].(beside).without, "anneal")
		}},
	} {
		e, err := openTeam(d, p, setup{without: c.without})
		if err != nil {
			t.Fatal(err)
		}
		if !c.is(e.search) {
			t.Errorf("without %v: a search by %T", c.without, e.search)
		}
		if e.close != nil {
			if err := e.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
