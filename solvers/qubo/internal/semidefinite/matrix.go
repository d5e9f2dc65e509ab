package semidefinite

import (
	"math"

	"coalesce/runtime/host/kernels/linear"
	"coalesce/solvers/cores"
)

// A team works on 0..n-1, each of about so many products: on all cores, or in turn.
type team func(n, products int, work func(k int)) error

func allCores(n, _ int, work func(k int)) error {
	cores.Pieces(n, work)
	return nil
}

// inTurn ends with the error of stop.
func (p *pace) inTurn(n, products int, work func(k int)) error {
	for k := range n {
		work(k)
		if err := p.did(products); err != nil {
			return err
		}
	}
	return nil
}

// A matrix is symmetric and dense. Entries above its diagonal are not read. It is filled up to a multiple of 8 rows by ones on the diagonal.
type matrix struct {
	n    int
	cell []float64 // n x n
}

func newMatrix(rows int) *matrix {
	n := (rows + linear.TileCols - 1) / linear.TileCols * linear.TileCols
	a := &matrix{n, make([]float64, n*n)}
	for i := rows; i < n; i++ {
		a.set(i, i, 1)
	}
	return a
}

func (a *matrix) set(i, j int, v float64) { a.cell[i*a.n+j] = v }

// matrix is diag less a.
func (m *Model) matrix(diag []float64) *matrix {
	a := newMatrix(m.N)
	for i, v := range diag {
		col, weight := m.row(i)
		row := a.cell[i*a.n:][:a.n]
		for k, j := range col {
			row[j] = -weight[k]
		}
		row[i] = v
	}
	return a
}

// panel is how many columns are eliminated at once.
const panel = 64

// factorize is a Cholesky factorization; false where a pivot is not positive.
func (a *matrix) factorize(work team, p *pace) (bool, error) {
	left, right := make([]float64, a.n*panel), make([]float64, a.n*panel)
	for first := 0; first < a.n; first += panel {
		last := min(first+panel, a.n)
		var inverse [panel]float64
		if !a.factorizeBlock(first, last, &inverse) {
			return false, nil
		}
		if err := p.did(panel * panel * panel); err != nil {
			return false, err
		}
		depth, blocks := last-first, (a.n-last)/linear.TileCols
		if blocks == 0 {
			break
		}
		err := work(blocks, linear.TileCols*depth*depth, func(b int) {
			i := last + b*linear.TileCols
			a.solveRows(i, first, last, &inverse)
			a.solveRows(i+4, first, last, &inverse)
			a.pack(left[b*linear.TileCols*depth:], i, first, last, linear.TileRows)
			a.pack(left[(b*linear.TileCols+4)*depth:], i+4, first, last, linear.TileRows)
			a.pack(right[b*linear.TileCols*depth:], i, first, last, linear.TileCols)
		})
		if err != nil {
			return false, err
		}
		err = work(blocks, linear.TileCols*depth*(a.n-last)/2, func(back int) {
			b := blocks - 1 - back // long rows first
			for half := range 2 {
				i := last + b*linear.TileCols + half*linear.TileRows
				l := left[(b*linear.TileCols+half*linear.TileRows)*depth:][:linear.TileRows*depth]
				for c := range b + 1 {
					linear.Subtract(a.cell[i*a.n+last+c*linear.TileCols:], a.n, l, right[c*linear.TileCols*depth:][:linear.TileCols*depth])
				}
			}
		})
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// factorizeBlock factorizes a block on the diagonal, and fills the reciprocals of the factor's diagonal.
func (a *matrix) factorizeBlock(first, last int, inverse *[panel]float64) bool {
	for j := first; j < last; j++ {
		row := a.cell[j*a.n+first:][:j-first+1]
		pivot := row[j-first]
		for _, v := range row[:j-first] {
			pivot -= v * v
		}
		if !(pivot >= leastPivot) {
			return false
		}
		inverse[j-first] = 1 / math.Sqrt(pivot)
		for i := j + 1; i < last; i++ {
			other := a.cell[i*a.n+first:][:j-first+1]
			v := other[j-first]
			for k, x := range row[:j-first] {
				v -= x * other[k]
			}
			other[j-first] = v * inverse[j-first]
		}
	}
	return true
}

// solveRows brings 4 rows below a block into the factor.
func (a *matrix) solveRows(i, first, last int, inverse *[panel]float64) {
	n := last - first
	r0, r1 := a.cell[i*a.n+first:][:n], a.cell[(i+1)*a.n+first:][:n]
	r2, r3 := a.cell[(i+2)*a.n+first:][:n], a.cell[(i+3)*a.n+first:][:n]
	for j := range n {
		row := a.cell[(first+j)*a.n+first:][:j]
		v0, v1, v2, v3 := r0[j], r1[j], r2[j], r3[j]
		for k, x := range row {
			v0 -= x * r0[k]
			v1 -= x * r1[k]
			v2 -= x * r2[k]
			v3 -= x * r3[k]
		}
		w := inverse[j]
		r0[j], r1[j], r2[j], r3[j] = v0*w, v1*w, v2*w, v3*w
	}
}

// pack copies columns of some rows, one after the other.
func (a *matrix) pack(to []float64, i, first, last, rows int) {
	for r := range rows {
		for k, v := range a.cell[(i+r)*a.n+first : (i+r)*a.n+last] {
			to[k*rows+r] = v
		}
	}
}
