package qubo

import (
	"slices"
	"testing"
)

// Defaults that are given as rules stay as they are.
func TestHostDefaults(t *testing.T) {
	for _, n := range []int{0, 1, 13, 100, 2500, 50000} {
		if got := hostRules((Rules{}), n); n > tiny && hostRules(got, n) != got {
			t.Errorf("%d variables: the host's defaults are %s, given they are %s", n, got, hostRules(got, n))
		}
	}
}

func TestHostRules(t *testing.T) {
	p := downhill(97)
	for _, c := range []Rules{{Tenure: 3, Spread: 1}, {Tenure: 20, Spread: 1}, {Tenure: 3, Spread: 18}, {Tenure: 48, Spread: 48}} {
		var low int64
		for stall := range 120 {
			s := endless(p, rows[int8, int16](p, 0, 1, new(alarm)))
			s.rules = hostRules(c, p.n)
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
		s := endless(p, rows[int8, int16](p, 0, 1, new(alarm)))
		s.rules, s.course = hostRules(Rules{Stall: stall}, p.n), course{from: make([]uint64, words(p.n)), length: 1}
		if s.follow(); s.flips != int64(4*stall) {
			t.Errorf("stall %d: a walk of length 1 makes %d flips", stall, s.flips)
		}
	}
	f := newPortfolio(p, 1, 1, nil, searchOptions{rules: Rules{Pool: 3, Distance: 7, Stall: 11}})
	if f.size != 3 || f.apart != 7 || f.arms[0].expect != 22 {
		t.Errorf("a pool of %d, %d apart, and walks of %g", f.size, f.apart, f.arms[0].expect)
	}
	// The same run by the same rules, and another by others.
	q := bulkFor("int8", 120, 3)
	run := func(r Rules) told {
		return searched(t, hostSearch{}, q, searchOptions{seed: 3, work: 60000, workers: 2, rules: r})
	}
	base := run(Rules{})
	if given := run(hostRules(Rules{}, q.n)); !slices.Equal(base.values, given.values) || base.work != given.work {
		t.Errorf("by defaults %v, by the same rules %v", base.work, given.work)
	}
	for _, r := range []Rules{{Tenure: 30}, {Spread: 40}, {Stall: 40}, {Pool: 2}} {
		a, b := run(r), run(r)
		if !slices.Equal(a.values, b.values) || a.work != b.work {
			t.Errorf("%s: two runs, %v and %v", r, a.work, b.work)
		}
		if a.work == base.work && slices.Equal(a.values, base.values) {
			t.Errorf("%s: the run of the defaults", r)
		}
	}
}
