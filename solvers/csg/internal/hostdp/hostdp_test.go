package hostdp

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/reference"
)

// DP and IDP on a host make the reference's table: every value of it by DP, the grand coalition's by
// IDP, whose others lie between v and that.
func TestLevels(t *testing.T) {
	for n := 1; n <= 11; n++ {
		for seed, values := range [][2]int64{{1000, 0}, {1000, -2000}, {3, -1}} { // so many, from a least one on
			v := make([]int64, 1<<n)
			for c := range v[1:] {
				v[c+1] = values[1] + int64(draw.Mix(uint64(seed+1)<<40^uint64(c+1))%uint64(values[0]))
			}
			want, _ := reference.Table(v, reference.DP)
			for _, m := range []reference.Method{reference.DP, reference.IDP} {
				f := slices.Clone(v)
				if err := raiseTable(t.Context(), f, m == reference.IDP, 3, func(float64) {}); err != nil {
					t.Fatal(err)
				}
				if m == reference.DP && !slices.Equal(f, want) || f[len(f)-1] != want[len(f)-1] {
					t.Errorf("%d agents by %s: f(A) = %d, expected %d, or another value differs", n, m, f[len(f)-1], want[len(f)-1])
				}
				for c := range f {
					if f[c] < v[c] || f[c] > want[c] {
						t.Fatalf("%d agents by %s: f(%#b) = %d, between %d and %d", n, m, c, f[c], v[c], want[c])
					}
				}
			}
		}
	}
}

// Seven agents make three pairs, where a pair is worth more than two agents:
// every value type, all splittings and those of IDP.
func TestRaise(t *testing.T) {
	raisePairs(t, int32(3))
	raisePairs(t, 2.5)
	f := make([]int64, 1<<12)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := raiseTable(ctx, f, false, 2, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func raisePairs[T int32 | float64](t *testing.T, pair T) {
	const n = 7
	for _, idp := range []bool{false, true} {
		f := make([]T, 1<<n)
		for c := range f {
			switch bits.OnesCount(uint(c)) {
			case 1:
				f[c] = 1
			case 2:
				f[c] = pair
			}
		}
		last := 0.0
		if err := raiseTable(t.Context(), f, idp, 2, func(share float64) {
			if share < last || share > 1 {
				t.Errorf("a share of %v after %v", share, last)
			}
			last = share
		}); err != nil || last != 1 {
			t.Errorf("the share in the end is %v, %v", last, err)
		}
		if want := 3*pair + 1; f[len(f)-1] != want { // three pairs and an agent
			t.Errorf("idp %v: %v, expected %v", idp, f[len(f)-1], want)
		}
	}
}

func BenchmarkLevels(b *testing.B) {
	for _, m := range []reference.Method{reference.DP, reference.IDP} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprint(m, workers), func(b *testing.B) {
				v := make([]int32, 1<<17)
				for c := range v[1:] {
					v[c+1] = int32(draw.Mix(uint64(c)) % 1000)
				}
				for b.Loop() {
					if err := raiseTable(b.Context(), slices.Clone(v), m == reference.IDP, workers, func(float64) {}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
