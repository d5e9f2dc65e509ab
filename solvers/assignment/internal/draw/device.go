package draw

import (
	"errors"
	"fmt"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Problem is the drawing's normal problem, without its costs.
func (d *Drawing) Problem() (*problem.Normal, error) {
	if d.Kind != "uniform" || d.Rows > d.Cols || d.Permuted || d.Shift != 0 || d.Jitter || d.Density != 0 || !d.Type.Integer() && d.Range != 0 {
		return nil, fmt.Errorf("draw %s on a device: expected plain uniform costs, rows <= columns, floats without a range", d.String())
	}
	inst := &problem.Instance{Rows: d.Rows, Cols: d.Cols, Type: d.Type, Source: d.String()}
	p := &problem.Normal{Instance: inst, Rows: d.Rows, Cols: d.Cols, Limit: problem.Infinity, Source: d}
	switch d.Type {
	case problem.Float32:
		return p, p.FitFloats(0, 1-0x1p-24, -24)
	case problem.Float64:
		return p, p.FitFloats(0, 1-0x1p-53, -53)
	}
	return p, p.FitIntegers(0, int64(d.valueRange())-1)
}

// Scaled is the scaled cost of a pair.
func (d *Drawing) Scaled(scale float64, i, j int) int64 {
	if d.Type.Integer() {
		return uniformWhole(d)(i, j)
	}
	return problem.ToScaled(uniformReal(d)(i, j), scale)
}

// Cost is the cost of a pair.
func (d *Drawing) Cost(i, j int) float64 {
	if d.Type.Integer() {
		return float64(uniformWhole(d)(i, j))
	}
	return uniformReal(d)(i, j)
}

// DrawOnDevice draws the rows of m, the first of which is row `first`, on a device.
func (d *Drawing) DrawOnDevice(on device.Device, s device.Stream, m *engine.Matrix, first int) error {
	f := &assignment.Draw
	var v *device.Variant
	for i := range f.Variants {
		if f.Value(&f.Variants[i], "value") == string(d.Type) {
			v = &f.Variants[i]
		}
	}
	kernels, err := assignment.LoadDraw(on, v)
	if err != nil {
		return err
	}
	block := f.Int(v, "block")
	g := device.Grid{Blocks: int64(max(1, min((m.Rows*m.Cols+block-1)/block, 1<<16))), Threads: block}
	err = kernels.Uniform(s, g, m.Costs, uint64(first), uint64(m.Rows), uint64(m.Cols), d.Seed, d.valueRange())
	return errors.Join(err, s.Sync(), kernels.Close())
}
