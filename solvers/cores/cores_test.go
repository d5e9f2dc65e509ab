package cores

import (
	"sync/atomic"
	"testing"
)

// Every item is in one range, and no range but a single one is shorter than least.
func TestSplit(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		for _, least := range []int{1, 7, 64, 5000} {
			seen := make([]atomic.Int32, n)
			var ranges, short atomic.Int32
			Split(n, least, func(from, to int) {
				ranges.Add(1)
				if to-from < least {
					short.Add(1)
				}
				for i := from; i < to; i++ {
					seen[i].Add(1)
				}
			})
			for i := range seen {
				if got := seen[i].Load(); got != 1 {
					t.Errorf("n = %d, least %d: item %d is in %d ranges", n, least, i, got)
				}
			}
			if short.Load() > 0 && (ranges.Load() > 1 || n >= least) {
				t.Errorf("n = %d, least %d: %d of %d ranges are short", n, least, short.Load(), ranges.Load())
			}
		}
	}
}

// Every piece is worked on once, also where there are fewer than cores.
func TestPieces(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		seen := make([]atomic.Int32, n)
		Pieces(n, func(k int) { seen[k].Add(1) })
		for k := range seen {
			if got := seen[k].Load(); got != 1 {
				t.Errorf("n = %d: piece %d was worked on %d times", n, k, got)
			}
		}
	}
}
