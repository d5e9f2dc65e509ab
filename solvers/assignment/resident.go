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
	"coalesce/solvers/solve"
)

// A Layout describes dense instances of one shape in a device's memory, one after the other and row
// after row. The largest number of an integer type, which forbids a pair elsewhere, is a cost
// like others there.
type Layout struct {
	Type              problem.Value
	Count, Rows, Cols int
	Maximize          bool
	Bare              bool // columns alone are asked for, by SolveColumns; no duals and no values
}

// A ResidentSolver solves instances whose costs are on a device only. Costs that rounding to units leaves
// open, and integers beyond 2^60 over the rows, are copied to the host, of a large instance the matched and the undecided ones alone; no others are. It keeps its memory from solve to solve, and belongs to one goroutine at a time.
type ResidentSolver struct {
	layout        Layout
	options       Options
	inst          *problem.Instance
	p             *problem.Normal // of each instance, without its range and scale
	device        device.Device
	stream        device.Stream
	engine        *batch.Engine      // for many instances, or a small one
	reason        string             // of the choice of its variant
	where         string             // the device's name
	fit           *batch.RangeFinder // finds the range of a large instance
	job           *job               // solves it; nil until its first costs are known
	matchedStream device.Stream      // brings the matched costs of a large instance to the host while kernels check it
	matched       []float64          // the costs that it brought
	class         string             // class of the costs for which job was made
	costs         device.Buffer      // of the solve under way
	held          device.Scope
}

// singleBlockRows is the largest number of rows of one instance that one block solves in one
// launch. For small instances the launches of the other families alone take longer; from which size
// on they are faster was not measured.
const singleBlockRows = 256

// IsSingle reports whether the layout is one instance for all blocks of the device, which
// needs rows <= columns. Else a block solves an instance.
func (l Layout) IsSingle() bool {
	return l.Count == 1 && min(l.Rows, l.Cols) > singleBlockRows && l.Rows <= l.Cols
}

// normal is the normal problem of each of the instances, whose costs may be any.
func (l Layout) normal(source problem.CostSource) (*problem.Instance, *problem.Normal, error) {
	inst := &problem.Instance{Rows: l.Rows, Cols: l.Cols, Type: l.Type, Maximize: l.Maximize, Source: "memory of a device"}
	if l.Count < 0 || l.Rows < 0 || l.Cols < 0 || l.Rows > problem.MaxSide || l.Cols > problem.MaxSide || l.Type.Size() == 0 {
		return nil, nil, solve.InvalidInput("layout", "%d of %d x %d costs of type %q on a device: expected sides from 0 to %d, and int32, int64, float32 or float64", l.Count, l.Rows, l.Cols, l.Type, problem.MaxSide)
	}
	p := &problem.Normal{Instance: inst, Rows: l.Rows, Cols: l.Cols, Scale: 1, Limit: problem.Infinity, Source: source}
	if p.Transposed = l.Rows > l.Cols; p.Transposed {
		turned := *inst
		turned.Rows, turned.Cols = l.Cols, l.Rows
		p.Instance, p.Rows, p.Cols = &turned, l.Cols, l.Rows
	}
	if p.Max = problem.MaxScaled(p.Rows); l.Maximize {
		p.Scale = -1
	}
	return inst, p, nil
}

// OpenResident plans for a layout and takes the memory that solving needs besides the
// costs, on one device.
func OpenResident(ctx context.Context, l Layout, o Options) (_ *ResidentSolver, err error) {
	r := &ResidentSolver{layout: l, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open costs on a device: %w", err), r.Close())
		}
	}()
	if err = o.checkBest(); err == nil && len(o.Devices) > 1 {
		err = solve.InvalidInput("Devices", "found %d, expected one: the costs are on it", len(o.Devices))
	}
	if err != nil {
		return nil, err
	}
	r.device = o.Devices[0]
	if o.Start != nil {
		return nil, solve.InvalidInput("Start", "duals to begin from are for costs of the host")
	}
	r.options.lent, r.where = true, o.DeviceNames()
	if r.inst, r.p, err = l.normal(r); err != nil || r.p.Rows == 0 || l.Count == 0 {
		return r, err
	}
	if l.IsSingle() {
		err = r.openFit()
	} else {
		err = r.openBatch()
	}
	if err != nil {
		return r, err
	}
	r.stream, err = r.held.NewStream(r.device)
	return r, err
}

