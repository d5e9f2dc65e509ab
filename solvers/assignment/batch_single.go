package assignment

import (
	"context"
	"fmt"
	"slices"

	"coalesce/runtime/device"
)

// A blockEngine solves one problem by one block of assignment/batch: of some
// thousand rows, a block's barrier is worth more than the rest of the device.
// It starts cold always.
type blockEngine struct {
	*batch
	device device.Device
}

// newBlock loads a variant and takes memory for problems of one size.
func newBlock(d device.Device, v *device.Variant, rows, cols int) (engine, error) {
	b, err := newBatch(d, v, []batchShape{{stride: int64(cols), rows: rows, cols: cols, scale: 1}}, false)
	if err != nil {
		return nil, err
	}
	return &blockEngine{b, d}, nil
}

// solve implements engine.
func (e *blockEngine) solve(ctx context.Context, s device.Stream, p *normal, m *matrix, _ *duals) (*solution, error) {
	shape := &e.shapes[0]
	if p.limit != far || m == nil || p.rows != shape.rows || p.cols != shape.cols || p.rows > p.cols {
		return nil, fmt.Errorf("assignment/batch: %d x %d pairs with limit %d: expected %d dense rows of %d without a limit", p.rows, p.cols, p.limit, shape.rows, shape.cols)
	}
	if shape.scale != p.scale {
		shape.scale = p.scale
		e.words = 0
		_, _, table := e.lay(e.grid.Shared > 0)
		if err := e.describe(e.device, table); err != nil {
			return nil, err
		}
	}
	if err := e.batch.solve(ctx, s, m.costs); err != nil {
		return nil, err
	}
	sol, full := e.solution(0)
	if !full {
		return nil, &infeasible{violator(p, sol.column)}
	}
	sol.column, sol.u, sol.v = slices.Clone(sol.column), slices.Clone(sol.u), slices.Clone(sol.v)
	return sol, nil
}
