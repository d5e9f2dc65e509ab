package csg

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Payoffs of a solve of each concept and type pass Verify, also where the type is widened or narrowed, and altered ones do not.
func TestPayoffsOfSolves(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	r := rand.New(rand.NewPCG(7, 1))
	for k := range 60 {
		n := 2 + r.IntN(6)
		inst := &problem.Instance{N: n}
		switch k % 3 {
		case 0:
			v := make([]int32, 1<<n)
			for mask := 1; mask < len(v); mask++ {
				v[mask] = int32(r.IntN(1 << 30))
			}
			problem.SetValues(inst, v)
		case 1:
			v := make([]int64, 1<<n)
			for mask := 1; mask < len(v); mask++ {
				v[mask] = r.Int64N(1<<59) - 1<<57
			}
			problem.SetValues(inst, v)
		default:
			v := make([]float32, 1<<n)
			for mask := 1; mask < len(v); mask++ {
				v[mask] = float32(r.IntN(1000)) / 10
			}
			problem.SetValues(inst, v)
		}
		for _, concept := range Payoffs() {
			o := Options{Settings: solve.Settings{Devices: []device.Device{d}}, Payoff: concept}
			found, err := Solve(context.Background(), inst, o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(found)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(inst, text); err != nil || v.Err() != nil {
				t.Fatalf("%s: %v %+v", concept, err, v)
			}
			p := found.Payoff
			if p.Exact != nil {
				p.Exact[0], p.Values[0] = "123456789", 123456789
			} else {
				p.Balanced = p.Balanced[1:]
			}
			text, _ = json.Marshal(found)
			if v, err := Verify(inst, text); err == nil && v.Err() == nil {
				t.Errorf("%s: altered payoffs hold", concept)
			}
		}
	}
}

// Too many agents for a nucleolus are refused before the solve; a solve that its target ends has no payoffs, and says so.
func TestPayoffsThatAreNotThere(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}, Payoff: "nucleolus"}
	inst, err := Generate("uniform", 17, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(context.Background(), inst, o); !errors.Is(err, solve.ErrInput) {
		t.Errorf("17 agents: %v", err)
	}
	o.Payoff = "core"
	o.Target = new(float64)
	found, err := Solve(context.Background(), inst, o)
	if err != nil || found.Payoff != nil || !slices.ContainsFunc(found.Notes, func(s string) bool { return strings.Contains(s, "payoffs") }) {
		t.Errorf("a target: %+v %v", found, err)
	}
}
