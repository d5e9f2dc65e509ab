package qubo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// random draws a state of n fields, with ties where few is small.
func random[R Row, S Sum](r *rand.Rand, n int, few int64) (row []R, field []S, x, free []uint64) {
	row, field = make([]R, n), make([]S, n)
	x, free = make([]uint64, n/64), make([]uint64, n/64)
	for i := range n {
		row[i] = R(r.Int64N(2*min(few, 127)+1) - min(few, 127))
		field[i] = S(r.Int64N(2*few+1) - few)
	}
	for i := range x {
		x[i], free[i] = r.Uint64(), r.Uint64()|r.Uint64()
	}
	return row, field, x, free
}

// check compares the kernels with their definition.
func check[R Row, S Sum](t *testing.T, few int64) {
	r := rand.New(rand.NewPCG(1, uint64(few)))
	for _, n := range []int{64, 128, 192, 704, 2560} {
		for range 50 {
			row, field, x, free := random[R, S](r, n, few)
			row[0], row[n-1] = R(-128), R(127) // the ends of int8, as neighbours of others in a word
			rotate, negate, shift := r.IntN(64), r.IntN(2) == 1, r.IntN(2)
			want := slices.Clone(field)
			for i := range want {
				if negate {
					want[i] -= S(row[i]) << shift
				} else {
					want[i] += S(row[i]) << shift
				}
			}
			expected := pickPlain(want, x, free, rotate)
			got, other := slices.Clone(field), slices.Clone(field)
			if b := AddRowPickFlip(row, shift, negate, got, x, free, rotate); b != expected {
				t.Fatalf("n %d: Step is %v, want %v", n, b, expected)
			}
			if b := PickFlip(got, x, free, rotate); b != expected {
				t.Fatalf("n %d: Pick is %v, want %v", n, b, expected)
			}
			AddRow(row, shift, negate, other)
			plain := slices.Clone(field)
			addPlain(row, shift, negate, plain)
			if !slices.Equal(got, want) || !slices.Equal(other, want) || !slices.Equal(plain, want) {
				t.Fatalf("n %d: fields differ from field by field addition", n)
			}
			gain := func(i int) int {
				if x[i/64]>>(i%64)&1 == 1 {
					return int(-want[i])
				}
				return int(want[i])
			}
			if free[expected.At/64]>>(expected.At%64)&1 == 0 || gain(expected.At) != expected.Gain {
				t.Fatalf("n %d: %v is not free or not a gain", n, expected)
			}
			for i := range n {
				if g := gain(i); g > expected.Any || g > expected.Gain && free[i/64]>>(i%64)&1 == 1 {
					t.Fatalf("n %d: variable %d gains %d, found %v", n, i, g, expected)
				}
			}
		}
	}
}

func TestKernels(t *testing.T) {
	for _, few := range []int64{2, 120, 30000} {
		check[int8, int16](t, few)
		check[int16, int16](t, few)
		check[int8, int32](t, few)
		check[int16, int32](t, few)
		check[int32, int32](t, few)
		check[int64, int64](t, few)
	}
}

func TestEveryTieIsReached(t *testing.T) {
	field, x, free := make([]int32, 128), make([]uint64, 2), []uint64{1<<3 | 1<<40, 1 << 5}
	seen := map[int]bool{}
	for rotate := range 64 {
		seen[PickFlip(field, x, free, rotate).At] = true
	}
	if !seen[3] || !seen[40] || !seen[69] {
		t.Errorf("ties chosen: %v, want 3, 40 and 69", seen)
	}
}

func TestFiller(t *testing.T) {
	if FillerField[int16]() != -32767 || FillerField[int32]() != -(1<<31-1) || FillerField[int64]() != -(1<<63-1) {
		t.Error(FillerField[int16](), FillerField[int32](), FillerField[int64]())
	}
}

func BenchmarkStep(b *testing.B) {
	row, field, x, free := random[int8, int16](rand.New(rand.NewPCG(1, 2)), 2560, 100)
	for i := 0; b.Loop(); i++ {
		AddRowPickFlip(row, 1, i&1 == 0, field, x, free, 5)
	}
}

func BenchmarkStepWide(b *testing.B) {
	row, field, x, free := random[int8, int32](rand.New(rand.NewPCG(1, 2)), 7040, 100)
	for i := 0; b.Loop(); i++ {
		AddRowPickFlip(row, 1, i&1 == 0, field, x, free, 5)
	}
}
