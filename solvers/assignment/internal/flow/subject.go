package flow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"coalesce/autotune/kernel"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
)

// A trial is problems with whole costs and masses, to be timed or, if they are small, as cases.
type trial struct {
	Shape
	costs []int64
	a, b  []float64
}

// Nodes of the largest case, problems of a timed batch, and nodes up to which one is timed.
const (
	largestCase = 70
	timedBatch  = 132
	batchNodes  = 1024
)

// Subject is the family, for the tuner.
func Subject() subject.Subject {
	return transports{&declared{
		Kernels:    &assignment.Flow,
		Load:       assignment.LoadFlow,
		Unit:       "rows and columns",
		Most:       1 << 13,
		SizesOn:    map[string][]int{device.CUDA: {40, 128, 512, 1000, 2000, 4000, 8000}, device.Emulated: {20, 40}},
		CaseSizes:  []int{2, 3, 33, largestCase},
		Size:       func(t *trial) int { return t.Nodes() },
		Draw:       draw,
		Bind:       bind,
		Operations: func(t *trial) float64 { return float64(len(t.costs)) },
		Fits: func(v kernel.Variant, f device.Facts, size int) error {
			return Fits(v.Variant, f, Shape{Rows: size / 2, Cols: size - size/2})
		},
	}}
}

type declared = kernel.Family[*trial, *assignment.FlowKernels]

// transports is the family for the tuner, with the workloads of solves.
type transports struct{ *declared }

// Workload is the description by which solves choose.
func (transports) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	return Workload(Shape{Value: problem.Value(fixed["value"]), Count: 1, Rows: size / 2, Cols: size - size/2}, f), nil
}

// draw draws squared distances of points, and in every other case a few values, with ties; and masses, some of them zero.
func draw(w kernel.Workload, nodes int, r *rand.Rand) *trial {
	t := &trial{Shape: Shape{Value: problem.Value(w["value"]), Count: 2, Rows: nodes / 2, Cols: nodes - nodes/2}}
	ties := nodes <= largestCase && r.IntN(2) == 0
	if nodes > largestCase {
		if t.Count = 1; nodes <= batchNodes {
			t.Count = timedBatch
		}
	}
	for range t.Count {
		points := make([][2]int64, nodes)
		for i := range points {
			points[i] = [2]int64{r.Int64N(2000), r.Int64N(2000)}
		}
		for _, p := range points[:t.Rows] {
			for _, q := range points[t.Rows:] {
				x, y := p[0]-q[0], p[1]-q[1]
				c := x*x + y*y
				if ties {
					c = c%5 - 2
				}
				t.costs = append(t.costs, c)
			}
		}
		a, total := make([]float64, t.Rows), 0.0
		for i := range a {
			a[i] = float64(r.IntN(1 << 20))
			total += a[i]
		}
		a[0]++
		total++
		b := make([]float64, t.Cols)
		each := math.Floor(total / float64(t.Cols))
		for j := range b {
			b[j] = each
		}
		b[t.Cols-1] = total - each*float64(t.Cols-1)
		for range t.Cols { // the sum stays
			from, to := r.IntN(t.Cols), r.IntN(t.Cols)
			x := math.Floor(b[from] * r.Float64())
			b[from] -= x
			b[to] += x
		}
		t.a, t.b = append(t.a, a...), append(t.b, b...)
	}
	return t
}

// optimum is the least cost of problem k, by the host's method.
func (t *trial) optimum(k int) (float64, error) {
	inst := &problem.Instance{Rows: t.Rows, Cols: t.Cols, Source: "drawn"}
	problem.SetCosts(inst, t.costs[k*t.Rows*t.Cols:][:t.Rows*t.Cols])
	for _, x := range t.a[k*t.Rows:][:t.Rows] {
		inst.Supply = append(inst.Supply, int64(x))
	}
	for _, y := range t.b[k*t.Cols:][:t.Cols] {
		inst.Capacity = append(inst.Capacity, int64(y))
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		return 0, err
	}
	sol, err := simplex.Solve(context.Background(), p, engine.Host{})
	if err != nil {
		return 0, err
	}
	best := sol.Flow
	if p.Transposed {
		best = best.Transpose()
	}
	value, _ := problem.FlowValue(inst, &best).Float64()
	return value, nil
}

