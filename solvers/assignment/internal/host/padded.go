package host

import (
	"context"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// maxPadding is the most columns for each row of a problem that is padded.
const maxPadding = 2

// solvePadded solves a problem with fewer rows than columns from any v, by adding rows of zero
// cost until there are as many rows as columns. Every column is matched then, so that its v
// may be any number while the problem is solved. The columns of the added rows all end with
// the same v, which is subtracted from all.
func solvePadded(ctx context.Context, p *problem.Normal, src PairSource, v []int64, on engine.Host) (*engine.Solution, error) {
	h := newCore(p.Cols, p.Cols, problem.Infinity, padding{src, p.Rows, p.Cols}, on.Threads)
	h.enableReports(on, p.Rows, 0)
	copy(h.v, v)
	if err := h.matchFromDuals(ctx); err != nil {
		return nil, err
	}
	if err := h.matchRemaining(ctx, p, true); err != nil {
		return nil, err
	}
	shift := h.u[p.Rows]
	for i := range p.Rows {
		h.u[i] -= shift
	}
	for j := range h.v {
		h.v[j] += shift
	}
	return h.solution(p.Rows), nil
}

// padding is a source with rows of zero cost added, from row rows on. Its
// column minima are those of the source.
type padding struct {
	PairSource
	rows, cols int
}

type paddingReader struct {
	RowReader
	padding
	row []Edge
}

func (s padding) Reader() RowReader {
	return &paddingReader{RowReader: s.PairSource.Reader(), padding: s}
}

func (r *paddingReader) AppendLeast(i int, v []int64, k, enough int, guess int64, out []Edge) ([]Edge, int64) {
	if i < r.rows {
		return r.RowReader.AppendLeast(i, v, k, enough, guess, out)
	}
	r.row = r.row[:0]
	for j := range v {
		j = (i + j) % r.cols // rows that are alike choose different columns
		r.row = append(r.row, Edge{0, -v[j], int32(j)})
	}
	if len(r.row) <= 2*k {
		return append(out, r.row...), problem.Infinity
	}
	selectNth(r.row, k)
	return append(out, r.row[:k]...), r.row[k].least
}

func (r *paddingReader) AppendBelow(i int, limit []int64, out []Edge) []Edge {
	if i < r.rows {
		return r.RowReader.AppendBelow(i, limit, out)
	}
	for j, l := range limit {
		if l > 0 {
			out = append(out, Edge{0, 0, int32(j)})
		}
	}
	return out
}
