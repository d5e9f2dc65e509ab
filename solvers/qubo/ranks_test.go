package qubo

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// onRanks solves on as many ranks as devices, which must find the same value.
func onRanks(t *testing.T, inst *problem.Instance, devices []device.Device, o Options) (*Result, []collective.Ranks) {
	t.Helper()
	ranks, results := collectivetest.Ranks(len(devices)), make([]*Result, len(devices))
	err := collective.OnAll(len(devices), func(k int) (err error) {
		own := o
		own.Devices, own.Ranks = devices[k:k+1], ranks[k]
		if results[k], err = Solve(t.Context(), inst, own); err != nil {
			ranks[k].(interface{ FailAll() }).FailAll()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range results {
		if r.Value != results[0].Value || r.Proven != results[0].Proven || r.Work != results[0].Work {
			t.Errorf("rank %d: %s after %v, rank 0: %s after %v", k, r.Value, r.Work, results[0].Value, results[0].Work)
		}
	}
	return results[0], ranks
}

// TestRanks finds optima on three ranks, small ones without a search, and ends them all
// where one meets the target.
func TestRanks(t *testing.T) {
	devices := []device.Device{host.Open(1), host.Open(2), host.Open(1)}
	r := rand.New(rand.NewPCG(21, 22))
	for k := range 12 {
		inst := qubotest.Instance(r, r.IntN(14)+1, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[k%3], k%2 == 0)
		want := best(t, inst)
		got, _ := onRanks(t, inst, devices, Options{Unreduced: k%4 == 0})
		if got.Value.Float() != want {
			t.Errorf("%s: found %s, expected %v", inst, got.Value, want)
		}
	}
	inst := qubotest.Instance(r, 60, problem.QUBO, true)
	one := solved(t, inst, Options{Work: 200000, Unreduced: true})
	target := one.Value.Float()
	clock := time.Now()
	got, _ := onRanks(t, inst, devices, Options{Unreduced: true, Settings: solve.Settings{Target: &target, TimeLimit: 30 * time.Second}})
	worse := got.Value.Float() < target
	if inst.Sense == problem.Minimize {
		worse = got.Value.Float() > target
	}
	if worse || time.Since(clock) > 20*time.Second {
		t.Errorf("found %s after %v, expected %v", got.Value, time.Since(clock), target)
	}
}

// TestRanksRepeat: with a limit on work a seed repeats, and a rank sends what
// docs/cluster.md says.
func TestRanksRepeat(t *testing.T) {
	inst := qubotest.Instance(rand.New(rand.NewPCG(31, 32)), 300, problem.QUBO, true)
	var first *Result
	for range 2 {
		devices := []device.Device{host.Open(1), host.Open(1)}
		got, ranks := onRanks(t, inst, devices, Options{Work: 400000, Settings: solve.Settings{Seed: 5}, Unreduced: true})
		if first == nil {
			first = got
		}
		if got.Value != first.Value || got.Solution.String() != first.Solution.String() || got.Work != first.Work {
			t.Errorf("found %s after %v, before %s after %v", got.Value, got.Work, first.Value, first.Work)
		}
		sent, predicted := ranks[0].(interface{ BytesSent() int64 }).BytesSent(), int64(search.Epochs*8*search.StandingWords(300)+8)
		if sent != predicted {
			t.Errorf("rank 0 sent %d bytes, predicted are %d", sent, predicted)
		}
	}
}

// TestEmulatedRanks has kernels of two ranks take what the other gives.
func TestEmulatedRanks(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst := qubotest.Instance(rand.New(rand.NewPCG(41, 42)), 40, problem.QUBO, true)
	got, _ := onRanks(t, inst, devices, Options{Work: 2000, Unreduced: true})
	if got.Work.Flips == 0 || !strings.HasPrefix(got.Variant, "qubo/bulk") {
		t.Errorf("%s made %v", got.Variant, got.Work)
	}
}

// TestDevicesAreRanks: several devices of one process give the answer of as many ranks.
func TestDevicesAreRanks(t *testing.T) {
	for name, c := range map[string]struct {
		devices []device.Device
		n       int
		work    int64
	}{
		"host": {[]device.Device{host.Open(1), host.Open(1), host.Open(1)}, 200, 300000},
		"bulk": {emulatedtest.OpenSeveral(t, 2), 40, 4000},
	} {
		for seed := range uint64(4) {
			inst := qubotest.Instance(rand.New(rand.NewPCG(51, seed)), c.n, problem.QUBO, seed%2 == 0)
			o := Options{Work: c.work, Settings: solve.Settings{Seed: seed}, Unreduced: true}
			ranks, _ := onRanks(t, inst, c.devices, o)
			o.Devices = c.devices
			for range 2 {
				one, err := Solve(t.Context(), inst, o)
				if err != nil {
					t.Fatal(err)
				}
				if one.Solution.String() != ranks.Solution.String() || one.Work != ranks.Work || one.Value != ranks.Value {
					t.Errorf("%s, seed %d: one process found %s by %v, ranks %s by %v", name, seed, one.Value, one.Work, ranks.Value, ranks.Work)
				}
			}
		}
	}
}

// TestSeveralDevices: every device searches, all end where one meets the target, the caller's context or the
// time limit ends all, and progress counts the work of all.
func TestSeveralDevices(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst := qubotest.Instance(rand.New(rand.NewPCG(61, 62)), 60, problem.QUBO, true)
	target := solved(t, inst, Options{Work: 200000, Unreduced: true}).Value.Float()
	o := Options{Unreduced: true, Settings: solve.Settings{Devices: devices, Target: &target, TimeLimit: time.Minute}}
	clock := time.Now()
	met, err := Solve(t.Context(), inst, o)
	if err != nil || met.Met == nil || met.Stopped || time.Since(clock) > 30*time.Second {
		t.Errorf("the target after %v: %+v, %v", time.Since(clock), met, err)
	}
	beyond := target + map[problem.Sense]float64{problem.Maximize: 1e6, problem.Minimize: -1e6}[inst.Sense]
	o.Target, o.TimeLimit = &beyond, time.Hour
	last, risen := int64(0), 0
	o.Progress = func(i solve.Incumbent) {
		if i.Work < last {
			t.Errorf("work of %d after %d", i.Work, last)
		}
		if i.Work > last {
			risen++
		}
		last = i.Work
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if cut, err := Solve(ctx, inst, o); err != nil || !cut.Stopped || risen < 2 || cut.Work.Flips < last {
		t.Errorf("a cancelled solve: %+v, %v, %d reports up to %d", cut, err, risen, last)
	}
	o.Progress, o.TimeLimit = nil, 300*time.Millisecond
	clock = time.Now()
	if cut, err := Solve(t.Context(), inst, o); err != nil || !cut.Stopped || time.Since(clock) > 20*time.Second {
		t.Errorf("a solve of 300 ms after %v: %+v, %v", time.Since(clock), cut, err)
	}
	o.Target, o.TimeLimit, o.Solutions, o.Work = nil, 0, 4, 4000
	if many, err := Solve(t.Context(), inst, o); err != nil || len(many.Solutions) != 4 {
		t.Errorf("four solutions: %+v, %v", many, err)
	}
}
