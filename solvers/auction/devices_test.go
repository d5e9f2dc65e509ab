package auction

import (
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/solve"
)

// With a device beside it branch and cut comes to the same optimum, and says where it
// searched unless it ended before.
func TestBranchBesideADevice(t *testing.T) {
	d := emulatedtest.Open(t)
	a, err := Generate("arbitrary-npv", 48, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, want := solveWithProgress(t, a, Options{Settings: solve.Settings{Algorithm: Branch}})
	_, res := solveWithProgress(t, a, Options{Settings: solve.Settings{Algorithm: Branch, Devices: []device.Device{d}}})
	if res.Value != want.Value || !res.Proven || want.Device != "host" {
		t.Errorf("found %s on %s, proven: %t; on %s %s", res.Value, res.Device, res.Proven, want.Device, want.Value)
	}
	if both := "host," + d.Facts().String(); res.Seconds.Solve > 1 && res.Device != both {
		t.Errorf("solved on %s in %g s, expected on %s", res.Device, res.Seconds.Solve, both)
	}
}
