package reference_test

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
)

func TestExhaustVisitsEverySolution(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 11 {
		p := qubotest.RandomProblem(r, n, 0.7, 20, 1)
		best, x := reference.Exhaust(p)
		var most int64
		for y := range uint64(1) << n {
			most = max(most, p.Value([]uint64{y}))
		}
		if best != most || p.Value(x) != best {
			t.Errorf("%d variables: %d at %v, want %d", n, best, x, most)
		}
	}
}
