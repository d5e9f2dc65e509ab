package levels

import (
	"context"
	"errors"
	"math/bits"
	"testing"
)

// Sets of a size follow one another in the order of their ranks.
func TestOrder(t *testing.T) {
	for size := 1; size <= 8; size++ {
		set := uint64(1)<<size - 1
		for rank := range Binomial(10, size) {
			if got := Unrank(rank, size); got != set || bits.OnesCount64(got) != size {
				t.Fatalf("the set of %d members at rank %d is %#b, expected %#b", size, rank, got, set)
			}
			set = Next(set)
		}
	}
	if Next(0) != 0 {
		t.Errorf("after the empty set comes %#b", Next(0))
	}
}

// Seven agents make three pairs, where a pair is worth more than two agents:
// every value type, all splittings and those of IDP.
func TestRaise(t *testing.T) {
	raise(t, int32(3))
	raise(t, 2.5)
	f := make([]int64, 1<<12)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := Raise(ctx, f, false, 2, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func raise[T int32 | float64](t *testing.T, pair T) {
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
		if err := Raise(t.Context(), f, idp, 2, func(share float64) {
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
