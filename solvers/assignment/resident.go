package assignment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/batch"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A Layout is dense instances of one shape that lie in a device's memory, one after the
// other and row after row.
type Layout struct {
	Type              Value
	Count, Rows, Cols int
	Maximize          bool
	// Least and Most bound the costs that are allowed; they need not be met. A cost that
	// is not a number is for the caller to find, before.
	Least, Most float64
}

// A Resident solves instances whose costs are on a device and nowhere else: none of them
// goes through the host. It keeps its memory from solve to solve, and belongs to one
// goroutine at a time.
type Resident struct {
	layout  Layout
	options Options
	inst    *problem.Instance
	p       *problem.Normal
	stream  device.Stream
	engine  *batch.Engine // of many instances, or a small one
	reason  string        // why its variant
	where   string        // the device's name
	job     *job          // of a large one
	costs   device.Buffer // of the solve under way
	held    device.Scope
}

// soloRows is up to how many rows one instance is solved by one block, in one launch.
// The launches of the other families take longer than that in the smallest; where they
// meet was not measured.
const soloRows = 256

// normal is the normal problem of each of the instances; where only bounds are known,
// floats have as many bits as fit.
func (l Layout) normal(source problem.CostSource) (*problem.Instance, *problem.Normal, error) {
	if l.Count < 0 || l.Least > l.Most || l.Least-l.Least != 0 || l.Most-l.Most != 0 {
		return nil, nil, fmt.Errorf("%w: %d instances of costs from %v to %v: expected finite bounds", problem.ErrCost, l.Count, l.Least, l.Most)
	}
	inst := &problem.Instance{Rows: l.Rows, Cols: l.Cols, Type: l.Type, Maximize: l.Maximize, Source: "memory of a device"}
	if l.Rows < 0 || l.Cols < 0 || l.Rows > MaxSide || l.Cols > MaxSide || l.Type.Size() == 0 {
		return nil, nil, fmt.Errorf("%d x %d costs of type %q on a device: expected sides from 0 to %d, and int32, int64, float32 or float64", l.Rows, l.Cols, l.Type, MaxSide)
	}
	p := &problem.Normal{Instance: inst, Rows: l.Rows, Cols: l.Cols, Limit: problem.Infinity, Source: source}
	if p.Transposed = l.Rows > l.Cols; p.Transposed {
		turned := *inst
		turned.Rows, turned.Cols = l.Cols, l.Rows
		p.Instance, p.Rows, p.Cols = &turned, l.Cols, l.Rows
	}
	if l.Type.Integer() {
		if bound := float64(problem.MaxScaled(p.Rows)); l.Least < -bound || l.Most > bound {
			return nil, nil, fmt.Errorf("%w: costs from %v to %v: expected at most %v in magnitude", problem.ErrCost, l.Least, l.Most, bound)
		}
		return inst, p, p.FitIntegers(int64(l.Least), int64(l.Most))
	}
	p.FitFloats(l.Least, l.Most, math.MinInt32)
	return inst, p, nil
}

// OpenResident plans for a layout and takes the memory that solving needs besides the
// costs, on one device. One instance that is no block's work needs rows <= columns.
func OpenResident(ctx context.Context, l Layout, o Options) (_ *Resident, err error) {
	r := &Resident{layout: l, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open costs on a device: %w", err), r.Close())
		}
	}()
	d, err := o.First()
	if err == nil && len(o.Devices) > 1 {
		err = fmt.Errorf("%d devices: the costs are on one", len(o.Devices))
	}
	if err != nil {
		return nil, err
	}
	if o.Start != nil {
		return nil, errors.New("duals to begin from are for costs of the host")
	}
	r.options.lent, r.where = true, o.Where()
	if r.inst, r.p, err = l.normal(r); err != nil || r.p.Rows == 0 || l.Count == 0 {
		return r, err
	}
	if l.Count == 1 && r.p.Rows > soloRows && !r.p.Transposed {
		r.job, err = prepare(ctx, r.p, r.options, nil)
		if err == nil && r.job.matrix == nil {
			err = fmt.Errorf("%s solves on the host", r.job.plan)
		}
		if r.job != nil {
			r.held.Keep(r.job)
			r.stream = r.job.stream
		}
		return r, err
	}
	return r, r.openBatch(d)
}

