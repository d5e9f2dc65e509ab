package problem_test

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// The value of a solution from that of another is that from the coefficients.
func TestValueFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for _, n := range []int{1, 2, 63, 64, 65, 700} {
		p := qubotest.RandomProblem(r, n, 0.5, 1000, 1)
		x, y := draw.RandomSolution(r, n), draw.RandomSolution(r, n)
		for _, to := range [][]uint64{x, y, make([]uint64, problem.Words(n))} {
			if got, want := p.ValueFrom(x, p.Value(x), to), p.Value(to); got != want {
				t.Errorf("n = %d: %d, want %d", n, got, want)
			}
		}
	}
}
