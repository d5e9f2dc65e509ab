package price

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"coalesce/solvers/csg/internal/basis"
)

// A master is the linear program over the columns generated so far,
//
//	maximise Σ v(S) x(S)   with   Σ x(S) over the S with agent i = 1 for every i, x >= 0,
//
// solved by the primal simplex method from the basis of the last time. Values are scaled to magnitudes of at most 1. Its prices prove
// a bound only after a pass over all values has made them feasible.
type master struct {
	basis  *basis.Basis
	cores  int
	masks  []uint64 // of the columns, ascending
	values []float64
	agents []uint8     // of one column
	table  [][]float64 // sums of prices of 11 agents each
	costs  []float64   // reduced costs of all columns
	pool   []int       // columns of the largest reduced costs
}

const (
	tableBits = 11
	optimal   = 1e-12 // a reduced cost of at most this counts as 0
)

// newMaster begins with the columns of single agents. A single agent of value `forbidden` gets a
// value below that of any structure.
func newMaster(n, cores int, single func(agent int) float64) *master {
	m := &master{basis: basis.New(n, uint64(n)), cores: cores}
	for i := range n {
		m.basis.Set(i, []uint8{uint8(i)}, single(i))
	}
	for at := 0; at < n; at += tableBits {
		m.table = append(m.table, make([]float64, 1<<min(tableBits, n-at)))
	}
	m.basis.Factor()
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

// objective is the value of the basis for right-hand sides of 1.
func (m *master) objective() float64 {
	z := 0.0
	for _, y := range m.basis.Prices {
		z += y
	}
	return z
}

func (m *master) reducedCost(mask uint64, value float64) float64 {
	for s := mask; s != 0; s &= s - 1 {
		value -= m.basis.Prices[bits.TrailingZeros64(s)]
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
	for end := m.basis.Pivots + limit; m.basis.Pivots < end; {
		chosen, before := m.enteringColumns(), m.basis.Pivots
		for m.basis.Pivots < end {
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
			for m.basis.Pivots < end {
				best := candidate{-1, optimal}
				for _, c := range list {
					if cost := m.reducedCost(m.masks[c.at], m.values[c.at]); cost > best.cost {
						best = candidate{c.at, cost}
					}
				}
				if best.at < 0 {
					break
				}
				if !m.enter(m.masks[best.at], m.values[best.at], best.cost) {
					return
				}
			}
		}
		if m.basis.Pivots == before {
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
			y := m.basis.Prices[c*tableBits+i]
			for s := range 1 << i {
				t[1<<i|s] = t[s] + y
			}
		}
	}
}

// enter pivots a column into the basis, or returns false if rounding leaves no pivot.
func (m *master) enter(mask uint64, value, cost float64) bool {
	m.agents = m.agents[:0]
	for s := mask; s != 0; s &= s - 1 {
		m.agents = append(m.agents, uint8(bits.TrailingZeros64(s)))
	}
	_, ok := m.basis.Enter(m.agents, value, cost)
	return ok
}
