// Package semidefinite bounds binary quadratic programs. In spins s of -1 and +1 an objective is a quarter of
//
//	constant + Σ{i<j} a(i,j) s(i) s(j),
//
// linear terms being pairs with one more spin. Let y be numbers, one for each spin, such that diag(y) - a has no negative
// eigenvalue. Then sᵀas is at most Σ y, and the objective at most (constant + Σ y / 2) / 4. The least such bound is the
// value of the semidefinite relaxation (Goemans and Williamson, JACM 42(6), 1995).
//
// A Search finds good y by the relaxation in vectors of low rank (Burer and Monteiro, Mathematical Programming 95, 2003), row by row (Wang,
// Chang and Kolter, The Mixing Method, 2017). Model.Prove proves a bound from y and the problem alone: it finds that diag(y) - a has no negative eigenvalue by a
// Cholesky factorization in float64, and takes all rounding into account.
package semidefinite

import (
	"errors"
	"math"
	"math/big"
	"sync"

	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// A Model is a problem in spins: the free variables, and after them, where there are linear terms, one more spin.
type Model struct {
	N      int       // spins
	Free   int       // spins that are variables: the first
	start  []int64   // N+1: row i of a is col[start[i]:start[i+1]]
	col    []int32   // ascending
	weight []float64 // of col: the integers, rounded to the nearest
	sum    []float64 // of every row's absolute weights, about

	constant int64
}

// Limits of models.
const (
	mostSpins   = 1 << 16
	mostEntries = 1 << 27
)

// ErrLarge says that a problem is too large for a bound.
var ErrLarge = errors.New("too large for a semidefinite bound")

// Fits reports whether a problem is not too large for a model, and how many bytes a search takes.
func Fits(p *problem.Normal) (bytes int64, ok bool) {
	n, entries := int64(p.N), int64(len(p.Col))
	if n > mostSpins || entries+2*n > mostEntries {
		return 0, false
	}
	core := min(n, mostDense)
	return 12*(entries+2*n) + 4*n*int64(rankFor(p.N+1)) + min(8*core*core, 64*entries+8*core*core/2), true
}

// NewModel is the model of a problem, the variables for which fixed has 0 or 1 (nil: none) having this value.
func NewModel(p *problem.Normal, fixed []int8) (*Model, error) {
	if _, ok := Fits(p); !ok {
		return nil, ErrLarge
	}
	place := make([]int32, p.N) // the spin of a variable; -1: it is fixed
	m := &Model{}
	for i := range place {
		if place[i] = -1; fixed == nil || fixed[i] < 0 {
			place[i] = int32(m.Free)
			m.Free++
		}
	}
	is1 := func(i int32) bool { return place[i] < 0 && fixed[i] == 1 }
	field, degree := make([]int64, m.Free), make([]int64, m.Free)
	var mu sync.Mutex
	var twice int64 // the constant: pairs are met from both ends
	linear := false
	cores.Split(p.N, problem.RowsPerCore(p.N), func(from, to int) {
		var part int64
		fields := false
		for i := from; i < to; i++ {
			one, diag := is1(int32(i)), p.Diag[i]
			col, weight := p.Row(i)
			if place[i] < 0 {
				if one { // a fixed variable counts four times
					for k, j := range col {
						if is1(j) {
							part += 4 * weight[k]
						}
					}
					part += 8 * diag
				}
				continue
			}
			h, free := int64(0), int64(0)
			for k, j := range col {
				switch {
				case place[j] >= 0:
					h += weight[k]
					part += weight[k]
					free++
				case is1(j):
					diag += weight[k]
				}
			}
			part += 4 * diag
			h += 2 * diag
			at := place[i]
			field[at], degree[at] = h, free
			fields = fields || h != 0
		}
		mu.Lock()
		defer mu.Unlock()
		twice += part
		linear = linear || fields
	})
	m.constant = twice / 2
	m.N = m.Free
	if linear {
		m.N++
	}
	m.start = make([]int64, m.N+1)
	for i := range m.Free {
		if m.start[i+1] = m.start[i] + degree[i]; field[i] != 0 {
			m.start[i+1]++
			m.start[m.N]++ // counts the last row
		}
	}
	if linear {
		m.start[m.N] += m.start[m.Free]
	}
	entries := m.start[m.N]
	m.col, m.weight, m.sum = make([]int32, entries), make([]float64, entries), make([]float64, m.N)
	cores.Split(p.N, problem.RowsPerCore(p.N), func(from, to int) {
		for i := from; i < to; i++ {
			at := place[i]
			if at < 0 {
				continue
			}
			next, sum := m.start[at], 0.0
			col, weight := p.Row(i)
			for k, j := range col {
				if place[j] >= 0 {
					m.col[next], m.weight[next] = place[j], float64(weight[k])
					sum += math.Abs(m.weight[next])
					next++
				}
			}
			if field[at] != 0 {
				m.col[next], m.weight[next] = int32(m.Free), float64(field[at])
				sum += math.Abs(m.weight[next])
			}
			m.sum[at] = sum
		}
	})
	if linear {
		next := m.start[m.Free]
		for i, h := range field {
			if h != 0 {
				m.col[next], m.weight[next] = int32(i), float64(h)
				m.sum[m.Free] += math.Abs(float64(h))
				next++
			}
		}
	}
	return m, nil
}

func (m *Model) row(i int) ([]int32, []float64) {
	low, high := m.start[i], m.start[i+1]
	return m.col[low:high], m.weight[low:high]
}

// objective is the bound that y, which are finite, give if diag(y) - a has no negative eigenvalue: the largest integer within.
func (m *Model) objective(y []float64) (int64, bool) {
	var sum problem.Sum
	for _, v := range y {
		sum.Add(v)
	}
	half, _ := sum.Exact().Rat(nil)
	half.Quo(half, big.NewRat(2, 1))
	half.Add(half, new(big.Rat).SetInt64(m.constant))
	half.Quo(half, big.NewRat(4, 1))
	// Div rounds down: denominators are positive.
	floor := new(big.Int).Div(half.Num(), half.Denom())
	return floor.Int64(), floor.IsInt64()
}

// approximate is objective in float64, without rounding to integers.
func (m *Model) approximate(sum float64) float64 { return (float64(m.constant) + sum/2) / 4 }
