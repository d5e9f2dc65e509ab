package kernels

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/tuned"
	"coalesce/generated/csg"
	"coalesce/internal/cli/run"
	"coalesce/runtime/device"
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
	a := &run.App{Out: bufio.NewWriter(&out), Err: &talk}
	err := saveWinners(a, path, database(t, entry(6, "best")), sums, false, autotune.ErrWrongVariant)
	a.Out.Flush()
	if !errors.Is(err, os.ErrNotExist) || !run.IsRefuted(err) {
		t.Errorf("error %v, want that of the file and that of tuning", err)
	}
	if !strings.Contains(out.String(), "best") || talk.Len() > 0 {
		t.Errorf("printed %q, said %q; want the report and no winners kept", out.String(), talk.String())
	}
}

// As new, trials of algorithms choose their kernels from what the running tune has kept and from other classes,
// but not from what the binary holds of the class.
func TestAsNew(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 227 << 10}
	work := tuned.Workload{Fixed: map[string]string{"value": "int32"}, Size: 22}
	path := filepath.Join(t.TempDir(), "own.json")
	a := &run.App{Err: io.Discard}
	reason := func(without string) string {
		t.Helper()
		db, err := winnersSoFar(a, path, without)
		if err != nil {
			t.Fatal(err)
		}
		c, err := db.Choose(&csg.Tiles, facts, work, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Reason()
	}
	if got := reason(""); !strings.Contains(got, "on NVIDIA H200") {
		t.Fatalf("%s; expected the binary to hold this size of an H200", got)
	}
	if got := reason(facts.Class()); strings.Contains(got, "on NVIDIA H200") {
		t.Errorf("%s; expected the H200's winners left out", got)
	}
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	own, ok := shipped.Lookup("csg/tiles", facts.Class(), work)
	if !ok {
		t.Fatal("the entry is not there")
	}
	if err := database(t, own).Save(path); err != nil {
		t.Fatal(err)
	}
	if got := reason(facts.Class()); !strings.Contains(got, "on NVIDIA H200") {
		t.Errorf("%s; expected what the tune has kept", got)
	}
}
