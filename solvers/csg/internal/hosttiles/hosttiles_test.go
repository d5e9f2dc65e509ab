package hosttiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/reference"
)

// hostTilesRun solves v with a variant and returns the buffer and f(A).
func hostTilesRun[T int32 | int64 | float32 | float64](t testing.TB, d device.Device, variant *device.Variant, v []T, n int) ([]T, T) {
	t.Helper()
	f, total, err := hostTilesTry(d, variant, v, n)
	if err != nil {
		t.Fatal(err)
	}
	return f, total
}

func hostTilesTry[T int32 | int64 | float32 | float64](d device.Device, variant *device.Variant, v []T, n int) ([]T, T, error) {
	kernels, err := gencsg.LoadHosttiles(d, variant)
	if err != nil {
		return nil, 0, err
	}
	defer kernels.Close()
	bytes, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		return nil, 0, err
	}
	f, err := d.Alloc(int64(len(bytes)))
	if err != nil {
		return nil, 0, err
	}
	workers := d.Facts().SMs
	blocks := OutLen(n, workers)
	out, err := d.Alloc(int64(blocks * len(bytes) / len(v)))
	if err != nil {
		return nil, 0, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, 0, err
	}
	if err := s.Upload(f, 0, bytes); err != nil {
		return nil, 0, err
	}
	k := gencsg.Hosttiles.Int(variant, "k")
	if err := Run(kernels, s, f, out, n, k, blocks, workers, nil, engine.Progress{}); err != nil {
		return nil, 0, err
	}
	if err := s.Sync(); err != nil {
		return nil, 0, err
	}
	got := append([]T(nil), host.Slice[T](device.Ptr(f))...)
	return got, host.Slice[T](device.Ptr(out))[0], nil
}

// hostTilesNaive is the definition, every splitting of every coalition.
func hostTilesNaive[T int32 | int64 | float32 | float64](v []T) []T {
	f := append([]T(nil), v...)
	for s := range f {
		for b := (s - 1) & s; s != 0 && b != 0; b = (b - 1) & s {
			f[s] = max(f[s], f[b]+f[s^b])
		}
	}
	return f
}

// hostTilesValues makes instances that a wrong index or a wrong start value
// shows up in. Value 0 belongs to no coalition and must not be read.
func hostTilesValues[T int32 | int64 | float32 | float64](kind string, n int, lowest T, r *rand.Rand) []T {
	v := make([]T, 1<<n)
	for s := range v {
		switch kind {
		case "random":
			v[s] = T(r.IntN(1 << 20))
		case "negative":
			v[s] = -T(r.IntN(1<<20)) - 1
		case "ties":
			v[s] = T(r.IntN(3))
		case "sparse": // most coalitions at the least value
			if v[s] = lowest; r.IntN(8) == 0 {
				v[s] = T(r.IntN(1000)) - 500
			}
		}
	}
	v[0] = T(1 << 22)
	return v
}

func hostTilesCheck[T int32 | int64 | float32 | float64](t *testing.T, name string, lowest T, max int) {
	d := host.Open(3)
	defer d.Close()
	seen := 0
	for i := range gencsg.Hosttiles.Variants {
		variant := &gencsg.Hosttiles.Variants[i]
		if gencsg.Hosttiles.Value(variant, "value") != name {
			continue
		}
		seen++
		t.Run(variant.Label, func(t *testing.T) {
			k := gencsg.Hosttiles.Int(variant, "k")
			for n := 1; n <= max; n++ {
				if n > 4 && n < k-1 {
					continue // the direct entry alone, as for smaller n
				}
				for _, kind := range []string{"random", "negative", "ties", "sparse"} {
					r := rand.New(rand.NewPCG(uint64(n), 7))
					v := hostTilesValues(kind, n, lowest, r)
					got, total := hostTilesRun(t, d, variant, v, n)
					want := hostTilesWant(kind, n, v)
					half := len(v) / 2
					for s := 1; s < half; s++ {
						if got[s] != want[s] {
							t.Fatalf("%s, %d agents: f(%b) is %v, want %v", kind, n, s, got[s], want[s])
						}
					}
					for s := half; s < len(v); s++ {
						if got[s] != v[s] {
							t.Fatalf("%s, %d agents: v(%b) was changed", kind, n, s)
						}
					}
					if total != want[len(v)-1] {
						t.Fatalf("%s, %d agents: f(A) is %v, want %v", kind, n, total, want[len(v)-1])
					}
				}
			}
		})
	}
	if seen == 0 {
		t.Fatalf("no variant of value type %s", name)
	}
}

