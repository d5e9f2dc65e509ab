//go:build cuda

package driver_test

import (
	"errors"
	"testing"

	"coalesce/generated"
	"coalesce/runtime/device"
)

// TestVariants loads every committed variant and resolves every entry point.
func TestVariants(t *testing.T) {
	d, fake := open(t)
	if fake {
		t.Skip("the stand-in library cannot load compiled images")
	}
	kernels, spills := 0, 0
	for _, f := range generated.Families() {
		if f.Target != device.CUDA {
			continue
		}
		for i := range f.Variants {
			v := &f.Variants[i]
			m, err := d.Load(f, v)
			if err != nil {
				t.Error(err)
				continue
			}
			found := 0
			for _, e := range f.Entries {
				k, err := m.Kernel(e.Name)
				if errors.Is(err, device.ErrNoEntry) {
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				found++
				if k.Resources().Local > 0 {
					spills++
				}
			}
			if found == 0 {
				t.Errorf("%s %s has no entry point", f.Name, v.Label)
			}
			kernels += found
			must(t, m.Close())
		}
	}
	if kernels == 0 {
		t.Error("no kernels at all")
	}
	t.Logf("%d kernels loaded, %d with local memory", kernels, spills)
}
