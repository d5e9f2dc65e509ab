package qubo

import (
	"math/rand/v2"
	"testing"
)

func TestExhaustVisitsEverySolution(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 11 {
		p := drawNormal(r, n, 0.7, 20, 1)
		best, x := exhaust(p)
		var most int64
		for y := range uint64(1) << n {
			most = max(most, p.value([]uint64{y}))
		}
		if best != most || p.value(x) != best {
			t.Errorf("%d variables: %d at %v, want %d", n, best, x, most)
		}
	}
}
