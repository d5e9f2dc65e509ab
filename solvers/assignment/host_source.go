package assignment

import (
	"slices"
)

// A source gives the pairs of a problem.
type source interface {
	// reader returns a reader for one goroutine.
	reader() reader
	// prepare takes v: it has to be told where v rose, and is faster where it
	// is told now and then that v fell.
	prepare(v []int64)
	// columnMinima makes v[j] the least c - u of column j, far where no row
	// may have it, on some goroutines.
	columnMinima(u, v []int64, threads int)
}

// A reader reads rows.
type reader interface {
	// least appends to out the k to 2k pairs of row i with the least c - v, and
	// returns what c - v of all others reach: far when there are none. Where
	// few pairs or more lie below guess it may stop there.
	least(i int, v []int64, k, few int, guess int64, out []edge) ([]edge, int64)
	// below appends to out all pairs of row i with c < limit[j].
	below(i int, limit []int64, out []edge) []edge
}

// sourceOf picks the source of a problem's form.
func sourceOf(p *normal) (source, error) {
	switch {
	case p.inst.Points != nil:
		return newPlaces(p), nil
	case p.inst.Sparse != nil:
		return lists{p}, nil
	}
	return newRowScan(p)
}

// lists are the pairs of a sparse problem.
type lists struct{ p *normal }

type listReader struct {
	p     *normal
	costs []int64
	row   []edge
}

func (s lists) prepare([]int64) {}

func (s lists) reader() reader { return &listReader{p: s.p} }

// read returns the allowed pairs of a row, valid until the next call.
func (r *listReader) read(i int) []edge {
	sparse := r.p.inst.Sparse
	low, high := int(sparse.Start[i]), int(sparse.Start[i+1])
	r.costs = slices.Grow(r.costs[:0], high-low)[:high-low]
	r.row = r.row[:0]
	for k, c := range r.p.scaled(low, high, r.costs) {
		if c != far {
			r.row = append(r.row, edge{cost: c, col: sparse.Col[low+k]})
		}
	}
	return r.row
}

func (s lists) columnMinima(u, v []int64, threads int) {
	for j := range v {
		v[j] = far
	}
	r := listReader{p: s.p}
	for i, x := range u {
		for _, e := range r.read(i) {
			v[e.col] = min(v[e.col], e.cost-x)
		}
	}
}

func (r *listReader) least(i int, v []int64, k, _ int, _ int64, out []edge) ([]edge, int64) {
	row := r.read(i)
	for q := range row {
		row[q].least = row[q].cost - v[row[q].col]
	}
	if len(row) <= 2*k {
		return append(out, row...), far
	}
	nth(row, k)
	return append(out, row[:k]...), row[k].least
}

func (r *listReader) below(i int, limit []int64, out []edge) []edge {
	for _, e := range r.read(i) {
		if e.cost < limit[e.col] {
			out = append(out, e)
		}
	}
	return out
}

// nth puts the edge of rank k by least at k, lesser ones before it.
func nth(a []edge, k int) {
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

// minima makes v[j] the least c - u of column j of a problem.
func minima(p *normal, u, v []int64, threads int) error {
	src, err := sourceOf(p)
	if err == nil {
		src.columnMinima(u, v, threads)
	}
	return err
}
