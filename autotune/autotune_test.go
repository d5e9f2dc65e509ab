package autotune_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// The plants of the worker tests: v=4 is the fastest that is right, v=1, v=5 and
// v=6 would be faster were they not wrong, v=2 crashes, v=3 hangs.
var plants = []string{"", "wrong", "crash", "hang", "", "late", "wrong", "compile", "", "infeasible"}

func cost(v, size int) time.Duration {
	us := []int{400, 50, 50, 50, 200, 50, 50, 50, 300, 50}[v]
	return time.Duration(us) * time.Microsecond
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		// Other programs on the machine change nothing: the clock moves by what runs cost.
		clock := &fake.Clock{T: time.Now()}
		d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
		s := &fake.Subject{Plants: plants, Cost: cost, Clock: clock}
		if err := worker.Serve(context.Background(), d, []subject.Subject{s}, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "tune" {
		os.Exit(tuneChild(os.Args[2]))
	}
	os.Exit(m.Run())
}

func command() *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exec.Command(exe, "worker")
}

var int64s = map[string]string{"value": "int64"}

// The planted variants never win, each costs a trial, and the right ones are
// ranked by their times.
func TestTuneWithPlants(t *testing.T) {
	t.Parallel()
	trials := filepath.Join(t.TempDir(), "x.trials.jsonl")
	s := &fake.Subject{Plants: plants}
	var last autotune.Event
	db, sum, err := autotune.Tune(t.Context(), autotune.Options{
		Subject: s, Sizes: []int{100}, Worker: command, Trials: trials, Timeout: 1500 * time.Millisecond, Seed: 3,
		Progress: func(e autotune.Event) { last = e },
	})
	if !errors.Is(err, autotune.ErrWrongVariant) {
		t.Errorf("error %v, want ErrWrongVariant", err)
	}
	if sum.Wrong != 3 || sum.Stopped != search.Done || sum.Points != 10 || sum.Infeasible != 1 || sum.Tried != 9 {
		t.Errorf("summary %+v", sum)
	}
	status := map[string]trial.Status{}
	for _, f := range sum.Failures {
		status[f.Variant] = f.Status
	}
	for v, want := range map[int]trial.Status{1: trial.Verify, 2: trial.Launch, 3: trial.Timeout, 5: trial.Verify, 6: trial.Verify, 7: trial.Compile} {
		label := s.Family().Variants[v].Label
		if status[label] != want {
			t.Errorf("%s: %q, want %s", label, status[label], want)
		}
		delete(status, label)
	}
	if len(status) > 0 {
		t.Errorf("failures besides: %v", status)
	}
	if sum.Workers != 3 {
		t.Errorf("%d workers, want one more after the crash and the hang each", sum.Workers)
	}
	w := tuned.Workload{Fixed: int64s, Size: 100}
	c, err := db.Choose(s.Family(), device.Facts{Kind: device.Host, Name: "fake"}, w, nil)
	if err != nil || c.Level != tuned.Exact || c.Variant != &s.Family().Variants[4] {
		t.Errorf("chose %v, %v; winners %+v", c, err, sum.Winners)
	}
	if len(sum.Winners) != 1 || sum.Winners[0].Speedup < 1.2 {
		t.Errorf("winners %+v", sum.Winners)
	}
	e, _ := db.Lookup("toy/sum", "host|fake|0.0|0sm|smem0", w)
	if len(e.Results) != 3 {
		t.Errorf("results %+v, want those of v=0, v=4, v=8", e.Results)
	}
	if last.Best != c.Variant.Label || last.OK+last.Failed != last.Counts[trial.OK]+6 || last.VsSafe > -0.2 {
		t.Errorf("last event %+v", last)
	}
	found, err := trial.Load(trials)
	n := 0
	for _, k := range sum.Counts {
		n += k
	}
	if err != nil || len(found.Trials) != n+1 || found.Trials[n].Action != trial.ActionDone || found.Trials[0].Session != sum.Session || found.Trials[0].Phase != search.PhaseScreen {
		t.Errorf("%d records of %d trials, %v", len(found.Trials), n, err)
	}
}

// simulated is a device with n right variants, whose clock moves by what their
// runs cost.
func simulated(cost func(v, size int) time.Duration, n int) (*fake.Device, *fake.Subject) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	return &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock},
		&fake.Subject{Plants: make([]string, n), Clock: clock, Cost: cost}
}

func TestTuneInProcess(t *testing.T) {
	d, s := simulated(func(v, size int) time.Duration {
		best := 3
		if size >= 1000 {
			best = 5
		}
		return time.Millisecond * time.Duration(size*(10+(v-best)*(v-best)))
	}, 8)
	o := autotune.Options{Subject: s, Device: d, Seed: 1, Now: s.Clock.Now}
	db, sum, err := autotune.Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{10: 3, 100: 3, 1000: 5} {
		c, err := db.Choose(s.Family(), d.F, tuned.Workload{Fixed: int64s, Size: size}, nil)
		if err != nil || c.Variant != &s.Family().Variants[want] || c.Level != tuned.Exact {
			t.Errorf("size %d: %v, %v, want v=%d", size, c, err, want)
		}
	}
	if len(sum.Winners) != 3 || sum.Winners[0].Rate <= 0 {
		t.Errorf("winners %+v", sum.Winners)
	}
	if c, err := db.Choose(s.Family(), d.F, tuned.Workload{Fixed: int64s, Size: 400}, nil); err != nil || c.Level != tuned.Interpolated {
		t.Errorf("size 400: %v, %v", c, err)
	}
	// Again: the earlier winners stay.
	o.Database = db
	before := string(db.Encode())
	again, sum, err := autotune.Tune(t.Context(), o)
	if err != nil || string(db.Encode()) != before {
		t.Errorf("the database passed in was changed (%v)", err)
	}
	for i, w := range sum.Winners {
		if was, _ := db.Lookup("toy/sum", sum.Class, tuned.Workload{Fixed: int64s, Size: w.Size}); was.Winner != w.Variant {
			t.Errorf("winner %d was %s, is %s", i, was.Winner, w.Variant)
		}
	}
	for _, e := range again.Entries() {
		if was, _ := db.Lookup("toy/sum", sum.Class, tuned.Workload{Fixed: int64s, Size: e.Size}); !e.Time.After(was.Time) {
			t.Errorf("size %d: committed at %v, after %v", e.Size, e.Time, was.Time)
		}
	}
	if again.Len() != 3 {
		t.Errorf("%d entries", again.Len())
	}
}

