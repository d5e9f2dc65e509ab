package host

import (
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Defaults that are given as rules stay as they are.
func TestHostDefaults(t *testing.T) {
	for _, n := range []int{0, 1, 13, 100, 2500, 50000} {
		if got := RulesFor((search.Rules{}), n); n > reference.Tiny && RulesFor(got, n) != got {
			t.Errorf("%d variables: the host's defaults are %s, given they are %s", n, got, RulesFor(got, n))
		}
	}
}

func TestHostRules(t *testing.T) {
	p := qubotest.NewDownhill(97)
	for _, c := range []search.Rules{{Tenure: 3, Spread: 1}, {Tenure: 20, Spread: 1}, {Tenure: 3, Spread: 18}, {Tenure: 48, Spread: 48}} {
		var low int64
		for stall := range 120 {
			s := endless(p, layOutRows[int8, int16](p, 0, 1, new(deadline), nil))
			s.rules = RulesFor(c, p.N)
			s.tabu(stall)
			s.consistent(t, "tabu")
			if s.flips != int64(stall) {
				t.Errorf("stall %d: %d flips", stall, s.flips)
			}
			low = min(low, s.value)
		}
		if most := int64(c.Tenure + c.Spread); -low > most || -low <= int64(c.Tenure) {
			t.Errorf("%s: %d below the best, expected more than %d and at most %d", c, -low, c.Tenure, most)
		}
	}
	for _, stall := range []int{1, 50} {
		s := endless(p, layOutRows[int8, int16](p, 0, 1, new(deadline), nil))
		s.rules, s.course = RulesFor(search.Rules{Stall: stall}, p.N), walkPlan{from: make([]uint64, problem.Words(p.N)), length: 1}
		if s.makeWalk(); s.flips != int64(4*stall) {
			t.Errorf("stall %d: a walk of length 1 makes %d flips", stall, s.flips)
		}
	}
	f := newPortfolio(p, 1, 1, nil, search.Options{Rules: search.Rules{Pool: 3, Distance: 7, Stall: 11}})
	if f.Size != 3 || f.Apart != 7 || f.arms[0].expect != 22 {
		t.Errorf("a pool of %d, %d apart, and walks of %g", f.Size, f.Apart, f.arms[0].expect)
	}
	// The same run by the same rules, and another by others.
	q := qubotest.DenseFor("int8", 120, 3)
	run := func(r search.Rules) qubotest.Report {
		return qubotest.RunSearch(t, Search{}, q, search.Options{Seed: 3, Work: 60000, Workers: 2, Rules: r})
	}
	base := run(search.Rules{})
	if given := run(RulesFor(search.Rules{}, q.N)); !slices.Equal(base.Values, given.Values) || base.Work != given.Work {
		t.Errorf("by defaults %v, by the same rules %v", base.Work, given.Work)
	}
	for _, r := range []search.Rules{{Tenure: 30}, {Spread: 40}, {Stall: 40}, {Pool: 2}} {
		a, b := run(r), run(r)
		if !slices.Equal(a.Values, b.Values) || a.Work != b.Work {
			t.Errorf("%s: two runs, %v and %v", r, a.Work, b.Work)
		}
		if a.Work == base.Work && slices.Equal(a.Values, base.Values) {
			t.Errorf("%s: the run of the defaults", r)
		}
	}
}
