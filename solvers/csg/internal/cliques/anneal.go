package cliques

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A state is a partition that is changed a node at a time.
type state struct {
	g     *Graph
	label []int32 // of each node, 0 to N-1
	size  []int32 // of each block
	empty []int32 // blocks without a member
	value int64

	random *rand.Rand
	order  []int32
	gain   []int64   // of joining each block that the node visited has edges to
	met    []int32   // the visit, from 1, that last set gain
	visit  int32     // its number
	near   []int32   // the blocks for which gain is set
	chance []float64 // of each of near

	// Where nodes have many more edges than there are blocks, the gains are kept from visit to
	// visit, and a move updates the gains of the node's neighbours.
	table [][]int64 // by node: the gain of joining each block
	kept  bool
}

// newState begins with a partition; the state takes the label slice over and changes it.
func newState(g *Graph, label []int32, random *rand.Rand) *state {
	s := &state{g: g, label: label, size: make([]int32, g.N), value: g.Value(label), random: random,
		order: singletons(g.N), gain: make([]int64, g.N), met: make([]int32, g.N)}
	s.number()
	return s
}

// number renumbers the blocks from 0 on, so that the next new block gets the least free number.
func (s *state) number() {
	blocks := renumberBlocks(s.label)
	clear(s.size)
	for _, c := range s.label {
		s.size[c]++
	}
	s.empty = s.empty[:0]
	for c := s.g.N - 1; c >= blocks; c-- {
		s.empty = append(s.empty, int32(c))
	}
}

// keep decides between sweeps whether the table of gains is kept. With the table a move costs
// about as much as reading all edges of two nodes, and a visit without a move as much as reading
// one number a block.
func (s *state) keep() {
	blocks, edges := s.g.N-len(s.empty), len(s.g.Col)/max(1, s.g.N)
	switch {
	case s.kept && blocks > edges/2:
		s.kept = false
	case !s.kept && blocks <= edges/4:
		s.number()
		s.kept, s.table = true, s.table[:0]
		for i, c := range s.label {
			s.count(int32(i), c, 1)
		}
	}
}

// count adds a node's weights, times a sign, to its neighbours' gains of joining a block.
func (s *state) count(i, block int32, sign int64) {
	for len(s.table) <= int(block) {
		s.table = append(s.table, make([]int64, s.g.N))
	}
	row := s.table[block]
	col, weight := s.g.Row(int(i))
	for k, j := range col {
		row[j] += sign * weight[k]
	}
}

// sweep visits every node once, in random order, and reports whether one has moved. stop ends the sweep
// early: in a complete graph of thousands of nodes one sweep reads millions of edges.
func (s *state) sweep(heat float64, stop func() bool) bool {
	s.keep()
	s.random.Shuffle(len(s.order), func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
	moved := false
	for k, i := range s.order {
		if k%16 == 0 && stop() {
			break
		}
		moved = s.relocate(i, heat) || moved
	}
	return moved
}

// look sets near, the blocks that a node may join, with their gains: its own, those of its
// neighbours, and an empty one.
func (s *state) look(i int32) {
	own := s.label[i]
	s.near = s.near[:0]
	if s.kept {
		for c, row := range s.table {
			if s.size[c] > 0 {
				s.gain[c] = row[i]
				s.near = append(s.near, int32(c))
			}
		}
	} else {
		if s.visit == math.MaxInt32 {
			clear(s.met)
			s.visit = 0
		}
		s.visit++
		s.met[own], s.gain[own] = s.visit, 0
		s.near = append(s.near, own)
		col, weight := s.g.Row(int(i))
		for k, j := range col {
			c := s.label[j]
			if s.met[c] != s.visit {
				s.met[c], s.gain[c] = s.visit, 0
				s.near = append(s.near, c)
			}
			s.gain[c] += weight[k]
		}
	}
	if s.size[own] > 1 { // the node may also leave its block and be alone
		c := s.empty[len(s.empty)-1]
		s.gain[c] = 0
		s.near = append(s.near, c)
	}
}

// relocate has a node join one of its neighbours' blocks, or be alone: the best of these
// where heat is 0, else one with a chance that grows as exp(gain/heat). It reports
// whether the node has moved.
func (s *state) relocate(i int32, heat float64) bool {
	s.look(i)
	own := s.label[i]
	to := own
	for _, c := range s.near {
		if s.gain[c] > s.gain[to] {
			to = c
		}
	}
	if heat > 0 {
		to = s.draw(s.gain[to], heat)
	}
	if to == own {
		return false
	}
	s.value += s.gain[to] - s.gain[own]
	if s.size[to]++; s.size[to] == 1 {
		s.empty = s.empty[:len(s.empty)-1]
	}
	if s.size[own]--; s.size[own] == 0 {
		s.empty = append(s.empty, own)
	}
	s.label[i] = to
	if s.kept {
		s.count(i, own, -1)
		s.count(i, to, 1)
	}
	return true
}

// draw is one of the blocks near, the largest of whose gains is most.
func (s *state) draw(most int64, heat float64) int32 {
	s.chance = s.chance[:0]
	sum := 0.0
	for _, c := range s.near {
		x := float64(s.gain[c]-most) / heat
		if x > -20 { // else the chance is below 2e-9
			sum += math.Exp(x)
		}
		s.chance = append(s.chance, sum)
	}
	at := s.random.Float64() * sum
	for k, c := range s.chance {
		if at < c {
			return s.near[k]
		}
	}
	return s.near[len(s.near)-1]
}

// anneal makes a number of sweeps while the heat falls by a constant factor a sweep, and then
// descends. It returns the heat at which the value first reached half of the final value. stop
// ends it early.
func (s *state) anneal(sweeps int, from, to float64, stop func() bool) float64 {
	values := make([]int64, sweeps)
	heat := func(k int) float64 { return from * math.Pow(to/from, float64(k)/float64(max(1, sweeps-1))) }
	for k := range sweeps {
		if stop() {
			return from
		}
		s.sweep(heat(k), stop)
		values[k] = s.value
	}
	s.descend(stop)
	return heat(slices.IndexFunc(append(values, s.value), func(v int64) bool { return v >= s.value/2 }))
}

// descend moves nodes, and then whole blocks, as long as that gains, until stop ends it.
func (s *state) descend(stop func() bool) {
	for {
		for s.sweep(0, stop) {
		}
		if stop() {
			return
		}
		s.number()
		s.kept = false
		count := s.g.N - len(s.empty)
		merged := newState(s.g.contract(s.label, count), singletons(count), s.random)
		before := merged.value
		for merged.sweep(0, stop) {
		}
		for i, c := range s.label {
			s.label[i] = merged.label[c]
		}
		if s.number(); merged.value == before {
			return
		}
		s.value += merged.value - before
	}
}

// singletons puts every node into a block of its own.
func singletons(n int) []int32 {
	label := make([]int32, n)
	for i := range label {
		label[i] = int32(i)
	}
	return label
}

// scale is the root of the mean, over all nodes, of the sum of the squares of a node's
// weights: the typical size of a gain.
func (g *Graph) scale() float64 {
	sum := 0.0
	for _, w := range g.Weight {
		sum += float64(w) * float64(w)
	}
	return math.Sqrt(sum / float64(max(1, g.N)))
}
