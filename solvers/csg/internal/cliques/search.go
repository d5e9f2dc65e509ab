package cliques

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// A Search keeps the best partitions that its workers find. Improved, which may be nil, is
// told of each better one, one call at a time, and must not keep the labels.
type Search struct {
	Improved func(value int64, label []int32)

	g     *Graph
	scale float64
	mu    sync.Mutex
	elite []partition // best first
	runs  int64
}

type partition struct {
	value int64
	label []int32 // canonical
}

// The search's rules. Heats are shares of Graph.scale. A worker's first annealing begins hot, where nodes
// join blocks by chance. Later ones begin somewhat above the heat at which that one came to half
// of its value: near 0.06 in complete graphs of 1,000 nodes, 0.2 in sparse ones.
const (
	elites   = 16
	hot      = 0.4
	cold     = 0.04 // to which partitions are annealed
	above    = 1.3
	quick    = 32   // sweeps of a worker's first annealing; later ones take twice as many as the last
	thorough = 1024 // sweeps, at most
)

// NewSearch begins with every node alone.
func NewSearch(g *Graph) *Search {
	return &Search{g: g, scale: g.scale(), elite: []partition{{g.Value(identity(g.N)), identity(g.N)}}}
}

// Best is the best partition so far, as blocks numbered by their first nodes, and how many
// annealings were made.
func (s *Search) Best() (value int64, label []int32, runs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elite[0].value, slices.Clone(s.elite[0].label), s.runs
}

// Offer takes a partition of the graph, unless it is known or worse than the elites.
func (s *Search) Offer(label []int32) {
	canonical(label)
	p := partition{s.g.Value(label), label}
	s.mu.Lock()
	defer s.mu.Unlock()
	better := p.value > s.elite[0].value
	if slices.ContainsFunc(s.elite, func(q partition) bool { return q.value == p.value && slices.Equal(q.label, p.label) }) {
		return
	}
	at := slices.IndexFunc(s.elite, func(q partition) bool { return p.value > q.value })
	if at < 0 {
		at = len(s.elite)
	}
	s.elite = slices.Insert(s.elite, at, p)
	s.elite = s.elite[:min(len(s.elite), elites)]
	if better && s.Improved != nil {
		s.Improved(p.value, p.label)
	}
}

// parents are two elites, or false where there are few.
func (s *Search) parents(random *rand.Rand) (a, b partition, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	if len(s.elite) < 4 {
		return a, b, false
	}
	k := random.IntN(len(s.elite))
	l := random.IntN(len(s.elite) - 1)
	if l >= k {
		l++
	}
	return s.elite[min(k, l)], s.elite[max(k, l)], true
}

// Work searches until stop; several goroutines may, each with random numbers of its own.
// One in four annealings begins from nothing, the others recombine two elites.
func (s *Search) Work(random *rand.Rand, stop func() bool) {
	sweeps, heat, least := quick, hot*s.scale, cold*s.scale
	for run := 0; !stop(); run++ {
		a, b, ok := s.parents(random)
		if run > 0 && ok && run%4 != 0 {
			s.Offer(s.recombine(a, b, sweeps, heat*math.Pow(least/heat, random.Float64()), least, random, stop))
			continue
		}
		one := newState(s.g, identity(s.g.N), random)
		half := one.anneal(sweeps, heat, least, stop)
		s.Offer(one.label)
		if run == 0 {
			heat = max(above*half, least)
		}
		sweeps = min(2*sweeps, thorough)
	}
}

// recombine makes a node of all nodes that are together in both partitions, anneals these
// from the first partition, and then descends in the whole graph.
func (s *Search) recombine(a, b partition, sweeps int, from, to float64, random *rand.Rand, stop func() bool) []int32 {
	type pair struct{ a, b int32 }
	number := map[pair]int32{}
	common := make([]int32, s.g.N)
	var begin []int32 // of each common part, the block of a
	for i := range common {
		p := pair{a.label[i], b.label[i]}
		c, ok := number[p]
		if !ok {
			c = int32(len(number))
			number[p] = c
			begin = append(begin, p.a)
		}
		common[i] = c
	}
	parts := newState(s.g.contract(common, len(begin)), begin, random)
	parts.anneal(sweeps, from, to, stop)
	label := make([]int32, s.g.N)
	for i, c := range common {
		label[i] = parts.label[c]
	}
	whole := newState(s.g, label, random)
	whole.descend(stop)
	return whole.label
}
