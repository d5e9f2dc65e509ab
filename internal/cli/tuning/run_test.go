package tuning

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
)

// entry is a winner at a size; its runner-up is the variant "slow".
func entry(size int, winner string) tuned.Entry {
	return tuned.Entry{
		Family: "toy/k", Class: "host", Size: size, Protocol: tuned.Protocol, Time: time.Unix(1e9, 0), Winner: winner,
		Results: []tuned.Result{{Variant: winner, Nanos: 5}, {Variant: "slow", Nanos: 9}},
	}
}

func database(t *testing.T, entries ...tuned.Entry) *tuned.Database {
	t.Helper()
	db, err := tuned.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Winners that another run has saved meanwhile stay, but for variants that
// this one found to answer wrongly.
func TestSaveBesideOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.json")
	if err := database(t, entry(4, "wrong"), entry(5, "fast")).Save(path); err != nil {
		t.Fatal(err)
	}
	sums := []autotune.Summary{{
		Family: "toy/k", Class: "host",
		Failures: []autotune.Failure{{Variant: "wrong", Status: trial.Verify}, {Variant: "fast", Status: trial.Timeout}},
	}}
	if err := autotune.SaveWinners(path, database(t, entry(6, "best")), sums); err != nil {
		t.Fatal(err)
	}
	db, err := tuned.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range db.Entries() {
		got = append(got, fmt.Sprint(e.Size, " ", e.Winner))
	}
	if want := "4 slow, 5 fast, 6 best"; strings.Join(got, ", ") != want {
		t.Errorf("the file holds %s, want %s", strings.Join(got, ", "), want)
	}
}

// What a rank tuned joins rank 0's winners, and its error is told with its number.
func TestJoin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.json")
	if err := database(t, entry(4, "wrong"), entry(5, "fast")).Save(path); err != nil {
		t.Fatal(err)
	}
	sums := []autotune.Summary{{Family: "toy/k", Class: "host", Failures: []autotune.Failure{{Variant: "wrong", Status: trial.Verify}}}}
	var out, talk strings.Builder
	for rank := range 2 {
		if err := MergeRank(path, rank, database(t, entry(6, "best")).Encode(), sums, &out, []byte("report\n"), &talk, "coalesce: a reason\n"); err != nil {
			t.Fatal(err)
		}
		db, err := tuned.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 + rank; db.Len() != want || rank == 1 && db.Entries()[0].Winner != "slow" {
			t.Errorf("after rank %d: %d winners, the first %s, want %d", rank, db.Len(), db.Entries()[0].Winner, want)
		}
	}
	if out.String() != "report\n\nreport\n" || talk.String() != "coalesce: rank 1: a reason\n" {
		t.Errorf("told %q and %q", out.String(), talk.String())
	}
	if err := MergeRank(path, 1, []byte("{"), nil, &out, nil, &talk, ""); err == nil || !strings.Contains(err.Error(), "winners of rank 1") {
		t.Errorf("damaged winners: %v", err)
	}
}

// What an earlier run decided, from which this one goes on, counts among all sizes.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		sums []autotune.Summary
		want string
	}{
		{[]autotune.Summary{{Winners: make([]autotune.Winner, 2), Earlier: 3}}, ""},
		{[]autotune.Summary{{Winners: make([]autotune.Winner, 2), Earlier: 3}, {Undecided: make([]autotune.Key, 4), Missing: 8 * time.Second}},
			"4 of 9 sizes not decided for lack of time; the same command again goes on, and takes about 8s for them"},
	} {
		var lines []string
		if ReportUndecided(func(line string) { lines = append(lines, line) }, c.sums); strings.Join(lines, "\n") != c.want {
			t.Errorf("%+v: told %q, expected %q", c.sums, lines, c.want)
		}
	}
}
