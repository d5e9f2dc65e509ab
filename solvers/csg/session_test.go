package csg

import (
	"context"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A counted device counts what is loaded and taken.
type counted struct {
	device.Device
	loads, allocs int
	live          int // modules that are loaded
}

type countedModule struct {
	device.Module
	of *counted
}

func (m countedModule) Close() error {
	m.of.live--
	return m.Module.Close()
}

func (d *counted) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	m, err := d.Device.Load(f, v)
	if err == nil {
		d.loads++
		d.live++
	}
	return countedModule{m, d}, err
}

func (d *counted) Alloc(n int64) (device.Buffer, error) {
	d.allocs++
	return d.Device.Alloc(n)
}

// A session loads a variant once and takes memory anew for another number of agents
// alone; its answers are those of solves of their own.
func TestSession(t *testing.T) {
	for _, count := range []int{0, 1, 2} { // a host, a GPU, two
		var devices []device.Device
		var counters []*counted
		plain := []device.Device{host.Open(2)}
		if count > 0 {
			plain = emulatedtest.OpenSeveral(t, count)
		}
		for _, d := range plain {
			c := &counted{Device: d}
			counters, devices = append(counters, c), append(devices, c)
		}
		s, err := Open(Options{Settings: solve.Settings{Devices: devices}})
		if err != nil {
			t.Fatal(err)
		}
		loads, allocs := 0, 0
		for k, n := range []int{6, 6, 7, 6} {
			inst, err := GenerateAs("uniform", n, uint64(k), problem.Int32)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Reference(inst, DP)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Solve(t.Context(), inst)
			if err != nil || r.Value != want.Value || !r.Proven {
				t.Errorf("%d devices, %d agents: found %+v, %v, expected %s", count, n, r, err, want.Value)
			}
			c := counters[0]
			if k == 0 {
				loads = c.loads
			}
			if c.loads != loads {
				t.Errorf("%d devices, solve %d: %d modules were loaded, expected %d", count, k, c.loads, loads)
			}
			if k == 1 && c.allocs != allocs {
				t.Errorf("%d devices: %d buffers were taken for as many agents as before", count, c.allocs-allocs)
			}
			allocs = c.allocs
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range counters {
			if c.live != 0 {
				t.Errorf("%d devices: %d modules stay loaded after the session", count, c.live)
			}
		}
	}
}

// A session goes on after a solve that was ended, and after one of a wrong instance.
func TestSessionGoesOn(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	s, err := Open(Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		t.Fatal(err)
	}
	inst, err := GenerateAs("uniform", 12, 1, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Solve(ended, inst); err != nil || !r.Stopped || r.Proven {
		t.Errorf("found %v, %v", r, err)
	}
	if _, err := s.Solve(t.Context(), nil); err == nil {
		t.Error("no instance is solved")
	}
	want, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := s.Solve(t.Context(), inst); err != nil || r.Value != want.Value {
			t.Errorf("found %v, %v, expected %s", r, err, want.Value)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(Options{}); err == nil {
		t.Error("no device is one")
	}
}
