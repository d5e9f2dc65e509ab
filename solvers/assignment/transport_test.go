package assignment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

func onHost(t *testing.T) Options {
	d := host.Open(2)
	t.Cleanup(func() { d.Close() })
	return Options{Settings: solve.Settings{Devices: []device.Device{d}}, Duals: true}
}

// copies is the instance without amounts whose rows and columns are copies, one for each unit, and the pair of each of its pairs.
func copies(inst *problem.Instance) *problem.Instance {
	var rows, cols []int
	for i, x := range inst.Supplies() {
		rows = append(rows, slices.Repeat([]int{i}, int(x))...)
	}
	for j, x := range inst.Capacities() {
		cols = append(cols, slices.Repeat([]int{j}, int(x))...)
	}
	costs := make([]float64, 0, len(rows)*len(cols))
	for _, i := range rows {
		for _, j := range cols {
			c := math.Inf(1)
			if inst.Maximize {
				c = math.Inf(-1)
			}
			if inst.Allowed(i, j) {
				c = inst.CostFloat(i, j)
			}
			costs = append(costs, c)
		}
	}
	out, err := problem.NewInstance(len(rows), len(cols), costs, "copies")
	if err != nil {
		panic(err)
	}
	out.Maximize = inst.Maximize
	return out
}

// drawTransport draws a small instance with amounts: all kinds of costs, some pairs forbidden.
func drawTransport(r *rand.Rand) *problem.Instance {
	rows, cols := r.IntN(6), r.IntN(6)
	inst := &problem.Instance{Rows: rows, Cols: cols, Maximize: r.IntN(4) == 0, Source: "drawn"}
	forbidden := []float64{0, 0.2, 0.6}[r.IntN(3)]
	kind := r.IntN(5)
	if kind < 2 {
		costs := make([]int32, rows*cols)
		for k := range costs {
			costs[k] = int32(r.IntN(1<<(1+r.IntN(20))) - 8)
			if r.Float64() < forbidden {
				costs[k] = problem.Forbidden[int32](inst.Maximize)
			}
		}
		problem.SetCosts(inst, costs)
	} else {
		costs := make([]float64, rows*cols)
		for k := range costs {
			switch kind {
			case 2:
				costs[k] = r.Float64()
			case 3:
				costs[k] = math.Exp(8 * r.NormFloat64())
			default:
				costs[k] = []float64{1e15, 1, 2, 0.1, 0.30000000000000004, -3}[r.IntN(6)]
			}
			if r.Float64() < forbidden {
				costs[k] = problem.Forbidden[float64](inst.Maximize)
			}
		}
		problem.SetCosts(inst, costs)
	}
	amounts := func(count int) []int64 {
		list := make([]int64, count)
		for k := range list {
			list[k] = r.Int64N(4)
		}
		return list
	}
	switch r.IntN(4) {
	case 0:
		inst.Supply = amounts(rows)
	case 1:
		inst.Capacity = amounts(cols)
	default:
		inst.Supply, inst.Capacity = amounts(rows), amounts(cols)
	}
	return inst
}

// Flows are worth what matchings of copies are, and results pass Verify, which refuses altered ones.
func TestTransportAgainstCopies(t *testing.T) {
	o := onHost(t)
	r := rand.New(rand.NewPCG(11, 5))
	trials := 10000
	if testing.Short() {
		trials = 400
	}
	feasible := 0
	for trial := range trials {
		inst := drawTransport(r)
		name := fmt.Sprintf("trial %d: %+v", trial, *inst)
		found, err := Solve(context.Background(), inst, o)
		want, refused := Solve(context.Background(), copies(inst), o)
		if errors.Is(refused, solve.ErrInfeasible) != errors.Is(err, solve.ErrInfeasible) || err != nil && !errors.Is(err, solve.ErrInfeasible) {
			t.Fatalf("%s: found %v, with copies %v", name, err, refused)
		}
		text, failed := json.Marshal(found)
		if failed != nil {
			t.Fatal(failed)
		}
		verdict, failed := Verify(inst, text, nil)
		if failed != nil || !verdict.Proven || len(verdict.Failures) > 0 {
			t.Fatalf("%s: verify: %v %+v", name, failed, verdict)
		}
		if err != nil {
			continue
		}
		feasible++
		if a, b := found.Value.Float(), want.Value.Float(); a != b || !found.Proven {
			t.Fatalf("%s: found %v (proven %t), with copies %v", name, found.Value, found.Proven, want.Value)
		}
		if len(found.Flow) > 0 {
			found.Flow[0].Amount++
			text, _ = json.Marshal(found)
			if verdict, err := Verify(inst, text, nil); err == nil && len(verdict.Failures) == 0 {
				t.Fatalf("%s: verify passes an altered flow", name)
			}
		}
	}
	if feasible < trials/4 {
		t.Fatalf("%d of %d are feasible", feasible, trials)
	}
}

