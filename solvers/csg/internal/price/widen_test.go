package price

import (
	"context"
	"slices"
	"testing"

	"coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// A pass whose sums of prices are rounded down, and one of the exact sums that take their
// place on the same devices, find the same coalitions, those of a pass on the cores.
func TestWiden(t *testing.T) {
	f := &csg.Price
	devices := emulatedtest.Several(t, 2)
	const n = 14
	values := make([]float32, 1<<n)
	for c := range values {
		values[c] = float32(c*2654435761%1000003) / 7
	}
	for _, block := range []string{"128", "256"} {
		k := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
			return narrow(&v) && f.Value(&v, "value") == "float32" && f.Value(&v, "block") == block && f.Value(&v, "items") == "8"
		})
		o := Settings{On: &On{Devices: devices, Variant: &f.Variants[k]}, Cores: 2}
		d, err := newOnDevices(context.Background(), values, n, &o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolver[float32](d, n, o)
		if err != nil {
			t.Fatal(err)
		}
		s.begin()
		prices, err := s.prices()
		if err != nil {
			t.Fatal(err)
		}
		limit := s.guess(prices, 500)
		want, err := d.host.pass(context.Background(), prices, limit, 1<<n)
		if err != nil {
			t.Fatal(err)
		}
		sorted := func(f found) []column {
			slices.SortFunc(f.columns, func(a, b column) int { return int(a.mask) - int(b.mask) })
			return f.columns
		}
		for _, wide := range []bool{false, true} {
			if wide {
				if err := d.widen(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.pass(context.Background(), prices, limit, 1<<n)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.columns) == 0 || narrow(d.on.Variant) == wide || !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("block=%s, wide %v: found %d coalitions, the cores %d", block, wide, len(got.columns), len(want.columns))
			}
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}
