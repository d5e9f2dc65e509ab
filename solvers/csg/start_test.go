package csg

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A solve begins with a structure: where it ends at once, that one is the answer. Algorithms find the optimum from any start.
func TestStart(t *testing.T) {
	inst, err := GenerateAs("pascal", 12, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	best, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	bad := problem.Blocks{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}
	for name, d := range map[string]device.Device{"host": host.Open(1), "emulated": emulatedtest.Open(t)} {
		for _, algorithm := range []Method{"", ByPrices, Apart, DP} {
			for _, start := range []problem.Blocks{bad, best.Structure.Lists()} {
				r, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(algorithm), Start: start}})
				if err != nil || !r.Proven || r.Value != best.Value {
					t.Errorf("%s, %s: found %+v, %v, expected %s", name, algorithm, r, err, best.Value)
				}
			}
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	d := host.Open(1)
	for _, algorithm := range []Method{ByPrices, Apart, IDP} {
		r, err := Solve(ended, inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(algorithm), Start: problem.Blocks(best.Structure.Lists())}})
		if err != nil || !r.Stopped || r.Proven || r.Value != best.Value {
			t.Errorf("%s, ended: found %+v, %v", algorithm, r, err)
		}
	}
}

// A solve stops at a target where a structure meets it on the way: the first ones, one to begin with, or one of prices. Else it goes on
// to the optimum. The answer is not proven then, and nothing stopped it.
func TestTarget(t *testing.T) {
	inst, err := GenerateAs("cauchy", 14, 5, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	best, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(1)
	run := func(algorithm Method, target float64, start solve.Start) *Result {
		t.Helper()
		r, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(algorithm), Target: &target, Start: start}})
		if err != nil || r.Stopped || r.Value.Float() < min(target, best.Value.Float()) || r.Certificate.Sum != r.Value.String() ||
			*r.Target != target || (r.Met != nil) != (r.Value.Float() >= target) {
			t.Fatalf("%s, target %v: found %+v, %v", algorithm, target, r, err)
		}
		return r
	}
	optimum := best.Value.Float()
	for _, algorithm := range []Method{ByPrices, Apart, DP, IDP} {
		if r := run(algorithm, -1e12, nil); r.Proven || r.Splittings > 0 || r.Prices != nil {
			t.Errorf("%s: single agents meet the target, found %+v", algorithm, r)
		}
		if r := run(algorithm, optimum, problem.Blocks(best.Structure.Lists())); r.Proven || r.Splittings > 0 || r.Value != best.Value {
			t.Errorf("%s: the start meets the target, found %+v", algorithm, r)
		}
		if r := run(algorithm, optimum+1, nil); !r.Proven || r.Value != best.Value {
			t.Errorf("%s: nothing meets the target, found %+v", algorithm, r)
		}
	}
	if r := run(ByPrices, optimum-1, nil); r.Value.Float() < optimum-1 || r.Bound != "" && r.Bound.Float() < optimum {
		t.Errorf("prices: found %+v", r)
	}
	if _, _, err := SolveCover(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Target: &optimum}}); !errors.Is(err, solve.ErrInput) {
		t.Errorf("a cover with a target: %v", err)
	}
}

func TestStartRefused(t *testing.T) {
	inst, err := problem.NewInstance([]float64{0, 1, 1, math.Inf(-1)}, "two agents")
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(1)
	for want, start := range map[string]solve.Start{
		"Start: found agent 2 in no block":                  problem.Blocks{{1}},
		"Start: found agent 1 in block 2":                   problem.Blocks{{1}, {1, 2}},
		"Start: found agent 3 in block 1":                   problem.Blocks{{3}},
		"Start: found the block {1, 2}, which is forbidden": problem.Blocks{{1, 2}},
	} {
		if _, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Start: start, TimeLimit: time.Minute}}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	if err := inst.Restrict(1 << 2); err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Start: problem.Blocks{{1}, {2}}}}); err == nil {
		t.Error("single agents, where blocks have two: found no error")
	}
}