var hostTilesKnown = map[string]any{}

// hostTilesWant computes an instance's answer once for all variants.
func hostTilesWant[T int32 | int64 | float32 | float64](kind string, n int, v []T) []T {
	key := fmt.Sprintf("%s %d %T", kind, n, v)
	if w, ok := hostTilesKnown[key]; ok {
		return w.([]T)
	}
	w := hostTilesNaive(v)
	hostTilesKnown[key] = w
	return w
}

func TestHostTiles(t *testing.T) {
	t.Run("int32", func(t *testing.T) { hostTilesCheck[int32](t, "int32", -50_000_000, 15) })
	// The plain reference takes 3^n steps: other types have one agent less.
	t.Run("int64", func(t *testing.T) { hostTilesCheck[int64](t, "int64", -1<<40, 14) })
	t.Run("float32", func(t *testing.T) { hostTilesCheck(t, "float32", float32(math.Inf(-1)), 14) })
	t.Run("float64", func(t *testing.T) { hostTilesCheck(t, "float64", math.Inf(-1), 14) })
}

// TestHostTilesSlices compares grids: a level cut in slices, any number of
// blocks in the last step.
func TestHostTilesSlices(t *testing.T) {
	const n = 12
	v := hostTilesValues[int32]("random", n, 0, rand.New(rand.NewPCG(1, 2)))
	want := hostTilesNaive(v)
	for _, workers := range []int{1, 2, 7, 64} {
		d := host.Open(workers)
		for i := range gencsg.Hosttiles.Variants {
			variant := &gencsg.Hosttiles.Variants[i]
			if gencsg.Hosttiles.Value(variant, "value") != "int32" {
				continue
			}
			if _, total := hostTilesRun(t, d, variant, v, n); total != want[len(v)-1] {
				t.Errorf("%s, %d workers: f(A) is %v, want %v", variant.Label, workers, total, want[len(v)-1])
			}
		}
	}
}

// TestHostTilesExtremes gives int32 its extremes: sums that stay in range
// must not meet sums that do not.
func TestHostTilesExtremes(t *testing.T) {
	const n = 13
	v := make([]int32, 1<<n)
	for s := range v {
		v[s] = math.MinInt32 / (n + 1)
	}
	for i := range n {
		v[1<<i] = math.MaxInt32 / n
	}
	want := hostTilesNaive(v)
	d := host.Open(2)
	for i := range gencsg.Hosttiles.Variants {
		variant := &gencsg.Hosttiles.Variants[i]
		if gencsg.Hosttiles.Value(variant, "value") == "int32" {
			if _, total := hostTilesRun(t, d, variant, v, n); total != want[len(v)-1] {
				t.Errorf("%s: f(A) is %v, want %v", variant.Label, total, want[len(v)-1])
			}
		}
	}
}

// TestHostTilesSplits counts what Run evaluates.
func TestHostTilesSplits(t *testing.T) {
	for n := 1; n <= 12; n++ {
		count := 0.0
		for s := 0; s < 1<<(n-1); s++ {
			for b := (s - 1) & s; s != 0 && b != 0; b = (b - 1) & s {
				if b > s^b {
					count++
				}
			}
		}
		count += math.Pow(2, float64(n-1)) - 1 // splittings of A
		if got := splittingsApart(t, n); got != count {
			t.Errorf("%d agents: %v splittings, counted %v", n, got, count)
		}
	}
}

func splittingsApart(t testing.TB, n int) float64 {
	t.Helper()
	count, err := reference.Splittings(reference.Apart, n)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := count.Float64()
	return f
}

