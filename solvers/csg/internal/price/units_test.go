package price

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

func TestMultiple(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range []int64{1, 2, 3, 5, 6, 7, 1 << 20, 10000, 10000 << 30, 3 << 61, math.MaxInt64, 1 << 62} {
		of := multipleOf(m)
		for range 1000 {
			x := (r.Int64() >> r.IntN(63)) * []int64{1, -1}[r.IntN(2)]
			for _, y := range []int64{x, x / m * m, x/m*m + m/2, 0, m, -m, math.MinInt64, math.MaxInt64} {
				if got, want := of.divides(y), y%m == 0; got != want {
					t.Fatalf("%d is a multiple of %d: found %v", y, m, got)
				}
			}
		}
	}
}

// commonOf is what a solve finds that all of 2^n values are multiples of, in their own unit.
func commonOf[T device.Number](t *testing.T, values []T) float64 {
	t.Helper()
	r, err := Solve(context.Background(), values, Settings{Steps: 1 << 40, Columns: 1 << 24, Cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(context.Background(), values, r.Blocks, &r.Proof, Settings{Steps: 1 << 40, Columns: 1 << 24, Cores: 2}); err != nil {
		t.Error(err)
	}
	return math.Ldexp(float64(r.Multiple), -r.Unit)
}

func TestCommon(t *testing.T) {
	const n = 15 // more coalitions than the random ones
	ints, halves, long := make([]int32, 1<<n), make([]float64, 1<<n), make([]int64, 1<<n)
	r := rand.New(rand.NewPCG(2, 2))
	for s := 1; s < 1<<n; s++ {
		k := r.IntN(2000) - 1000
		ints[s], halves[s], long[s] = int32(k*10000), float64(k)*0.75, int64(k)<<20*9
	}
	if got := commonOf(t, ints); got != 10000 {
		t.Errorf("found multiples of %v, expected 10000", got)
	}
	if got := commonOf(t, halves); got != 0.75 {
		t.Errorf("found multiples of %v, expected 0.75", got)
	}
	if got := commonOf(t, long); got != 9<<20 {
		t.Errorf("found multiples of %v, expected %v", got, 9<<20)
	}
	halves[3] = math.Inf(-1)
	if got := commonOf(t, halves); got != 0.75 {
		t.Errorf("found multiples of %v where one is forbidden, expected 0.75", got)
	}
	// One value that no random coalition has.
	const odd = 1<<n - 5
	ints[odd] += 2500
	if got := commonOf(t, ints); got != 2500 {
		t.Errorf("found multiples of %v, expected 2500", got)
	}
	ints[odd]++
	if got := commonOf(t, ints); got != 1 {
		t.Errorf("found multiples of %v, expected 1", got)
	}
	halves[odd] = math.Nextafter(halves[odd], 1e9) // not even a whole number of units
	unit, err := unitFor[float64](1000, n)
	if got := commonOf(t, halves); err != nil || got != math.Ldexp(1, -unit) {
		t.Errorf("found multiples of %v, expected one unit of 2^-%d, %v", got, unit, err)
	}
	if got := commonOf(t, make([]int32, 1<<n)); got != 1 {
		t.Errorf("found multiples of %v of zeros, expected 1", got)
	}
}

// Devices find the last value that is no multiple, wherever it is, also as the first of a share.
func TestUnevenOnDevices(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	t.Run("int32", func(t *testing.T) { unevenOn[int32](t, devices, "int32") })
	t.Run("int64", func(t *testing.T) { unevenOn[int64](t, devices, "int64") })
	t.Run("float32", func(t *testing.T) { unevenOn[float32](t, devices, "float32") })
	t.Run("float64", func(t *testing.T) { unevenOn[float64](t, devices, "float64") })
}

func unevenOn[T device.Number](t *testing.T, devices []device.Device, value string) {
	const n = 13
	f := &gencsg.Price
	v := &f.Variants[slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == value })]
	for _, odd := range [][]int{{}, {1}, {1<<n - 1}, {1 << (n - 1)}, {1<<(n-1) - 1, 77}} {
		values := make([]T, 1<<n)
		for s := 1; s < len(values); s++ {
			values[s] = T(12 * (s%41 - 20))
		}
		for _, s := range odd {
			values[s]++
		}
		if !isInteger[T]() {
			values[5] = T(math.Inf(-1))
		}
		o := Settings{On: &DevicePasses{Devices: devices, Variant: v}, Cores: 2}
		d, err := newOnDevices(t.Context(), values, n, &o)
		if err != nil {
			t.Fatal(err)
		}
		unit, _, err := fixUnit[T](d, n)
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(0)
		if len(odd) > 0 {
			want = uint64(odd[0])
		}
		got, err := d.findNonMultiple(12 << unit)
		if host, _ := d.onHost.findNonMultiple(12 << unit); err != nil || got != want || host != want {
			t.Errorf("%v are odd: devices found %d, the cores %d, %v, expected %d", odd, got, host, err, want)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}
