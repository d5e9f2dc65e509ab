package flow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/guard"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/flow"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
)

// A kind is problems of one shape, and how their costs and masses are drawn.
type kind struct {
	name       string
	rows, cols int
	cost, mass func(r *rand.Rand) float64
}

func whole(span int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return float64(r.IntN(span)) }
}

func real(r *rand.Rand) float64 { return r.Float64() }

func kinds() []kind {
	one := func(*rand.Rand) float64 { return 1 }
	return []kind{
		{"one", 1, 1, whole(9), one},
		{"row", 1, 9, whole(9), real},
		{"column", 9, 1, whole(9), real},
		{"uniform", 12, 17, real, real},
		{"equal masses", 11, 11, whole(20), one},
		{"equal costs", 9, 7, whole(1), real},
		{"ties, masses of zero", 14, 13, whole(3), whole(3)},
		{"negative", 17, 12, func(r *rand.Rand) float64 { return -900 + float64(r.IntN(1800)) }, whole(50)},
		{"rounded", 8, 8, func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), -r.IntN(40)) }, real},
		{"far", 15, 15, func(r *rand.Rand) float64 { return 1e6 + float64(r.IntN(1000)) }, real},
	}
}

// typed is an instance of drawn costs in a type.
func typed(value problem.Value, costs []float64, rows, cols int) *problem.Instance {
	inst := &problem.Instance{Rows: rows, Cols: cols, Source: "drawn"}
	enginetest.SetCosts(inst, value, costs)
	return inst
}

// answers of a launch.
type answers struct {
	plan       []float64
	u, v, cost []float64
	status     []int32
}

func solve(t *testing.T, d device.Device, v *device.Variant, s flow.Shape, costs, a, b []byte) (out answers) {
	t.Helper()
	var scope device.Scope
	defer scope.Close()
	e, err := flow.Open(d, v, s)
	if err != nil {
		t.Fatal(err)
	}
	scope.CloseLater(e)
	e.Start.Rounds = 4
	stream, err := scope.NewStream(d)
	if err != nil {
		t.Fatal(err)
	}
	n, m := s.Count*s.Rows, s.Count*s.Cols
	plans := n * s.Cols
	out = answers{make([]float64, plans), make([]float64, n), make([]float64, m), make([]float64, s.Count), make([]int32, s.Count)}
	size := 8
	if s.Value == problem.Float32 {
		size = 4
	}
	shipped := make([]byte, size*plans)
	var from, x, y device.Buffer
	var to flow.Output
	if err := scope.AllocAll(d, device.BufferFor(&from, int64(len(costs))), device.BufferFor(&x, int64(len(a))), device.BufferFor(&y, int64(len(b))), device.BufferFor(&to.Plan, int64(len(shipped))),
		device.BufferFor(&to.U, int64(8*n)), device.BufferFor(&to.V, int64(8*m)), device.BufferFor(&to.Cost, int64(8*s.Count)), device.BufferFor(&to.Status, int64(4*s.Count))); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(stream.Upload(from, 0, costs), stream.Upload(x, 0, a), stream.Upload(y, 0, b), e.Launch(stream, from, x, y, to),
		stream.Download(shipped, to.Plan, 0), stream.Download(device.Bytes(out.u), to.U, 0), stream.Download(device.Bytes(out.v), to.V, 0),
		stream.Download(device.Bytes(out.cost), to.Cost, 0), stream.Download(device.Bytes(out.status), to.Status, 0), stream.Sync())
	if err != nil {
		t.Fatal(err)
	}
	if size == 8 {
		copy(device.Bytes(out.plan), shipped)
		return out
	}
	short := make([]float32, plans)
	copy(device.Bytes(short), shipped)
	for k, x := range short {
		out.plan[k] = float64(x)
	}
	return out
}

