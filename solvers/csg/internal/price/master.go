package price

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// A master is the linear program over the columns generated so far,
//
//	maximise Σ v(S) x(S)   with   Σ x(S) over the S with agent i = 1 for every i, x >= 0,
//
// solved by the primal simplex method from the basis of the last time. Its duals are
// the prices. It works in float64, values being scaled to magnitudes of at most 1: its
// prices prove a bound only after a pass over all values has made them feasible.
//
// Each right-hand side is 1 plus a random number of at most 2^-20. With right-hand sides of 1,
// partitions make many ratios of a pivot equal, and the simplex method stalls; prices near the
// optimum serve as well as optimal ones.
type master struct {
	n       int
	masks   []uint64
	values  []float64
	seen    map[uint64]bool
	right   []float64
	basis   []basic
	inverse []float64 // n rows of n
	x, y    []float64
	column  []float64
	table   [][]float64 // sums of prices of 11 agents each
	pivots  int
}

type basic struct {
	mask  uint64
	value float64
}

const (
	tableBits = 11
	optimal   = 1e-12 // a reduced cost of at most this counts as 0
)

// newMaster begins with the columns of single agents. A single agent of value `forbidden` gets a
// value below that of any structure.
func newMaster(n int, single func(agent int) float64) *master {
	m := &master{n: n, seen: map[uint64]bool{}, right: make([]float64, n), basis: make([]basic, n),
		inverse: make([]float64, n*n), x: make([]float64, n), y: make([]float64, n), column: make([]float64, n)}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		m.right[i] = 1 + r.Float64()*0x1p-20
		m.basis[i] = basic{1 << i, single(i)}
	}
	for at := 0; at < n; at += tableBits {
		m.table = append(m.table, make([]float64, 1<<min(tableBits, n-at)))
	}
	m.factor()
	return m
}

func (m *master) add(mask uint64, value float64) {
	if !m.seen[mask] {
		m.seen[mask] = true
		m.masks, m.values = append(m.masks, mask), append(m.values, value)
	}
}

// factor inverts the basis from scratch, and reports whether that was possible.
func (m *master) factor() bool {
	n := m.n
	a := make([]float64, n*n) // row r: agents, column c: basis
	for c, b := range m.basis {
		for s := b.mask; s != 0; s &= s - 1 {
			a[bits.TrailingZeros64(s)*n+c] = 1
		}
	}
	clear(m.inverse)
	for i := range n {
		m.inverse[i*n+i] = 1
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
				m.inverse[p*n+k], m.inverse[c*n+k] = m.inverse[c*n+k], m.inverse[p*n+k]
			}
		}
		turn := 1 / a[c*n+c]
		for k := range n {
			a[c*n+k] *= turn
			m.inverse[c*n+k] *= turn
		}
		for r := range n {
			f := a[r*n+c]
			if r == c || f == 0 {
				continue
			}
			for k := range n {
				a[r*n+k] -= f * a[c*n+k]
				m.inverse[r*n+k] -= f * m.inverse[c*n+k]
			}
		}
	}
	for r := range n {
		m.x[r] = 0
		for k := range n {
			m.x[r] += m.inverse[r*n+k] * m.right[k]
		}
	}
	clear(m.y)
	for r, b := range m.basis {
		for k := range n {
			m.y[k] += b.value * m.inverse[r*n+k]
		}
	}
	return true
}

// objective is the value of the basis for right-hand sides of 1.
func (m *master) objective() float64 {
	z := 0.0
	for _, y := range m.y {
		z += y
	}
	return z
}

func (m *master) reduced(mask uint64, value float64) float64 {
	for s := mask; s != 0; s &= s - 1 {
		value -= m.y[bits.TrailingZeros64(s)]
	}
	return value
}

// solve pivots until no column has a reduced cost above 0, or limit pivots are made.
func (m *master) solve(limit int) {
	const batch = 64
	type candidate struct {
		at   int
		cost float64
	}
	var list []candidate
	for end := m.pivots + limit; m.pivots < end; {
		list = list[:0]
		least := optimal
		m.sums()
		for i, s := range m.masks {
			cost := m.values[i]
			for _, t := range m.table {
				cost -= t[s&(1<<tableBits-1)]
				s >>= tableBits
			}
			if cost <= least {
				continue
			}
			if len(list) < batch {
				list = append(list, candidate{i, cost})
				continue
			}
			// The column of the smallest reduced cost leaves the batch.
			at := 0
			for k := range list {
				if list[k].cost < list[at].cost {
					at = k
				}
			}
			list[at] = candidate{i, cost}
			least = list[at].cost
			for k := range list {
				least = min(least, list[k].cost)
			}
		}
		if len(list) == 0 {
			return
		}
		for m.pivots < end {
			at, best := -1, optimal
			for _, c := range list {
				cost := m.reduced(m.masks[c.at], m.values[c.at])
				if cost > best {
					at, best = c.at, cost
				}
			}
			if at < 0 {
				break
			}
			if !m.enter(basic{m.masks[at], m.values[at]}, best) {
				return
			}
		}
	}
}

// sums makes the tables of y(S).
func (m *master) sums() {
	for c, t := range m.table {
		for i := 0; 1<<i < len(t); i++ {
			y := m.y[c*tableBits+i]
			for s := range 1 << i {
				t[1<<i|s] = t[s] + y
			}
		}
	}
}

// enter pivots a column into the basis, or returns false if rounding leaves no pivot.
func (m *master) enter(b basic, cost float64) bool {
	n := m.n
	for r := range n {
		v := 0.0
		row := m.inverse[r*n:][:n]
		for s := b.mask; s != 0; s &= s - 1 {
			v += row[bits.TrailingZeros64(s)]
		}
		m.column[r] = v
	}
	out, ratio := -1, math.Inf(1)
	for r, v := range m.column {
		if v < 1e-9 {
			continue
		}
		if q := max(0, m.x[r]) / v; q < ratio-1e-12 || q < ratio+1e-12 && v > m.column[out] {
			out, ratio = r, q
		}
	}
	if out < 0 {
		return false
	}
	turn := 1 / m.column[out]
	row := m.inverse[out*n:][:n]
	for k := range row {
		row[k] *= turn
		m.y[k] += cost * row[k]
	}
	for r, f := range m.column {
		if r == out || f == 0 {
			continue
		}
		to := m.inverse[r*n:][:n]
		for k, v := range row {
			to[k] -= f * v
		}
		m.x[r] -= f * ratio
	}
	m.x[out] = ratio
	m.basis[out] = b
	if m.pivots++; m.pivots%64 == 0 {
		return m.factor()
	}
	return true
}