// openFit takes the kernels that find the range of a large instance.
func (r *ResidentSolver) openFit() (err error) {
	if r.fit, err = batch.OpenFit(r.device, r.layout.Type); err != nil {
		return err
	}
	r.held.CloseLater(r.fit)
	r.matchedStream, err = r.held.NewStream(r.device)
	return err
}

// openBatch takes the kernels of batches.
func (r *ResidentSolver) openBatch() (err error) {
	facts := r.device.Facts()
	shared := int(batch.StateBytes(int64(r.p.Rows), int64(r.p.Cols)))
	c, err := r.options.Choose(&assignment.Batch, facts, batch.Workload(engine.Workload(r.p), facts), func(v *device.Variant) error { return batch.CheckFits(v, facts, shared) })
	if err != nil {
		return err
	}
	r.reason = c.Reason()
	if r.engine, err = batch.OpenFitted(r.device, c.Variant, r.p, r.layout.Count, !r.options.Unchecked, !r.layout.Bare); err != nil {
		return err
	}
	r.held.CloseLater(r.engine)
	return nil
}

// ready calls before, which makes the stream wait for other work, and then takes the costs.
func (r *ResidentSolver) ready(costs device.Buffer, before func(device.Stream) error) error {
	l := r.layout
	if need := int64(l.Count) * int64(l.Rows) * int64(l.Cols) * int64(l.Type.Size()); costs.Len() < need {
		return fmt.Errorf("costs on a device: found %d bytes, expected %d", costs.Len(), need)
	}
	r.costs = costs
	if before == nil || r.stream == nil {
		return nil
	}
	if err := before(r.stream); err != nil {
		return fmt.Errorf("solve assignments: %w", err)
	}
	return nil
}

// SolveColumns solves the instances of a bare layout like Solve. It writes to column, for each instance,
// Rows columns, -1 for an unmatched row, and to full whether the instance has a full matching.
func (r *ResidentSolver) SolveColumns(ctx context.Context, costs device.Buffer, before func(device.Stream) error, column []int32, full []bool) error {
	ctx, cancel := r.options.WithTimeLimit(ctx)
	defer cancel()
	for i := range column {
		column[i] = -1
	}
	if err := r.ready(costs, before); err != nil || r.p.Rows == 0 || r.layout.Count == 0 {
		for k := range full {
			full[k] = true
		}
		return err
	}
	if r.fit != nil {
		one, err := r.solveOne(ctx)
		if err == nil {
			full[0] = one.Column != nil
			copy(column, one.Column)
		}
		return err
	}
	if err := r.engine.Solve(ctx, r.stream, costs); err != nil {
		return fmt.Errorf("solve assignments: %w", err)
	}
	for k := range full {
		sol, p, err := r.answer(k)
		if r.isWide(err) {
			one, err := r.wide(ctx, r.result("", ""), k)
			if err != nil {
				return err
			}
			full[k] = one.Column != nil
			copy(column[k*r.layout.Rows:], one.Column)
			continue
		}
		if err != nil {
			return err
		}
		if full[k] = sol != nil; !full[k] {
			continue
		}
		if c := r.engine.Certificate(k, p, ""); c.Rounded > 0 && !r.options.Unchecked {
			one, err := r.decideOnHost(ctx, r.result("", ""), k, p, sol, c, nil)
			if err != nil {
				return err
			}
			copy(column[k*r.layout.Rows:], one.Column)
			continue
		}
		r.place(sol.Column, column[k*r.layout.Rows:])
	}
	return nil
}

// isWide reports whether err says that integers are too large for the kernels.
func (r *ResidentSolver) isWide(err error) bool {
	return errors.Is(err, problem.ErrCost) && r.layout.Type.Integer()
}

// wide solves instance k, whose integers are too large for the kernels, with costs of the host.
func (r *ResidentSolver) wide(ctx context.Context, one *Result, k int) (*Result, error) {
	inst, err := r.download(k)
	if err != nil {
		return nil, err
	}
	allowEvery(inst)
	o := r.options
	o.lent = false
	found, err := Solve(ctx, inst, o)
	var none *problem.InfeasibleError
	if err != nil && !errors.As(err, &none) {
		return nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
	}
	*one = *found
	return one, nil
}

// allowEvery makes the largest number of integers a cost like others.
func allowEvery(inst *problem.Instance) {
	if inst.Type == problem.Int32 {
		costs := make([]int64, len(inst.I32))
		for k, c := range inst.I32 {
			costs[k] = int64(c)
		}
		problem.SetCosts(inst, costs)
	}
	inst.Every = inst.Type.Integer()
}

