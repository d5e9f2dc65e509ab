package host

import (
	"context"
	"errors"
	"math/rand/v2"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// sampleFrom is the least number of rows that are worth sampling.
const sampleFrom = 128

// startFromSample solves a random quarter of the rows and columns and starts v from
// its duals: v is the least c - u over the sampled rows. Costs that depend
// smoothly on hidden places of rows and columns (products, sums, distances)
// have duals that do so too. It reports whether there was a sample to solve.
func (h *core) startFromSample(ctx context.Context, p *problem.Normal, on engine.Host) (bool, error) {
	if h.rows < sampleFrom || p.Instance.Sparse != nil {
		return false, nil
	}
	m, n := h.rows/4, h.cols/4
	r := rand.New(rand.NewPCG(uint64(h.rows), 1))
	rows, cols := r.Perm(h.rows)[:m], r.Perm(h.cols)[:n]
	s, err := Solve(ctx, partOf(p, rows, cols), nil, on)
	if hall := (*engine.Infeasible)(nil); errors.As(err, &hall) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h.counts.Steps += s.Counts.Steps
	h.counts.Passes += 0.25 + s.Counts.Passes/16
	err = columnMinima(partOf(p, rows, nil), s.U, h.v, on)
	h.boundPrices()
	h.counts.Switch = "duals of a sample: the candidates of many rows were the same columns"
	return true, err
}

// partOf is the problem of some of the rows and columns, nil: all of them.
func partOf(p *problem.Normal, rows, cols []int) *problem.Normal {
	inst := &problem.Instance{Rows: len(rows), Cols: len(cols), Type: p.Instance.Type, Maximize: p.Instance.Maximize}
	if cols == nil {
		inst.Cols = p.Cols
	}
	switch from := p.Instance; {
	case from.Points != nil:
		q := *from.Points
		q.Row = pick(q.Row, q.Dim, rows)
		if cols != nil {
			q.Col = pick(q.Col, q.Dim, cols)
		}
		inst.Points = &q
	case from.Type == problem.Int32:
		inst.I32 = submatrix(from.I32, p.Cols, rows, cols)
	case from.Type == problem.Int64:
		inst.I64 = submatrix(from.I64, p.Cols, rows, cols)
	case from.Type == problem.Float32:
		inst.F32 = submatrix(from.F32, p.Cols, rows, cols)
	default:
		inst.F64 = submatrix(from.F64, p.Cols, rows, cols)
	}
	part := *p
	part.Instance, part.Rows, part.Cols = inst, inst.Rows, inst.Cols
	return &part
}

// pick copies the points of some places.
func pick(coords []float64, dim int, places []int) []float64 {
	var out []float64
	for _, i := range places {
		out = append(out, coords[i*dim:(i+1)*dim]...)
	}
	return out
}

func submatrix[T problem.Number](costs []T, width int, rows, cols []int) []T {
	var out []T
	for _, i := range rows {
		row := costs[i*width : (i+1)*width]
		if cols == nil {
			out = append(out, row...)
		}
		for _, j := range cols {
			out = append(out, row[j])
		}
	}
	return out
}
