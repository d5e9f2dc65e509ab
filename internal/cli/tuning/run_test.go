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
func TestKeepBesideOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.json")
	if err := database(t, entry(4, "wrong"), entry(5, "fast")).Save(path); err != nil {
		t.Fatal(err)
	}
	sums := []autotune.Summary{{
		Family: "toy/k", Class: "host",
		Failures: []autotune.Failure{{Variant: "wrong", Status: trial.Verify}, {Variant: "fast", Status: trial.Timeout}},
	}}
	if err := Keep(path, database(t, entry(6, "best")), sums); err != nil {
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