// download copies the costs of instance k to the host.
func (r *ResidentSolver) download(k int) (*problem.Instance, error) {
	inst := *r.inst
	makeCosts(&inst, inst.Rows*inst.Cols)
	size := int64(len(inst.Bytes()))
	if err := r.stream.Download(inst.Bytes(), r.costs, int64(k)*size); err != nil {
		return nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
	}
	return &inst, nil
}

// pick is the large instance with the costs of matched and near pairs alone, as a sparse one; it has at most as many rows as columns.
func (r *ResidentSolver) pick(sol *engine.Solution, near []problem.Pair) (*problem.Instance, error) {
	inst, count := *r.inst, len(near)+len(sol.Column)
	start, cols, indices := make([]int64, inst.Rows+1), make([]int32, count), make([]uint64, count)
	for _, x := range near {
		start[x.Row+1]++
	}
	for i := range inst.Rows {
		start[i+1] += start[i] + 1
	}
	at := slices.Clone(start[:inst.Rows])
	for i, j := range sol.Column {
		cols[at[i]] = j
		at[i]++
	}
	for _, x := range near {
		cols[at[x.Row]] = x.Col
		at[x.Row]++
	}
	for i := range inst.Rows {
		row := cols[start[i]:start[i+1]]
		slices.Sort(row)
		for k, j := range row {
			indices[start[i]+int64(k)] = uint64(i)*uint64(inst.Cols) + uint64(j)
		}
	}
	inst.Sparse = &problem.Sparse{Start: start, Col: cols}
	makeCosts(&inst, count)
	if err := r.fit.Pick(r.device, r.stream, r.costs, indices, inst.Bytes()); err != nil {
		return nil, fmt.Errorf("solve assignment: %w", err)
	}
	return &inst, nil
}

// costsOf copies the costs of instance k to the host: of a large one whose near pairs are known these and the matched ones alone.
func (r *ResidentSolver) costsOf(k int, sol *engine.Solution, near []problem.Pair) (*problem.Instance, error) {
	if near != nil && r.fit != nil {
		return r.pick(sol, near)
	}
	return r.download(k)
}

// decideOnHost is the result of instance k whose costs were rounded: they come to the host, where they
// decide. near are the near pairs, nil where they are not known. Of a large instance whose near pairs are
// known these alone come, and the matched ones.
func (r *ResidentSolver) decideOnHost(ctx context.Context, one *Result, k int, p *problem.Normal, sol *engine.Solution, c *problem.Certificate, near []problem.Pair) (*Result, error) {
	inst, err := r.costsOf(k, sol, near)
	if err != nil {
		return nil, err
	}
	own := *p
	if own.Instance, own.Source = inst, nil; p.Transposed {
		own.Instance = inst.Transpose()
	}
	one.inst = inst
	d, err := one.setSolution(inst, &own, sol)
	if err != nil {
		return nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
	}
	if near == nil {
		_, near, err = checkNear(inst, &own, one.Column, *d)
	}
	before := sol.Column
	if err == nil {
		err = one.decideExactly(ctx, &own, sol, c, near, Options{Settings: solve.Settings{Tuning: r.options.Tuning}})
	}
	if err == nil && !slices.Equal(before, sol.Column) {
		_, err = one.setSolution(inst, &own, sol)
	}
	if err != nil {
		return nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
	}
	if r.options.Duals {
		one.Duals = d
	}
	one.inst = r.inst
	one.setCertificate(c)
	return one, nil
}

// place writes the columns of a problem's rows as those of its instance's, where there is
// -1 for each.
func (r *ResidentSolver) place(found, column []int32) {
	if !r.p.Transposed {
		copy(column, found)
		return
	}
	for j, i := range found {
		column[i] = int32(j)
	}
}

// answer is the checked answer to instance k, and its problem; nil where no full matching
// exists.
func (r *ResidentSolver) answer(k int) (*engine.Solution, *problem.Normal, error) {
	p := *r.p
	err := r.engine.SetFittedRange(k, &p)
	var sol *engine.Solution
	full := false
	if err == nil {
		sol, full = r.engine.Solution(k)
	}
	if full && !r.options.Unchecked {
		err = r.engine.VerifySolution(k, &p, sol)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("solve assignments: instance %d: %w", k, err)
	}
	if !full {
		return nil, &p, nil
	}
	return sol, &p, nil
}

