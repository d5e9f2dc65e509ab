package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/flow"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Transports finds exact optimal transport between real masses for dense costs of one shape in a device's memory, into memory there, a batch in one
// launch. Masses are whole multiples of 2^-60 of their sum, and plans are optimal for these. It belongs to one goroutine at a time.
type Transports struct {
	layout  Layout
	options Options
	inst    *problem.Instance // each problem, without its costs
	engine  *flow.Engine      // nil where there are no problems
	variant string
}

// Shipped are buffers of the device for the answers about all problems, float64 but for the plans, of the costs' type or float64 of integers, and the statuses: plans
// as the costs lie, duals of rows and of columns, costs, and statuses, int32 (assignment.FlowStatus).
type Shipped = flow.Output

// OpenTransports chooses the kernel for a layout on one device, loads it and takes its memory. anySums: the masses of columns are scaled to the sum of
// those of rows, whatever theirs is; else sums that differ by more than 1e-7 are refused. The error wraps ErrShape where no kernel solves problems of that shape.
func OpenTransports(l Layout, anySums bool, o Options) (_ *Transports, err error) {
	t := &Transports{layout: l, options: o}
	if len(o.Devices) != 1 || l.Maximize {
		return nil, solve.InvalidInput("Devices", "found %d, expected one, and costs that are minimized", len(o.Devices))
	}
	var p *problem.Normal
	if t.inst, p, err = l.normal(nil); err != nil || p.Rows == 0 || l.Count == 0 {
		return t, err
	}
	d := o.Devices[0]
	facts := d.Facts()
	s := flow.Shape{Value: l.Type, Count: l.Count, Rows: l.Rows, Cols: l.Cols, AnySums: anySums}
	c, err := o.Choose(&assignment.Flow, facts, flow.Workload(s, facts), func(v *device.Variant) error { return flow.Fits(v, facts, s) })
	if errors.Is(err, tuned.ErrNoVariant) {
		err = fmt.Errorf("%w: %w", ErrShape, err)
	}
	if err == nil {
		t.variant = c.Variant.Label
		t.engine, err = flow.Open(d, c.Variant, s)
	}
	if err != nil {
		return nil, fmt.Errorf("open transport on a device: %w", err)
	}
	return t, nil
}

// Variant is the label of the kernel's variant.
func (t *Transports) Variant() string { return t.variant }

// Close gives back the kernel and its memory.
func (t *Transports) Close() error {
	if t.engine == nil {
		return nil
	}
	return t.engine.Close()
}

// Solve solves the problems whose costs and masses, float64 of rows and of columns, lie in the buffers, on a stream, and waits for it. Problems that rounding leaves open
// are solved with costs of the host; no others come there. Costs that are not finite are an ErrCost.
func (t *Transports) Solve(ctx context.Context, s device.Stream, costs, a, b device.Buffer, to Shipped) error {
	if err := ctx.Err(); err != nil || t.engine == nil {
		return err
	}
	l := t.layout
	rows, cols, pairs := int64(l.Count)*int64(l.Rows), int64(l.Count)*int64(l.Cols), int64(l.Count)*int64(l.Rows)*int64(l.Cols)
	shipped := int64(8)
	if l.Type == problem.Float32 {
		shipped = 4
	}
	for _, x := range []struct {
		name   string
		buffer device.Buffer
		bytes  int64
	}{
		{"costs", costs, pairs * int64(l.Type.Size())}, {"masses of rows", a, 8 * rows}, {"masses of columns", b, 8 * cols}, {"plans", to.Plan, pairs * shipped},
		{"duals of rows", to.U, 8 * rows}, {"duals of columns", to.V, 8 * cols}, {"sums", to.Cost, 8 * int64(l.Count)}, {"statuses", to.Status, 4 * int64(l.Count)},
	} {
		if x.buffer == nil || x.buffer.Len() < x.bytes {
			return fmt.Errorf("%s on a device: expected %d bytes", x.name, x.bytes)
		}
	}
	statuses := make([]int32, l.Count)
	if err := errors.Join(t.engine.Launch(s, costs, a, b, to), s.Download(device.Bytes(statuses), to.Status, 0)); err != nil {
		return fmt.Errorf("solve transport: %w", err)
	}
	for k, status := range statuses {
		var err error
		switch status {
		case assignment.FlowStatusProven:
		case assignment.FlowStatusInvalidCost:
			err = fmt.Errorf("%w: found one that is not finite, or too large", problem.ErrCost)
		case assignment.FlowStatusInvalidMass:
			err = solve.InvalidInput("masses", "expected masses of 0 and more, of equal sums above 0")
		case assignment.FlowStatusRefuted:
			err = problem.ErrCheck
		default:
			err = t.onHost(ctx, s, costs, a, b, to, k)
		}
		if err != nil {
			return fmt.Errorf("solve transport: problem %d: %w", k, err)
		}
	}
	return nil
}

