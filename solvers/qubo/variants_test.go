package qubo

import (
	"errors"
	"os"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/templates"
)

// every asks for all committed variants instead of a sample; required makes a
// missing C++ compiler a failure. CI sets both.
var (
	every    = os.Getenv("COALESCE_EVERY_VARIANT") != ""
	required = os.Getenv("COALESCE_REQUIRE_EMULATED") != ""
)

func openEmulated(t *testing.T) device.Device {
	t.Helper()
	d, err := emulated.Open(emulated.Options{Sanitize: true, Seed: 1, Files: templates.Files})
	if errors.Is(err, emulated.ErrNoCompiler) && !required {
		t.Skipf("no C++ compiler for the emulated device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
