package csg

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// IDP and DP solve every value type on a host and by kernels alike.
func TestMethodsOfEveryType(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	devices := []device.Device{d}
	if !testing.Short() {
		devices = append(devices, emulatedtest.Open(t))
	}
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for _, n := range []int{1, 2, 3, 7, 9} {
			inst, err := draw.ByCoalition(value, n, drawnMask)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Reference(inst, DP)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range devices {
				for _, m := range []Method{DP, IDP} {
					o := on(d)
					o.Algorithm = string(m)
					r, err := Solve(t.Context(), inst, o)
					if err != nil {
						t.Fatalf("%s, %d agents by %s on %s: %v", value, n, m, d.Facts(), err)
					}
					if r.Value != want.Value || r.Algorithm != string(m) || r.Splittings != reference.SplittingCount(m, n) {
						t.Errorf("%s, %d agents by %s on %s: %s, %s, %v splittings; expected %s", value, n, m, d.Facts(), r.Value, r.Algorithm, r.Splittings, want.Value)
					}
				}
			}
		}
	}
}

// Where tiles do not run, the published kernel does, unless tiles are asked for by name.
func TestWithoutRoomForTiles(t *testing.T) {
	d := small{emulatedtest.Open(t)}
	inst, err := draw.ByCoalition(problem.Int32, 7, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(t.Context(), inst, on(d))
	if err != nil || !strings.HasPrefix(r.Variant, "csg/splits ") || r.Algorithm != string(DP) {
		t.Errorf("without room for tiles: %v, %v", r, err)
	}
	o := on(d)
	o.Algorithm = string(Apart)
	if r, err := Solve(t.Context(), inst, o); err == nil {
		t.Errorf("tiles without room, by name: %v", r)
	}
}

// small is a device whose blocks have too little shared memory for tiles.
type small struct{ device.Device }

func (s small) Facts() device.Facts {
	f := s.Device.Facts()
	f.SharedPerBlock = 1 << 10
	return f
}

func TestLevelsRefuse(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := draw.ByCoalition(problem.Int32, 4, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	o := on(d)
	o.Algorithm = string(IDP)
	if _, err := Solve(t.Context(), inst, keptIn(o, "x", false)); err == nil || !strings.Contains(err.Error(), "checkpoint") {
		t.Errorf("a checkpoint: %v", err)
	}
	o.Devices = append(o.Devices, d)
	if _, err := Solve(t.Context(), inst, o); err == nil || !strings.Contains(err.Error(), "2 devices") {
		t.Errorf("two devices: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := Solve(ctx, inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: "dp"}}); err != nil || !r.Stopped || r.Proven {
		t.Errorf("ended: %v, %v", r, err)
	}
	v := make([]float64, 16)
	for c := range v {
		if c&1 != 0 {
			v[c] = math.Inf(-1)
		}
	}
	forbidden, err := problem.NewInstance(v, "agent 1 is in no coalition")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{DP, IDP} {
		if r, err := Solve(t.Context(), forbidden, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(m)}}); !errors.Is(err, solve.ErrInfeasible) {
			t.Errorf("%s, no structure is allowed: %v, %v", m, r, err)
		}
	}
}
