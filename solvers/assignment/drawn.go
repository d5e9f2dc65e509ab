package assignment

import (
	"context"
	"fmt"
	"math/big"

	"coalesce/runtime/collective"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// OpenDrawn begins a session on o's devices, of which several get equal shares of the rows, and has a drawing drawn there, of
// kind uniform, rows <= columns, floats without a range. Its costs, those of Draw, exist on devices only: they may be
// too many for any host's memory. Again solves it.
func OpenDrawn(ctx context.Context, d draw.Drawing, o Options) (*Session, error) {
	return openDrawn(ctx, d, o, prepare)
}

// OpenDrawnSharded is OpenDrawn by the method of several devices, even for one.
func OpenDrawnSharded(ctx context.Context, d draw.Drawing, o Options) (*Session, error) {
	return openDrawn(ctx, d, o, prepareSharded)
}

func openDrawn(ctx context.Context, d draw.Drawing, o Options, prepare func(context.Context, *problem.Normal, Options, *draw.Drawing) (*job, error)) (*Session, error) {
	p, err := d.Problem()
	if err == nil {
		err = o.checkBest()
	}
	if err != nil {
		return nil, err
	}
	s := &Session{Options: o, inst: p.Instance, p: p}
	if s.job, err = prepare(ctx, p, o, &d); err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.String(), err)
	}
	return s, nil
}

// drawRows draws the rows of all devices at once.
func (c *shardedCosts) drawRows(d *draw.Drawing) error {
	return collective.OnAll(len(c.costs), func(k int) error {
		return d.DrawOnDevice(c.group.Devices[k], c.group.Streams[k], c.costs[k], c.first[k])
	})
}

// sumFromSource adds the matched costs up that the source of p computes.
func (r *Result) sumFromSource(p *problem.Normal) (value solve.Number, matched int) {
	sum := new(big.Float).SetPrec(exactBits)
	for i, j := range r.Column {
		if j >= 0 {
			sum.Add(sum, new(big.Float).SetFloat64(p.Source.Cost(i, int(j))))
			matched++
		}
	}
	return formatValue(sum, p.Instance.Type.Integer()), matched
}
