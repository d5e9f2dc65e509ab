package price_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/internal/price"
)

// onDevice solves values with the passes of a device, and holds the answer against a host's.
func onDevice[T device.Number](t *testing.T, name string, d device.Device, v *device.Variant, values []T) {
	t.Helper()
	want := holds(t, name, values)
	o := plenty
	o.On = &price.On{Device: d, Variant: v}
	r, err := price.Solve(context.Background(), values, o)
	if err != nil {
		t.Errorf("%s by %s: %v", name, v.Label, err)
		return
	}
	if want == nil || sum(values, r.Blocks) != sum(values, want.Blocks) {
		t.Errorf("%s by %s: found %v, a host %v", name, v.Label, r.Blocks, want)
	}
	if _, err := price.Verify(context.Background(), values, r.Blocks, &r.Proof, plenty); err != nil {
		t.Errorf("%s by %s: %v", name, v.Label, err)
	}
}

// Passes on a device find what those on the cores find, in every type.
func TestOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &gencsg.Price
	for _, v := range emulatedtest.Variants(f) {
		for _, name := range []string{"uniform", "ndcs", "ties", "infeasible", "negative"} {
			n := max(13, price.TileBits(v))
			inst, err := csg.GenerateAs(name, n, 7, csg.Value(f.Value(v, "value")))
			if err != nil {
				t.Fatal(err)
			}
			switch inst.Type {
			case csg.Int32:
				onDevice(t, name, d, v, inst.I32)
			case csg.Int64:
				onDevice(t, name, d, v, inst.I64)
			case csg.Float32:
				onDevice(t, name, d, v, inst.F32)
			case csg.Float64:
				onDevice(t, name, d, v, inst.F64)
			}
		}
	}
}

// A pass that finds more than it has room for begins again with less: many ties.
func TestOnDeviceOverflow(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &gencsg.Price
	for _, name := range []string{"ties", "uniform", "pareto"} {
		for _, as := range []csg.Value{csg.Int32, csg.Float32} {
			inst, err := csg.GenerateAs(name, 13, 7, as)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
				return f.Value(&v, "value") == string(as) && f.Value(&v, "sums") == "wide"
			})
			o := plenty
			o.Columns = 64
			o.On = &price.On{Device: d, Variant: &f.Variants[at]}
			var r *price.Result
			if as == csg.Int32 {
				r, err = price.Solve(context.Background(), inst.I32, o)
			} else {
				r, err = price.Solve(context.Background(), inst.F32, o)
			}
			if err != nil && !errors.Is(err, price.ErrCostly) {
				t.Errorf("%s, %s: %v", name, as, err)
			}
			if name == "ties" && (err != nil || r.Gap != 0) {
				t.Errorf("%s, %s: found %+v, %v", name, as, r, err)
			}
		}
	}
}

// A device's instance has a tile's agents at least.
func TestOnDeviceRefuses(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &gencsg.Price
	at := slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == "int32" })
	o := plenty
	o.On = &price.On{Device: d, Variant: &f.Variants[at]}
	if _, err := price.Solve(context.Background(), make([]int32, 4), o); err == nil || errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v of 2 agents", err)
	}
}
