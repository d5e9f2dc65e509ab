package assignment_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	solver "coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Problems that rounding leaves open are solved on the host, the others on the device; both write their answers there.
func TestTransportsOfADevice(t *testing.T) {
	d := emulatedtest.Open(t)
	defer d.Close()
	const count, n, m = 3, 4, 5
	r := rand.New(rand.NewPCG(1, 2))
	costs, a, b := make([]float64, count*n*m), make([]float64, count*n), make([]float64, count*m)
	for k := range costs {
		if costs[k] = float64(r.IntN(20)); k/(n*m) == 1 {
			costs[k] = 1e9 * float64(r.IntN(2)) * (1 + math.Ldexp(float64(r.IntN(2)), -52)) // the last bits differ
			costs[k] += math.Ldexp(r.Float64(), -60)
		}
	}
	costs[n*m] = math.Ldexp(1, -70) // which its scale rounds away
	for k := range a {
		a[k] = 0.25
	}
	for k := range b {
		b[k] = 0.2
	}
	got, status := onDevice(t, d, solver.Layout{Type: problem.Float64, Count: count, Rows: n, Cols: m}, costs, a, b)
	for k := range count {
		inst, err := problem.NewInstance(n, m, costs[k*n*m:][:n*m], "drawn")
		if err != nil {
			t.Fatal(err)
		}
		inst.Supply, inst.Capacity = []int64{5, 5, 5, 5}, []int64{4, 4, 4, 4, 4}
		want, err := solver.Solve(context.Background(), inst, solver.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
		if err != nil {
			t.Fatal(err)
		}
		value, _ := want.Value.Rat()
		if best, _ := value.Float64(); status[k] != assignment.FlowStatusProven || math.Abs(got[k]-best/20) > 1e-12*max(1, best) {
			t.Errorf("problem %d: found the cost %.17g with the status %d, expected %.17g", k, got[k], status[k], best/20)
		}
	}
}

// Costs and masses that no plan is of are errors, and so are shapes that no kernel takes.
func TestTransportsRefuse(t *testing.T) {
	d := emulatedtest.Open(t)
	defer d.Close()
	l := solver.Layout{Type: problem.Float64, Count: 1, Rows: 1, Cols: 1}
	for _, x := range []struct {
		cost, a, b float64
		want       error
	}{{math.Inf(1), 1, 1, problem.ErrCost}, {1, 1, 2, solve.ErrInput}, {1, -1, -1, solve.ErrInput}} {
		if _, err := tryOnDevice(t, d, l, []float64{x.cost}, []float64{x.a}, []float64{x.b}, nil); !errors.Is(err, x.want) {
			t.Errorf("the cost %g with masses %g and %g: found %v, expected %v", x.cost, x.a, x.b, err, x.want)
		}
	}
	l.Rows = 9000
	if _, err := solver.OpenTransports(l, false, solver.Options{Settings: solve.Settings{Devices: []device.Device{d}}}); !errors.Is(err, solver.ErrShape) {
		t.Errorf("9,000 rows: found %v, expected that no kernel takes them", err)
	}
}

func onDevice(t *testing.T, d device.Device, l solver.Layout, costs, a, b []float64) (sums []float64, status []int32) {
	t.Helper()
	status = make([]int32, l.Count)
	sums, err := tryOnDevice(t, d, l, costs, a, b, status)
	if err != nil {
		t.Fatal(err)
	}
	return sums, status
}

func tryOnDevice(t *testing.T, d device.Device, l solver.Layout, costs, a, b []float64, status []int32) (sums []float64, err error) {
	t.Helper()
	var scope device.Scope
	defer scope.Close()
	s, err := solver.OpenTransports(l, false, solver.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		t.Fatal(err)
	}
	scope.CloseLater(s)
	stream, err := scope.NewStream(d)
	if err != nil {
		t.Fatal(err)
	}
	var from, x, y device.Buffer
	var to solver.Shipped
	count := int64(l.Count)
	if err := scope.AllocAll(d, device.BufferFor(&from, int64(8*len(costs))), device.BufferFor(&x, int64(8*len(a))), device.BufferFor(&y, int64(8*len(b))), device.BufferFor(&to.Plan, int64(8*len(costs))),
		device.BufferFor(&to.U, int64(8*len(a))), device.BufferFor(&to.V, int64(8*len(b))), device.BufferFor(&to.Cost, 8*count), device.BufferFor(&to.Status, 4*count)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.Upload(from, 0, device.Bytes(costs)), stream.Upload(x, 0, device.Bytes(a)), stream.Upload(y, 0, device.Bytes(b))); err != nil {
		t.Fatal(err)
	}
	if err := s.Solve(context.Background(), stream, from, x, y, to); err != nil {
		return nil, err
	}
	sums = make([]float64, l.Count)
	if err := errors.Join(stream.Download(device.Bytes(sums), to.Cost, 0), stream.Download(device.Bytes(status), to.Status, 0)); err != nil {
		t.Fatal(err)
	}
	return sums, nil
}

// Plans of real masses ship all of them, and cost what the duals bound.
func TestShipMasses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		n, m := 1+r.IntN(9), 1+r.IntN(90) // some of them by an auction
		if trial%2 == 0 {
			n = 80 + r.IntN(30)
		}
		costs, a, b, total := make([]float64, n*m), make([]float64, n), make([]float64, m), 0.0
		for k := range costs {
			costs[k] = r.NormFloat64()
		}
		for i := range a {
			a[i] = r.Float64()
			total += a[i]
		}
		for j := range b {
			b[j] = total / float64(m)
		}
		inst, err := problem.NewInstance(n, m, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := solver.ShipMasses(context.Background(), inst, a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		left, dual := append(append([]float64{}, a...), b...), 0.0
		for i := range n {
			dual += a[i] * plan.U[i]
			for j := range m {
				if plan.U[i]+plan.V[j] > costs[i*m+j]+1e-12 {
					t.Fatalf("%d x %d: the duals of %d, %d are above the cost", n, m, i, j)
				}
			}
		}
		for j := range m {
			dual += b[j] * plan.V[j]
		}
		for k, i := range plan.Row {
			left[i] -= plan.Amount[k]
			left[n+int(plan.Col[k])] -= plan.Amount[k]
		}
		for k, x := range left {
			if math.Abs(x) > 1e-13*total {
				t.Fatalf("%d x %d: node %d has %g left", n, m, k, x)
			}
		}
		if math.Abs(plan.Cost-dual) > 1e-11*total {
			t.Errorf("%d x %d: found the cost %.17g, the duals bound it by %.17g", n, m, plan.Cost, dual)
		}
	}
	inst, err := problem.NewInstance(1, 2, []float64{1, math.Inf(1)}, "drawn")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solver.ShipMasses(context.Background(), inst, []float64{1}, []float64{0.5, 0.5}, nil); !errors.Is(err, solve.ErrInfeasible) {
		t.Errorf("a forbidden pair: found %v", err)
	}
}