// openBatch takes the kernels of batches.
func (r *Resident) openBatch(d device.Device) error {
	l, facts := r.layout, d.Facts()
	shapes := make([]batch.Shape, l.Count)
	for k := range shapes {
		shapes[k] = batch.Shape{First: int64(k) * int64(l.Rows) * int64(l.Cols), Stride: int64(l.Cols), Rows: l.Rows, Cols: l.Cols, Scale: r.p.Scale}
	}
	shared := int(batch.StateBytes(int64(r.p.Rows), int64(r.p.Cols)))
	c, err := r.options.Choose(&assignment.Batch, facts, engine.Workload(r.p), func(v *device.Variant) error { return batch.Fits(v, facts, shared) })
	if err != nil {
		return err
	}
	r.reason = c.Reason()
	if r.engine, err = batch.Open(d, c.Variant, shapes, !r.options.Unchecked); err != nil {
		return err
	}
	r.held.Keep(r.engine)
	r.stream, err = r.held.NewStream(d)
	return err
}

// Scale is what costs are multiplied by, on their way to integers: a layout of the same
// shape and scale can be solved by the same Resident.
func (l Layout) Scale() (float64, error) {
	_, p, err := l.normal(nil)
	if err != nil {
		return 0, err
	}
	return p.Scale, nil
}

// Solve solves the instances whose costs are in a buffer of the device, once the stream
// has done what before, where it is not nil, gives it to wait for. An instance without a
// full matching has neither Column nor Certificate; values are those of the certificates.
func (r *Resident) Solve(ctx context.Context, costs device.Buffer, before func(device.Stream) error) ([]*Result, error) {
	ctx, cancel := r.options.Limited(ctx)
	defer cancel()
	l := r.layout
	if need := int64(l.Count) * int64(l.Rows) * int64(l.Cols) * int64(l.Type.Size()); costs.Len() < need {
		return nil, fmt.Errorf("costs on a device: found %d bytes, expected %d", costs.Len(), need)
	}
	results := make([]*Result, l.Count)
	if r.p.Rows == 0 {
		for k := range results {
			results[k] = r.result("", "no costs")
			results[k].Column, results[k].Exact = unmatched(l.Rows), "0"
			if r.options.Duals {
				results[k].Duals = &problem.Duals{U: make([]int64, l.Rows), V: make([]int64, l.Cols), Scale: r.p.Scale}
			}
			results[k].prove(&problem.Certificate{By: "host", Primal: "0", Dual: "0", Scale: r.p.Scale, Exact: true})
		}
		return results, nil
	}
	if l.Count == 0 {
		return results, nil
	}
	if before != nil {
		if err := before(r.stream); err != nil {
			return nil, fmt.Errorf("solve assignments: %w", err)
		}
	}
	r.costs = costs
	if r.job != nil {
		one, err := r.solveOne(ctx)
		return []*Result{one}, err
	}
	clock := time.Now()
	if err := r.engine.Solve(ctx, r.stream, costs); err != nil {
		return nil, fmt.Errorf("solve assignments: %w", err)
	}
	seconds := time.Since(clock).Seconds()
	variant := assignment.Batch.Name + " " + r.engine.Variant.Label
	errs := make([]error, l.Count)
	spread(l.Count, func(k int) {
		one := r.result(variant, r.reason)
		one.Seconds.Solve = seconds
		results[k] = one
		sol, full := r.engine.Solution(k)
		if !full {
			return
		}
		if !r.options.Unchecked {
			if errs[k] = r.engine.Prove(k, r.p, sol); errs[k] != nil {
				errs[k] = fmt.Errorf("solve assignments: instance %d: %w", k, errs[k])
				return
			}
		}
		sol.Column, sol.U, sol.V = slices.Clone(sol.Column), slices.Clone(sol.U), slices.Clone(sol.V)
		r.take(one, sol)
		if !r.options.Unchecked {
			one.prove(r.engine.Certificate(k, r.p, one.Device+", "+variant))
		}
	})
	return results, errors.Join(errs...)
}

