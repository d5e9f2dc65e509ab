package cliques

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// A Search keeps the best partitions that its workers find. It calls Improved, which may be nil,
// with each new best partition, one call at a time; Improved must not keep the labels.
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

// The search's rules. Heats are shares of Graph.scale. A worker's first annealing begins at the
// heat `hot`, where nodes join blocks by chance. Later ones begin somewhat above the heat at which
// the first reached half of its value: about 0.06 in complete graphs of 1,000 nodes, 0.2 in sparse
// ones.
const (
	elites   = 16
	hot      = 0.4
	cold     = 0.04 // at which annealings end
	above    = 1.3  // heat of later beginnings over that of half the value
	quick    = 32   // sweeps of a worker's first annealing; later ones take twice as many as the last
	thorough = 1024 // sweeps, at most
)

// NewSearch begins with every node alone.
func NewSearch(g *Graph) *Search {
	return &Search{g: g, scale: g.scale(), elite: []partition{{g.Value(singletons(g.N)), singletons(g.N)}}}
}

// Best is the best partition so far, as blocks numbered by their first nodes, and how many
// annealings were made.
func (s *Search) Best() (value int64, label []int32, runs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elite[0].value, slices.Clone(s.elite[0].label), s.runs
}

// Offer adds a partition of the graph to the elites, unless it is among them or worse than all.
func (s *Search) Offer(label []int32) {
	renumberBlocks(label)
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

// A Worker searches on one core, with random numbers of its own.
type Worker struct {
	s           *Search
	random      *rand.Rand
	runs        int
	sweeps      int
	heat, least float64
}

// Worker returns a new worker; several goroutines may each use one at the same time.
func (s *Search) Worker(random *rand.Rand) *Worker {
	return &Worker{s: s, random: random, sweeps: quick, heat: hot * s.scale, least: cold * s.scale}
}

// Run makes one annealing, which stop ends early. One annealing in four begins with every node
// alone, the others recombine two elites.
func (w *Worker) Run(stop func() bool) {
	a, b, ok := w.s.parents(w.random)
	if w.runs++; w.runs > 1 && ok && w.runs%4 != 1 {
		w.s.Offer(w.recombine(a, b, stop))
		return
	}
	one := newState(w.s.g, singletons(w.s.g.N), w.random)
	half := one.anneal(w.sweeps, w.heat, w.least, stop)
	w.s.Offer(one.label)
	if w.runs == 1 {
		w.heat = max(above*half, w.least)
	}
	w.sweeps = min(2*w.sweeps, thorough)
}

// Improve descends from a partition to a local optimum, and offers that.
func (w *Worker) Improve(label []int32, stop func() bool) {
	one := newState(w.s.g, label, w.random)
	one.descend(stop)
	w.s.Offer(one.label)
}

// recombine contracts each set of nodes that both partitions keep together to one node, anneals
// the contracted graph from the first partition, and then descends in the whole graph,
// unless stop ends that.
func (w *Worker) recombine(a, b partition, stop func() bool) []int32 {
	g := w.s.g
	type pair struct{ a, b int32 }
	number := map[pair]int32{}
	common := make([]int32, g.N)
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
	parts := newState(g.contract(common, len(begin)), begin, w.random)
	parts.anneal(w.sweeps, w.heat*math.Pow(w.least/w.heat, w.random.Float64()), w.least, stop)
	label := make([]int32, g.N)
	for i, c := range common {
		label[i] = parts.label[c]
	}
	if stop() {
		return label
	}
	whole := newState(g, label, w.random)
	whole.descend(stop)
	return whole.label
}
