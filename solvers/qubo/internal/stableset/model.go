package stableset

import (
	"math/bits"

	"coalesce/generated/qubo"
	"coalesce/solvers/qubo/internal/draw"
)

// A walkModel is a plain Go version of a walk of qubo/stableset: it gives the same sets, bit by bit. Its vertices are listed one by one.
type walkModel struct {
	*graph
	items, limit int
	in           []bool
	size         int
	random       mixed
	now          uint32
	stamp        []uint32
	ring         []int
	tabu         []bool // or used, of penalties
	first        []bool
	begun        bool
	penalty      []uint32
	last         int
	delay        int
	phases       int
}

// mixed is the device's generator of random numbers, Random.
type mixed struct{ state, step uint32 }

func (r *mixed) next() uint32 {
	r.state = r.state*1664525 + r.step
	x := (r.state ^ r.state>>15) * 0x2c1b3c6d
	return x ^ x>>12
}

func (r *mixed) below(k uint32) uint32 { return uint32(uint64(r.next()) * uint64(k) >> 32) }

// run is a launch of so many steps, from an empty set without penalties. It returns the set and the largest one.
func (m *walkModel) run(seed, walk uint64, steps int) (set, top []bool) {
	h := draw.Splitmix(draw.Splitmix(seed) + draw.Splitmix(walk))
	m.random = mixed{uint32(h), uint32(h>>32) | 1}
	m.in, m.tabu, m.first = make([]bool, m.n), make([]bool, m.n), make([]bool, m.n)
	m.stamp, m.penalty, m.ring = make([]uint32, m.n), make([]uint32, m.n), make([]int, qubo.StablesetRing)
	for k := range m.ring {
		m.ring[k] = none
	}
	m.last, m.delay = none, firstDelay
	most := 0
	top = make([]bool, m.n)
	for range steps {
		if walk%2 == 0 {
			m.swap()
		} else {
			m.penalize()
		}
		if m.size > most {
			most = m.size
			copy(top, m.in)
		}
	}
	return m.in, top
}

// list lists, in the order of lanes, the vertices outside the set that have so many neighbours in it and are not in except.
func (m *walkModel) list(neighbours int, except []bool) [][]int {
	lanes := make([][]int, 32)
	for lane := range lanes {
		for e := range m.items {
			for v := (32*e + lane) * 32; v < min(m.n, (32*e+lane)*32+32); v++ {
				if m.in[v] || except != nil && except[v] {
					continue
				}
				count := 0
				for u := range m.n {
					if m.in[u] && contains(m.row(v), u) {
						count++
					}
				}
				if neighbours < 0 || count == neighbours {
					lanes[lane] = append(lanes[lane], v)
				}
			}
		}
	}
	return lanes
}

// lanesWith is a mask of the lanes that have vertices.
func lanesWith(lanes [][]int) (mask uint32) {
	for k, l := range lanes {
		if len(l) > 0 {
			mask |= 1 << k
		}
	}
	return mask
}

// after is the first bit of b from bit k on, and then from bit 0 on.
func after(b, k uint32) uint32 {
	return (uint32(bits.TrailingZeros32(bits.RotateLeft32(b, -int(k)))) + k) % 32
}

// pick draws a vertex of a list.
func (m *walkModel) pick(lanes [][]int) int {
	r := m.random.next()
	from := after(lanesWith(lanes), r%32)
	for k := range m.items {
		e := (int(r>>5)%m.items + k) % m.items
		var word uint32
		for _, v := range lanes[from] {
			if v/1024 == e {
				word |= 1 << (v % 32)
			}
		}
		if word != 0 {
			return (32*e+int(from))*32 + int(after(word, r>>27))
		}
	}
	return none
}

// neighbour is the member of the set in the row of v that the device finds first.
func (m *walkModel) neighbour(v int) int {
	for lane := range 32 {
		for e := m.items - 1; e >= 0; e-- {
			for u := (32*e + lane) * 32; u < min(m.n, (32*e+lane)*32+32); u++ {
				if m.in[u] && u != v && contains(m.row(v), u) {
					return u
				}
			}
		}
	}
	return none
}

