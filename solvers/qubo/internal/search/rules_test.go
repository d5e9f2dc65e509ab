package search

import (
	"strings"
	"testing"
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
		{"pool=256,round=4096,searches=65536,restart=1000000", Rules{Pool: 256, Round: 4096, Searches: 65536, Restart: 1000000}},
	} {
		got, err := ParseRules(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v (%v), want %+v", c.text, got, err, c.want)
		}
		if again, err := ParseRules(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %q, which is %+v (%v)", c.text, got, again, err)
		}
		if err := got.Check(); err != nil {
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
		"pool=257":              `rule pool is "257", expected pool from 1 to 256`,
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
	for _, bad := range []Rules{{Tenure: -1}, {Pool: 257}, {Restart: -2}, {Searches: -5}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
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
		err := c.rules.CheckFor(c.engine, c.without, c.n)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s without %v, %s of %d variables: %v, expected %q", c.engine, c.without, c.rules, c.n, err, c.want)
		}
	}
}

// Components too small for a rule have the defaults of their size, and defaults
// give way to what is given.
func TestRulesOfComponents(t *testing.T) {
	r := Rules{Tenure: 40, Spread: 20, Distance: 70, Stall: 5}
	if got := r.ForSize(100); got != r {
		t.Errorf("%s for 100 variables", got)
	}
	if got := r.ForSize(60); got != (Rules{Stall: 5}) {
		t.Errorf("%s for 60 variables", got)
	}
	for _, c := range []struct {
		rules          Rules
		tenure, spread int
	}{{Rules{}, 5, 12}, {Rules{Tenure: 20}, 20, 9}, {Rules{Tenure: 28}, 28, 1}, {Rules{Spread: 25}, 4, 25}, {Rules{Tenure: 3, Spread: 4}, 3, 4}} {
		if tenure, spread := c.rules.TabuList(5, 12, 29); tenure != c.tenure || spread != c.spread {
			t.Errorf("%s: %d and %d, expected %d and %d", c.rules, tenure, spread, c.tenure, c.spread)
		}
	}
}

func TestExchange(t *testing.T) {
	var e exchange
	give, take := e.memberFunctions(0)
	other, read := e.memberFunctions(1)
	if take() != nil || read() != nil {
		t.Error("an empty exchange has something")
	}
	x := []uint64{7}
	give(x)
	x[0] = 8
	if got := read(); len(got) != 1 || got[0] != 7 {
		t.Errorf("took %d, 7 was given", got)
	}
	if read() != nil || take() != nil {
		t.Error("what was taken, or given by oneself, came again")
	}
	for k := range uint64(3 * exchangeLimit) {
		other([]uint64{k})
	}
	if got := take(); got[0] != 3*exchangeLimit-1 || take() != nil || len(e.sent) != exchangeLimit {
		t.Errorf("took %d of %d sent, expected the last given", got, len(e.sent))
	}
}
