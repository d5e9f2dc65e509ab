package qubo

import (
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
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