// BenchmarkHostTiles runs every variant at COALESCE_BENCH_AGENTS agents (20).
func BenchmarkHostTiles(b *testing.B) {
	n := 20
	if s := os.Getenv("COALESCE_BENCH_AGENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			b.Fatalf("COALESCE_BENCH_AGENTS is %q, expected a number of agents", s)
		}
	}
	for i := range gencsg.Hosttiles.Variants {
		variant := &gencsg.Hosttiles.Variants[i]
		b.Run(variant.Label, func(b *testing.B) {
			d := host.Open(0)
			defer d.Close()
			switch gencsg.Hosttiles.Value(variant, "value") {
			case "int32":
				hostTilesBench[int32](b, d, variant, n)
			case "int64":
				hostTilesBench[int64](b, d, variant, n)
			case "float32":
				hostTilesBench[float32](b, d, variant, n)
			case "float64":
				hostTilesBench[float64](b, d, variant, n)
			}
		})
	}
}

func hostTilesBench[T int32 | int64 | float32 | float64](b *testing.B, d device.Device, variant *device.Variant, n int) {
	kernels, err := gencsg.LoadHosttiles(d, variant)
	if err != nil {
		b.Fatal(err)
	}
	size := int64(binary.Size(T(0)))
	workers := d.Facts().SMs
	blocks := OutLen(n, workers)
	f, err := d.Alloc(size << n)
	if err != nil {
		b.Fatal(err)
	}
	out, err := d.Alloc(size * int64(blocks))
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	v := host.Slice[T](device.Ptr(f))
	for s := range v {
		v[s] = T(r.IntN(1 << 20))
	}
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	fresh := append([]T(nil), v...)
	for b.Loop() {
		copy(v, fresh) // a solved buffer has fewer maxima to raise
		if err := Run(kernels, s, f, out, n, gencsg.Hosttiles.Int(variant, "k"), blocks, workers, nil, engine.Progress{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(splittingsApart(b, n)*float64(b.N)/b.Elapsed().Seconds(), "splits/s")
}

// BenchmarkHostTilesLevel raises one tile by 7 pairs of others on one core, by the safe variant
// of each value type, and reports the least time of a splitting: runs are so short that some
// meet no other work. GODEBUG=cpu.avx512f=off and its like choose among vector units.
func BenchmarkHostTilesLevel(b *testing.B) {
	for i := range gencsg.Hosttiles.Variants {
		variant := &gencsg.Hosttiles.Variants[i]
		if !variant.Safe {
			continue
		}
		value := gencsg.Hosttiles.Value(variant, "value")
		b.Run(value, func(b *testing.B) {
			switch value {
			case "int32":
				hostTilesLevelBench[int32](b, variant)
			case "int64":
				hostTilesLevelBench[int64](b, variant)
			case "float32":
				hostTilesLevelBench[float32](b, variant)
			case "float64":
				hostTilesLevelBench[float64](b, variant)
			}
		})
	}
}

func hostTilesLevelBench[T int32 | int64 | float32 | float64](b *testing.B, variant *device.Variant) {
	const high = 4
	d := host.Open(1)
	defer d.Close()
	k := gencsg.Hosttiles.Int(variant, "k")
	f, err := d.Alloc(int64(binary.Size(T(0))) << (k + high))
	if err != nil {
		b.Fatal(err)
	}
	v := host.Slice[T](device.Ptr(f))
	r := rand.New(rand.NewPCG(3, 4))
	for s := range v {
		v[s] = T(r.IntN(1 << 20))
	}
	target := v[(1<<high-1)<<k:]
	fresh := append([]T(nil), target...)
	least := time.Hour
	for b.Loop() {
		copy(target, fresh)
		start := time.Now()
		variant.Kernels["level"](0, 1, []device.Arg{device.Ptr(f), device.U64(high), device.U64(high), device.U64(0)})
		least = min(least, time.Since(start))
	}
	pairs := 1<<(high-1) - 1
	b.ReportMetric(float64(least.Nanoseconds())/(float64(pairs)*math.Pow(3, float64(k))), "ns/splitting")
}
