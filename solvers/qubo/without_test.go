package qubo

import (
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/emulated/emulatedtest"
)

func TestWithoutIsChecked(t *testing.T) {
	for _, good := range [][]string{nil, {"host"}, {"tabu", "relink", "majority"}} {
		if err := (Options{Without: good}).check(); err != nil {
			t.Errorf("without %v: %v", good, err)
		}
	}
	for _, bad := range [][]string{{"tabo"}, {"bulk", "host"}} {
		if err := (Options{Without: bad}).check(); err == nil || !strings.Contains(err.Error(), bad[0]) {
			t.Errorf("without %v: %v", bad, err)
		}
	}
}

// Operators that are left out make no flip after the first round, and earn no
// weight.
func TestBulkWithout(t *testing.T) {
	d := emulatedtest.Open(t)
	p := bulkFor("int8", 97, 4)
	v, err := bulkVariant(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range [][]string{{"relink"}, {"random", "cross", "majority"}, bulkOperatorNames[1:], bulkOperatorNames[:]} {
		b := startBulk(t, d, v, p)
		b.without = without
		if err := b.begin(searchOptions{}); err != nil {
			t.Fatal(err)
		}
		left := make([]int64, bulkOperators) // flips of each operator
		control, scores := make([]int64, bulkControl), make([]int64, bulkScores*b.rules.searches)
		for number := range int64(6) {
			if err := b.round(searchOptions{seed: 7}, number, int64(b.rules.flips)); err != nil {
				t.Fatal(err)
			}
			s := b.streams[0]
			if err := s.Download(rawBytes(control), b.control, 0); err != nil {
				t.Fatal(err)
			}
			if err := s.Download(rawBytes(scores), b.scores, 0); err != nil {
				t.Fatal(err)
			}
			for k := range b.rules.searches * bulkOperators * int(min(number, 1)) {
				left[k%bulkOperators] += scores[k/bulkOperators*bulkScores+3+k%bulkOperators]
			}
		}
		for k, name := range bulkOperatorNames {
			used := !slices.Contains(without, name) || len(without) == bulkOperators && k == 0
			if weight := control[bulkWeights+k]; used != (weight > 0) || used != (left[k] > 0) {
				t.Errorf("without %v: %s made %d flips and has weight %d", without, name, left[k], weight)
			}
		}
		if err := b.recompute(); err != nil {
			t.Error(err)
		}
	}
}

// Parts are left out where the engines are opened.
func TestEnginesWithout(t *testing.T) {
	p := bulkFor("int8", 30, 4)
	e, err := openHostEngine(nil, p, Options{Without: []string{"tabu"}})
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
		e, err := openTeam(d, p, Options{Without: c.without})
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