// solveOne solves a large instance.
func (r *Resident) solveOne(ctx context.Context) (*Result, error) {
	j := r.job
	j.matrix.Costs = r.costs
	one := r.result(j.plan.String(), j.plan.reason)
	clock := time.Now()
	sol, err := j.solve(ctx, nil)
	one.Seconds.Solve = time.Since(clock).Seconds()
	var none *engine.Infeasible
	if errors.As(err, &none) {
		return one, nil
	}
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %s: %w", one.Variant, err)
	}
	var cert problem.Certificate
	if j.checks() {
		clock = time.Now()
		if cert, err = j.check(ctx, sol); err != nil {
			return nil, fmt.Errorf("solve assignment: %s: %w", one.Variant, err)
		}
		one.Seconds.Verify = time.Since(clock).Seconds()
	}
	r.take(one, sol)
	if j.checks() {
		one.prove(&cert)
	}
	return one, nil
}

func (r *Resident) result(variant, reason string) *Result {
	one := newResult(r.inst)
	one.Device, one.Variant, one.Reason = r.where, variant, reason
	return one
}

// take writes a solution into a result. The sum of optimal duals is that of the matched
// costs; it stays below 2^60, so that sums on the way may wrap.
func (r *Resident) take(one *Result, sol *engine.Solution) {
	one.Counts, one.Column, one.Matched = sol.Counts, sol.Column, r.p.Rows
	d := &problem.Duals{U: sol.U, V: sol.V, Scale: r.p.Scale}
	sum := int64(0)
	for _, list := range [][]int64{sol.U, sol.V} {
		for _, x := range list {
			sum += x
		}
	}
	if r.p.Transposed {
		d.U, d.V = sol.V, sol.U
		one.Column = unmatched(r.layout.Rows)
		for j, i := range sol.Column {
			one.Column[i] = int32(j)
		}
	}
	if r.options.Duals {
		one.Duals = d
	}
	one.Value = float64(sum) / r.p.Scale
	one.Exact = problem.FormatFloat(one.Value, 64)
	if r.inst.Type.Integer() {
		one.Exact = strconv.FormatInt(sum*int64(r.p.Scale), 10)
	}
}

// unmatched is -1 for every row.
func unmatched(rows int) []int32 {
	column := make([]int32, rows)
	for i := range column {
		column[i] = -1
	}
	return column
}

// Scaled is the scaled cost of a pair, which an error of a check tells: one cost is read
// from the device.
func (r *Resident) Scaled(scale float64, i, j int) int64 {
	if r.p.Transposed {
		i, j = j, i
	}
	size := int64(r.layout.Type.Size())
	cell := make([]byte, size)
	if r.stream.Download(cell, r.costs, (int64(i)*int64(r.layout.Cols)+int64(j))*size) != nil {
		return problem.Infinity
	}
	switch r.layout.Type {
	case Int32:
		return int64(scale) * int64(int32(binary.NativeEndian.Uint32(cell)))
	case Int64:
		return int64(scale) * int64(binary.NativeEndian.Uint64(cell))
	case Float32:
		return problem.ToScaled(float64(math.Float32frombits(binary.NativeEndian.Uint32(cell))), scale)
	}
	return problem.ToScaled(math.Float64frombits(binary.NativeEndian.Uint64(cell)), scale)
}

// Close gives back the memory; not the costs, which are the caller's.
func (r *Resident) Close() error { return r.held.Close() }