// near reports whether sums of that many products of masses and costs agree up to rounding.
func (t *trial) near(x, want, rounding float64) bool {
	return math.Abs(x-want) <= rounding*max(1, math.Abs(want))
}

// bind declares the buffers of a trial. Two of its problems are solved on the host.
func bind(b *kernel.Binder, k *assignment.FlowKernels, t *trial) kernel.Launches {
	var to Output
	checked := min(2, t.Count)
	want := sync.OnceValues(func() (list []float64, err error) {
		for k := range checked {
			value, err := t.optimum(k)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	})
	f := formOf(b.Variant.Variant, b.Facts(), t.Shape)
	costs, a, masses := kernel.InputValues(b, "costs", t.costs), kernel.Input(b, "masses of rows", t.a), kernel.Input(b, "masses of columns", t.b)
	work := kernel.Scratch[uint64](b, "work", f.workWords())
	barrier := kernel.InOut(b, "barrier", []uint32{0, 0}, func([]uint32) error { return nil })
	to.Status = kernel.Output(b, "statuses", t.Count, kernel.Equal(func() []int32 { return make([]int32, t.Count) })).Memory
	to.Cost = kernel.Output(b, "sums", t.Count, func(got []float64) error {
		list, err := want()
		for k, value := range list {
			if !t.near(got[k], value, 1e-11) {
				err = fmt.Errorf("problem %d: found the cost %.17g, expected %.17g", k, got[k], value)
			}
		}
		return err
	}).Memory
	var u []float64
	to.U = kernel.Output(b, "duals of rows", t.Count*t.Rows, func(got []float64) error {
		u = got
		return nil
	}).Memory
	to.V = kernel.Output(b, "duals of columns", t.Count*t.Cols, func(v []float64) error {
		for at, c := range t.costs[:checked*t.Rows*t.Cols] {
			k, i, j := at/(t.Rows*t.Cols), at/t.Cols%t.Rows, at%t.Cols
			if sum := u[k*t.Rows+i] + v[k*t.Cols+j]; !(sum <= float64(c)+1e-6) {
				return fmt.Errorf("problem %d: the duals of %d, %d add up to %g, its cost is %d", k, i, j, sum, c)
			}
		}
		return nil
	}).Memory
	size := 8
	if t.Value == problem.Float32 {
		size = 4
	}
	to.Plan = kernel.Output(b, "plans", size*len(t.costs), func(got []byte) error {
		for k := range checked {
			if err := t.checkPlan(k, got[k*size*t.Rows*t.Cols:], size); err != nil {
				return fmt.Errorf("problem %d: %w", k, err)
			}
		}
		return nil
	}).Memory
	return func(s device.Stream) error {
		return f.launch(k, s, costs.Memory, a.Memory, masses.Memory, work.Memory, barrier.Memory, to)
	}
}

// checkPlan says whether rows of problem k ship, and columns take, their masses.
func (t *trial) checkPlan(k int, raw []byte, size int) error {
	plan := make([]float64, t.Rows*t.Cols)
	if size == 8 {
		copy(device.Bytes(plan), raw)
	} else {
		short := make([]float32, len(plan))
		copy(device.Bytes(short), raw)
		for i, x := range short {
			plan[i] = float64(x)
		}
	}
	columns := make([]float64, t.Cols)
	for i := range t.Rows {
		row := 0.0
		for j, x := range plan[i*t.Cols:][:t.Cols] {
			row += x
			columns[j] += x
		}
		if want := t.a[k*t.Rows+i]; !t.near(row, want, 1e-5) {
			return fmt.Errorf("row %d ships %g, has %g", i, row, want)
		}
	}
	for j, x := range columns {
		if want := t.b[k*t.Cols+j]; !t.near(x, want, 1e-5) {
			return fmt.Errorf("column %d takes %g of %g", j, x, want)
		}
	}
	return nil
}
