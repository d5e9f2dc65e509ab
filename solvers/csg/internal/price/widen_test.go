package price

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// A pass whose sums of prices are rounded down, and one of the exact sums that take their
// place on the same devices, find the same coalitions, those of a pass on the cores.
func TestWiden(t *testing.T) {
	f := &gencsg.Price
	devices := emulatedtest.OpenSeveral(t, 2)
	const n = 14
	values := make([]float32, 1<<n)
	for c := range values {
		values[c] = float32(c*2654435761%1000003) / 7
	}
	for _, block := range []string{"128", "256"} {
		k := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
			return hasNarrowSums(&v) && f.Value(&v, "value") == "float32" && f.Value(&v, "block") == block && f.Value(&v, "items") == "8"
		})
		o := Settings{On: &DevicePasses{Devices: devices, Variant: &f.Variants[k]}, Cores: 2}
		d, err := newOnDevices(context.Background(), values, n, &o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolver[float32](d, n, o)
		if err != nil {
			t.Fatal(err)
		}
		s.solveSample()
		prices, err := s.prices()
		if err != nil {
			t.Fatal(err)
		}
		limit := s.estimateLimit(prices, 500)
		want, err := d.onHost.pass(context.Background(), prices, limit, 1<<n)
		if err != nil {
			t.Fatal(err)
		}
		sorted := func(f passResult) []pricedCoalition {
			slices.SortFunc(f.items, func(a, b pricedCoalition) int { return int(a.mask) - int(b.mask) })
			return f.items
		}
		for _, wide := range []bool{false, true} {
			if wide {
				if err := d.useExactSums(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.pass(context.Background(), prices, limit, 1<<n)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.items) == 0 || hasNarrowSums(d.on.Variant) == wide || !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("block=%s, wide %v: found %d coalitions, the cores %d", block, wide, len(got.items), len(want.items))
			}
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

// Where more coalitions than a pass hands back have losses just above the limit, fewer than grain, the
// pass goes on to those that have none above.
func TestLossesWithinAGrain(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 1)
	t.Run("int32", func(t *testing.T) { withinAGrain[int32](t, devices, "int32", 2) })
	t.Run("float64", func(t *testing.T) { withinAGrain[float64](t, devices, "float64", 50) })
}

// withinAGrain makes a pass over coalitions whose losses are their sizes of integers and 100 of floats, in
// units; the pass has room for 32 of them.
func withinAGrain[T device.Number](t *testing.T, devices []device.Device, value string, limit int64) {
	const n = 14
	f := &gencsg.Price
	values := make([]T, 1<<n)
	for c := range values {
		values[c] = T(1000 * bits.OnesCount(uint(c)))
	}
	unit, err := unitFor[T](1000*n, n)
	if err != nil {
		t.Fatal(err)
	}
	prices := make([]int64, n)
	for i := range prices {
		prices[i] = 1000 << unit
		if isInteger[T]() {
			prices[i]++
		}
	}
	if !isInteger[T]() {
		for c := 1; c < len(values)-1; c++ {
			values[c] -= T(math.Ldexp(100, -unit))
		}
	}
	k := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
		return !hasNarrowSums(&v) && f.Value(&v, "value") == value && TileBits(&v) <= n
	})
	o := Settings{On: &DevicePasses{Devices: devices, Variant: &f.Variants[k]}, Cores: 2}
	d, err := newOnDevices(context.Background(), values, n, &o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fixUnit[T](d, n); err != nil {
		t.Fatal(err)
	}
	got, err := d.pass(context.Background(), prices, limit, 8)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.onHost.pass(context.Background(), prices, got.limit, 1<<n)
	if err != nil || got.limit > limit {
		t.Fatal(got.limit, err)
	}
	for _, list := range [][]pricedCoalition{got.items, all.items} {
		slices.SortFunc(list, func(a, b pricedCoalition) int { return int(a.mask) - int(b.mask) })
	}
	if !slices.Equal(got.items, all.items) {
		t.Errorf("found %d coalitions of losses of at most %d, the cores %d", len(got.items), got.limit, len(all.items))
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