// Solve solves the instances whose costs are in a buffer of the device. before, unless nil, makes
// the stream wait for other work first. The result of an instance without a full matching has
// neither Column nor Certificate; values are those of the certificates. Costs that cannot be solved
// are an ErrCost.
func (r *ResidentSolver) Solve(ctx context.Context, costs device.Buffer, before func(device.Stream) error) ([]*Result, error) {
	ctx, cancel := r.options.WithTimeLimit(ctx)
	defer cancel()
	l := r.layout
	if l.Bare {
		return nil, errors.New("costs on a device: results of a layout of which columns alone are asked for")
	}
	results := make([]*Result, l.Count)
	if err := r.ready(costs, before); err != nil {
		return nil, err
	}
	if r.p.Rows == 0 {
		for k := range results {
			results[k] = r.result("", "no costs")
			results[k].Column, results[k].Value = unmatched(l.Rows), "0"
			if r.options.Duals {
				results[k].Duals = &problem.Duals{U: make([]int64, l.Rows), V: make([]int64, l.Cols), Scale: r.p.Scale}
			}
			results[k].setCertificate(&problem.Certificate{By: "host", Primal: "0", Dual: "0", Scale: r.p.Scale, Exact: true})
		}
		return results, nil
	}
	if l.Count == 0 {
		return results, nil
	}
	if r.fit != nil {
		one, err := r.solveOne(ctx)
		return []*Result{one}, err
	}
	clock := time.Now()
	if err := r.engine.Solve(ctx, r.stream, costs); err != nil {
		return nil, fmt.Errorf("solve assignments: %w", err)
	}
	seconds := time.Since(clock).Seconds()
	variant := assignment.Batch.Name + " " + r.engine.Variant.Label
	errs, rounded, wide := make([]error, l.Count), make([]bool, l.Count), make([]bool, l.Count)
	solutions, problems, certificates := make([]*engine.Solution, l.Count), make([]*problem.Normal, l.Count), make([]*problem.Certificate, l.Count)
	forEachOnAllCores(l.Count, func(k int) {
		one := r.result(variant, r.reason)
		one.Seconds.Solve = seconds
		results[k] = one
		sol, p, err := r.answer(k)
		if errs[k] = err; sol == nil {
			wide[k] = r.isWide(err)
			return
		}
		sol.Column, sol.U, sol.V = slices.Clone(sol.Column), slices.Clone(sol.U), slices.Clone(sol.V)
		c := r.engine.Certificate(k, p, one.Device+", "+variant)
		if rounded[k] = c.Rounded > 0 && !r.options.Unchecked; rounded[k] {
			solutions[k], problems[k], certificates[k] = sol, p, c
			return
		}
		r.take(one, p, sol)
		if !r.options.Unchecked {
			one.setCertificate(c)
		}
	})
	for k := range results { // one after the other, as they use the stream
		switch {
		case wide[k]:
			_, errs[k] = r.wide(ctx, results[k], k)
		case rounded[k]:
			_, errs[k] = r.decideOnHost(ctx, results[k], k, problems[k], solutions[k], certificates[k], nil)
		}
	}
	return results, errors.Join(errs...)
}

// plan makes the job of a large instance, and a new one where the class of the costs, by which
// algorithms are chosen, has changed since the last.
func (r *ResidentSolver) plan(ctx context.Context, p *problem.Normal) (err error) {
	if class := costClass(p); r.job == nil || class != r.class {
		if r.job != nil {
			err = r.job.Close()
			r.job = nil
		}
		if err == nil {
			r.job, err = prepare(ctx, p, r.options, nil)
		}
		if err == nil && r.job.matrix == nil {
			err = fmt.Errorf("%s solves on the host", r.job.plan)
		}
		if err != nil {
			return err
		}
		r.class = class
	}
	r.job.p, r.job.matrix.Costs = p, r.costs
	return nil
}

