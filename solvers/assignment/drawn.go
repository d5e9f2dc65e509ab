package assignment

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"coalesce/runtime/collective"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Drawn problem has uniform costs that exist on devices only, where they were drawn: it may be
// too large for any host's memory. Its costs are those of Draw for the same Drawing.
type Drawn struct {
	inst *problem.Instance
	job  *job
}

// OpenDrawn plans for a drawing of kind uniform, rows <= columns, floats without
// a range, and draws it on o's devices, of which several get equal shares of the rows.
func OpenDrawn(ctx context.Context, d draw.Drawing, o Options) (*Drawn, error) {
	return openDrawn(ctx, d, o, prepare)
}

// OpenDrawnSharded is OpenDrawn by the method of several devices, even for one.
func OpenDrawnSharded(ctx context.Context, d draw.Drawing, o Options) (*Drawn, error) {
	return openDrawn(ctx, d, o, prepareSharded)
}

func openDrawn(ctx context.Context, d draw.Drawing, o Options, prepare func(context.Context, *problem.Normal, Options, *draw.Drawing) (*job, error)) (*Drawn, error) {
	p, err := d.Problem()
	if err == nil {
		err = o.checkBest()
	}
	if err != nil {
		return nil, err
	}
	j, err := prepare(ctx, p, o, &d)
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.String(), err)
	}
	return &Drawn{p.Instance, j}, nil
}

// draw draws the rows of all devices at once.
func (c *spreading) draw(d *draw.Drawing) error {
	return collective.OnAll(len(c.costs), func(k int) error {
		return d.DrawOnDevice(c.group.Devices[k], c.group.Streams[k], c.costs[k], c.first[k])
	})
}

// Solve is Session.Again for costs that are on devices only. The result's Value is the
// certificate's.
func (w *Drawn) Solve(ctx context.Context) (*Result, error) {
	r, err := solve.Run(ctx, &w.job.options.Settings, &drawnRun{Drawn: w})
	if err != nil {
		return nil, fmt.Errorf("solve assignment: %w", err)
	}
	return r, nil
}

// A drawnRun is the solve of a drawn problem.
type drawnRun struct {
	*Drawn
	result *Result
}

// Plan implements solve.Work.
func (w *drawnRun) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[*engine.Solution]], error) {
	j := w.job
	w.result = newResult(w.inst)
	w.result.solvedBy(j.options.Where(), j.plan.String(), j.plan.reason)
	attempt := solve.Attempt[*engine.Solution]{Name: w.result.Algorithm, Run: func() (*engine.Solution, error) { return j.solve(ctx, nil) }}
	return w.result, slices.Values([]solve.Attempt[*engine.Solution]{attempt}), nil
}

// Certify implements solve.Work.
func (w *drawnRun) Certify(ctx context.Context, sol *engine.Solution) error {
	r, j := w.result, w.job
	r.Column, r.Counts = sol.Column, sol.Counts
	if !j.checks() {
		return nil
	}
	cert, near, err := j.check(ctx, sol)
	if err == nil {
		err = r.decide(ctx, j.p, sol, &cert, near, j.options)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Variant, err)
	}
	r.Column = sol.Column
	r.Value, r.Matched = r.sourced(j.p)
	r.prove(&cert)
	return nil
}

// Best implements solve.Work: no host has the costs that a partial matching would be completed by.
func (w *drawnRun) Best(context.Context, *engine.Solution) (string, error) { return "", nil }

// sourced adds the matched costs up that the source of p computes.
func (r *Result) sourced(p *problem.Normal) (value solve.Number, matched int) {
	sum := new(big.Float).SetPrec(exactBits)
	for i, j := range r.Column {
		if j >= 0 {
			sum.Add(sum, new(big.Float).SetFloat64(p.Source.Cost(i, int(j))))
			matched++
		}
	}
	return decimals(sum, p.Instance.Type.Integer()), matched
}

// Close gives back the memory.
func (w *Drawn) Close() error { return w.job.Close() }