// Every variant finds the least cost, with duals that bound it, for all kinds.
func TestVariants(t *testing.T) {
	d, err := guard.New(emulatedtest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const count = 2
	f := &assignment.Flow
	for _, v := range emulatedtest.Variants(f) {
		value := problem.Value(f.Value(v, "value"))
		r := rand.New(rand.NewPCG(5, uint64(len(v.Label))))
		for _, k := range kinds() {
			t.Run(fmt.Sprintf("%s/%s", v.Label, k.name), func(t *testing.T) {
				var costs, a, b []byte
				list, supply, demand := make([]*problem.Instance, count), make([][]float64, count), make([][]float64, count)
				for at := range list {
					drawn := make([]float64, k.rows*k.cols)
					for i := range drawn {
						drawn[i] = k.cost(r)
					}
					list[at] = typed(value, drawn, k.rows, k.cols)
					supply[at], demand[at] = k.masses(r)
					costs, a, b = append(costs, list[at].Bytes()...), append(a, device.Bytes(supply[at])...), append(b, device.Bytes(demand[at])...)
				}
				got := solve(t, d, v, flow.Shape{Value: value, Count: count, Rows: k.rows, Cols: k.cols}, costs, a, b)
				for at, inst := range list {
					k.compare(t, inst, supply[at], demand[at], at, got)
				}
			})
		}
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// masses are drawn ones of equal sums, all multiples of 2^-20.
func (k kind) masses(r *rand.Rand) (a, b []float64) {
	a, b = make([]float64, k.rows), make([]float64, k.cols)
	total, left := 0.0, 0.0
	for i := range a {
		a[i] = math.Round(math.Ldexp(k.mass(r), 20)) / (1 << 20)
		total += a[i]
	}
	if total == 0 {
		a[0], total = 1, 1
	}
	left = total
	for j := range b[:k.cols-1] {
		if b[j] = math.Round(math.Ldexp(k.mass(r), 20)) / (1 << 20); b[j] > left {
			b[j] = left
		}
		left -= b[j]
	}
	b[k.cols-1] = left
	return a, b
}

// compare holds the answer about problem `at` against the host's method.
func (k kind) compare(t *testing.T, inst *problem.Instance, a, b []float64, at int, got answers) {
	t.Helper()
	if status := got.status[at]; status != assignment.FlowStatusProven && (k.name != "rounded" || status != assignment.FlowStatusUndecided) {
		t.Fatalf("problem %d: found the status %d", at, status)
	}
	n, m := k.rows, k.cols
	scaled := func(list []float64) []int64 {
		out := make([]int64, len(list))
		for i, x := range list {
			out[i] = int64(math.Ldexp(x, 20))
		}
		return out
	}
	inst.Supply, inst.Capacity = scaled(a), scaled(b)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	sol, err := simplex.Solve(context.Background(), p, engine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	best := sol.Flow
	if p.Transposed {
		best = best.Transpose()
	}
	whole := problem.FlowValue(inst, &best)
	want, _ := whole.Float64()
	want = math.Ldexp(want, -20)
	plan, u, v := got.plan[at*n*m:][:n*m], got.u[at*n:][:n], got.v[at*m:][:m]
	size, sum, dual := 1e-12, 0.0, 0.0
	columns := make([]float64, m)
	for i := range n {
		row := 0.0
		for j := range m {
			c, x := inst.CostFloat(i, j), plan[i*m+j]
			size = max(size, math.Abs(c))
			if x < 0 || u[i]+v[j] > c+1e-9*max(1, math.Abs(c)) {
				t.Fatalf("problem %d: pair %d, %d ships %g; its duals are %g and %g, its cost %g", at, i, j, x, u[i], v[j], c)
			}
			row, columns[j], sum = row+x, columns[j]+x, sum+c*x
		}
		dual += a[i] * u[i]
		if math.Abs(row-a[i]) > 1e-6*max(1, a[i]) {
			t.Errorf("problem %d: row %d ships %g of %g", at, i, row, a[i])
		}
	}
	for j, x := range columns {
		dual += b[j] * v[j]
		if math.Abs(x-b[j]) > 1e-6*max(1, b[j]) {
			t.Errorf("problem %d: column %d takes %g of %g", at, j, x, b[j])
		}
	}
	total := 1.0
	for _, x := range a {
		total += x
	}
	if slack := 1e-12 * size * total; math.Abs(got.cost[at]-want) > slack || math.Abs(dual-want) > 1e-9*size*total || math.Abs(sum-want) > 1e-6*size*total {
		t.Errorf("problem %d: found the cost %.17g, the duals %.17g and the plan %.17g, expected %.17g", at, got.cost[at], dual, sum, want)
	}
}

// smallest is the variant of the fewest threads for costs of float64.
func smallest() *device.Variant { return assignment.Flow.Variant("team=256,each=1,value=float64") }

// Masses and costs that no plan is of are refused, each for itself.
func TestRefused(t *testing.T) {
	d, err := guard.New(emulatedtest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	nan, inf := math.NaN(), math.Inf(1)
	costs := []float64{1, 2, 3, 4, 1, nan, 3, 4, 1, 2, 3, inf, 1, 2, 3, 4, 1, 2, 3, 4, 0, 2, 3, 4}
	a := []float64{1, 2, 1, 2, 1, 2, -1, 4, 1, 2, nan, 1}
	b := []float64{2, 1, 2, 1, 2, 1, 2, 1, 2, 2, 1, 1}
	want := []int32{assignment.FlowStatusProven, assignment.FlowStatusInvalidCost, assignment.FlowStatusInvalidCost, assignment.FlowStatusInvalidMass, assignment.FlowStatusInvalidMass, assignment.FlowStatusInvalidMass}
	s := flow.Shape{Value: problem.Float64, Count: len(want), Rows: 2, Cols: 2}
	got := solve(t, d, smallest(), s, device.Bytes(costs), device.Bytes(a), device.Bytes(b))
	if !slices.Equal(got.status, want) {
		t.Errorf("found the statuses %d, expected %d", got.status, want)
	}
	s.AnySums, want[4] = true, assignment.FlowStatusProven
	if got = solve(t, d, smallest(), s, device.Bytes(costs), device.Bytes(a), device.Bytes(b)); !slices.Equal(got.status, want) {
		t.Errorf("found the statuses %d with any sums, expected %d", got.status, want)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// Several blocks solve one problem together.
func TestTogether(t *testing.T) {
	d, err := guard.New(emulatedtest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range kinds() {
		costs := make([]float64, k.rows*k.cols)
		for i := range costs {
			costs[i] = k.cost(r)
		}
		a, b := k.masses(r)
		inst := typed(problem.Float64, costs, k.rows, k.cols)
		got := solve(t, d, smallest(), flow.Shape{Value: problem.Float64, Count: 1, Rows: k.rows, Cols: k.cols, Blocks: 3}, inst.Bytes(), device.Bytes(a), device.Bytes(b))
		k.compare(t, inst, a, b, 0, got)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// A variant that has too few nodes, or too little memory, is refused, and the prior is the one with the fewest nodes a thread.
func TestFits(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024}
	f := &assignment.Flow
	for i := range f.Variants {
		v := &f.Variants[i]
		room := f.Int(v, "team") * f.Int(v, "each")
		for _, extra := range []int{0, 1} {
			s := flow.Shape{Value: problem.Float64, Count: 1, Rows: 100, Cols: room - 100 + extra}
			if err := flow.Fits(v, facts, s); (err == nil) != (extra == 0 && room < 8192) {
				t.Errorf("%s: %d nodes: found %v", v.Label, s.Nodes(), err)
			}
		}
	}
	for nodes, want := range map[int]string{129: "team=256,each=1,value=float32", 512: "team=512,each=1,value=float32", 1001: "team=1024,each=1,value=float32", 2000: "team=1024,each=2,value=float32", 8000: "team=1024,each=8,value=float32"} {
		if v := flow.Workload(flow.Shape{Value: problem.Float32, Count: 1, Rows: nodes / 2, Cols: nodes - nodes/2}, facts).Prior.Variant; v == nil || v.Label != want {
			t.Errorf("%d nodes: found %v, expected %s", nodes, v, want)
		}
	}
}
