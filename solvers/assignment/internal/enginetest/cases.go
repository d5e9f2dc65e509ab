// Package enginetest has the cases and the proofs that tests of all algorithms share.
package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// MatrixOn puts a problem's costs on a device.
func MatrixOn(t *testing.T, d device.Device, s device.Stream, p *problem.Normal) *engine.Matrix {
	t.Helper()
	b, err := d.Alloc(int64(len(p.Instance.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Free() })
	if err := s.Upload(b, 0, p.Instance.Bytes()); err != nil {
		t.Fatal(err)
	}
	return &engine.Matrix{Costs: b, Rows: p.Rows, Cols: p.Cols}
}

// SetCosts gives an instance drawn costs in a type.
func SetCosts(inst *problem.Instance, value problem.Value, costs []float64) {
	switch value {
	case problem.Int32:
		problem.SetCosts(inst, converted[int32](costs))
	case problem.Int64:
		problem.SetCosts(inst, converted[int64](costs))
	case problem.Float32:
		problem.SetCosts(inst, converted[float32](costs))
	default:
		problem.SetCosts(inst, costs)
	}
}

func converted[T problem.Number](list []float64) []T {
	out := make([]T, len(list))
	for k, x := range list {
		out[k] = T(x)
	}
	return out
}

// Cases are problems of a type: all kinds of small ones, and larger ones
// that take many levels, dual updates and phases.
func Cases(t *testing.T, value problem.Value, small int) map[string]*problem.Normal {
	t.Helper()
	cases := map[string]*problem.Normal{}
	add := func(name string, inst *problem.Instance, err error) {
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(name, err)
		}
		cases[name] = p
	}
	r := rand.New(rand.NewPCG(4, 77))
	for k := 0; k < small; {
		inst, err := RandomProblem(r, 12)
		if err == nil && (inst.Type != value || !inst.Dense() || inst.Limit != nil) {
			continue
		}
		add(fmt.Sprintf("small %d, %d x %d", k, inst.Rows, inst.Cols), inst, err)
		k++
	}
	for _, d := range []draw.Drawing{
		{Kind: "uniform", Rows: 70, Cols: 70, Range: 7},
		{Kind: "uniform", Rows: 45, Cols: 45, Range: 450, Shift: 100},
		{Kind: "integer", Rows: 33, Cols: 70, Range: 1000},
		{Kind: "machol", Rows: 9, Cols: 9, Permuted: true},
		{Kind: "equal", Rows: 34, Cols: 34},
	} {
		d.Type, d.Seed = value, 1<<40
		inst, err := draw.Draw(d)
		add(d.String(), inst, err)
	}
	for _, size := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {1, 40}} {
		inst, err := draw.Generate("uniform", size[0], size[1], 5, 1<<40, value)
		add(inst.Source, inst, err)
	}
	for _, forbidden := range []float64{0.7, 0.97} {
		inst := &problem.Instance{Rows: 40, Cols: 41, Source: "forbidden"}
		switch value {
		case problem.Int32:
			punch[int32](r, inst, forbidden)
		case problem.Int64:
			punch[int64](r, inst, forbidden)
		case problem.Float32:
			punch[float32](r, inst, forbidden)
		case problem.Float64:
			punch[float64](r, inst, forbidden)
		}
		add(fmt.Sprint("forbidden ", forbidden), inst, inst.Check())
	}
	return cases
}

// punch draws costs of which a share is forbidden.
func punch[T problem.Number](r *rand.Rand, inst *problem.Instance, share float64) {
	costs := make([]T, inst.Rows*inst.Cols)
	for k := range costs {
		if costs[k] = T(r.IntN(60)); r.Float64() < share {
			costs[k] = problem.Forbidden[T](false)
		}
	}
	problem.SetCosts(inst, costs)
}