// onHost solves problem k with costs of the host, and writes the answer to the device.
func (t *Transports) onHost(ctx context.Context, s device.Stream, costs, a, b device.Buffer, to Shipped, k int) error {
	inst := *t.inst
	n, m := inst.Rows, inst.Cols
	makeCosts(&inst, n*m)
	x, y := make([]float64, n), make([]float64, m)
	if err := errors.Join(s.Download(inst.Bytes(), costs, int64(k)*int64(len(inst.Bytes()))), s.Download(device.Bytes(x), a, int64(8*n*k)), s.Download(device.Bytes(y), b, int64(8*m*k))); err != nil {
		return err
	}
	if inst.Type.Integer() {
		allowEvery(&inst)
	}
	found, err := ShipMasses(ctx, &inst, x, y, t.options.Tuning)
	if err != nil {
		return err
	}
	plan := make([]float64, n*m)
	for q, i := range found.Row {
		plan[int(i)*m+int(found.Col[q])] = found.Amount[q]
	}
	shipped := device.Bytes(plan)
	if inst.Type == problem.Float32 {
		short := make([]float32, len(plan))
		for q, amount := range plan {
			short[q] = float32(amount)
		}
		shipped = device.Bytes(short)
	}
	for _, part := range []struct {
		to    device.Buffer
		bytes []byte
	}{{to.Plan, shipped}, {to.U, device.Bytes(found.U)}, {to.V, device.Bytes(found.V)}, {to.Cost, device.Bytes([]float64{found.Cost})}, {to.Status, device.Bytes([]int32{assignment.FlowStatusProven})}} {
		err = errors.Join(err, s.Upload(part.to, int64(k)*int64(len(part.bytes)), part.bytes))
	}
	return errors.Join(err, s.Sync())
}

// A MassPlan ships Amount[k] from row Row[k] to column Col[k], at the least cost. Duals are in the costs' unit.
type MassPlan struct {
	Row, Col []int32
	Amount   []float64
	U, V     []float64
	Cost     float64
}

// ShipMasses finds the exact plan of real masses on this machine's processor: those of b are scaled to a's sum, which must be above 0. The instance's costs
// are dense, and it is given supplies and capacities.
func ShipMasses(ctx context.Context, inst *problem.Instance, a, b []float64, tuning *tuned.Database) (*MassPlan, error) {
	var shift int
	inst.Supply, inst.Capacity, shift = wholeMasses(a, b)
	p, err := problem.Normalise(inst)
	if err != nil {
		return nil, err
	}
	sol, err := simplex.Solve(ctx, p, engine.Host{Tuning: tuning})
	switch {
	case err != nil:
		return nil, err
	case sol.Cut != nil:
		return nil, solve.ErrInfeasible
	}
	_, duals, err := decideFlow(ctx, inst, p, sol)
	if err != nil {
		return nil, err
	}
	found := sol.Flow
	if p.Transposed {
		found = found.Transpose()
	}
	plan := &MassPlan{Row: found.Row, Col: found.Col, U: unitsToFloats(duals.U, duals.Scale), V: unitsToFloats(duals.V, duals.Scale)}
	for k, i := range found.Row {
		amount := math.Ldexp(float64(found.Amount[k]), -shift)
		plan.Amount = append(plan.Amount, amount)
		plan.Cost += amount * inst.CostFloat(int(i), int(found.Col[k]))
	}
	return plan, nil
}

func unitsToFloats(units []int64, scale float64) []float64 {
	list := make([]float64, len(units))
	for k, x := range units {
		list[k] = float64(x) / scale
	}
	return list
}

// wholeMasses are masses as whole multiples of 2^-shift, about 2^60 in all, those of b scaled to a's sum: the kernel's (masses.cuh), but for the last bits of sums.
func wholeMasses(a, b []float64) (supply, demand []int64, shift int) {
	suma, sumb := 0.0, 0.0
	for _, x := range a {
		suma += x
	}
	for _, y := range b {
		sumb += y
	}
	ratio := suma / sumb
	if math.Abs(ratio-1) < 1e-12 {
		ratio = 1 // sums that rounding tells apart
	}
	_, exponent := math.Frexp(suma)
	shift = 60 - exponent
	supply, demand = make([]int64, len(a)), make([]int64, len(b))
	left, most := int64(0), 0
	for i, x := range a {
		supply[i] = int64(math.RoundToEven(math.Ldexp(x, shift)))
		left += supply[i]
	}
	for j, y := range b {
		demand[j] = int64(math.RoundToEven(math.Ldexp(y*ratio, shift)))
		if left -= demand[j]; demand[j] > demand[most] {
			most = j
		}
	}
	demand[most] += left
	return supply, demand, shift
}
