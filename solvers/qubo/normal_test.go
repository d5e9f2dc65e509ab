package qubo

import (
	"math/rand/v2"
	"testing"
)

// The value of a solution from that of another is that from the coefficients.
func TestValueFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for _, n := range []int{1, 2, 63, 64, 65, 700} {
		p := drawNormal(r, n, 0.5, 1000, 1)
		x, y := randomBits(r, n), randomBits(r, n)
		for _, to := range [][]uint64{x, y, make([]uint64, words(n))} {
			if got, want := p.valueFrom(x, p.value(x), to), p.value(to); got != want {
				t.Errorf("n = %d: %d, want %d", n, got, want)
			}
		}
	}
}
