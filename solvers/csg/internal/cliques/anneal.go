package cliques

import (
	"math"
	"math/rand/v2"
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
	near   []int32   // the blocks of which gain is set
	chance []float64 // of each of near
}

// newState begins with a partition, whose labels it keeps.
func newState(g *Graph, label []int32, random *rand.Rand) *state {
	s := &state{g: g, label: label, size: make([]int32, g.N), value: g.Value(label), random: random,
		order: make([]int32, g.N), gain: make([]int64, g.N), met: make([]int32, g.N)}
	for _, c := range label {
		s.size[c]++
	}
	for c, size := range s.size {
		s.order[c] = int32(c)
		if size == 0 {
			s.empty = append(s.empty, int32(c))
		}
	}
	return s
}

// sweep visits every node once, in random order, and reports whether one has moved.
func (s *state) sweep(heat float64) bool {
	s.random.Shuffle(len(s.order), func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
	moved := false
	for _, i := range s.order {
		moved = s.relocate(i, heat) || moved
	}
	return moved
}

// relocate has a node join one of its neighbours' blocks, or be alone: the best of these
// where heat is 0, else one with a chance that grows as exp(gain/heat). It reports
// whether the node has moved.
func (s *state) relocate(i int32, heat float64) bool {
	own := s.label[i]
	if s.visit == math.MaxInt32 {
		clear(s.met)
		s.visit = 0
	}
	s.visit++
	s.near = s.near[:0]
	col, weight := s.g.Row(int(i))
	for k, j := range col {
		c := s.label[j]
		if s.met[c] != s.visit {
			s.met[c], s.gain[c] = s.visit, 0
			s.near = append(s.near, c)
		}
		s.gain[c] += weight[k]
	}
	if s.met[own] != s.visit {
		s.gain[own] = 0
		s.near = append(s.near, own)
	}
	if s.size[own] > 1 { // to be alone
		c := s.empty[len(s.empty)-1]
		s.gain[c] = 0
		s.near = append(s.near, c)
	}
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

// anneal makes so many sweeps while the heat falls by a constant factor from one to the
// other, and then descends. stop ends it early.
func (s *state) anneal(sweeps int, from, to float64, stop func() bool) {
	for k := range sweeps {
		if stop() {
			return
		}
		s.sweep(from * math.Pow(to/from, float64(k)/float64(max(1, sweeps-1))))
	}
	s.descend(stop)
}

// descend moves nodes, and then whole blocks, as long as that gains.
func (s *state) descend(stop func() bool) {
	for {
		for s.sweep(0) {
			if stop() {
				return
			}
		}
		count := canonical(s.label)
		merged := newState(s.g.contract(s.label, count), identity(count), s.random)
		before := merged.value
		for merged.sweep(0) {
			if stop() {
				break
			}
		}
		for i, c := range s.label {
			s.label[i] = merged.label[c]
		}
		gained := merged.value - before
		*s = *newState(s.g, s.label, s.random)
		if gained == 0 {
			return
		}
	}
}

// identity has every node in a block of its own.
func identity(n int) []int32 {
	label := make([]int32, n)
	for i := range label {
		label[i] = int32(i)
	}
	return label
}

// scale is the root of the mean, over all nodes, of the sum of the squares of a node's
// weights: what gains are like.
func (g *Graph) scale() float64 {
	sum := 0.0
	for _, w := range g.Weight {
		sum += float64(w) * float64(w)
	}
	return math.Sqrt(sum / float64(max(1, g.N)))
}
