package csg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// keptIn are options with a checkpoint.
func keptIn(o Options, path string, resume bool) Options {
	o.Checkpoint, o.Resume = path, resume
	return o
}

// resumed solves with a checkpoint's file and returns the share that was done at first.
func resumed(t *testing.T, inst *problem.Instance, path string, o Options) float64 {
	t.Helper()
	want, err := Reference(inst, Apart)
	if err != nil {
		t.Fatal(err)
	}
	first := -1.0
	o.Progress = func(now solve.Incumbent) {
		if first < 0 {
			first = now.Share
		}
	}
	got, err := Solve(context.Background(), inst, keptIn(o, path, true))
	if err != nil {
		t.Fatal(err)
	}
	if got.Value != want.Value || !got.Proven {
		t.Fatalf("found %s, proven %v, expected %s", got.Value, got.Proven, want.Value)
	}
	return first
}

// A process that is killed leaves a file cut off anywhere: what its whole levels hold is
// not computed again.
func TestKilledAnywhere(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range []struct {
		value problem.Value
		n     int
	}{{problem.Int32, 15}, {problem.Float64, 14}, {problem.Int64, 9}, {problem.Float32, 1}} {
		inst, err := draw.ByCoalition(v.value, v.n, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run")
		o := Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(Apart)}}
		if v.value == problem.Int32 {
			o.Variant = "k=8,r=2,unit=vector,value=int32"
		}
		got, err := Solve(context.Background(), inst, keptIn(o, path, false))
		if err != nil || !got.Proven {
			t.Fatal(got, err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if share := resumed(t, inst, path, o); share != 1 {
			t.Errorf("%d agents, all levels kept: began at %v", v.n, share)
		}
		before := 0.0
		for k := range 20 {
			size := 112 + (len(whole)-112)*k/20 + r.IntN(1+len(whole)/40)
			if err := os.WriteFile(path, whole[:min(size, len(whole))], 0o600); err != nil {
				t.Fatal(err)
			}
			share := resumed(t, inst, path, o)
			if share < before {
				t.Errorf("%d agents, %d bytes: began at %v, with less at %v", v.n, size, share, before)
			}
			before = share
		}
		if v.n == 15 && before == 0 {
			t.Error("no level was kept")
		}
	}
}

// A solve whose context ends gives the best so far within a second, and names its checkpoint's file,
// also where a launch goes on. The same holds while an earlier run's levels are read.
func TestEndedWithCheckpoint(t *testing.T) {
	inst, o := killable(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path, ended, busy := filepath.Join(t.TempDir(), "run"), time.Time{}, make(chan struct{})
	defer close(busy)
	o.Progress = func(now solve.Incumbent) {
		if now.Share > 0 && ended.IsZero() {
			ended = time.Now()
			cancel()
			<-busy
		}
	}
	r, err := Solve(ctx, inst, keptIn(o, path, false))
	if took := time.Since(ended); err != nil || !r.Stopped || !strings.Contains(fmt.Sprint(r.Notes), "checkpoint "+path+" holds ") || took > 5*time.Second {
		t.Errorf("a launch that goes on: found %v, %v after %v", r, err, took)
	}
	pipe := filepath.Join(t.TempDir(), "pipe") // from which nothing comes
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("no named pipe: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	o.Progress = nil
	r, err = Solve(ctx, inst, keptIn(o, pipe, true))
	if err != nil || !r.Stopped || r.Structure == nil {
		t.Errorf("a checkpoint that is read without end: found %v, %v", r, err)
	}
}

// killable is the instance of TestKilled, and how it is solved.
func killable(t *testing.T) (*problem.Instance, Options) {
	inst, err := draw.ByCoalition(problem.Int32, 17, func(mask uint64) float64 { return float64(draw.Mix(7<<40^mask) % 4000) })
	if err != nil {
		t.Fatal(err)
	}
	return inst, Options{Settings: solve.Settings{Devices: []device.Device{host.Open(1)}, Algorithm: string(Apart), Variant: "k=8,r=2,unit=vector,value=int32"}}
}

// TestKilled kills processes that solve, at 20 random moments: each goes on with the
// levels that those before have finished. After one that ended the next begins anew.
func TestKilled(t *testing.T) {
	t.Parallel()
	inst, o := killable(t)
	if path := os.Getenv("COALESCE_TEST_KILLED"); path != "" {
		// This is the process to kill; levels take long enough to be met.
		_, err := os.Stat(path)
		o.Progress = func(solve.Incumbent) { time.Sleep(15 * time.Millisecond) }
		if _, err := Solve(context.Background(), inst, keptIn(o, path, err == nil)); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "run")
	r := rand.New(rand.NewPCG(5, 6))
	before, most, kills := 0.0, 0.0, 0
	for tries := 0; kills < 20 && tries < 60; tries++ {
		child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "COALESCE_TEST_KILLED="+path)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(20+r.IntN(100))*time.Millisecond, func() { child.Process.Kill() })
		err := child.Wait()
		kill.Stop()
		if err == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			before = 0
			continue
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the process ended otherwise: %v", err)
		}
		kills++
		if _, err := os.Stat(path); err != nil {
			continue // killed before it began
		}
		copied := filepath.Join(t.TempDir(), "copy")
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(copied, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		share := resumed(t, inst, copied, o)
		if share < before {
			t.Errorf("after %d kills %v of the work is done, before it was %v", kills, share, before)
		}
		before, most = share, max(most, share)
	}
	if kills < 20 || most == 0 {
		t.Errorf("%d kills, at most %v of the work kept: expected 20 kills and some work", kills, most)
	}
}

// A checkpoint of one device is gone on with on others, whose tiles have other sizes.
func TestResumeElsewhere(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	h := host.Open(2)
	defer h.Close()
	inst, err := draw.ByCoalition(problem.Int32, 14, func(mask uint64) float64 { return float64(draw.Mix(3<<40^mask) % 3000) })
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]Options{
		"a host":    {Settings: solve.Settings{Devices: []device.Device{h}, Algorithm: string(Apart), Variant: "k=10,r=2,unit=vector,value=int32"}},
		"a GPU":     {Settings: solve.Settings{Devices: devices[:1], Variant: "chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32"}},
		"two of it": {Settings: solve.Settings{Devices: devices, Variant: "chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32"}},
	}
	for from, o := range on {
		path := filepath.Join(t.TempDir(), "run")
		if _, err := Solve(context.Background(), inst, keptIn(o, path, false)); err != nil {
			t.Fatal(from, err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for to, other := range on {
			if err := os.WriteFile(path, whole[:len(whole)*9/10], 0o600); err != nil {
				t.Fatal(err)
			}
			if share := resumed(t, inst, path, other); share == 0 || share == 1 {
				t.Errorf("from %s to %s: began at the share %v", from, to, share)
			}
		}
	}
}

// A solve that ends says the best so far, and what the checkpoint holds.
func TestStoppedWithCheckpoint(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := draw.ByCoalition(problem.Int32, 16, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(Apart), Variant: "k=8,r=2,unit=vector,value=int32"}}
	o.Progress = func(now solve.Incumbent) {
		if now.Share > 0.2 {
			cancel()
		}
	}
	r, err := Solve(ctx, inst, keptIn(o, path, false))
	if err != nil {
		t.Fatalf("found %v", err)
	}
	if !r.Stopped || r.Proven || len(r.Structure) == 0 || r.Value == "" || !strings.Contains(fmt.Sprint(r.Notes), "--resume") {
		t.Fatalf("found the result %+v", r)
	}
	resumed(t, inst, path, o)
	other, err := draw.ByCoalition(problem.Int32, 16, func(mask uint64) float64 { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(context.Background(), other, keptIn(o, path, true)); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "another instance") {
		t.Errorf("another instance: found %v", err)
	}
	if _, err := Solve(context.Background(), inst, keptIn(Options{Settings: solve.Settings{Devices: o.Devices, Algorithm: string(ByPrices)}}, path+"2", false)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(Apart)) {
		t.Errorf("by prices: found %v", err)
	}
}
