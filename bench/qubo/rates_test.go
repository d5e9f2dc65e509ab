package main

import (
	"context"
	"testing"

	"coalesce/runtime/emulated/emulatedtest"
	solver "coalesce/solvers/qubo"
)

// A rate of a variant that is named, and of all with rows of a type.
func TestFlipRates(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := quick(t)
	s.Device, s.runs, s.instances = "emulated", 2, []string{"60/int16"}
	s.Variant = "all"
	rows := rowsOf(t, s, "rates")
	if len(rows) != 1 || rows[0].Variant != "block=32,items=4,row=int16,cluster=1,searches=0,meet=barrier" || len(rows[0].Runs) != 2 ||
		rows[0].Failed != "" || rows[0].Work < 50*float64(rows[0].Count) {
		t.Errorf("rates: %+v", rows)
	}
	s.rules.Tenure, s.rules.Searches = 9, 2
	if rows := rowsOf(t, s, "rates"); len(rows) != 1 || rows[0].Count != 2 || rows[0].Failed != "" {
		t.Errorf("rates of two searches: %+v", rows)
	}
	for _, bad := range []solver.Rules{{Tenure: 60}, {Round: 2}, {Restart: 2}, {Searches: 1 << 16}, {Pool: 200}} {
		s.rules = bad
		if run(context.Background(), s, []string{"rates"}) {
			t.Errorf("-rules %s: no error", bad)
		}
	}
	s.rules = solver.Rules{}
	for _, bad := range []string{"many", "60/int4", "70000"} {
		s.instances = []string{bad}
		if run(context.Background(), s, []string{"rates"}) {
			t.Errorf("-instances %s: no error", bad)
		}
	}
}
