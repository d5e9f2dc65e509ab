// Package stableset searches binary quadratic programs that are maximum stable sets: all variables gain the same, and every pair is a
// penalty of at least that gain. Flips of one variable are weak there, since a better solution is often behind several exchanges of a
// member for another vertex. The moves here are exchanges, of one or two members for a vertex, and never leave the stable sets.
package stableset

import (
	"math"

	"coalesce/solvers/qubo/problem"
)

// A graph has an edge for every pair of a problem whose best solutions are its maximum stable sets. The value of a stable set is base +
// gain * size; in mirrored problems the variables of a set are 0 and the others 1.
type graph struct {
	n, words   int
	rows       []uint64 // row v: the neighbours of v, and v, a bit each
	base, gain int64
	mirrored   bool
	depth      int // bits of a count of neighbours
}

// mostVertices bounds a graph: rows have a bit for each two vertices.
const mostVertices = 1 << 15

// Is reports whether a problem is one of maximum stable sets that Search takes.
func Is(p *problem.Normal) bool {
	_, _, _, ok := penaltiesOf(p)
	return ok && len(p.Col) > 0
}

// penaltiesOf are the value of the empty set and the gain of a vertex, where all pairs are penalties of at least the gain: of the
// variables as they are, or, mirrored, of those that are 0.
func penaltiesOf(p *problem.Normal) (base, gain int64, mirrored, ok bool) {
	if p.N == 0 || p.N > mostVertices {
		return 0, 0, false, false
	}
	least := int64(math.MaxInt64) // penalty
	for _, w := range p.Weight {
		if w >= 0 {
			return 0, 0, false, false
		}
		least = min(least, -w)
	}
	alike := func(gainOf func(i int) int64) bool {
		gain = gainOf(0)
		for i := 1; i < p.N; i++ {
			if gainOf(i) != gain {
				return false
			}
		}
		return gain > 0 && least >= gain
	}
	if alike(func(i int) int64 { return p.Diag[i] }) {
		return 0, gain, false, true
	}
	var twice, single int64
	mirror := func(i int) int64 {
		sum := p.Diag[i]
		_, weight := p.Row(i)
		for _, w := range weight {
			sum += w
		}
		return -sum
	}
	if !alike(mirror) {
		return 0, 0, false, false
	}
	for _, w := range p.Weight {
		twice += w
	}
	for _, d := range p.Diag {
		single += d
	}
	return single + twice/2, gain, true, true
}

// newGraph is that of a problem that Is takes.
func newGraph(p *problem.Normal) *graph {
	base, gain, mirrored, _ := penaltiesOf(p)
	g := &graph{n: p.N, words: problem.Words(p.N), base: base, gain: gain, mirrored: mirrored, depth: 2}
	g.rows = make([]uint64, g.n*g.words)
	for v := range g.n {
		row := g.row(v)
		col, _ := p.Row(v)
		for _, j := range col {
			row[j>>6] |= 1 << (j & 63)
		}
		row[v>>6] |= 1 << (v & 63)
		for len(col)+1 >= 1<<g.depth {
			g.depth++
		}
	}
	return g
}

func (g *graph) row(v int) []uint64 { return g.rows[v*g.words : (v+1)*g.words] }

// value is the objective of a stable set.
func (g *graph) value(size int) int64 { return g.base + g.gain*int64(size) }

// solution sets x to that of a stable set, or the other way round.
func (g *graph) solution(x, set []uint64) {
	copy(x, set)
	if !g.mirrored {
		return
	}
	for w := range x {
		x[w] = ^x[w]
	}
	if g.n%64 != 0 {
		x[g.words-1] &= 1<<(g.n%64) - 1
	}
}
