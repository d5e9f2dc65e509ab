package host

import (
	"context"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// Matrices of two costs are solved by a matching of the lower ones, with feasible duals; a third cost or a forbidden pair leaves them to others.
func TestTwoCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 1))
	for k := range 2000 {
		rows, cols := 1+r.IntN(80), 1+r.IntN(160)
		costs := make([]float64, rows*cols)
		low, high, share := r.NormFloat64(), r.NormFloat64(), []float64{1 / float64(cols), 3 / float64(cols), 0.3, 0.9}[k%4]
		for at := range costs {
			if costs[at] = high; r.Float64() < share {
				costs[at] = low
			}
		}
		inst, err := problem.NewInstance(rows, cols, costs, "two costs")
		if err != nil {
			t.Fatal(err)
		}
		inst.Maximize = k%3 == 0
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		if sol, err := solveTwoCosts(context.Background(), p, 2); sol == nil || err != nil {
			t.Fatalf("instance %d: found no solution: %v", k, err)
		}
		s, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := enginetest.CheckLeastCost(p, nil, onHost, want); err != nil {
			t.Fatalf("instance %d (%d x %d): %v", k, rows, cols, err)
		}
		other := 7.5
		if k%2 == 0 {
			other = problem.Forbidden[float64](inst.Maximize)
		}
		if rows*cols < 3 || low == high {
			continue
		}
		inst.F64 = costs
		inst.F64[0], inst.F64[1], inst.F64[2] = low, high, other
		if p, err = problem.Normalise(inst); err != nil {
			t.Fatal(err)
		}
		if sol, _ := solveTwoCosts(context.Background(), p, 2); sol != nil {
			t.Fatalf("instance %d: a third cost was not seen", k)
		}
	}
}
