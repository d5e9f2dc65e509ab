// Package basis keeps a basis of the linear program of partitions, max Σ v(S) x(S) over coalitions S with Σ x(S) over the S of
// agent i = 1 for each of n agents and x >= 0, and pivots as the primal simplex method does. Which coalitions there are, and which of
// them enters, its users decide.
package basis

import (
	"math"
	"math/rand/v2"
)

// A Basis is n coalitions with their inverse matrix, in float64: prices that come of it prove nothing until a search or a pass over all
// coalitions has checked them.
//
// Each right-hand side is 1 plus a random number of at most 2^-20. With right-hand sides of 1, partitions make many ratios of a pivot
// equal, and the simplex method stalls; prices near the optimum serve as well as optimal ones.
type Basis struct {
	Prices []float64 // of the agents
	Pivots int

	n       int
	agents  [][]uint8 // of each coalition
	values  []float64
	right   []float64
	inverse []float64 // n rows of n
	x       []float64
	entry   []float64 // of the column that enters
}

// New is a basis of n agents whose coalitions are to be set. seed draws the right-hand sides.
func New(n int, seed uint64) *Basis {
	b := &Basis{n: n, Prices: make([]float64, n), agents: make([][]uint8, n), values: make([]float64, n), right: make([]float64, n),
		inverse: make([]float64, n*n), x: make([]float64, n), entry: make([]float64, n)}
	r := rand.New(rand.NewPCG(1, seed))
	for i := range n {
		b.right[i] = 1 + r.Float64()*0x1p-20
	}
	return b
}

// Set makes the coalition of some agents, ascending from 0, the one at a place. Factor has to follow.
func (b *Basis) Set(place int, agents []uint8, value float64) {
	b.agents[place], b.values[place] = append(b.agents[place][:0], agents...), value
}

// Factor inverts the basis from scratch, and reports whether that was possible.
func (b *Basis) Factor() bool {
	n := b.n
	a := make([]float64, n*n) // row: agent, column: place
	clear(b.inverse)
	for c, agents := range b.agents {
		for _, i := range agents {
			a[int(i)*n+c] = 1
		}
		b.inverse[c*n+c] = 1
	}
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r*n+c]) > math.Abs(a[p*n+c]) {
				p = r
			}
		}
		if math.Abs(a[p*n+c]) < 1e-9 {
			return false
		}
		if p != c {
			for k := range n {
				a[p*n+k], a[c*n+k] = a[c*n+k], a[p*n+k]
				b.inverse[p*n+k], b.inverse[c*n+k] = b.inverse[c*n+k], b.inverse[p*n+k]
			}
		}
		turn := 1 / a[c*n+c]
		for k := range n {
			a[c*n+k] *= turn
			b.inverse[c*n+k] *= turn
		}
		for r := range n {
			f := a[r*n+c]
			if r == c || f == 0 {
				continue
			}
			for k := range n {
				a[r*n+k] -= f * a[c*n+k]
				b.inverse[r*n+k] -= f * b.inverse[c*n+k]
			}
		}
	}
	clear(b.Prices)
	for r, value := range b.values {
		b.x[r] = 0
		for k, v := range b.inverse[r*n : (r+1)*n] {
			b.x[r] += v * b.right[k]
			b.Prices[k] += value * v
		}
	}
	return true
}

// Feasible reports whether the basis's solution has no negative part but for rounding.
func (b *Basis) Feasible() bool {
	for _, x := range b.x {
		if !(x > -1e-7) {
			return false
		}
	}
	return true
}

// Enter pivots a coalition of a reduced cost into the basis, and returns the place that it takes, -1 where rounding leaves no pivot.
// ok is false there, and where the basis, which is factored after every 64 pivots, is singular.
func (b *Basis) Enter(agents []uint8, value, cost float64) (place int, ok bool) {
	n, out, ratio := b.n, -1, math.Inf(1)
	for r := range n {
		v, row := 0.0, b.inverse[r*n:(r+1)*n]
		for _, i := range agents {
			v += row[i]
		}
		if b.entry[r] = v; v < 1e-9 {
			continue
		}
		if q := max(0, b.x[r]) / v; q < ratio-1e-12 || q < ratio+1e-12 && v > b.entry[out] {
			out, ratio = r, q
		}
	}
	if out < 0 {
		return -1, false
	}
	turn := 1 / b.entry[out]
	row := b.inverse[out*n : (out+1)*n]
	for k := range row {
		row[k] *= turn
		b.Prices[k] += cost * row[k]
	}
	for r, f := range b.entry {
		if r == out || f == 0 {
			continue
		}
		to := b.inverse[r*n : (r+1)*n]
		for k, v := range row {
			to[k] -= f * v
		}
		b.x[r] -= f * ratio
	}
	b.x[out] = ratio
	b.Set(out, agents, value)
	b.Pivots++
	return out, b.Pivots%64 != 0 || b.Factor()
}
