package autotune_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// tuneOptions tune the planted family into a folder.
func tuneOptions(folder string) autotune.Options {
	path := filepath.Join(folder, "own.json")
	old, err := tuned.Load(path)
	if err != nil {
		old = nil
	}
	return autotune.Options{
		Subject: &fake.Subject{Plants: plants}, Sizes: []int{50, 100}, Worker: command, Database: old, Seed: 3,
		Timeout: 500 * time.Millisecond, Trials: filepath.Join(folder, "own.trials.jsonl"),
		Keep: func(db *tuned.Database) error { return db.Save(path) },
	}
}

// tuneChild tunes in a process that the test kills; it says a line after each trial.
func tuneChild(folder string) int {
	o := tuneOptions(folder)
	o.Progress = func(autotune.Event) { fmt.Println("trial") }
	if _, _, err := autotune.Tune(context.Background(), o); err != nil && !errors.Is(err, autotune.ErrWrongVariant) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKilledAtAnyMoment kills runs of the tuner (kill -9) at random moments: each trial
// that ended is in the file, the next run repeats none of them, and no file is torn.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	trials := filepath.Join(folder, "own.trials.jsonl")
	before := 0
	for k := range 10 {
		cmd := exec.Command(exe, "tune", folder)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < before+1+rng.IntN(3) && lines.Scan(); n++ { // what is resumed is told again
		}
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		told := 0
		for lines.Scan() {
			told++
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		found, err := trial.Load(trials)
		if err != nil {
			t.Fatalf("kill %d: %v", k, err)
		}
		if len(found.Trials) < before+1 {
			t.Errorf("kill %d: %d records, before it %d and one more was told of", k, len(found.Trials), before)
		}
		seen := map[string]int{}
		for _, r := range found.Trials {
			if r.Action == trial.ActionVerify {
				if seen[r.Variant]++; seen[r.Variant] > 1 {
					t.Errorf("kill %d: %s was verified again", k, r.Variant)
				}
			}
		}
		before = len(found.Trials)
		if before > 0 && found.Trials[before-1].Action == trial.ActionDone {
			return // a fast machine came to the end; there is nothing to go on from
		}
		if _, err := tuned.Load(filepath.Join(folder, "own.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("kill %d: %v", k, err)
		}
	}
	_, sum, err := autotune.Tune(t.Context(), tuneOptions(folder))
	if !errors.Is(err, autotune.ErrWrongVariant) || len(sum.Winners) != 2 {
		t.Fatalf("%v, winners %+v", err, sum.Winners)
	}
	if sum.Resumed != before {
		t.Errorf("%d trials resumed of %d", sum.Resumed, before)
	}
	for _, w := range sum.Winners {
		if s := (&fake.Subject{Plants: plants}).Family(); w.Variant != s.Variants[4].Label {
			t.Errorf("size %d: winner %s", w.Size, w.Variant)
		}
	}
	// A search that came to its end is nothing to go on from.
	if _, sum, _ = autotune.Tune(t.Context(), tuneOptions(folder)); sum.Resumed != 0 {
		t.Errorf("%d trials of a finished search resumed", sum.Resumed)
	}
}

// A winner is kept when its size is decided: before the trials of the next size.
func TestWinnerIsKeptWhenDecided(t *testing.T) {
	folder := t.TempDir()
	o := tuneOptions(folder)
	d, sub := simulated(cost, 3)
	o.Worker, o.Device, o.Subject, o.Now = nil, d, sub, sub.Clock.Now
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(e autotune.Event) {
		if db, err := tuned.Load(filepath.Join(folder, "own.json")); err == nil {
			if e.Size != 50 || db.Len() != 1 || db.Entries()[0].Size != 100 { // the middle size is the first
				t.Errorf("at size %d the file holds %d entries", e.Size, db.Len())
			}
			cancel()
		}
	}
	if _, sum, err := autotune.Tune(ctx, o); err != nil || sum.Stopped != "interrupted" {
		t.Errorf("%q, %v: the file never had a winner", sum.Stopped, err)
	}
}

// Two runs do not append to one file of trials.
func TestTrialsAreLocked(t *testing.T) {
	o := tuneOptions(t.TempDir())
	f, _, err := trial.Open(o.Trials)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := autotune.Tune(t.Context(), o); !errors.Is(err, trial.ErrLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// What lacked memory in a run that was cut short is tried again by the next, at sizes too that were decided without it.
func TestMemoryIsTriedAgain(t *testing.T) {
	const size = 50
	trials := filepath.Join(t.TempDir(), "own.trials.jsonl")
	tune := func(db *tuned.Database, memory int64, cut int) (*tuned.Database, autotune.Summary) {
		t.Helper()
		d, s := simulated(func(v, _ int) time.Duration { return time.Duration(10-v) * time.Millisecond }, 5)
		s.Plants[4], d.F.Memory = "hungry", memory
		s.Clock.T = time.Unix(0, 0).Add(time.Duration(memory>>20) * time.Minute) // the second run is later
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var sum autotune.Summary
		db, err := autotune.TuneAll(ctx, []autotune.Task{{Subject: s, Sizes: []int{size, 60}}}, autotune.Options{
			Device: d, Facts: d.F, Database: db, Seed: 3, Trials: trials, Now: s.Clock.Now, Budget: time.Hour,
			Progress: func(e autotune.Event) {
				if cut--; cut == 0 {
					cancel()
				}
			},
		}, func(one autotune.Summary, _ error) { sum = one })
		if err != nil {
			t.Fatal(err)
		}
		return db, sum
	}
	db, sum := tune(nil, 2<<20, 80)
	if len(sum.Failures) != 1 || sum.Failures[0].Status != trial.Memory || sum.Stopped != "interrupted" || db.Len() == 0 {
		t.Fatalf("%s with %d entries, failures %+v, expected one for lack of memory", sum.Stopped, db.Len(), sum.Failures)
	}
	db, sum = tune(db, 8<<20, 0)
	if len(sum.Failures) != 0 || sum.Resumed == 0 {
		t.Errorf("%d trials resumed, failures %+v", sum.Resumed, sum.Failures)
	}
	for _, e := range db.Entries() {
		if !strings.HasPrefix(e.Winner, "v=4,plant=hungry") {
			t.Errorf("size %d: %s won, expected the fastest, which has memory now", e.Size, e.Winner)
		}
	}
	if db.Len() != 2 {
		t.Errorf("%d entries", db.Len())
	}
}

// A run in which every variant failed ends with an error that names the first failure.
func TestNoneRan(t *testing.T) {
	for _, plants := range [][]string{{"fault", "compile"}, {"hungry", "fault", "infeasible"}} {
		d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake", Memory: 2 << 20}}
		s := &fake.Subject{Plants: plants}
		_, sum, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Device: d, Sizes: []int{10}})
		if !errors.Is(err, autotune.ErrNoneRan) || !strings.Contains(err.Error(), "2 tried, all failed, v=0,plant="+plants[0]) || len(sum.Failures) != 2 {
			t.Errorf("%v: %v, failures %+v", plants, err, sum.Failures)
		}
	}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
	if _, sum, err := autotune.Tune(t.Context(), autotune.Options{Subject: &fake.Subject{Plants: []string{"fault", ""}}, Device: d, Sizes: []int{10}}); err != nil || sum.Timed != 1 {
		t.Errorf("one of two ran: %v, %d timed", err, sum.Timed)
	}
}

// TestRefresh measures again what the database keeps and nothing else, also where the
// text of the kernels has another hash by now.
func TestRefresh(t *testing.T) {
	d, s := simulated(func(v, size int) time.Duration { return time.Duration(v+1) * time.Millisecond }, 8)
	o := autotune.Options{Subject: s, Device: d, Sizes: []int{10, 100}, Seed: 1, Now: s.Clock.Now}
	db, _, err := autotune.Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var entries []tuned.Entry
	for _, e := range db.Entries() { // two variants of another text, and one that is gone
		e.Results = append(e.Results[:2:2], tuned.Result{Variant: "gone", Nanos: 1})
		e.Results[0].Hash, e.Results[1].Hash = 1, 2
		entries = append(entries, e)
	}
	stale, err := tuned.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	o.Database, o.Refresh, o.Sizes = stale, true, nil
	fresh, sum, err := autotune.Tune(t.Context(), o)
	if err != nil || sum.Tried != 2 || fresh.Len() != 2 {
		t.Fatalf("%d tried, %d entries, %v", sum.Tried, fresh.Len(), err)
	}
	for k, e := range fresh.Entries() {
		v, ok := e.Result(e.Winner).Valid(s.Family())
		if !ok || e.Winner != entries[k].Winner || len(e.Results) != 2 || !e.Time.After(entries[k].Time) {
			t.Errorf("size %d: %v %v, %+v", e.Size, v, ok, e)
		}
	}
	o.Database = nil
	if _, sum, err := autotune.Tune(t.Context(), o); err != nil || sum.Tried != 0 {
		t.Errorf("nothing kept: %d tried, %v", sum.Tried, err)
	}
}
