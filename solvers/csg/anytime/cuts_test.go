package anytime

import (
	"encoding/json"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/solve"
)

// Cuts prove a dense graph of random weights, on one core and on two; Verify takes the proof, and refuses it once a price or a node is another.
func TestCutsProve(t *testing.T) {
	g, err := Draw("normal", 18, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	for cores := 1; cores <= 2; cores++ {
		d := host.Open(cores)
		defer d.Close()
		r, err := Solve(t.Context(), g, Options{solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute, Seed: 1}})
		if err != nil || !r.Proven || len(r.Certificate.Cuts) == 0 {
			t.Fatalf("%d cores: found %v of at most %v, proven %t with %d cuts, %v", cores, r.Value, r.Bound, r.Proven, len(r.Certificate.Cuts), err)
		}
		check := func() *solve.Verdict {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Verify(g, text)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if v := check(); v.Err() != nil || !v.BoundChecked || !v.Proven {
			t.Fatalf("found %+v", v)
		}
		c := &r.Certificate.Cuts[0]
		c.Price /= 2
		if v := check(); v.Err() == nil {
			t.Error("found half of a price accepted")
		}
		c.Price *= 2
		c.Nodes[0] = c.Nodes[1]
		if v := check(); v.Err() == nil {
			t.Error("found a node twice in a cut accepted")
		}
	}
}