// Larger instances are proven, in every form of costs, and several thousand units go over one pair.
func TestTransportForms(t *testing.T) {
	o := onHost(t)
	r := rand.New(rand.NewPCG(3, 1))
	amounts := func(count int, most int64) []int64 {
		list := make([]int64, count)
		for k := range list {
			list[k] = 1 + r.Int64N(most)
		}
		return list
	}
	const rows, cols = 300, 260
	costs := make([]float64, rows*cols)
	for k := range costs {
		costs[k] = r.NormFloat64()
	}
	dense, err := problem.NewInstance(rows, cols, costs, "dense")
	if err != nil {
		t.Fatal(err)
	}
	points := problem.Points{Dim: 2, Row: make([]float64, 2*rows), Col: make([]float64, 2*cols), Metric: problem.Squared}
	for _, list := range [][]float64{points.Row, points.Col} {
		for k := range list {
			list[k] = r.NormFloat64()
		}
	}
	places, err := problem.NewPoints(points, "points")
	if err != nil {
		t.Fatal(err)
	}
	sparse := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Int32, Sparse: &problem.Sparse{Start: []int64{0}}, Source: "sparse"}
	for range rows {
		for j := range int32(cols) {
			if r.IntN(8) == 0 {
				sparse.Sparse.Col, sparse.I32 = append(sparse.Sparse.Col, j), append(sparse.I32, int32(r.IntN(1000)))
			}
		}
		sparse.Sparse.Start = append(sparse.Sparse.Start, int64(len(sparse.Sparse.Col)))
	}
	for _, inst := range []*problem.Instance{dense, places, sparse} {
		inst.Supply, inst.Capacity = amounts(rows, 1<<20), amounts(cols, 1<<22)
		found, err := Solve(context.Background(), inst, o)
		if err != nil || !found.Proven {
			t.Errorf("%s: %v, proven %t", inst.Source, err, found != nil && found.Proven)
		}
	}
}