// ShardCases are those of all families, and some with a limit and repairs.
func ShardCases(t *testing.T, value problem.Value, small int) map[string]*problem.Normal {
	t.Helper()
	cases := Cases(t, value, small)
	r := rand.New(rand.NewPCG(4, 81))
	for k := 0; k < small; {
		inst, err := RandomProblem(r, 14)
		if err != nil {
			t.Fatal(err)
		}
		if inst.Type != value || inst.Limit == nil || !inst.Dense() {
			continue
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases[fmt.Sprintf("limit %d, %d x %d", k, inst.Rows, inst.Cols)] = p
		k++
	}
	return cases
}

// SafeOf is a family's safe variant for a type of costs.
func SafeOf(f *device.Family, value problem.Value) *device.Variant {
	for i := range f.Variants {
		if v := &f.Variants[i]; v.Safe && f.Value(v, "value") == string(value) {
			return v
		}
	}
	return nil
}

// RandomPoints makes an instance of points, some of them equal.
func RandomPoints(r *rand.Rand, largest int) (*problem.Instance, error) {
	q := problem.Points{
		Dim:    1 + r.IntN(3),
		Metric: []problem.Metric{problem.Euclidean, problem.Squared, problem.Manhattan}[r.IntN(3)],
		Floor:  r.IntN(2) == 0,
	}
	span := []int{2, 10, 10000}[r.IntN(3)]
	rows, cols := 1+r.IntN(largest), 1+r.IntN(largest)
	if r.IntN(2) == 0 {
		cols = rows
	}
	shift := float64(r.IntN(2) * span)
	for range rows * q.Dim {
		q.Row = append(q.Row, float64(r.IntN(span)))
	}
	for range cols * q.Dim {
		q.Col = append(q.Col, shift+float64(r.IntN(span)))
	}
	inst, err := problem.NewPoints(q, "test")
	if err != nil {
		return nil, err
	}
	inst.Maximize = r.IntN(3) == 0
	if r.IntN(4) == 0 {
		l := float64(r.IntN(span))
		inst.Limit = &l
	}
	return inst, nil
}

// PointCase draws a problem of points, some equal, of a metric: one to three
// coordinates, any limit and sense.
func PointCase(t *testing.T, r *rand.Rand, metric problem.Metric, floor bool, largest int) *problem.Normal {
	t.Helper()
	inst, err := RandomPoints(r, largest)
	if err != nil {
		t.Fatal(err)
	}
	q := inst.Points
	q.Metric, q.Floor, inst.Type = metric, floor, problem.Int64
	if !floor {
		inst.Type = problem.Float64
		for k := range q.Row {
			q.Row[k] += r.Float64()
		}
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// instances of every form, type and sense, small.
func InstancesOfEveryForm(t *testing.T) []*problem.Instance {
	t.Helper()
	limit := 400.0
	var list []*problem.Instance
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for _, size := range [][2]int{{12, 12}, {9, 14}, {14, 9}} {
			for _, d := range []draw.Drawing{
				{Kind: "uniform", Range: 1000},
				{Kind: "uniform", Range: 1000, Density: 0.5},
				{Kind: "geom", Range: 1000, Points: true},
			} {
				d.Rows, d.Cols, d.Seed, d.Type = size[0], size[1], Seed, value
				inst, err := draw.Draw(d)
				if err != nil {
					t.Fatal(err)
				}
				limited := *inst
				limited.Limit = &limit
				largest := *inst
				largest.Maximize = true
				list = append(list, inst, &limited, &largest)
			}
		}
	}
	return list
}

// MatrixOf is a dense instance of costs, row by row.
func MatrixOf[T problem.Number](t *testing.T, cols int, costs ...T) *problem.Instance {
	t.Helper()
	inst, err := problem.NewInstance(len(costs)/cols, cols, costs, "test")
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// Seed is that of the published optima: 2^40.
const Seed = 1 << 40

// ManyZeros has one cheap column: the first dual update makes all other entries
// zeros.
func ManyZeros(t *testing.T) *problem.Normal {
	inst := &problem.Instance{Rows: 400, Cols: 410, Source: "many zeros"}
	costs := slices.Repeat([]int32{1}, inst.Rows*inst.Cols)
	for i := range inst.Rows {
		costs[i*inst.Cols] = 0
	}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
