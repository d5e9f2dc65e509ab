package cli

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
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

// A report stands also where the winners could not be kept.
func TestReportWithoutRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone", "own.json")
	sums := []autotune.Summary{{Family: "toy/k", Winners: []autotune.Winner{{Size: 6, Variant: "best", Time: 5}}}}
	var out, talk bytes.Buffer
	a := &app{out: bufio.NewWriter(&out), err: &talk}
	err := a.finish(path, database(t, entry(6, "best")), sums, false, autotune.ErrWrongVariant)
	a.out.Flush()
	var check checkError
	if !errors.Is(err, os.ErrNotExist) || !errors.As(err, &check) {
		t.Errorf("error %v, want that of the file and that of tuning", err)
	}
	if !strings.Contains(out.String(), "best") || talk.Len() > 0 {
		t.Errorf("printed %q, said %q; want the report and no winners kept", out.String(), talk.String())
	}
}