// drawnCosts is a dense instance.
func drawnCosts[T problem.Number](t *testing.T, rows, cols int, draw func(i, j int) T) *problem.Instance {
	costs := make([]T, 0, rows*cols)
	for i := range rows {
		for j := range cols {
			costs = append(costs, draw(i, j))
		}
	}
	inst, err := problem.NewInstance(rows, cols, costs, fmt.Sprintf("%d x %d %T", rows, cols, costs))
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// Flows whose first quarter is solved before the rest are proven, where all is shipped and where supplies or capacities remain.
func TestTransportOfManyRows(t *testing.T) {
	o := onHost(t)
	r := rand.New(rand.NewPCG(5, 9))
	const n = 600
	for _, inst := range []*problem.Instance{
		drawnCosts(t, n, 2*n, func(int, int) int64 { return r.Int64N(1<<45) - 1<<44 }),
		drawnCosts(t, n, n, func(i, j int) float64 { return math.Abs(float64(i) - 1.1*float64(j)) }),
		drawnCosts(t, n, n, func(int, int) int32 { return int32(r.IntN(2)) }),
		drawnCosts(t, n, n, func(int, int) float64 { return 7 }),
		drawnCosts(t, n, n, func(int, int) float32 {
			if r.IntN(10) == 0 {
				return problem.Forbidden[float32](false)
			}
			return float32(math.Exp(3 * r.NormFloat64()))
		}),
		drawnCosts(t, 900, 30, func(int, int) float64 { return r.Float64() }),
	} {
		for _, most := range [][2]int64{{1 << 30, 1 << 30}, {1 << 30, 1 << 20}, {1 << 20, 1 << 30}} {
			inst.Supply, inst.Capacity = make([]int64, inst.Rows), make([]int64, inst.Cols)
			for i := range inst.Supply {
				inst.Supply[i] = r.Int64N(most[0])
			}
			for j := range inst.Capacity {
				inst.Capacity[j] = r.Int64N(most[1])
			}
			if most[0] == most[1] {
				gap := problem.Total(inst.Supply) - problem.Total(inst.Capacity)
				inst.Supply[0], inst.Capacity[0] = inst.Supply[0]+max(0, -gap), inst.Capacity[0]+max(0, gap)
			}
			found, err := Solve(context.Background(), inst, o)
			if err != nil || !found.Proven {
				t.Errorf("%s, %v: %v, proven %t", inst.Source, most, err, found != nil && found.Proven)
			}
		}
	}
}

func TestTransportRefuses(t *testing.T) {
	inst, err := problem.NewInstance(2, 2, []int32{1, 2, 3, 4}, "small")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		supply, capacity []int64
		change           func(*Options)
		want             string
	}{
		{[]int64{1}, nil, nil, "Supply: found 1 amounts, expected 2"},
		{nil, []int64{1, -1}, nil, "Capacity[1]: found -1"},
		{[]int64{math.MaxInt64, 1}, nil, nil, "more than 2^61"},
		{[]int64{1, 1}, nil, func(o *Options) { o.KBest = 2 }, "KBest"},
		{[]int64{1, 1}, nil, func(o *Options) { o.Bottleneck = true }, "Bottleneck"},
		{[]int64{1, 1}, nil, func(o *Options) { o.Algorithm = "host" }, "Algorithm"},
	} {
		o := onHost(t)
		o.Duals = c.change == nil
		if c.change != nil {
			c.change(&o)
		}
		inst.Supply, inst.Capacity = c.supply, c.capacity
		if _, err := Solve(context.Background(), inst, o); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%v: found %v, expected %q", c, err, c.want)
		}
	}
}

func TestTransportEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	inst, err := problem.NewInstance(2, 2, []int32{1, 2, 3, 4}, "small")
	if err != nil {
		t.Fatal(err)
	}
	inst.Supply = []int64{1, 1}
	if r, err := Solve(ctx, inst, onHost(t)); err == nil && r.Proven && r.Stopped {
		t.Fatalf("found %+v", r)
	}
}

// Where paths are long the host's matching begins with the prices of a flow, and is worth what the flow is.
func TestMatchingFromAFlow(t *testing.T) {
	o := onHost(t)
	r := rand.New(rand.NewPCG(7, 2))
	const n = 700
	x := make([][2]float64, 2*n)
	for k := range x {
		at := []float64{0, 100, 250}[min(2, r.IntN(3+k/n))]
		x[k] = [2]float64{at + r.Float64(), at + r.Float64()}
	}
	distance := func(i, j int) float64 { return math.Hypot(x[i][0]-x[n+j][0], x[i][1]-x[n+j][1]) }
	for _, inst := range []*problem.Instance{
		drawnCosts(t, n, n, func(i, j int) int32 { return int32(1e6 * distance(i, j)) }),
		drawnCosts(t, n, n, func(i, j int) float32 { return float32(distance(i, j)) }),
		drawnCosts(t, n, n, distance),
		drawnCosts(t, n, n, func(i, j int) int64 { return int64(1e12 * distance(i, j)) }),
	} {
		o.Algorithm = "host"
		matching, err := Solve(context.Background(), inst, o)
		if err != nil || !matching.Proven {
			t.Fatalf("%s: %v", inst.Source, err)
		}
		inst.Supply = slices.Repeat([]int64{1}, n)
		o.Algorithm = ""
		flow, err := Solve(context.Background(), inst, o)
		if err != nil || !flow.Proven || flow.Value != matching.Value {
			t.Errorf("%s: %v: the flow is worth %v, the matching %v", inst.Source, err, flow.Value, matching.Value)
		}
	}
}
