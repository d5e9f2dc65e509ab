package simplex

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Flows of few rows cost as little as those that begin with an auction, and their duals prove it: integer and real costs, distances, forbidden pairs, ties, unit
// and large amounts, totals equal or not, rows and columns without any, and matrices on either side.
func TestFlowsOfFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 2))
	found, infeasible := 0, 0
	for k := range 240 {
		few := 2 + r.IntN(9)
		many := perHub*few + r.IntN(200)
		kind := k % 6
		shift := make([]float64, few)
		for i := range shift {
			shift[i] = 10 * r.Float64()
		}
		costs := make([]float64, few*many)
		for j := range many {
			x := 10 * r.Float64() * r.Float64()
			for i := range few {
				c := &costs[i*many+j]
				switch kind {
				case 0:
					*c = float64(r.IntN(5)) // ties
				case 1:
					*c = math.Round(1e6 * r.Float64())
				case 2:
					*c = (x - shift[i]) * (x - shift[i])
				case 3:
					*c = -1e9 * r.Float64()
				case 4:
					*c = shift[i] + 1e-3*r.Float64()
				default:
					if *c = r.Float64(); r.IntN(4) == 0 {
						*c = math.Inf(1)
					}
				}
			}
		}
		inst, err := problem.NewInstance(few, many, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		inst.Supply, inst.Capacity = make([]int64, few), make([]int64, many)
		size := int64(1)
		if k%4 > 1 {
			size = 1e15
		}
		total := int64(0)
		for j := range inst.Capacity {
			inst.Capacity[j] = min(size, r.Int64N(5*size))
			total += inst.Capacity[j]
		}
		switch r.IntN(3) {
		case 0:
			total += r.Int64N(total + 1)
		case 1:
			total -= r.Int64N(total + 1)
		}
		for ; total > 0; total -= min(total, size) {
			inst.Supply[r.IntN(few)] += min(total, size)
		}
		if k%5 == 0 {
			inst = inst.Transpose()
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolve(p, engine.Host{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.byHubs(context.Background(), p.Instance.Supplies(), p.Instance.Capacities())
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.byAuction(context.Background(), p.Instance.Supplies(), p.Instance.Capacities())
		if err != nil {
			t.Fatal(err)
		}
		if (f == nil) != (other.Cut != nil) {
			t.Fatalf("problem %d: found a flow of few rows %v, another method's %v", k, f != nil, other.Cut == nil)
		}
		if f == nil {
			infeasible++
			continue
		}
		found++
		a, err := certified(inst, p, f)
		if err != nil {
			t.Fatalf("problem %d: %v", k, err)
		}
		b, err := certified(inst, p, other)
		if err != nil {
			t.Fatalf("problem %d, by the auction: %v", k, err)
		}
		if a.Dual != b.Dual {
			t.Errorf("problem %d: found a bound of %s units, expected %s", k, a.Dual, b.Dual)
		}
	}
	if found < 150 || infeasible < 5 {
		t.Errorf("found %d flows and %d problems without one, expected at least 150 and 5", found, infeasible)
	}
}

// certified checks a flow and its duals on the instance's own costs.
func certified(inst *problem.Instance, p *problem.Normal, f *Solution) (problem.Certificate, error) {
	flow, duals := f.Flow, problem.Duals{U: f.U, V: f.V, Scale: p.Unit()}
	if p.Transposed {
		flow, duals.U, duals.V = flow.Transpose(), f.V, f.U
	}
	if err := problem.CheckMarginals(inst, &flow); err != nil {
		return problem.Certificate{}, err
	}
	cert, _, err := problem.CheckFlow(inst, &flow, duals, problem.FlowWidth(p))
	return cert, err
}
