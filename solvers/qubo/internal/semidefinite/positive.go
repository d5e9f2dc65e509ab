package semidefinite

import (
	"math"
)

// Model.isPositive proves that diag(y) - a has no negative eigenvalue, by a Cholesky factorization in float64 that runs to its end.
//
// Let M be symmetric, of n rows. If the factorization ends, the computed factor R fulfills
//
//	|RᵀR - M|(i,j) ≤ f √(M(i,i) M(j,j)),  f = γ / (1 - γ),  γ = (n+10) u / (1 - (n+10) u),  u = 2^-53
//
// (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, Theorem 10.5; S. Rump, Verification of Positive Definiteness,
// BIT 46, 2006). The order of sums does not matter, nor does it where a product and a sum are rounded at once; 10 stands for the
// roundings of a root, of its reciprocal and of a product with that. RᵀR has no negative eigenvalue, so
//
//	xᵀMx ≥ -f (Σ √M(i,i) |x(i)|)² ≥ -f n Σ M(i,i) x(i)².
//
// Let M have the off-diagonal entries of -a, rounded, which changes xᵀMx by at most Σ u s(i) x(i)² if s(i) is the sum of row i's magnitudes.
// So diag(y) - a has no negative eigenvalue if M(i,i) ≤ y(i) - f n M(i,i) - u s(i). Model.reduced subtracts more than twice as much.
// Underflow loses less than 2^-900, as roots are at least 2^-250 and the entries of M at most 2^80; it subtracts 2^-600 for that.

const (
	unit       = 0x1p-53
	leastPivot = 0x1p-500
	mostDual   = 0x1p80
)

// reduced is M(i,i) for y(i).
func (m *Model) reduced(y float64, i int) float64 {
	n := float64(m.N)
	return y*(1-4*n*(n+16)*unit) - 4*unit*m.sum[i] - 0x1p-600
}

// isPositive reports whether a factorization proves that diag(y) - a has no negative eigenvalue; false may also mean that rounding hides it.
// It returns ErrLarge if the factorization needs too much memory, and the error of stop if that ends it.
func (m *Model) isPositive(y []float64, work team, p *pace) (bool, error) {
	diag := make([]float64, m.N)
	for i, v := range y {
		alone := m.start[i] == m.start[i+1]
		switch diag[i] = m.reduced(v, i); {
		case alone && v >= 0:
			diag[i] = 1
		case !(diag[i] >= leastPivot) || v > mostDual:
			return false, nil
		}
	}
	rest, ok, err := m.eliminate(diag, p)
	if !ok || err != nil {
		return false, err
	}
	return rest.factorize(work, p)
}

// An entry is a number in a sparse row.
type entry struct {
	at    int32
	value float64
}

// Rows that are left are factorized as a dense matrix where the least of them have more than a 6th of all entries.
const (
	dense      = 6
	mostDense  = 1 << 13 // rows
	mostSparse = 1 << 26 // entries of sparse rows
)

// eliminate factorizes the rows of few entries, those of the fewest first (minimum degree), and returns the matrix that is left; false where a
// pivot is not positive.
func (m *Model) eliminate(diag []float64, p *pace) (*matrix, bool, error) {
	left, least := m.N, m.N
	for i := range m.N {
		least = min(least, int(m.start[i+1]-m.start[i]))
	}
	index := make([]int32, m.N) // in the matrix that is left; -1: eliminated
	if left <= mostDense && (left <= panel || dense*least > left) {
		return m.matrix(diag), true, nil
	}
	rows, queue, entries := make([][]entry, m.N), newDegrees(m.N), len(m.col)
	for i := range rows {
		col, weight := m.row(i)
		rows[i] = make([]entry, len(col), len(col)+len(col)/2)
		for k, j := range col {
			rows[i][k] = entry{j, -weight[k]}
		}
		queue.put(int32(i), len(col))
	}
	var merged []entry
	for left > panel {
		i := queue.next(rows, index)
		row := rows[i]
		if dense*len(row) > left && left <= mostDense {
			break
		}
		if entries > mostSparse {
			return nil, false, ErrLarge
		}
		if !(diag[i] >= leastPivot) {
			return nil, false, nil
		}
		inverse := 1 / math.Sqrt(diag[i])
		for k := range row {
			row[k].value *= inverse
		}
		for _, e := range row {
			diag[e.at] -= e.value * e.value
			merged = merge(merged[:0], rows[e.at], row, i, e)
			entries += len(merged) - len(rows[e.at])
			if cap(rows[e.at]) < len(merged) {
				rows[e.at] = make([]entry, 0, len(merged)+len(merged)/4)
			}
			rows[e.at] = append(rows[e.at][:0], merged...)
			queue.put(e.at, len(merged))
			if err := p.did(16 * (len(merged) + 8)); err != nil {
				return nil, false, err
			}
		}
		entries -= len(row)
		rows[i], index[i] = nil, -1
		left--
	}
	rest := newMatrix(left)
	var order []int32
	for i := range index {
		if index[i] == 0 {
			index[i] = int32(len(order))
			order = append(order, int32(i))
		}
	}
	for k, i := range order {
		rest.set(k, k, diag[i])
		for _, e := range rows[i] {
			rest.set(k, int(index[e.at]), e.value)
		}
	}
	return rest, true, nil
}

// merge appends to out the row of a spin, of which the row of pivot i is subtracted; e is the pivot row's entry of the spin.
func merge(out, row, pivot []entry, i int32, e entry) []entry {
	a, b := 0, 0
	for a < len(row) || b < len(pivot) {
		switch {
		case b < len(pivot) && pivot[b].at == e.at:
			b++
		case a < len(row) && row[a].at == i:
			a++
		case b == len(pivot) || a < len(row) && row[a].at < pivot[b].at:
			out = append(out, row[a])
			a++
		case a == len(row) || pivot[b].at < row[a].at:
			out = append(out, entry{pivot[b].at, -e.value * pivot[b].value})
			b++
		default:
			out = append(out, entry{row[a].at, row[a].value - e.value*pivot[b].value})
			a, b = a+1, b+1
		}
	}
	return out
}

// degrees are spins by the lengths of their rows. A spin may be listed at former lengths too.
type degrees struct {
	list  [][]int32
	least int
}

func newDegrees(n int) *degrees { return &degrees{list: make([][]int32, n+1)} }

func (d *degrees) put(i int32, length int) {
	d.list[length] = append(d.list[length], i)
	d.least = min(d.least, length)
}

// next is a spin of the shortest row among those that are not eliminated; it stays listed.
func (d *degrees) next(rows [][]entry, index []int32) int32 {
	for {
		list := d.list[d.least]
		if len(list) == 0 {
			d.least++
			continue
		}
		i := list[len(list)-1]
		if index[i] == 0 && len(rows[i]) == d.least {
			return i
		}
		d.list[d.least] = list[:len(list)-1]
	}
}
