package csg

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestUnits runs every unit that this processor has, and not only the one that solves run
// with, on all levels of small tables, and wants every value of the plain dynamic program.
// Sums are the same, bit by bit, but for the sign of zeros.
func TestUnits(t *testing.T) {
	t.Run("int32", func(t *testing.T) { testUnits[int32](t, math.MinInt32/16, math.MaxInt32/16) })
	t.Run("int64", func(t *testing.T) { testUnits[int64](t, math.MinInt64/16, math.MaxInt64/16) })
	t.Run("float32", func(t *testing.T) { testUnits(t, float32(math.Inf(-1)), math.MaxFloat32/16) })
	t.Run("float64", func(t *testing.T) { testUnits(t, math.Inf(-1), math.MaxFloat64/16) })
}

// testUnits is told the value of forbidden coalitions, and the greatest of which as many add
// up as tables have agents.
func testUnits[T Value](t *testing.T, forbidden, greatest T) {
	units := vectorUnits[T]()
	want := 0
	for _, has := range []bool{cpu.X86.HasAVX512F, cpu.X86.HasAVX2, cpu.X86.HasSSE42, runtime.GOARCH == "arm64"} {
		if has {
			want++
		}
	}
	if len(units) != want {
		t.Fatalf("%d units, want %d", len(units), want)
	}
	for _, u := range units {
		for k := u.bits + u.group; k <= 9; k++ {
			for _, high := range []int{1, 3} {
				for _, kind := range []string{"any", "ties", "negative", "extremes", "forbidden"} {
					r := rand.New(rand.NewPCG(uint64(k), uint64(high)))
					f := make([]T, 1<<(k+high))
					for i := range f {
						switch kind {
						case "any":
							f[i] = T(r.IntN(1<<20)) - 1<<19
						case "ties":
							f[i] = T(r.IntN(3)) - 1
						case "negative":
							f[i] = -T(r.IntN(1<<20)) - 1
						case "extremes":
							f[i] = []T{-greatest, -1, 0, 1, greatest}[r.IntN(5)]
						case "forbidden":
							if f[i] = forbidden; r.IntN(8) == 0 {
								f[i] = T(r.IntN(1 << 20))
							}
						}
						if kind != "extremes" {
							f[i] /= 3 // floats that are rounded
						}
					}
					want := slices.Clone(f)
					Direct(want, k+high)
					levels(u, f, k, high)
					if f[0] = want[0]; !slices.Equal(f, want) {
						t.Errorf("%d lanes, tiles of 2^%d, %d high bits, %s: not the plain program's", 1<<u.bits, k, high, kind)
					}
				}
			}
		}
	}
}

// levels is the whole dynamic program with one unit; each tile is cut into its groups.
func levels[T Value](u *unit[T], f []T, k, high int) {
	Direct(f, k)
	for p := 1; p <= high; p++ {
		for rank := range Choose(high, p) {
			h := Unrank(rank, high, p)
			for g := range 1 << (k - u.bits - u.group) {
				u.level(f, k, h, g, g+1)
			}
			u.couple(f, k, h)
		}
	}
}

// TestUnitsStayWithin: kernels write the registers and groups that they are told to, and
// nothing beside.
func TestUnitsStayWithin(t *testing.T) {
	t.Run("int32", stayWithin[int32])
	t.Run("int64", stayWithin[int64])
	t.Run("float32", stayWithin[float32])
	t.Run("float64", stayWithin[float64])
}

func stayWithin[T Value](t *testing.T) {
	for _, u := range vectorUnits[T]() {
		width := 1 << (u.bits + u.group)
		// written is the first value that run changes, and one past the last, of -1 throughout.
		written := func(run func(d *T)) (first, end int) {
			d := slices.Repeat([]T{-1}, 5*width)
			run(&d[width])
			first = slices.IndexFunc(d, func(x T) bool { return x != -1 })
			for i, x := range d {
				if x != -1 {
					end = i + 1
				}
			}
			return first - width, end - width
		}
		a := slices.Repeat([]T{1}, 4*width)
		for plane := range u.planes {
			if first, end := written(func(d *T) { u.expand(d, &a[0], 0, plane, 1<<u.group) }); first != 0 || end != width {
				t.Errorf("%d lanes: expand of %d values writes %d to %d", 1<<u.bits, width, first, end)
			}
		}
		if first, end := written(func(d *T) { u.conv(d, &a[0], &a[0], 1, 3, 0) }); first != width || end != 3*width {
			t.Errorf("%d lanes: conv of groups of %d values, 1 and 2, writes %d to %d", 1<<u.bits, width, first, end)
		}
		if first, end := written(func(d *T) { u.dot(d, &a[0], &a[0], 1) }); first != 0 || end != 1<<u.bits {
			t.Errorf("%d lanes: dot writes %d to %d", 1<<u.bits, first, end)
		}
	}
}

// TestSmallTiles: tiles too small for a unit are left to the plain loops, or a narrower unit.
func TestSmallTiles(t *testing.T) {
	if u := vectorUnit[int32](1); u != nil {
		t.Errorf("tiles of 2 values: a unit of %d lanes", 1<<u.bits)
	}
	f := []int32{0, 1, 2, 3}
	if Level(f, 1, 0, 1, 1, 0) || Couple(f, 1, 0, 1, 1) {
		t.Error("tiles of 2 values were raised by a unit")
	}
}
