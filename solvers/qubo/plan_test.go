package qubo

import (
	"testing"

	"coalesce/runtime/device"
)

// TestBestEngine pins what searches where nothing is asked for.
func TestBestEngine(t *testing.T) {
	for kind, want := range map[string]string{device.CUDA: "portfolio", device.Emulated: "bulk", device.Host: "host"} {
		p, err := planFor(device.Facts{Kind: kind}, Options{})
		if err != nil || p.engine.name != want {
			t.Errorf("%s: engine %q, %v; want %q", kind, p.engine.name, err, want)
		}
	}
	if p, err := planFor(device.Facts{Kind: device.Host}, Options{Engine: "multistart"}); err != nil || p.engine.name != "multistart" {
		t.Errorf("multistart by name: %q, %v", p.engine.name, err)
	}
	for _, bad := range []Options{{Engine: "annealer"}, {Engine: "portfolio"}, {Engine: "host", Variant: "x"}, {Variant: "x"}} {
		if _, err := planFor(device.Facts{Kind: device.Host}, bad); err == nil {
			t.Errorf("%+v on a host: no error", bad)
		}
	}
}
