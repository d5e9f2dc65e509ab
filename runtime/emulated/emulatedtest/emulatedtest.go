// Package emulatedtest has what tests of generated kernels on the emulated
// device share.
package emulatedtest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/templates"
)

// Every asks for all committed variants instead of a sample; required makes a
// missing C++ compiler a failure. CI sets both.
var (
	Every    = os.Getenv("COALESCE_EVERY_VARIANT") != ""
	required = os.Getenv("COALESCE_REQUIRE_EMULATED") != ""
)

// Open opens the emulated device for a test, which it skips where there is no
// C++ compiler.
func Open(t *testing.T) device.Device {
	t.Helper()
	return Several(t, 1)[0]
}

// Several opens emulated devices, numbered from 0.
func Several(t *testing.T, count int) []device.Device {
	t.Helper()
	var devices []device.Device
	for k := range count {
		d := OpenWith(t, emulated.Options{Index: k, Sanitize: true, Seed: uint64(k + 1), Files: templates.Files})
		t.Cleanup(func() { d.Close() })
		devices = append(devices, d)
	}
	return devices
}

// OpenWith opens a device that the test closes.
func OpenWith(t *testing.T, o emulated.Options) device.Device {
	t.Helper()
	d, err := emulated.Open(o)
	if errors.Is(err, emulated.ErrNoCompiler) && !required {
		t.Skipf("no C++ compiler for the emulated device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Variants are all of a family where Every is set, else a Sample.
func Variants(f *device.Family) []*device.Variant {
	if !Every {
		return Sample(f)
	}
	list := make([]*device.Variant, len(f.Variants))
	for i := range list {
		list[i] = &f.Variants[i]
	}
	return list
}

// Sample picks variants so that every pair of values of two parameters that
// some variant has is in one of them.
func Sample(f *device.Family) []*device.Variant {
	covered := map[string]bool{}
	pairs := func(v *device.Variant) (fresh []string) {
		for i := range v.Values {
			for j := range i {
				if k := fmt.Sprint(i, v.Values[i], j, v.Values[j]); !covered[k] {
					fresh = append(fresh, k)
				}
			}
		}
		return fresh
	}
	var list []*device.Variant
	for {
		var best *device.Variant
		var most []string
		for i := range f.Variants {
			if p := pairs(&f.Variants[i]); len(p) > len(most) {
				best, most = &f.Variants[i], p
			}
		}
		if best == nil {
			return list
		}
		list = append(list, best)
		for _, k := range most {
			covered[k] = true
		}
	}
}
