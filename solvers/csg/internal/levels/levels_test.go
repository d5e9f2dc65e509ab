package levels

import (
	"math/bits"
	"testing"

	"coalesce/solvers/csg/internal/reference"
)

// Sets of a size follow one another in the order of their ranks.
func TestOrder(t *testing.T) {
	for size := 1; size <= 8; size++ {
		set := uint64(1)<<size - 1
		for rank := range Binomial(10, size) {
			if got := Unrank(rank, size); got != set || bits.OnesCount64(got) != size {
				t.Fatalf("the set of %d members at rank %d is %#b, expected %#b", size, rank, got, set)
			}
			set = NextSet(set)
		}
	}
	if NextSet(0) != 0 {
		t.Errorf("after the empty set comes %#b", NextSet(0))
	}
}

// The launches of IDP evaluate as many splittings as its count says.
func TestNumbers(t *testing.T) {
	for n := 2; n <= 16; n++ {
		total := float64(uint64(1)<<(n-1) - 1)
		for size := 2; size < n; size++ {
			low, high := IDPSizes(n, size)
			if low > high {
				continue
			}
			each := uint64(len(IDPSplittings(size, low)))
			if low == 1 && each != 1<<(size-1)-1 {
				t.Fatalf("n=%d, size %d: %d splittings, expected all", n, size, each)
			}
			total += float64(each) * float64(Binomial(n, size))
		}
		if want := reference.SplittingCount(reference.IDP, n); total != want {
			t.Errorf("n=%d: %v splittings, expected %v", n, total, want)
		}
	}
}

func TestNextCoalition(t *testing.T) {
	for size := 1; size <= 8; size++ {
		c := uint64(1)<<size - 1
		for i := int64(1); i < Binomial(12, size); i++ {
			next := NextSet(c)
			if next <= c || bits.OnesCount64(next) != size {
				t.Fatalf("after %b comes %b", c, next)
			}
			c = next
		}
		if c != (1<<size-1)<<(12-size) {
			t.Errorf("size %d ends at %b", size, c)
		}
	}
}

// Parts share out a level's pairs where it has few targets.
func TestTilesParts(t *testing.T) {
	for _, c := range []struct{ targets, pairs, blocks, want int64 }{
		{1, 1, 528, 1},
		{1, 3, 528, 3},
		{100000, 127, 528, 1},
		{1, 1 << 20, 528, 528},
	} {
		if got := BlocksPerTarget(c.targets, c.pairs, c.blocks); got != c.want {
			t.Errorf("%d targets of %d pairs on %d blocks: found %d parts, expected %d", c.targets, c.pairs, c.blocks, got, c.want)
		}
	}
}
