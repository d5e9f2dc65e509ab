package assignment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
)

// matrixOn puts a problem's costs on a device.
func matrixOn(t *testing.T, d device.Device, s device.Stream, p *normal) *matrix {
	t.Helper()
	b, err := d.Alloc(int64(len(p.inst.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Free() })
	if err := s.Upload(b, 0, p.inst.Bytes()); err != nil {
		t.Fatal(err)
	}
	return &matrix{costs: b, rows: p.rows, cols: p.cols}
}

// treeCases are problems of a type: all kinds of small ones, and larger ones
// that take many levels, dual updates and phases.
func treeCases(t *testing.T, value Value, small int) map[string]*normal {
	t.Helper()
	cases := map[string]*normal{}
	add := func(name string, inst *Instance, err error) {
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(name, err)
		}
		cases[name] = p
	}
	r := rand.New(rand.NewPCG(4, 77))
	for k := 0; k < small; {
		inst, err := draw(r, 12)
		if err == nil && (inst.Type != value || !inst.Dense() || inst.Limit != nil) {
			continue
		}
		add(fmt.Sprintf("small %d, %d x %d", k, inst.Rows, inst.Cols), inst, err)
		k++
	}
	for _, d := range []Drawing{
		{Kind: "uniform", Rows: 70, Cols: 70, Range: 7},
		{Kind: "uniform", Rows: 45, Cols: 45, Range: 450, Shift: 100},
		{Kind: "integer", Rows: 33, Cols: 70, Range: 1000},
		{Kind: "machol", Rows: 9, Cols: 9, Permuted: true},
		{Kind: "equal", Rows: 34, Cols: 34},
	} {
		d.Type, d.Seed = value, 1<<40
		inst, err := Draw(d)
		add(d.String(), inst, err)
	}
	for _, size := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {1, 40}} {
		inst, err := Generate("uniform", size[0], size[1], 5, 1<<40, value)
		add(inst.Source, inst, err)
	}
	for _, forbidden := range []float64{0.7, 0.97} {
		inst := &Instance{Rows: 40, Cols: 41, Source: "forbidden"}
		switch value {
		case Int32:
			punch[int32](r, inst, forbidden)
		case Int64:
			punch[int64](r, inst, forbidden)
		case Float32:
			punch[float32](r, inst, forbidden)
		case Float64:
			punch[float64](r, inst, forbidden)
		}
		add(fmt.Sprint("forbidden ", forbidden), inst, inst.Check())
	}
	return cases
}

// punch draws costs of which a share is forbidden.
func punch[T Number](r *rand.Rand, inst *Instance, share float64) {
	costs := make([]T, inst.Rows*inst.Cols)
	for k := range costs {
		if costs[k] = T(r.IntN(60)); r.Float64() < share {
			costs[k] = Forbidden[T](false)
		}
	}
	setCosts(inst, costs)
}

// shardCases are those of all families, and some with a limit and repairs.
func shardCases(t *testing.T, value Value, small int) map[string]*normal {
	t.Helper()
	cases := treeCases(t, value, small)
	r := rand.New(rand.NewPCG(4, 81))
	for k := 0; k < small; {
		inst, err := draw(r, 14)
		if err != nil {
			t.Fatal(err)
		}
		if inst.Type != value || inst.Limit == nil || !inst.Dense() {
			continue
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases[fmt.Sprintf("limit %d, %d x %d", k, inst.Rows, inst.Cols)] = p
		k++
	}
	return cases
}

// safeOf is a family's safe variant for a type of costs.
func safeOf(f *device.Family, value Value) *device.Variant {
	for i := range f.Variants {
		if v := &f.Variants[i]; v.Safe && f.Value(v, "value") == string(value) {
			return v
		}
	}
	return nil
}

// drawPoints makes an instance of points, some of them equal.
func drawPoints(r *rand.Rand, largest int) (*Instance, error) {
	q := Points{
		Dim:    1 + r.IntN(3),
		Metric: []Metric{Euclidean, Squared, Manhattan}[r.IntN(3)],
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
	inst, err := NewPoints(q, "test")
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

// pointCase draws a problem of points, some equal, of a metric: one to three
// coordinates, any limit and sense.
func pointCase(t *testing.T, r *rand.Rand, metric Metric, floor bool, largest int) *normal {
	t.Helper()
	inst, err := drawPoints(r, largest)
	if err != nil {
		t.Fatal(err)
	}
	q := inst.Points
	q.Metric, q.Floor, inst.Type = metric, floor, Int64
	if !floor {
		inst.Type = Float64
		for k := range q.Row {
			q.Row[k] += r.Float64()
		}
	}
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// instances of every form, type and sense, small.
func forms(t *testing.T) []*Instance {
	t.Helper()
	limit := 400.0
	var list []*Instance
	for _, value := range []Value{Int32, Int64, Float32, Float64} {
		for _, size := range [][2]int{{12, 12}, {9, 14}, {14, 9}} {
			for _, d := range []Drawing{
				{Kind: "uniform", Range: 1000},
				{Kind: "uniform", Range: 1000, Density: 0.5},
				{Kind: "geom", Range: 1000, Points: true},
			} {
				d.Rows, d.Cols, d.Seed, d.Type = size[0], size[1], seed, value
				inst, err := Draw(d)
				if err != nil {
					t.Fatal(err)
				}
				limited := *inst
				limited.Limit = &limit
				most := *inst
				most.Maximize = true
				list = append(list, inst, &limited, &most)
			}
		}
	}
	return list
}

func matrixOf[T Number](t *testing.T, cols int, costs ...T) *Instance {
	t.Helper()
	inst, err := NewInstance(len(costs)/cols, cols, costs, "test")
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// seed is that of the published optima: 2^40.
const seed = 1 << 40

// manyZeros has one cheap column: the first dual update makes all other entries
// zeros.
func manyZeros(t *testing.T) *normal {
	inst := &Instance{Rows: 400, Cols: 410, Source: "many zeros"}
	costs := slices.Repeat([]int32{1}, inst.Rows*inst.Cols)
	for i := range inst.Rows {
		costs[i*inst.Cols] = 0
	}
	setCosts(inst, costs)
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
