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
	t.Run("int32", func(t *testing.T) { testUnits[int32](t, math.MinInt32/16) })
	t.Run("int64", func(t *testing.T) { testUnits[int64](t, math.MinInt64/16) })
	t.Run("float32", func(t *testing.T) { testUnits(t, float32(math.Inf(-1))) })
	t.Run("float64", func(t *testing.T) { testUnits(t, math.Inf(-1)) })
}

func testUnits[T Value](t *testing.T, forbidden T) {
	units := vectorUnits[T]()
	if runtime.GOARCH == "amd64" {
		want := 0
		for _, has := range []bool{cpu.X86.HasAVX512F, cpu.X86.HasAVX2} {
			if has {
				want++
			}
		}
		if len(units) != want {
			t.Fatalf("%d units, want %d", len(units), want)
		}
	}
	for _, u := range units {
		for k := u.bits + u.group; k <= 9; k++ {
			for _, high := range []int{1, 3} {
				for _, kind := range []string{"any", "ties", "forbidden"} {
					r := rand.New(rand.NewPCG(uint64(k), uint64(high)))
					f := make([]T, 1<<(k+high))
					for i := range f {
						switch kind {
						case "any":
							f[i] = T(r.IntN(1<<20)) - 1<<19
						case "ties":
							f[i] = T(r.IntN(3)) - 1
						case "forbidden":
							if f[i] = forbidden; r.IntN(8) == 0 {
								f[i] = T(r.IntN(1 << 20))
							}
						}
						f[i] /= 3 // floats that are rounded
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
