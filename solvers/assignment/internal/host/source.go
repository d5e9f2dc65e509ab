package host

import (
	"slices"

	"coalesce/autotune/tuned"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A PairSource gives access to the pairs of a problem.
type PairSource interface {
	// Reader returns a reader for one goroutine.
	Reader() RowReader
	// DualsChanged tells the source that v has changed. It must be called where v rose; where v fell it
	// only makes later reads faster.
	DualsChanged(v []int64)
	// ColumnMinima sets v[j] to the least c - u of column j, problem.Infinity where no row may
	// have the column. It runs on threads goroutines.
	ColumnMinima(u, v []int64, threads int)
}

// A RowReader reads rows.
type RowReader interface {
	// AppendLeast appends to out k to 2k pairs of row i, those with the least c - v, and returns a lower
	// bound on c - v of all others, problem.Infinity where no others exist. It may stop as soon as
	// it has found enough pairs with c - v below guess.
	AppendLeast(i int, v []int64, k, enough int, guess int64, out []Edge) ([]Edge, int64)
	// AppendBelow appends to out all pairs of row i with c < limit[j].
	AppendBelow(i int, limit []int64, out []Edge) []Edge
}

// SourceOf makes the source for a problem's form: points, sparse or dense.
func SourceOf(p *problem.Normal, t *tuned.Database) (PairSource, error) {
	switch {
	case p.Instance.Points != nil:
		return newPlaces(p), nil
	case p.Instance.Sparse != nil:
		return sparseRows{p}, nil
	}
	return newRowScan(p, t)
}

// sparseRows are the pairs of a sparse problem.
type sparseRows struct{ p *problem.Normal }

// A ListReader reads the rows of a sparse problem.
type ListReader struct {
	P     *problem.Normal
	costs []int64
	Row   []Edge
}

func (s sparseRows) DualsChanged([]int64) {}

func (s sparseRows) Reader() RowReader { return &ListReader{P: s.p} }

// Read returns the allowed pairs of a row, valid until the next call.
func (r *ListReader) Read(i int) []Edge {
	sparse := r.P.Instance.Sparse
	low, high := int(sparse.Start[i]), int(sparse.Start[i+1])
	r.costs = slices.Grow(r.costs[:0], high-low)[:high-low]
	r.Row = r.Row[:0]
	for k, c := range r.P.Scaled(low, high, r.costs) {
		if c != problem.Infinity {
			r.Row = append(r.Row, Edge{Cost: c, Col: sparse.Col[low+k]})
		}
	}
	return r.Row
}

func (s sparseRows) ColumnMinima(u, v []int64, threads int) {
	for j := range v {
		v[j] = problem.Infinity
	}
	r := ListReader{P: s.p}
	for i, x := range u {
		for _, e := range r.Read(i) {
			v[e.Col] = min(v[e.Col], e.Cost-x)
		}
	}
}

func (r *ListReader) AppendLeast(i int, v []int64, k, _ int, _ int64, out []Edge) ([]Edge, int64) {
	row := r.Read(i)
	for q := range row {
		row[q].least = row[q].Cost - v[row[q].Col]
	}
	if len(row) <= 2*k {
		return append(out, row...), problem.Infinity
	}
	selectNth(row, k)
	return append(out, row[:k]...), row[k].least
}

func (r *ListReader) AppendBelow(i int, limit []int64, out []Edge) []Edge {
	for _, e := range r.Read(i) {
		if e.Cost < limit[e.Col] {
			out = append(out, e)
		}
	}
	return out
}

// selectNth moves the edge of rank k by least to position k, and lesser edges before it.
func selectNth(a []Edge, k int) {
	low, high := 0, len(a)-1
	for low < high {
		x := a[(low+high)/2].least
		i, j := low, high
		for i <= j {
			for a[i].least < x {
				i++
			}
			for a[j].least > x {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return
		}
	}
}

// columnMinima sets v[j] to the least c - u of column j of a problem.
func columnMinima(p *problem.Normal, u, v []int64, on engine.Host) error {
	src, err := SourceOf(p, on.Tuning)
	if err == nil {
		src.ColumnMinima(u, v, on.Threads)
	}
	return err
}
