package csg

import (
	"context"
	"encoding/json"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A dynamic program that is ended leaves a bound, which Verify computes again, and refutes no other answer for it.
func TestStoppedBound(t *testing.T) {
	d := host.Open(1)
	t.Cleanup(func() { d.Close() })
	inst, err := GenerateAs("uniform", 12, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, algorithm := range Algorithms() {
		r, err := Solve(ended, inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: algorithm}})
		if err != nil || !r.Stopped || r.Proven || r.Bound == "" || r.Bound.Float() < r.Value.Float() {
			t.Fatalf("%s: found %+v, %v, expected a structure and a bound", algorithm, r, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || v.Err() != nil || !v.BoundChecked || v.Proven {
			t.Errorf("%s: %+v, %v", algorithm, v, err)
		}
	}
}
