package worker_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// plants of the family that parent and worker process share.
var plants = []string{"", "wrong", "crash", "exit", "hang", "compile", "late", "infeasible", "big", "fault", "overrun", "underrun", "learnt", "starved", "killed"}

// TestMain turns this test's binary into a worker when its first argument says
// so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(child(os.Args[2]))
	}
	os.Exit(m.Run())
}

func child(mode string) int {
	switch mode {
	case "mute":
		time.Sleep(time.Minute)
	case "refuse":
		fmt.Fprintln(os.Stderr, "no such device")
		return 1
	case "babble":
		fmt.Println("hello world")
		time.Sleep(time.Minute)
	}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
	s := &fake.Subject{Plants: plants}
	if err := worker.Serve(context.Background(), d, []subject.Subject{s}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func client(t *testing.T, mode string) *worker.Client {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &worker.Client{Command: func() *exec.Cmd { return exec.Command(exe, "worker", mode) }, StartTimeout: 20 * time.Second}
	t.Cleanup(func() { c.Close() })
	return c
}

func request(plant, action string) worker.Request {
	f := (&fake.Subject{Plants: plants}).Family()
	for i := range f.Variants {
		if v := &f.Variants[i]; f.Value(v, "plant") == plant {
			return worker.Request{Family: f.Name, Variant: v.Label, Hash: v.Hash, Fixed: map[string]string{"value": "int64"},
				Size: 10, Seed: 1, Action: action, Effort: worker.Effort{Samples: 3, Warmup: time.Microsecond}}
		}
	}
	panic("no plant " + plant)
}

func TestEachFailureCostsOneTrial(t *testing.T) {
	c := client(t, "serve")
	for _, tc := range []struct {
		plant, action string
		status        trial.Status
		text          string
		starts        int // of workers, by then
	}{
		{"", trial.ActionVerify, trial.OK, "", 1},
		{"", trial.ActionMeasure, trial.OK, "", 1},
		{"wrong", trial.ActionVerify, trial.Verify, "sum below 7 is 22, expected 21", 1},
		{"compile", trial.ActionVerify, trial.Compile, "expected a ';'", 1},
		{"crash", trial.ActionVerify, trial.Launch, "planted crash: illegal memory access", 1},
		{"", trial.ActionVerify, trial.OK, "", 2},
		{"exit", trial.ActionMeasure, trial.Launch, "worker died (exit status 9): planted exit", 2},
		{"hang", trial.ActionVerify, trial.Timeout, "no answer within 2s: worker killed", 3},
		{"", trial.ActionMeasure, trial.OK, "", 4},
		{"late", trial.ActionMeasure, trial.Verify, "case", 4}, // found after timing
		{"learnt", trial.ActionVerify, trial.OK, "", 4},
		{"learnt", trial.ActionMeasure, trial.Verify, "case drawn anew, size 7, seed", 4},
		{"infeasible", trial.ActionMeasure, trial.Constraint, "planted constraint", 4},
		{"fault", trial.ActionVerify, trial.Launch, "planted fault: misaligned address", 4}, // the worker lives on
		{"", trial.ActionVerify, trial.OK, "", 5},                                           // but its device may not
		{"starved", trial.ActionVerify, trial.Memory, "worker died (exit status 2): runtime: out of memory", 5},
		{"killed", trial.ActionVerify, trial.Memory, "worker died (signal: killed)", 6},
	} {
		begin := time.Now()
		got, err := c.RunTrial(t.Context(), request(tc.plant, tc.action), 2*time.Second)
		if err != nil {
			t.Fatalf("%q: %v", tc.plant, err)
		}
		if got.Status != tc.status || !strings.Contains(got.Error, tc.text) || (tc.text == "") != (got.Error == "") {
			t.Errorf("%q %s: %s %q, want %s %q", tc.plant, tc.action, got.Status, got.Error, tc.status, tc.text)
		}
		if c.StartCount() != tc.starts {
			t.Errorf("%q: %d workers started, want %d", tc.plant, c.StartCount(), tc.starts)
		}
		if got.Status == trial.OK && tc.action == trial.ActionMeasure && (got.Best() == nil || got.Best().N != 3 || got.Cases != 2 || got.Work != 10) {
			t.Errorf("%q: trial %+v", tc.plant, got)
		}
		if got.Status != trial.OK && got.Best() != nil {
			t.Errorf("%q: a failed trial has times", tc.plant)
		}
		if got.Schema != trial.Schema || got.Class != "host|fake|0.0|0sm|smem0" || got.Wall <= 0 || got.Time.Before(begin.Add(-time.Minute)) {
			t.Errorf("%q: record %+v", tc.plant, got)
		}
	}
}

// Where the reference cannot follow, a worker that starts anew asks a variant
// that is known to be right first.
func TestFirstAnswersLargeInstances(t *testing.T) {
	for _, tc := range []struct {
		size   int
		first  bool
		status trial.Status
	}{{fake.Large, true, trial.OK}, {2 * fake.Large, true, trial.Verify}, {2 * fake.Large, false, trial.OK}} {
		s := &fake.Subject{Plants: plants}
		b := &worker.Bench{Device: &fake.Device{}, Subjects: []subject.Subject{s}}
		r := request("big", trial.ActionMeasure)
		r.Size = tc.size
		if tc.first {
			r.First = request("", trial.ActionVerify).Variant
		}
		if got := b.RunTrial(t.Context(), r); got.Status != tc.status {
			t.Errorf("size %d, first %v: %s %q, want %s", tc.size, tc.first, got.Status, got.Error, tc.status)
		}
	}
}

// A write before or behind a buffer is found when a variant is verified, though all answers
// are right and the device's memory has room there.
func TestOverrunIsFound(t *testing.T) {
	d := &fake.Device{F: device.Facts{Kind: device.CUDA}}
	b := &worker.Bench{Device: d, Subjects: []subject.Subject{&fake.Subject{Plants: plants}}}
	for plant, want := range map[string]string{"overrun": "found bytes changed from 0 to 1 behind argument 1 of sum in toy/sum, a buffer of 8 bytes", "underrun": "from 0 to 1 before argument 1 of sum in toy/sum", "": ""} {
		status := trial.Verify
		if want == "" {
			status = trial.OK
		}
		got := b.RunTrial(t.Context(), request(plant, trial.ActionVerify))
		if got.Status != status || !strings.Contains(got.Error, want) {
			t.Errorf("%q: %s %q, want %s", plant, got.Status, got.Error, want)
		}
	}
	if d.Buffers != 0 {
		t.Errorf("%d buffers are left", d.Buffers)
	}
}

func TestStaleRequest(t *testing.T) {
	c := client(t, "serve")
	r := request("", trial.ActionVerify)
	r.Hash++
	if got, err := c.RunTrial(t.Context(), r, time.Minute); err != nil || got.Status != trial.Skipped {
		t.Errorf("wrong hash: %v, %v", got, err)
	}
	r.Family = "toy/other"
	if got, err := c.RunTrial(t.Context(), r, time.Minute); err != nil || got.Status != trial.Skipped {
		t.Errorf("wrong family: %v, %v", got, err)
	}
}

func TestCancelKillsTheWorker(t *testing.T) {
	c := client(t, "serve")
	if _, err := c.Facts(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	got, err := c.RunTrial(ctx, request("hang", trial.ActionVerify), time.Minute)
	if !errors.Is(err, context.DeadlineExceeded) || got.Status != trial.Skipped || time.Since(begin) > 10*time.Second {
		t.Errorf("%v, %v after %v", got.Status, err, time.Since(begin))
	}
}

func TestWorkerThatDoesNotStart(t *testing.T) {
	for mode, want := range map[string]string{
		"mute":   "no hello within",
		"refuse": "it ended (exit status 1): no such device",
		"babble": `it said "hello world"`,
	} {
		c := client(t, mode)
		if mode == "mute" {
			c.StartTimeout = 100 * time.Millisecond
		}
		_, err := c.RunTrial(t.Context(), request("", trial.ActionVerify), time.Minute)
		if !errors.Is(err, worker.ErrStart) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mode, err, want)
		}
	}
	c := &worker.Client{Command: func() *exec.Cmd { return exec.Command("/no/such/file") }}
	if _, err := c.Facts(t.Context()); !errors.Is(err, worker.ErrStart) {
		t.Errorf("no file: %v", err)
	}
}

func TestServeErrors(t *testing.T) {
	d, s := &fake.Device{}, &fake.Subject{Plants: plants}
	var out bytes.Buffer
	err := worker.Serve(t.Context(), d, []subject.Subject{s}, strings.NewReader("{\"id\":1}\nnonsense"), &out)
	if err == nil || !strings.Contains(err.Error(), "read request") {
		t.Errorf("error %v", err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 2 { // hello, one reply
		t.Errorf("%d lines:\n%s", lines, &out)
	}
}

// A worker whose tuner was killed during a trial that never ends does not stay.
func TestWorkerEndsWithTheTuner(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "worker", "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	enc, lines := json.NewEncoder(in), bufio.NewScanner(out)
	for _, plant := range []string{"", "hang"} { // the first is answered: the worker serves
		if err := enc.Encode(request(plant, trial.ActionVerify)); err != nil || !lines.Scan() {
			t.Fatal(err, lines.Err()) // a hello, then the answer to the first
		}
	}
	in.Close()
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, expected exit code 1 half a second after the end of its input", err)
	}
}
