package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/emulated/emulatedtest"
	solver "coalesce/solvers/auction"
	"coalesce/solvers/solve"
)

// Both experiments run and leave rows that are right.
func TestExperiments(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := settings{goods: []string{"9", "12"}, bids: 40, runs: 2, Verification: experiment.Verification{Sample: true, Largest: 5}}
	s.Settings = experiment.Settings{Device: "emulated", Out: t.TempDir(), Budget: time.Hour}
	if !run(context.Background(), s, []string{"tables", "verify"}) {
		t.Fatal("the experiments failed")
	}
	for name, rows := range map[string]int{"tables": 2 * len(alternatives), "verify": 4} {
		f, err := result.Load[result.Auction](filepath.Join(s.Out, "auction-"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Rows) < rows || f.Unfinished {
			t.Errorf("%s: %d rows, expected %d; unfinished %v", name, len(f.Rows), rows, f.Unfinished)
		}
		for _, r := range f.Rows {
			if !r.Succeeded() || name == "tables" && (len(r.Solve) != 2 || len(r.Pay) != 2 || r.Bytes == 0 && r.Name == "OR") || name == "verify" && r.Cases == 0 {
				t.Errorf("row %+v", r)
			}
		}
	}
}

// Every bid is for three goods at least, and a bidder's bids share a dummy.
func TestDrawn(t *testing.T) {
	for _, each := range alternatives {
		a := drawAuction(30, 200, each, 1)
		for i, b := range a.Bids {
			if id, ok := a.BidderDummy(b); ok != (each > 1) || ok && id != int64(30+i/each) {
				t.Errorf("bid %d of bidders of %d has the dummy %d, %v", i, each, id, ok)
			}
			if each == 1 && len(b.Goods) < 3 || len(b.Goods) > 6 {
				t.Errorf("bid %d has the goods %v", i, b.Goods)
			}
		}
	}
	if describeDifference(answer("3", 1), answer("3", 1)) != "" || describeDifference(answer("3", 1), answer("3", 2)) == "" || describeDifference(answer("3", 1), answer("4", 1)) == "" {
		t.Error("differences are not told apart")
	}
}

// answer is a proven result of a value, whose winner pays so much.
func answer(value string, pays int64) *solver.Result {
	r := &solver.Result{Payments: &solver.Payments{Winners: []solver.Winner{{Pays: pays}}}}
	r.Value, r.Proven = solve.Number(value), true
	return r
}
