package qubo

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Massive multi-start runs by its parameters, and says them; other engines refuse them.
func TestSolveByStarts(t *testing.T) {
	devices := []device.Device{host.Open(1), emulatedtest.Open(t)}
	defer devices[0].Close()
	inst, err := Palubeckis(60, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	given := Starts{Samples: 30, Iterations: 12, Batch: 4, Flips: 9, Lambda: "0.25", Blend: "none"}
	var values []string
	for _, d := range devices {
		run := func(algorithm string, s Starts) (*Result, error) {
			return Solve(t.Context(), inst, on(d, Options{Settings: solve.Settings{Algorithm: algorithm, Seed: 3}, Unreduced: true, Starts: s}))
		}
		r, err := run("multistart", given)
		if err != nil {
			t.Fatal(err)
		}
		if want := "batch=4,samples=30,lambda=0.25,blend=none,iterations=12,max-flips=9"; !strings.HasSuffix(r.Variant, want) {
			t.Errorf("variant %q, expected %q", r.Variant, want)
		}
		if r.Work.Restarts > 12 || r.Work.Flips > 9*12 {
			t.Errorf("%d ascents of %d flips, more than the parameters allow", r.Work.Restarts, r.Work.Flips)
		}
		values = append(values, r.Value.String())
		again, err := run("multistart", Starts{Iterations: 12, Blend: "start", Lambda: Printed})
		if err != nil || !strings.Contains(again.Variant, "lambda=printed,blend=start") {
			t.Errorf("as printed: %v, %v", again, err)
		}
		for engine, s := range map[string]Starts{"reference": given, "multistart": {Lambda: "1"}} {
			if r, err := run(engine, s); err == nil {
				t.Errorf("engine %s by %+v: %v", engine, s, r)
			}
		}
	}
	if values[0] != values[1] {
		t.Errorf("a host finds %s, kernels %s by the same parameters", values[0], values[1])
	}
}

// A solve begins with a solution, or refuses one that is not of its variables. Fixed variables keep their values, the
// instance stays as it is.
func TestStartAndFix(t *testing.T) {
	inst, err := Palubeckis(60, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	good := solved(t, inst, Options{Work: 200000})
	for name, d := range map[string]device.Device{"host": host.Open(1), "bulk": emulatedtest.Open(t)} {
		began, err := Solve(t.Context(), inst, on(d, Options{Work: 1, Settings: solve.Settings{Start: good.Solution, Algorithm: name}, Unreduced: true}))
		if err != nil {
			t.Fatal(err)
		}
		if began.Value.Float() < good.Value.Float() || began.History[0].Value != good.History[len(good.History)-1].Value {
			t.Errorf("%s: found %s, began with %v, expected %s", name, began.Value, began.History[0], good.Value)
		}
	}
	other := map[int]int{0: 1 - good.Solution.At(0), 59: 1 - good.Solution.At(59)}
	fix := []string{fmt.Sprintf("0=%d", other[0]), fmt.Sprintf("59=%d", other[59])}
	r := solved(t, inst, Options{Work: 50000, Fix: fix, Settings: solve.Settings{Start: good.Solution}})
	if r.Solution.At(0) != other[0] || r.Solution.At(59) != other[59] || !maps.Equal(r.Fixed, other) || inst.Fixed != nil {
		t.Errorf("fixed %v: found %s, fixed %v, the instance fixes %v", fix, r.Solution, r.Fixed, inst.Fixed)
	}
	for want, o := range map[string]Options{
		"Start: found 3 variables, expected 60":                             {Settings: solve.Settings{Start: problem.NewBits([]uint64{5}, 3)}},
		"Start: found bits that are 1 beyond those of 60 variables":         {Settings: solve.Settings{Start: problem.NewBits([]uint64{1 << 60}, 60)}},
		`Fix: found "60=1", expected a variable from 0 to 59, = and 0 or 1`: {Fix: []string{"60=1"}},
		`Fix: found "4=1" after 4=0, expected one value for a variable`:     {Fix: []string{"4=0", "4=1"}},
	} {
		if _, err := Solve(t.Context(), inst, on(host.Open(1), o)); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("found the error %v, expected %s", err, want)
		}
	}
}
