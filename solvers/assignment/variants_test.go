package assignment

import (
	"errors"
	"fmt"
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

// sample picks variants so that every pair of values of two parameters that
// some variant has is in one of them; all of them where every is set.
func sample(f *device.Family) []*device.Variant {
	covered := map[string]bool{}
	pairs := func(v *device.Variant) (fresh []string) {
		for i := range v.Values {
			for j := range i {
				if k := fmt.Sprint(i, v.Values[i], j, v.Values[j]); every || !covered[k] {
					fresh = append(fresh, k)
				}
			}
		}
		return fresh
	}
	var list []*device.Variant
	taken := map[*device.Variant]bool{}
	for {
		var best *device.Variant
		var most []string
		for i := range f.Variants {
			v := &f.Variants[i]
			if p := pairs(v); !taken[v] && len(p) > len(most) {
				best, most = v, p
			}
		}
		if best == nil {
			return list
		}
		list, taken[best] = append(list, best), true
		for _, k := range most {
			covered[k] = true
		}
	}
}
