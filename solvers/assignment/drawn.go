package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// A Drawn problem has uniform costs that were drawn on devices and are nowhere
// else: what no host has the memory for can be measured. Its costs are those
// of Draw for the same Drawing.
type Drawn struct {
	inst *Instance
	job  *job
}

// OpenDrawn plans for a drawing of kind uniform, rows <= columns, floats without
// a range, and draws it on a device.
func OpenDrawn(ctx context.Context, on device.Device, d Drawing, o Options) (*Drawn, error) {
	p, err := d.problem()
	if err != nil {
		return nil, err
	}
	c, err := planFor(on.Facts(), p, o)
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.String(), err)
	}
	j, err := prepare(ctx, on, p, c, o)
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.String(), err)
	}
	return &Drawn{p.inst, j}, nil
}

// OpenDrawnSharded is OpenDrawn for several devices, which get equal shares of
// the rows. One device alone is solved on as one of several would be.
func OpenDrawnSharded(ctx context.Context, devices []device.Device, d Drawing, o Options) (*Drawn, error) {
	p, err := d.problem()
	if err != nil {
		return nil, err
	}
	j, err := prepareSharded(ctx, devices, p, o)
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.String(), err)
	}
	return &Drawn{p.inst, j}, nil
}

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

// rows draws the rows of m, the first of which is row `first`, on a device.
func (d *Drawing) rows(on device.Device, s device.Stream, m *matrix, first int) error {
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

// draw draws the rows of all devices at once.
func (c *spreading) draw(d *Drawing) error {
	return onAll(len(c.costs), func(k int) error {
		return d.rows(c.group.Devices[k], c.group.Streams[k], c.costs[k], c.first[k])
	})
}

// Solve is Session.Solve for costs that are on devices only. The result's
// Value is what the certificate found.
func (w *Drawn) Solve(ctx context.Context) (*Result, error) {
	r := newResult(w.inst)
	r.Device, r.Variant, r.Reason = w.job.where(), w.job.plan.String(), w.job.plan.reason
	clock := time.Now()
	sol, err := w.job.solve(ctx, nil)
	r.Seconds.Solve = time.Since(clock).Seconds()
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
	}
	r.Column, r.Counts = sol.column, sol.counts
	if !w.job.checks() {
		return r, nil
	}
	clock = time.Now()
	cert, err := w.job.check(ctx, sol)
	r.Seconds.Verify = time.Since(clock).Seconds()
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %s: %w", r.Variant, err)
	}
	r.Certificate, r.Proven, r.Matched, r.Exact = &cert, true, w.job.p.rows, cert.Primal
	if r.Value, err = strconv.ParseFloat(cert.Primal, 64); err != nil {
		return nil, err
	}
	if !w.inst.Type.Integer() {
		r.Value /= math.Abs(w.job.p.scale)
		r.Exact = formatFloat(r.Value, 64)
	}
	return r, nil
}

// Close gives back the memory.
func (w *Drawn) Close() error { return w.job.Close() }
