package assignment

import (
	"errors"
	"fmt"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// problem is the drawing's normal problem, without its costs.
func (d *Drawing) problem() (*normal, error) {
	if d.Kind != "uniform" || d.Rows > d.Cols || d.Permuted || d.Shift != 0 || d.Jitter || d.Density != 0 || !d.Type.Integer() && d.Range != 0 {
		return nil, fmt.Errorf("draw %s on a device: expected plain uniform costs, rows <= columns, floats without a range", d.String())
	}
	inst := &Instance{Rows: d.Rows, Cols: d.Cols, Type: d.Type, Source: d.String()}
	p := &normal{inst: inst, rows: d.Rows, cols: d.Cols, limit: far, drawn: d}
	switch d.Type {
	case Float32:
		p.floats(0, 1-0x1p-24, -24)
	case Float64:
		p.floats(0, 1-0x1p-53, -53)
	default:
		return p, p.integers(0, int64(d.spread())-1)
	}
	return p, nil
}

// scaled is the scaled cost of a pair.
func (d *Drawing) scaled(scale float64, i, j int) int64 {
	if d.Type.Integer() {
		return uniformWhole(d)(i, j)
	}
	return toScaled(uniformReal(d)(i, j), scale)
}

// into draws the rows of m, the first of which is row `first`, on a device.
func (d *Drawing) into(on device.Device, s device.Stream, m *matrix, first int) error {
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
	g := device.Grid{Blocks: int64(max(1, min((m.rows*m.cols+block-1)/block, 1<<16))), Threads: block}
	err = kernels.Uniform(s, g, m.costs, uint64(first), uint64(m.rows), uint64(m.cols), d.Seed, d.spread())
	return errors.Join(err, s.Sync(), kernels.Close())
}
