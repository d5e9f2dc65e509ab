package qubo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/templates"
)

func TestParseRules(t *testing.T) {
	for _, c := range []struct {
		text string
		want Rules
	}{
		{"", Rules{}},
		{"tenure=20", Rules{Tenure: 20}},
		{"stall=10000, tenure=1", Rules{Stall: 10000, Tenure: 1}},
		{"restart=never", Rules{Restart: Never}},
		{"tenure=1,spread=2,stall=3,round=4,searches=5,pool=6,distance=7,restart=8", Rules{1, 2, 3, 4, 5, 6, 7, 8}},
		{"pool=240,round=4096,searches=65536,restart=1000000", Rules{Pool: 240, Round: 4096, Searches: 65536, Restart: 1000000}},
	} {
		got, err := ParseRules(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v (%v), want %+v", c.text, got, err, c.want)
		}
		if again, err := ParseRules(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %q, which is %+v (%v)", c.text, got, again, err)
		}
		if err := got.check(); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		"tenur=3":               `rule "tenur": expected some of tenure from 1 to`,
		"tenure=3,":             `rule ""`,
		"tenure":                `rule tenure is "", expected tenure from 1 to 2147483647`,
		"tenure=0":              `rule tenure is "0"`,
		"stall=-1":              `rule stall is "-1"`,
		"stall=1e4":             `rule stall is "1e4"`,
		"pool=241":              `rule pool is "241", expected pool from 1 to 240`,
		"pool=never":            `rule pool is "never"`,
		"restart=-1":            `rule restart is "-1", expected restart from 1 to 1000000 or never`,
		"round=4097":            `expected round from 1 to 4096`,
		"searches=65537":        `expected searches from 1 to 65536`,
		"spread=2147483648":     `rule spread is "2147483648"`,
		"pool=3,pool=3":         `rule pool is given twice`,
		"tenure=3,speed=2":      `rule "speed"`,
		"distance=1,Distance=2": `rule "Distance"`,
	} {
		if r, err := ParseRules(text); err == nil || !strings.Contains(err.Error(), want) || r != (Rules{}) {
			t.Errorf("%q: %+v, %v; expected %q", text, r, err, want)
		}
	}
	for _, bad := range []Rules{{Tenure: -1}, {Pool: 241}, {Restart: -2}, {Searches: -5}} {
		if err := (Options{Rules: bad}).check(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// The device keeps as many tabu variables as is checked.
func TestBulkRing(t *testing.T) {
	text, err := templates.Files.ReadFile("qubo/bulk.cu.tmpl")
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("constexpr u32 RING = %d;", bulkRing)) {
		t.Errorf("the device's RING is not %d (%v)", bulkRing, err)
	}
}

func TestRulesAreRefused(t *testing.T) {
	for _, c := range []struct {
		engine  string
		without []string
		rules   Rules
		n       int
		want    string // of the error; empty: none
	}{
		{"host", nil, Rules{Tenure: 5, Spread: 5, Stall: 9, Pool: 3, Distance: 4}, 100, ""},
		{"host", nil, Rules{Searches: 5}, 100, "rule searches: engine host has not got it, expected some of tenure, spread, stall, pool, distance"},
		{"host", nil, Rules{Restart: Never}, 100, "rule restart: engine host"},
		{"temper", nil, Rules{Round: 5, Restart: 3, Pool: 3, Distance: 1}, 100, ""},
		{"temper", nil, Rules{Tenure: 5}, 100, "rule tenure: engine temper has not got it, expected some of round, pool, distance, restart"},
		{"bulk", nil, Rules{1, 2, 3, 4, 5, 6, 7, 8}, 100, ""},
		{"multistart", nil, Rules{Tenure: 5}, 100, "rule tenure: engine multistart has no rules"},
		{"reference", nil, Rules{Pool: 5}, 100, "rule pool: engine reference has no rules"},
		{"portfolio", nil, Rules{1, 2, 3, 4, 5, 6, 7, 8}, 100, ""},
		{"portfolio", []string{"bulk"}, Rules{Searches: 5}, 100, "rule searches: engine portfolio has not got it"},
		{"portfolio", []string{"bulk", "temper"}, Rules{Restart: 5}, 100, "rule restart: engine portfolio"},
		{"bulk", nil, Rules{Tenure: 98}, 100, ""},
		{"bulk", nil, Rules{Tenure: 99}, 100, "rules tenure and spread are 100 together, expected less than the 100 variables"},
		{"bulk", nil, Rules{Tenure: 50, Spread: 49}, 100, ""},
		{"host", nil, Rules{Tenure: 50, Spread: 50}, 100, "tenure and spread are 100 together"},
		{"host", nil, Rules{Spread: 99}, 100, "tenure and spread are 100 together"},
		{"bulk", nil, Rules{Tenure: 1000, Spread: 24}, 5000, ""},
		{"bulk", nil, Rules{Tenure: 1000, Spread: 25}, 5000, "1025 together, expected at most 1024: engine bulk"},
		{"portfolio", nil, Rules{Tenure: 1024}, 5000, "1025 together, expected at most 1024: engine bulk"},
		{"portfolio", []string{"bulk"}, Rules{Tenure: 1024}, 5000, ""},
		{"host", nil, Rules{Tenure: 1024}, 5000, ""},
		{"bulk", nil, Rules{Distance: 100}, 100, ""},
		{"bulk", nil, Rules{Distance: 101}, 100, "rule distance is 101, expected at most the 100 variables"},
		{"host", nil, Rules{Stall: 9}, 0, ""},
		{"host", nil, Rules{Tenure: 1}, 1, "less than the 1 variables"},
	} {
		err := c.rules.checkFor(c.engine, c.without, c.n)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s without %v, %s of %d variables: %v, expected %q", c.engine, c.without, c.rules, c.n, err, c.want)
		}
	}
	d := host.Open(1)
	defer d.Close()
	inst, err := Palubeckis(30, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Rules{{Searches: 4}, {Tenure: 30}, {Pool: 1000}} {
		if _, err := Solve(t.Context(), d, inst, Options{Rules: bad, Work: 1}); err == nil || !strings.HasPrefix(err.Error(), "rule") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Components too small for a rule have the defaults of their size, and defaults
// give way to what is given.
func TestRulesOfComponents(t *testing.T) {
	r := Rules{Tenure: 40, Spread: 20, Distance: 70, Stall: 5}
	if got := r.within(100); got != r {
		t.Errorf("%s for 100 variables", got)
	}
	if got := r.within(60); got != (Rules{Stall: 5}) {
		t.Errorf("%s for 60 variables", got)
	}
	for _, c := range []struct {
		rules          Rules
		tenure, spread int
	}{{Rules{}, 5, 12}, {Rules{Tenure: 20}, 20, 9}, {Rules{Tenure: 28}, 28, 1}, {Rules{Spread: 25}, 4, 25}, {Rules{Tenure: 3, Spread: 4}, 3, 4}} {
		if tenure, spread := c.rules.tabu(5, 12, 29); tenure != c.tenure || spread != c.spread {
			t.Errorf("%s: %d and %d, expected %d and %d", c.rules, tenure, spread, c.tenure, c.spread)
		}
	}
	for _, n := range []int{0, 1, 13, 100, 2500, 50000} {
		if got := (Rules{}).host(n); n > tiny && got.host(n) != got {
			t.Errorf("%d variables: the host's defaults are %s, given they are %s", n, got, got.host(n))
		}
		if got := (Rules{}).temper(n); got != got.temper(n) {
			t.Errorf("%d variables: temper's defaults are %s, given they are %s", n, got, got.temper(n))
		}
	}
}

// downhill is a problem in which 0 is best, and each variable that is 1 costs 1:
// a tabu search from 0 goes down as far as its list is long.
func downhill(n int) *normal {
	p := bulkProblem(n, 1, 1, 0, 0, 1)
	for i := range p.diag {
		p.diag[i] = -1
	}
	return p
}

// ruledBulk opens an island by rules, with few searches where they say nothing.
func ruledBulk(t *testing.T, d device.Device, p *normal, r Rules) *bulk {
	t.Helper()
	if r.Searches == 0 {
		r.Searches = 3
	}
	v, err := bulkVariant(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := openBulkEngine(d, p, Options{Rules: r, Variant: v.Label})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
	b := e.search.(*bulk)
	if used := e.used["bulk"]; r.bulk(b.rules, p.n) != b.rules || used.bulk(bulkRules{}, p.n) != b.rules {
		t.Errorf("%s: %+v are used, which are said to be %s", r, b.rules, used)
	}
	return b
}

// deepest makes rounds and returns the lowest value at the end of one, and how
// many operators each search had in a round after the first, at most.
func deepest(t *testing.T, b *bulk) (low int64, operators int) {
	t.Helper()
	if err := b.begin(searchOptions{}); err != nil {
		t.Fatal(err)
	}
	scores := make([]int64, bulkScores*b.rules.searches)
	for number := range int64(12) {
		if err := b.round(searchOptions{seed: 7}, number, int64(b.rules.flips)+7*number); err != nil {
			t.Fatal(err)
		}
		if err := b.recompute(); err != nil {
			t.Fatal(err)
		}
		if err := b.streams[0].Download(rawBytes(scores), b.scores, 0); err != nil {
			t.Fatal(err)
		}
		for k := range b.rules.searches {
			score := scores[bulkScores*k:][:bulkScores]
			low = min(low, score[bulkValue])
			had := 0
			for _, spent := range score[bulkSpent:][:bulkOperators] {
				if spent > 0 {
					had++
				}
			}
			if number > 0 {
				operators = max(operators, had)
			}
		}
	}
	return low, operators
}

func TestBulkRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := downhill(97)
	endless := 1 << 20
	for _, c := range []struct{ tenure, spread, above int }{{3, 1, 0}, {24, 1, 5}, {3, 30, 5}} {
		low, operators := deepest(t, ruledBulk(t, d, p, Rules{Tenure: c.tenure, Spread: c.spread, Stall: endless}))
		// The list is at most tenure + spread long, and one more flip follows.
		if most := int64(c.tenure + c.spread + 1); -low > most || -low <= int64(c.above) {
			t.Errorf("tenure %d and spread %d: %d below the best, expected more than %d and at most %d", c.tenure, c.spread, -low, c.above, most)
		}
		if operators != 1 {
			t.Errorf("a search that never stalls had %d operators in a round", operators)
		}
	}
	if _, operators := deepest(t, ruledBulk(t, d, p, Rules{Stall: 4})); operators < 2 {
		t.Errorf("searches that stall after 4 flips had %d operator in a round", operators)
	}
	// Elites: how many, and how far apart.
	q := bulkProblem(97, 1, 2, 1, 0.06, 4) // of many good solutions
	for _, r := range []Rules{{Pool: 2, Distance: 1}, {Pool: 9, Distance: 1}, {Pool: 9, Distance: 30}} {
		r.Round = 1
		b := ruledBulk(t, d, q, r)
		deepest(t, b) // which holds distances against the rule
		var elites [][]uint64
		if err := b.tell(func(_ int64, x []uint64) { elites = append(elites, x) }); err != nil {
			t.Fatal(err)
		}
		near := q.n
		for k, x := range elites {
			for _, y := range elites[:k] {
				near = min(near, distance(x, y))
			}
		}
		if len(elites) > r.Pool || r.Distance == 1 && len(elites) != r.Pool || r.Distance == 1 && r.Pool == 9 && near >= 30 || near < r.Distance {
			t.Errorf("%s: %d elites at least %d apart", r, len(elites), near)
		}
	}
}

// Rounds of the length that rules say, of so many searches; and how often they
// begin anew.
func TestBulkRoundsByRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := bulkFor("int8", 97, 3)
	const rounds = 44
	for _, c := range []struct {
		rules Rules
		anew  bool
	}{
		{Rules{Round: 1, Searches: 2, Restart: Never}, false},
		{Rules{Round: 2, Searches: 3, Restart: 1}, true},
		{Rules{Round: 2, Searches: 3, Restart: 1000}, false},
		{Rules{Round: 1, Searches: 5}, true},
	} {
		b := ruledBulk(t, d, p, c.rules)
		o := searchOptions{began: time.Now(), seed: 5, work: int64(rounds * c.rules.Round * p.n * c.rules.Searches)}
		var told [2][]int64
		var did [2]work
		for k := range told {
			var err error
			if did[k], err = b.search(context.Background(), p, o, bulkFound(t, p, &told[k])); err != nil {
				t.Fatal(err)
			}
		}
		if got := did[0].Restarts; got < int64(rounds*c.rules.Searches) || got > int64((rounds+1)*c.rules.Searches) {
			t.Errorf("%s: %d walks of all searches, expected %d rounds of each", c.rules, got, rounds)
		}
		if (b.life > 0) != c.anew {
			t.Errorf("%s: began anew %d times", c.rules, b.life)
		}
		if !slices.Equal(told[0], told[1]) || did[0] != did[1] {
			t.Errorf("%s: two runs, %v %v and %v %v", c.rules, told[0], did[0], told[1], did[1])
		}
	}
}

// crowded has so much memory.
type crowded struct {
	device.Device
	free int64
}

func (c crowded) Facts() device.Facts {
	f := c.Device.Facts()
	f.Free = c.free
	return f
}

// More searches than there is memory for are refused before it is taken.
func TestBulkSearchesNeedMemory(t *testing.T) {
	d := crowded{emulatedtest.Open(t), 1 << 20}
	p := bulkFor("int8", 97, 3)
	for searches, fits := range map[int]bool{50: true, 1 << 16: false} {
		e, err := openBulkEngine(d, p, Options{Rules: Rules{Searches: searches}})
		if fits && err != nil || !fits && (!errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "65536 searches")) {
			t.Errorf("%d searches: %v", searches, err)
		}
		if err == nil {
			if err := e.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestHostRules(t *testing.T) {
	p := downhill(97)
	for _, c := range []Rules{{Tenure: 3, Spread: 1}, {Tenure: 20, Spread: 1}, {Tenure: 3, Spread: 18}, {Tenure: 48, Spread: 48}} {
		var low int64
		for stall := range 120 {
			s := endless(p, rows[int8, int16](p, 0, 1, new(alarm)))
			s.rules = c.host(p.n)
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
		s.rules, s.course = Rules{Stall: stall}.host(p.n), course{from: make([]uint64, words(p.n)), length: 1}
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
	if given := run(Rules{}.host(q.n)); !slices.Equal(base.values, given.values) || base.work != given.work {
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