func TestTuneStops(t *testing.T) {
	t.Parallel()
	slow := func(int, int) time.Duration { return time.Millisecond }
	s := &fake.Subject{Plants: make([]string, 40), Cost: slow}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
	few := &fake.Subject{Plants: make([]string, 3), Cost: slow} // the first three of s
	old, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: few, Device: d, Sizes: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	for name, cut := range map[string]func(context.CancelFunc, *autotune.Options){
		search.Interrupted: func(cancel context.CancelFunc, o *autotune.Options) {
			n := 0
			o.Progress = func(autotune.Event) {
				if n++; n == 12 {
					cancel()
				}
			}
		},
		search.OverBudget: func(_ context.CancelFunc, o *autotune.Options) { o.Budget = 600 * time.Millisecond },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		o := autotune.Options{Subject: s, Device: d, Sizes: []int{10}, Database: old}
		cut(cancel, &o)
		begin := time.Now()
		db, sum, err := autotune.Tune(ctx, o)
		cancel()
		if err != nil || sum.Stopped != name || time.Since(begin) > 10*time.Second {
			t.Errorf("%s: stopped %q after %v, %v", name, sum.Stopped, time.Since(begin), err)
		}
		if sum.Tried == 0 || db.Len() != 1 {
			t.Errorf("%s: %d tried, %d entries", name, sum.Tried, db.Len())
		}
	}
}

// What won on another device, with another text, is tried next to the safe point.
func TestKnownWinnersFirst(t *testing.T) {
	s := &fake.Subject{Plants: make([]string, 40), Cost: func(int, int) time.Duration { return time.Millisecond }}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
	v := &s.Family().Variants[37]
	known, err := tuned.New(tuned.Entry{Family: "toy/sum", Class: "another", Fixed: int64s, Size: 70, Protocol: tuned.Protocol,
		Winner: v.Label, Results: []tuned.Result{{Variant: v.Label, Hash: tuned.Hash(v.Hash + 1), Nanos: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var tried []string
	_, _, err = autotune.Tune(ctx, autotune.Options{Subject: s, Device: d, Sizes: []int{10}, Known: known, Progress: func(e autotune.Event) {
		if label := e.Trial.Variant; !slices.Contains(tried, label) {
			tried = append(tried, label)
		}
		if len(tried) == 3 {
			cancel()
		}
	}})
	if err != nil || len(tried) < 3 || tried[1] != v.Label {
		t.Errorf("tried %q, %v, want %s after the safe point", tried, err, v.Label)
	}
}

// A winner of old that turns out wrong goes, even when the search is cut short
// before there is another.
func TestWrongWinnerIsDropped(t *testing.T) {
	s := &fake.Subject{Plants: []string{"", "wrong"}}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
	v := &s.Family().Variants[1]
	old, err := tuned.New(tuned.Entry{Family: "toy/sum", Class: d.F.Class(), Fixed: int64s, Size: 10, Protocol: tuned.Protocol,
		Winner: v.Label, Results: []tuned.Result{{Variant: v.Label, Hash: tuned.Hash(v.Hash), Nanos: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	db, sum, err := autotune.Tune(ctx, autotune.Options{Subject: s, Device: d, Sizes: []int{5, 10}, Database: old,
		Progress: func(e autotune.Event) {
			if e.Failed > 0 {
				cancel()
			}
		}})
	if !errors.Is(err, autotune.ErrWrongVariant) || sum.Stopped != search.Interrupted {
		t.Errorf("%q, %v", sum.Stopped, err)
	}
	c, err := db.Choose(s.Family(), d.F, tuned.Workload{Fixed: int64s, Size: 10}, nil)
	if err != nil || c.Variant == v || old.Len() != 1 {
		t.Errorf("chose %v, %v", c, err)
	}
}

// A variant that is wrong only where the reference cannot follow differs from
// the one that answered first.
func TestWrongAtScale(t *testing.T) {
	d, s := simulated(cost, 3)
	s.Plants[1] = "big"
	_, sum, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Device: d, Sizes: []int{2 * fake.Large}, Now: s.Clock.Now})
	if !errors.Is(err, autotune.ErrWrongVariant) || sum.Wrong != 1 || sum.Failures[0].Variant != s.Family().Variants[1].Label {
		t.Errorf("%v, failures %+v", err, sum.Failures)
	}
}

func TestTuneErrors(t *testing.T) {
	d, s := simulated(cost, 2)
	if _, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: s}); err == nil {
		t.Error("neither worker nor device: no error")
	}
	if _, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Device: d, Facts: device.Facts{Name: "other"}}); err == nil || !strings.Contains(err.Error(), "expected |other|") {
		t.Errorf("other device: %v", err)
	}
	if _, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Device: d, Trials: filepath.Join(t.TempDir(), "no", "x")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("trials: %v", err)
	}
	_, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Worker: func() *exec.Cmd { return exec.Command("/no/such/file") }})
	if !errors.Is(err, worker.ErrStart) {
		t.Errorf("worker: %v", err)
	}
}
