package simplex

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Rounds of few bits decide as one round of all bits does, flows with much left among them.
func TestSettleInRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	pivoted, several := 0, 0
	for trial := range 1000 {
		rows, cols := 1+r.IntN(12), 1+r.IntN(12)
		costs := make([]float64, rows*cols)
		for k := range costs {
			costs[k] = []float64{1e12, 1, 2, 0.1, 0.30000000000000004, -3, 0.2, 0.3, 1e-5, r.Float64()}[r.IntN(10)]
		}
		inst, err := problem.NewInstance(rows, cols, costs, "")
		if err != nil {
			t.Fatal(err)
		}
		amounts := func(n int) []int64 {
			list := make([]int64, n)
			for k := range list {
				list[k] = r.Int64N(5)
			}
			return list
		}
		inst.Supply, inst.Capacity = amounts(rows), amounts(cols)
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		sol, err := Solve(context.Background(), p, engine.Host{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		turn := func(f *problem.Flow) *problem.Flow {
			if p.Transposed {
				other := f.Transpose()
				return &other
			}
			return f
		}
		d := problem.Duals{U: sol.U, V: sol.V, Scale: p.Unit()}
		if p.Transposed {
			d.U, d.V = d.V, d.U
		}
		_, near, err := problem.CheckFlow(inst, turn(&sol.Flow), d, problem.FlowWidth(p))
		if err != nil {
			t.Fatal(err)
		}
		if p.Transposed {
			for k, x := range near {
				near[k] = problem.Pair{Row: x.Col, Col: x.Row}
			}
		}
		whole, parts := sol.Flow, sol.Flow
		pivots, err := Settle(context.Background(), p, &whole, sol.Prices, near)
		if err != nil {
			t.Fatal(err)
		}
		pivoted += min(1, pivots)
		more, err := settle(context.Background(), p, &parts, sol.Prices, near, bits.Len(uint(rows+cols+2))+3)
		if err != nil {
			t.Fatal(err)
		}
		if more > pivots {
			several++
		}
		if a, b := problem.FlowValue(inst, turn(&whole)), problem.FlowValue(inst, turn(&parts)); a.Cmp(b) != 0 {
			t.Fatalf("trial %d: found %v in one round, %v in several", trial, a, b)
		}
	}
	if pivoted < 20 || several < 5 {
		t.Fatalf("%d flows changed, %d took more pivots in several rounds: too few", pivoted, several)
	}
}
