package cliques

import (
	"cmp"
	"math"
	"slices"

	"coalesce/solvers/csg/internal/basis"
)

// A column is a coalition and the sum of its weights.
type column struct {
	set
	value int64
}

// A master is the linear program of partitions over the coalitions known. A search of all coalitions proves its prices after they were
// rounded up.
type master struct {
	basis   *basis.Basis
	n       int
	columns []column
	nodes   [][]uint8 // of each column
	places  []column  // of the basis
}

// newMaster begins with a basis of the first nodes, to which single nodes are added.
func newMaster(n int, first []column) *master {
	m := &master{basis: basis.New(n, 2), n: n}
	m.places = append(m.places, first...)
	for i := range n {
		one := column{}
		one.add(i)
		m.add(one)
		if i >= len(first) {
			m.places = append(m.places, one)
		}
	}
	if !m.factor() {
		copy(m.places, m.columns)
		m.factor()
	}
	return m
}

// factor inverts the basis of places, or returns false if it is singular or its solution is not feasible.
func (m *master) factor() bool {
	for place, c := range m.places {
		m.basis.Set(place, m.list(c), float64(c.value))
	}
	return m.basis.Factor() && m.basis.Feasible()
}

// list is the nodes of a column, ascending.
func (m *master) list(c column) (nodes []uint8) {
	for i := range m.n {
		if c.has(i) {
			nodes = append(nodes, uint8(i))
		}
	}
	return nodes
}

// add adds a column.
func (m *master) add(c column) {
	m.columns, m.nodes = append(m.columns, c), append(m.nodes, m.list(c))
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
			c -= m.basis.Prices[i]
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

// enter pivots a column into the basis, or returns false if rounding leaves no pivot or no feasible basis.
func (m *master) enter(at int, cost float64) bool {
	place, ok := m.basis.Enter(m.nodes[at], float64(m.columns[at].value), cost)
	if place >= 0 {
		m.places[place] = m.columns[at]
	}
	return ok && (m.basis.Pivots%64 != 0 || m.basis.Feasible())
}

// prices are the prices, raised by a share and rounded up.
func (m *master) prices(share float64) []int64 {
	out := make([]int64, m.n)
	for i, y := range m.basis.Prices {
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
			cost[k] -= m.basis.Prices[i]
		}
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	return at[:min(len(at), count)]
}
