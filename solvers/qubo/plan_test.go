package qubo

import (
	"testing"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// TestBestEngine pins what searches where nothing is asked for.
func TestBestEngine(t *testing.T) {
	for kind, want := range map[string]string{device.CUDA: "portfolio", device.Emulated: "bulk", device.Host: "host"} {
		p, err := planFor(device.Facts{Kind: kind}, Options{})
		if err != nil || p.engine.name != want {
			t.Errorf("%s: engine %q, %v; want %q", kind, p.engine.name, err, want)
		}
	}
	if p, err := planFor(device.Facts{Kind: device.Host}, Options{Settings: solve.Settings{Algorithm: "multistart"}}); err != nil || p.engine.name != "multistart" {
		t.Errorf("multistart by name: %q, %v", p.engine.name, err)
	}
	for _, bad := range []Options{{Settings: solve.Settings{Algorithm: "annealer"}}, {Settings: solve.Settings{Algorithm: "portfolio"}},
		{Settings: solve.Settings{Algorithm: "host", Variant: "x"}}, {Settings: solve.Settings{Variant: "x"}}} {
		if _, err := planFor(device.Facts{Kind: device.Host}, bad); err == nil {
			t.Errorf("%+v on a host: no error", bad)
		}
	}
}