func (m *walkModel) enter(v int, left func(u int)) {
	for u := m.neighbour(v); u != none; u = m.neighbour(v) {
		m.in[u] = false
		m.size--
		left(u)
	}
	m.in[v] = true
	m.size++
}

func (m *walkModel) swap() {
	m.now++
	if at := &m.ring[m.now%qubo.StablesetRing]; *at != none {
		m.tabu[*at] = false
		*at = none
	}
	if free := m.list(0, nil); lanesWith(free) != 0 && m.size < m.limit {
		v := m.pick(free)
		m.enter(v, func(int) {})
		m.stamp[v] = m.now
		return
	}
	single, twice := m.list(1, m.tabu), m.list(2, m.tabu)
	r, span, v := m.random.next(), uint32(1), none
	switch {
	case lanesWith(twice) != 0 && (lanesWith(single) == 0 || r < doubleShare):
		v = m.pick(twice)
	case lanesWith(single) != 0:
		for _, l := range single {
			span += uint32(len(l))
		}
		span = min(span, qubo.StablesetRing-64)
		if r%16 < oldestOf16 {
			v = m.oldest(single, r>>27)
		} else {
			v = m.pick(single)
		}
	default:
		others := m.list(-1, nil)
		if lanesWith(others) == 0 || m.size >= m.limit {
			return
		}
		v = m.pick(others)
	}
	m.enter(v, func(u int) {
		t := m.now + tabuLeast + m.random.below(span)
		for range 8 {
			if m.ring[t%qubo.StablesetRing] == none {
				m.ring[t%qubo.StablesetRing] = u
				m.tabu[u] = true
				break
			}
			t++
		}
		m.stamp[u] = m.now
	})
	m.stamp[v] = m.now
}

// oldest is the vertex of a list that has not moved for longest.
func (m *walkModel) oldest(lanes [][]int, turn uint32) int {
	least := ^uint32(0)
	var mask uint32
	best := make([]int, len(lanes))
	for k, l := range lanes {
		own := ^uint32(0)
		for _, v := range l {
			if m.stamp[v] < own {
				own, best[k] = m.stamp[v], v
			}
		}
		if own < least {
			least, mask = own, 0
		}
		if own == least {
			mask |= 1 << k
		}
	}
	return best[after(mask, turn)]
}

func (m *walkModel) penalize() {
	if free := m.list(0, m.tabu); lanesWith(free) != 0 && m.size < m.limit {
		m.begun = false
		m.use(m.least(free))
		return
	}
	single := m.list(1, m.tabu)
	common := !m.begun
	if !m.begun {
		copy(m.first, m.in)
		m.begun = true
	}
	for v, in := range m.in {
		common = common || in && m.first[v]
	}
	if common && lanesWith(single) != 0 {
		m.use(m.least(single))
		return
	}
	m.endPhase()
}

func (m *walkModel) use(v int) {
	m.enter(v, func(int) {})
	m.tabu[v], m.last = true, v
}

// least is the vertex of the least penalty of a list.
func (m *walkModel) least(lanes [][]int) (v int) {
	draw, best := m.random.next(), ^uint32(0)
	for k, l := range lanes {
		salt := draw ^ uint32(k)*0x9e3779b9
		for _, u := range l {
			salt = salt*1664525 + 1013904223
			if key := m.penalty[u]<<16 | salt>>16; key < best || best == ^uint32(0) {
				best, v = key, u
			}
		}
	}
	return v
}

func (m *walkModel) endPhase() {
	for v, in := range m.in {
		if in {
			m.penalty[v]++
		}
	}
	if m.phases++; m.phases >= m.delay {
		count := 0
		for v, q := range m.penalty {
			m.penalty[v] = max(q, 1) - 1
			if q > 1 {
				count++
			}
		}
		if m.phases = 0; float32(count) < penalized*float32(m.n) {
			m.delay++
		} else if m.delay > 1 {
			m.delay--
		}
	}
	clear(m.tabu)
	m.begun = false
	if m.delay > 1 {
		v := m.last
		if v == none {
			v = int(m.random.below(uint32(m.n)))
		}
		clear(m.in)
		m.in[v], m.size = true, 1
	} else if others := m.list(-1, nil); lanesWith(others) != 0 && m.size < m.limit {
		m.enter(m.pick(others), func(int) {})
	}
	m.last = none
}
