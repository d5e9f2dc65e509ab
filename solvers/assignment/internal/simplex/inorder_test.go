package simplex

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Flows of permuted Monge arrays, exact and with noise, with ties and rows and columns without amounts, cost as little as those that begin with an auction.
func TestOrderedFlows(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 1))
	var found [6]int
	for k := range 18 {
		rows, cols := 256+r.IntN(80), 256+r.IntN(80)
		kind := k % 6
		x, y := make([]float64, rows), make([]float64, cols)
		draw := func(list []float64) {
			for i := range list {
				list[i] = r.Float64()
				if kind == 2 { // few places
					list[i] = math.Floor(16 * list[i])
				}
				if kind == 5 { // two far clusters
					list[i] += float64(r.IntN(2)) * 1e6
				}
			}
		}
		draw(x)
		draw(y)
		costs := make([]float64, rows*cols)
		for i := range x {
			for j := range y {
				c := &costs[i*cols+j]
				switch kind {
				case 0:
					*c = (x[i] - y[j]) * (x[i] - y[j])
				case 3:
					*c = -x[i] * y[j]
				case 4:
					*c = math.Abs(x[i]-y[j]) + 1e-5*r.Float64()
				case 5:
					*c = float64(float32(math.Abs(x[i] - y[j])))
				default:
					*c = math.Abs(x[i] - y[j])
				}
			}
		}
		inst, err := problem.NewInstance(rows, cols, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		inst.Supply, inst.Capacity = make([]int64, rows), make([]int64, cols)
		for range 3000 {
			inst.Supply[r.IntN(rows)] += 1e6
			inst.Capacity[r.IntN(cols)] += 1e6
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolve(p, engine.Host{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.inOrder(context.Background(), p.Instance.Supply, p.Instance.Capacity)
		if kind == 5 && f == nil { // rounding may leave no order
			continue
		}
		found[kind]++
		if err != nil || f == nil {
			t.Fatalf("kind %d, %d x %d: found %v, %v, expected a flow", kind, rows, cols, f, err)
		}
		cost := checked(t, inst, p, f)
		if p.Exact && kind != 5 && f.Counts.Repairs > 0 {
			t.Errorf("kind %d: found %d repairs of a Monge array", kind, f.Counts.Repairs)
		}
		s, _ = newSolve(p, engine.Host{Threads: 2})
		if f, err = s.byAuction(context.Background(), p.Instance.Supply, p.Instance.Capacity); err != nil {
			t.Fatal(err)
		}
		if other := checked(t, inst, p, f); other != cost {
			t.Errorf("kind %d, %d x %d: found the cost %s in order, %s by auction", kind, rows, cols, cost, other)
		}
	}
	if found[5] == 0 {
		t.Error("found no order of far clusters")
	}
}

// checked holds a flow against its duals, and returns its scaled cost.
func checked(t *testing.T, inst *problem.Instance, p *problem.Normal, f *Solution) string {
	flow, d := f.Flow, problem.Duals{U: f.U, V: f.V, Scale: p.Unit()}
	if p.Transposed {
		flow, d.U, d.V = flow.Transpose(), f.V, f.U
	}
	cert, _, err := problem.CheckFlow(inst, &flow, d, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cert.Primal
}

// Costs that are no Monge array, and those with forbidden pairs where an order would ship, are left to the auction.
func TestNoOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 2))
	n := 256
	for kind := range 2 {
		costs := make([]float64, n*n)
		for k := range costs {
			i, j := k/n, k%n
			switch {
			case kind == 0:
				costs[k] = r.Float64()
			case i == j:
				costs[k] = math.Inf(1)
			default:
				costs[k] = math.Abs(float64(i - j))
			}
		}
		inst, err := problem.NewInstance(n, n, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolve(p, engine.Host{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := s.inOrder(context.Background(), inst.Supplies(), inst.Capacities()); f != nil || err != nil {
			t.Errorf("kind %d: found %v, %v, expected no flow", kind, f, err)
		}
	}
}
