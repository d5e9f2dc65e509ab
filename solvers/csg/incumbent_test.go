package csg

import (
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A device that is lost leaves the best structure that is known.
func TestLostDevice(t *testing.T) {
	inst, err := draw.ByCoalition(problem.Int32, 12, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []Method{Apart, DP} {
		d := emulatedtest.NewLosing(emulatedtest.Open(t), 2)
		r, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(algorithm)}})
		if !errors.Is(err, device.ErrLost) || r == nil {
			t.Fatalf("%s: found %v, %v, expected a structure and that the device is lost", algorithm, r, err)
		}
		worth, err := problem.Check(inst, r.Structure, r.Value.String())
		if err != nil || worth.Sum != r.Value.String() {
			t.Errorf("%s: found %s for %v: %v", algorithm, r.Value, r.Structure, err)
		}
		if r.Proven || r.Stopped || !strings.Contains(strings.Join(r.Notes, " "), "a device was lost") {
			t.Errorf("%s: proven %v, stopped %v, notes %q", algorithm, r.Proven, r.Stopped, r.Notes)
		}
	}
}
