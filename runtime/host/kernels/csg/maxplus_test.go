package csg

import (
	"math/bits"
	"testing"
)

func TestUnrankInOrder(t *testing.T) {
	for n := 0; n <= 10; n++ {
		for p := 0; p <= n; p++ {
			rank := uint64(0)
			for set := range 1 << n {
				if bits.OnesCount(uint(set)) != p {
					continue
				}
				if got := Unrank(rank, n, p); got != set {
					t.Fatalf("subset %d of %d elements of %d: %b, want %b", rank, p, n, got, set)
				}
				rank++
			}
			if c := Choose(n, p); c != rank {
				t.Fatalf("Choose(%d, %d) is %d, counted %d", n, p, c, rank)
			}
		}
	}
}

// TestTargetCovers wants every chunk of every tile in exactly one block.
func TestTargetCovers(t *testing.T) {
	for _, chunks := range []int{1, 2, 4, 64} {
		for split := range 5 {
			const high, p = 5, 2
			seen := map[[2]int]int{}
			for block := range int64(Choose(high, p)) << split {
				tile, from, to := Target(block, high, p, split, chunks)
				for c := from; c < to; c++ {
					seen[[2]int{tile, c}]++
				}
			}
			if len(seen) != chunks*int(Choose(high, p)) {
				t.Errorf("%d chunks, split %d: %d chunks covered", chunks, split, len(seen))
			}
			for at, n := range seen {
				if n != 1 || bits.OnesCount(uint(at[0])) != p {
					t.Errorf("%d chunks, split %d: chunk %v covered %d times", chunks, split, at, n)
				}
			}
		}
	}
}

// TestUnitHoldsEverySplitting checks the lanes' layout: each splitting of
// each subset of a chunk once, and (0, 0) where lanes are left over.
func TestUnitHoldsEverySplitting(t *testing.T) {
	for b := 1; b <= 5; b++ {
		u := newUnit[int32](b, 0)
		seen := map[[2]uint8]bool{}
		for i := range u.left {
			l, r := u.left[i], u.right[i]
			if l&r != 0 || u.target[i] != l|r {
				t.Errorf("%d bits, lane %d: %b and %b to %b", b, i, l, r, u.target[i])
			}
			if seen[[2]uint8{l, r}] && l|r != 0 {
				t.Errorf("%d bits: %b and %b twice", b, l, r)
			}
			seen[[2]uint8{l, r}] = true
		}
		want := 1
		for range b {
			want *= 3
		}
		if len(seen) != want || len(u.left) != u.planes<<b {
			t.Errorf("%d bits: %d splittings in %d planes, want %d", b, len(seen), u.planes, want)
		}
	}
}

func TestLastSharesCover(t *testing.T) {
	const n = 5
	f := make([]int32, 1<<n)
	for at := 1 << (n - 1); at < 1<<n; at++ {
		for i := range f {
			f[i] = -10
		}
		f[0] = 99 // never read
		f[at] = 5
		want := int32(-5)
		if at == 1<<n-1 {
			want = 5
		}
		for _, blocks := range []int64{1, 2, 3, 16, 40} {
			out := make([]int32, blocks)
			for b := range blocks {
				out[b] = Last(f, n, b, blocks)
			}
			Best(out)
			if out[0] != want {
				t.Errorf("best coalition %b, %d blocks: %d, want %d", at, blocks, out[0], want)
			}
		}
	}
}
