package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/assignment/problem"
)

// The flow of a permuted Monge array is optimal: its prices are feasible. Random costs have no order.
func TestOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 3))
	const n = orderedRows + 7
	x, y := r.Perm(n), r.Perm(n)
	one := slices.Repeat([]int64{1}, n)
	for kind, cost := range []func(i, j int) int32{
		func(i, j int) int32 { return int32((x[i] - y[j]) * (x[i] - y[j])) },
		func(i, j int) int32 { return int32(-x[i] * y[j]) },
		func(int, int) int32 { return r.Int32N(1000) },
	} {
		costs := make([]int32, n*n)
		for k := range costs {
			costs[k] = cost(k/n, k%n)
		}
		inst, err := problem.NewInstance(n, n, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		for name, find := range map[string]func(Costs, *problem.Normal, []int64, []int64, int64) (*Flow, error){"Find": Find, "FindFast": FindFast} {
			f, err := find(OfInstance(p), p, one, one, 1<<40)
			if err != nil || (f != nil) != (kind < 2) {
				t.Fatalf("%s of kind %d: found %v, %v", name, kind, f, err)
			}
			if f == nil {
				continue
			}
			if f.Below != 0 {
				t.Errorf("%s of kind %d: found prices %d too high, expected optimal ones", name, kind, f.Below)
			}
			for k, c := range costs {
				if int64(c) < f.U[k/n]+f.V[k%n] {
					t.Fatalf("%s of kind %d: found %d at %d, %d, below the prices %d and %d", name, kind, c, k/n, k%n, f.U[k/n], f.V[k%n])
				}
			}
			if f, err := find(OfInstance(p), p, one, one, 1); f != nil || err != nil {
				t.Errorf("%s of kind %d with prices of at most 1: found %v, %v", name, kind, f, err)
			}
		}
	}
}