// solveOne solves a large instance.
func (r *ResidentSolver) solveOne(ctx context.Context) (*Result, error) {
	p := *r.p
	err := r.fit.FindRange(r.device, r.stream, &p, r.costs)
	if r.isWide(err) {
		return r.wide(ctx, r.result("", ""), 0)
	}
	if err == nil {
		err = r.plan(ctx, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %w", err)
	}
	j := r.job
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
	var near []problem.Pair
	var exact solve.Number // the value, where costs may be rounded
	if j.checksOnDevice() {
		clock = time.Now()
		if j.checker != nil && r.layout.Type == problem.Float64 { // whose units mostly round
			j.checker.MatchedOn, j.checker.Meanwhile = r.matchedStream, func() {
				r.matched = slices.Grow(r.matched[:0], p.Rows)[:p.Rows]
				if j.checker.MatchedCosts(r.matched) == nil {
					exact = formatValue(sumOfFloats(r.matched), false)
				}
			}
		}
		if cert, near, err = j.check(ctx, sol); err != nil {
			return nil, fmt.Errorf("solve assignment: %s: %w", one.Variant, err)
		}
		one.Seconds.Verify = time.Since(clock).Seconds()
	}
	decided := near != nil && len(near) == 0 && p.Rows == p.Cols // no other matching is within rounding
	if cert.Rounded > 0 && (!decided || exact == "") {
		return r.decideOnHost(ctx, one, 0, &p, sol, &cert, near)
	}
	r.take(one, &p, sol)
	if cert.Rounded > 0 {
		one.Value, cert.Gap = exact, 0
		if err = one.checkValue(); err != nil {
			return nil, fmt.Errorf("solve assignments: %w", err)
		}
	}
	if j.checksOnDevice() {
		one.setCertificate(&cert)
	}
	return one, nil
}

func (r *ResidentSolver) result(variant, reason string) *Result {
	one := newResult(r.inst)
	one.solvedBy(r.where, variant, reason)
	return one
}

// take writes a solution into a result. The sum of optimal duals is that of the matched
// costs; it stays below 2^60, so that sums on the way may wrap.
func (r *ResidentSolver) take(one *Result, p *problem.Normal, sol *engine.Solution) {
	one.Counts, one.Column, one.Matched = sol.Counts, sol.Column, p.Rows
	d := &problem.Duals{U: sol.U, V: sol.V, Scale: p.Scale}
	sum := int64(0)
	for _, list := range [][]int64{sol.U, sol.V} {
		for _, x := range list {
			sum += x
		}
	}
	if p.Transposed {
		d.U, d.V = sol.V, sol.U
		one.Column = unmatched(r.layout.Rows)
		r.place(sol.Column, one.Column)
	}
	if r.options.Duals {
		one.Duals = d
	}
	if r.inst.Type.Integer() {
		one.Value = solve.Number(strconv.FormatInt(sum*int64(p.Scale), 10))
	} else {
		one.Value = solve.Number(problem.FormatFloat(float64(sum)/p.Scale, 64))
	}
}

// unmatched is -1 for every row.
func unmatched(rows int) []int32 {
	column := slices.Repeat([]int32{-1}, rows)
	return column
}

// Scaled returns the scaled cost of a pair for the error of a check; it reads this cost from the
// device.
func (r *ResidentSolver) Scaled(scale float64, i, j int) int64 {
	cell := r.cell(i, j)
	switch {
	case cell == nil:
		return problem.Infinity
	case r.layout.Type == problem.Int64:
		return int64(scale) * int64(binary.NativeEndian.Uint64(cell))
	}
	return problem.ToScaled(r.costOf(cell), scale)
}

// Cost is the cost of a pair, read from the device, not a number where that fails.
func (r *ResidentSolver) Cost(i, j int) float64 {
	if cell := r.cell(i, j); cell != nil {
		return r.costOf(cell)
	}
	return math.NaN()
}

// cell is the memory of the cost of a pair, nil where it cannot be read.
func (r *ResidentSolver) cell(i, j int) []byte {
	if r.p.Transposed {
		i, j = j, i
	}
	size := int64(r.layout.Type.Size())
	cell := make([]byte, size)
	if r.stream.Download(cell, r.costs, (int64(i)*int64(r.layout.Cols)+int64(j))*size) != nil {
		return nil
	}
	return cell
}

func (r *ResidentSolver) costOf(cell []byte) float64 {
	switch r.layout.Type {
	case problem.Int32:
		return float64(int32(binary.NativeEndian.Uint32(cell)))
	case problem.Int64:
		return float64(int64(binary.NativeEndian.Uint64(cell)))
	case problem.Float32:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(cell)))
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(cell))
}

// Close gives back the memory; not the costs, which are the caller's.
func (r *ResidentSolver) Close() error {
	var err error
	if r.job != nil {
		err = r.job.Close()
	}
	return errors.Join(err, r.held.Close())
}
