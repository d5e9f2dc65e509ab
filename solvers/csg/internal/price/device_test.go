package price_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/problem"
)

// onDevice solves values with the passes of a device, and holds the answer against a host's.
func onDevice[T device.Number](t *testing.T, name string, d device.Device, v *device.Variant, values []T) {
	t.Helper()
	want := holds(t, name, values)
	o := plenty
	o.On = &price.DevicePasses{Devices: []device.Device{d}, Variant: v}
	r, err := price.Solve(context.Background(), values, o)
	if err != nil {
		t.Errorf("%s by %s: %v", name, v.Label, err)
		return
	}
	if want == nil || sumPrices(values, r.Blocks) != sumPrices(values, want.Blocks) {
		t.Errorf("%s by %s: found %v, a host %v", name, v.Label, r.Blocks, want)
	}
	if _, err := price.Verify(context.Background(), values, r.Blocks, &r.Proof, plenty); err != nil {
		t.Errorf("%s by %s: %v", name, v.Label, err)
	}
}

// Passes on a device find what those on the cores find, in every type.
func TestDeviceVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &gencsg.Price
	for _, v := range emulatedtest.Variants(f) {
		for _, name := range []string{"uniform", "ndcs", "ties", "infeasible", "negative"} {
			n := max(13, price.TileBits(v))
			inst, err := draw.GenerateAs(name, n, 7, problem.Value(f.Value(v, "value")))
			if err != nil {
				t.Fatal(err)
			}
			switch inst.Type {
			case problem.Int32:
				onDevice(t, name, d, v, inst.I32)
			case problem.Int64:
				onDevice(t, name, d, v, inst.I64)
			case problem.Float32:
				onDevice(t, name, d, v, inst.F32)
			case problem.Float64:
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
		for _, as := range []problem.Value{problem.Int32, problem.Float32} {
			inst, err := draw.GenerateAs(name, 13, 7, as)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
				return f.Value(&v, "value") == string(as) && f.Value(&v, "sums") == "wide"
			})
			o := plenty
			o.Columns = 64
			o.On = &price.DevicePasses{Devices: []device.Device{d}, Variant: &f.Variants[at]}
			var r *price.Result
			if as == problem.Int32 {
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
	o.On = &price.DevicePasses{Devices: []device.Device{d}, Variant: &f.Variants[at]}
	if _, err := price.Solve(context.Background(), make([]int32, 4), o); err == nil || errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v of 2 agents", err)
	}
}

// Shares of several devices are looked through together: two devices have one each, three
// have shares of different numbers, and a device without a share is left out.
func TestOnSeveral(t *testing.T) {
	f, devices := &gencsg.Price, emulatedtest.OpenSeveral(t, 3)
	for _, as := range []problem.Value{problem.Int32, problem.Float32, problem.Float64} {
		at := slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == string(as) })
		v := &f.Variants[at]
		for _, c := range []struct{ devices, more int }{{2, 0}, {2, 2}, {3, 1}, {3, 4}} {
			n := price.TileBits(v) + c.more
			inst, err := draw.GenerateAs("agent-based-uniform", n, 9, as)
			if err != nil {
				t.Fatal(err)
			}
			o := plenty
			o.On = &price.DevicePasses{Devices: devices[:c.devices], Variant: v}
			var got, want *price.Result
			var wrong error
			switch as {
			case problem.Int32:
				got, want, wrong = both(inst.I32, o)
			case problem.Float32:
				got, want, wrong = both(inst.F32, o)
			default:
				got, want, wrong = both(inst.F64, o)
			}
			if wrong != nil {
				t.Fatalf("%s, %d agents on %d: %v", as, n, c.devices, wrong)
			}
			if !slices.Equal(got.Blocks, want.Blocks) || got.Bound != want.Bound || got.Gap != want.Gap || got.Survivors != want.Survivors {
				t.Errorf("%s, %d agents on %d devices: found %+v, on the cores %+v", as, n, c.devices, got, want)
			}
		}
	}
}

// both solves values with the passes of devices, and on the cores.
func both[T device.Number](values []T, o price.Settings) (got, want *price.Result, err error) {
	if got, err = price.Solve(context.Background(), values, o); err != nil {
		return nil, nil, err
	}
	want, err = price.Solve(context.Background(), values, plenty)
	return got, want, err
}
