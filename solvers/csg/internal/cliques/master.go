package cliques

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A column is a coalition and the sum of its weights.
type column struct {
	set
	value int64
}

// A master is the linear program of partitions, max Σ value·x over coalitions with Σ x = 1 at each of the first n nodes and x of at least 0, solved by the primal simplex method. Its
// prices are float64s, which a search of all coalitions proves after they were rounded up. Right sides differ by random numbers of up to 2^-20, so that ratios do.
type master struct {
	n       int
	columns []column
	nodes   [][]uint8 // of each column
	basis   []column
	inverse []float64
	x, y    []float64
	right   []float64
	entry   []float64
	pivots  int
}

// newMaster begins with a basis of the first nodes, to which single nodes are added.
func newMaster(n int, basis []column) *master {
	m := &master{n: n, inverse: make([]float64, n*n), x: make([]float64, n), y: make([]float64, n), right: make([]float64, n), entry: make([]float64, n)}
	random := rand.New(rand.NewPCG(1, 2))
	m.basis = append(m.basis, basis...)
	for i := range n {
		m.right[i] = 1 + random.Float64()*0x1p-20
		one := column{}
		one.add(i)
		m.add(one)
		if i >= len(basis) {
			m.basis = append(m.basis, one)
		}
	}
	if !m.factor() {
		for i := range n {
			m.basis[i] = m.columns[i]
		}
		m.factor()
	}
	return m
}

// add adds a column.
func (m *master) add(c column) {
	var nodes []uint8
	for i := range m.n {
		if c.has(i) {
			nodes = append(nodes, uint8(i))
		}
	}
	m.columns, m.nodes = append(m.columns, c), append(m.nodes, nodes)
}

// factor inverts the basis and computes x and y, or returns false if it is singular, or if x is not feasible.
func (m *master) factor() bool {
	n := m.n
	a := make([]float64, n*n) // row: node, column: place in the basis
	clear(m.inverse)
	for c := range m.basis {
		for i := range n {
			if m.basis[c].has(i) {
				a[i*n+c] = 1
			}
		}
		m.inverse[c*n+c] = 1
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
		for k := range n {
			if p != c {
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
			if f := a[r*n+c]; r != c && f != 0 {
				for k := range n {
					a[r*n+k] -= f * a[c*n+k]
					m.inverse[r*n+k] -= f * m.inverse[c*n+k]
				}
			}
		}
	}
	clear(m.y)
	feasible := true
	for r, b := range m.basis {
		m.x[r] = 0
		for k, v := range m.inverse[r*n : (r+1)*n] {
			m.x[r] += v * m.right[k]
			m.y[k] += float64(b.value) * v
		}
		feasible = feasible && m.x[r] > -1e-7
	}
	return feasible
}

// solve pivots until no column is worth more than its prices, but for rounding.
func (m *master) solve() {
	scale := 1.0
	for i := range m.columns {
		scale = max(scale, math.Abs(float64(m.columns[i].value)))
	}
	type candidate struct {
		at   int
		cost float64
	}
	cost := func(at int) float64 {
		c := float64(m.columns[at].value)
		for _, i := range m.nodes[at] {
			c -= m.y[i]
		}
		return c
	}
	const batch = 64
	for {
		var list []candidate
		for at := range m.columns {
			if c := cost(at); c > 1e-11*scale {
				if len(list) < batch {
					list = append(list, candidate{at, c})
					continue
				}
				least := 0
				for k := range list {
					if list[k].cost < list[least].cost {
						least = k
					}
				}
				if c > list[least].cost {
					list[least] = candidate{at, c}
				}
			}
		}
		if len(list) == 0 {
			return
		}
		for {
			best, most := -1, 1e-11*scale
			for k := range list {
				if c := cost(list[k].at); c > most {
					best, most = list[k].at, c
				}
			}
			if best < 0 {
				break
			}
			if !m.enter(best, most) {
				return
			}
		}
	}
}

// enter pivots a column into the basis, or returns false if rounding leaves no pivot.
func (m *master) enter(at int, cost float64) bool {
	n, out, ratio := m.n, -1, math.Inf(1)
	for r := range n {
		v, row := 0.0, m.inverse[r*n:(r+1)*n]
		for _, i := range m.nodes[at] {
			v += row[i]
		}
		if m.entry[r] = v; v < 1e-9 {
			continue
		}
		if q := max(0, m.x[r]) / v; q < ratio-1e-12 || q < ratio+1e-12 && v > m.entry[out] {
			out, ratio = r, q
		}
	}
	if out < 0 {
		return false
	}
	turn := 1 / m.entry[out]
	row := m.inverse[out*n : (out+1)*n]
	for k := range row {
		row[k] *= turn
		m.y[k] += cost * row[k]
	}
	for r, f := range m.entry {
		if r == out || f == 0 {
			continue
		}
		to := m.inverse[r*n : (r+1)*n]
		for k, v := range row {
			to[k] -= f * v
		}
		m.x[r] -= f * ratio
	}
	m.x[out] = ratio
	m.basis[out] = m.columns[at]
	m.pivots++
	return m.pivots%64 != 0 || m.factor()
}

// prices are the prices, raised by a share and rounded up.
func (m *master) prices(share float64) []int64 {
	out := make([]int64, m.n)
	for i, y := range m.y {
		out[i] = int64(math.Ceil(max(0, y) * (1 + share)))
	}
	return out
}

// nearest are the columns of the largest reduced costs, so many of them.
func (m *master) nearest(count int) []int {
	at, cost := make([]int, len(m.columns)), make([]float64, len(m.columns))
	for k := range at {
		at[k], cost[k] = k, float64(m.columns[k].value)
		for _, i := range m.nodes[k] {
			cost[k] -= m.y[i]
		}
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	return at[:min(len(at), count)]
}
