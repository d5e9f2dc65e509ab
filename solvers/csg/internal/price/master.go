package price

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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
	cores   int
	masks   []uint64 // of the columns, ascending
	values  []float64
	right   []float64
	basis   []basic
	inverse []float64 // n rows of n
	x, y    []float64
	column  []float64
	table   [][]float64 // sums of prices of 11 agents each
	costs   []float64   // reduced costs of all columns
	pool    []int       // columns of the largest reduced costs
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
func newMaster(n, cores int, single func(agent int) float64) *master {
	m := &master{n: n, cores: cores, right: make([]float64, n), basis: make([]basic, n),
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

// add adds columns, which ascend by coalition, but for those whose coalition the master has. Values are
// multiplied by scale.
func (m *master) add(columns []column, scale float64) {
	at, more := 0, 0
	for _, c := range columns {
		for at < len(m.masks) && m.masks[at] < c.mask {
			at++
		}
		if at == len(m.masks) || m.masks[at] != c.mask {
			more++
		}
	}
	last := len(m.masks) - 1
	m.masks, m.values = slices.Grow(m.masks, more)[:last+1+more], slices.Grow(m.values, more)[:last+1+more]
	// From the end, until all that is left of the columns is there.
	next := len(columns) - 1
	for to := last + more; to > last; to-- {
		c := columns[next]
		if last < 0 || c.mask > m.masks[last] {
			m.masks[to], m.values[to] = c.mask, float64(c.value)*scale
			next--
			continue
		}
		m.masks[to], m.values[to] = m.masks[last], m.values[last]
		if c.mask == m.masks[last] {
			next--
		}
		last--
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

func (m *master) reducedCost(mask uint64, value float64) float64 {
	for s := mask; s != 0; s &= s - 1 {
		value -= m.y[bits.TrailingZeros64(s)]
	}
	return value
}

// The reduced costs of all columns choose a pool of about so many, the largest. Those of the pool choose a
// batch of at most so many, whose columns enter the basis one after the other.
const pool, batch = 1 << 11, 1 << 6

// A candidate is a column of the master, and its reduced cost.
type candidate struct {
	at   int
	cost float64
}

// solve pivots until no column has a reduced cost above 0, or limit pivots are made.
func (m *master) solve(limit int) {
	var list []candidate
	for end := m.pivots + limit; m.pivots < end; {
		chosen, before := m.enteringColumns(), m.pivots
		for m.pivots < end {
			m.sums()
			list = list[:0]
			for _, at := range chosen {
				if cost := m.cost(m.masks[at], m.values[at]); cost > optimal {
					list = append(list, candidate{at, cost})
				}
			}
			if len(list) == 0 {
				break
			}
			if len(list) > batch {
				selectLowest(list, batch, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.cost, a.cost), a.at-b.at) })
				list = list[:batch]
			}
			for m.pivots < end {
				best := candidate{-1, optimal}
				for _, c := range list {
					if cost := m.reducedCost(m.masks[c.at], m.values[c.at]); cost > best.cost {
						best = candidate{c.at, cost}
					}
				}
				if best.at < 0 {
					break
				}
				if !m.enter(basic{m.masks[best.at], m.values[best.at]}, best.cost) {
					return
				}
			}
		}
		if m.pivots == before {
			return
		}
	}
}

// cost is a column's reduced cost by the tables that sums has made.
func (m *master) cost(mask uint64, value float64) float64 {
	for _, t := range m.table {
		value -= t[mask&(1<<tableBits-1)]
		mask >>= tableBits
	}
	return value
}

// enteringColumns returns the places, in order, of the columns with about the `pool` largest reduced costs. A
// sample of at most 1,024 costs tells the least that is taken. Near the optimum few costs are above 0, and
// the columns whose costs are just below are the next to enter.
func (m *master) enteringColumns() []int {
	m.sums()
	m.costs = slices.Grow(m.costs[:0], len(m.masks))[:len(m.masks)]
	const share = 4 * piece
	forEach(m.cores, (len(m.masks)+share-1)/share, func(k int) {
		for i := k * share; i < min((k+1)*share, len(m.masks)); i++ {
			m.costs[i] = m.cost(m.masks[i], m.values[i])
		}
	})
	least := math.Inf(-1)
	if len(m.masks) > pool {
		var sample []float64
		for i := 0; i < len(m.costs); i += 1 + len(m.costs)/1024 {
			sample = append(sample, m.costs[i])
		}
		slices.Sort(sample)
		least = sample[len(sample)-1-len(sample)*pool/len(m.costs)]
	}
	m.pool = m.pool[:0]
	for i, cost := range m.costs {
		if cost >= least {
			m.pool = append(m.pool, i)
		}
	}
	return m.pool
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
