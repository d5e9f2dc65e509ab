package anytime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/solve"
)

// Cuts prove a graph of dense parts and more agents than levels have, on one core and on two; Verify takes the proof, and refuses it once a price or a node is another.
func TestCutsProve(t *testing.T) {
	const parts, each = 11, 12
	part, err := Draw("normal", each, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	var one strings.Builder
	if err := part.Write(&one); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(one.String()), "\n")[1:]
	text := fmt.Sprintf("%d %d\n", parts*each, parts*len(lines))
	for p := range parts {
		for _, line := range lines {
			var i, j int
			var weight string
			fmt.Sscan(line, &i, &j, &weight)
			text += fmt.Sprintf("%d %d %s\n", p*each+i, p*each+j, weight)
		}
	}
	g := read(t, "parts.rud", text)
	for cores := 1; cores <= 2; cores++ {
		d := host.Open(cores)
		defer d.Close()
		r, err := Solve(t.Context(), g, Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute, Seed: 1}})
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

// Levels prove a complete graph of 32 agents, on one core and on two; Verify takes the proof, and refuses it once a price, the order or the structure is another.
func TestLevelsProve(t *testing.T) {
	g, err := Draw("normal", 32, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	for cores := 1; cores <= 2; cores++ {
		d := host.Open(cores)
		defer d.Close()
		r, err := Solve(t.Context(), g, Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute, Seed: 1}})
		if err != nil || !r.Proven || r.Certificate.Levels == nil || len(r.Certificate.Levels.Prices) != 32 {
			t.Fatalf("%d cores: found %v of at most %v, proven %t with levels %v, %v", cores, r.Value, r.Bound, r.Proven, r.Certificate.Levels, err)
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
		l := r.Certificate.Levels
		for what, change := range map[string]func(sign int64){
			"a price":  func(sign int64) { l.Prices[31][5] -= sign * l.Prices[31][5] / 2 },
			"an order": func(int64) { l.Order[0], l.Order[1] = l.Order[1], l.Order[0] },
			"a shift":  func(sign int64) { l.Shift += uint(sign) },
		} {
			kept := slices.Clone(l.Prices[31])
			change(1)
			if v := check(); v.Err() == nil {
				t.Errorf("%s: found another accepted", what)
			}
			change(-1)
			copy(l.Prices[31], kept)
		}
		if v := check(); v.Err() != nil {
			t.Fatalf("found %+v", v)
		}
	}
}
