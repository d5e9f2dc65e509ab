package cliques

import "slices"

// ConflictBound is a number by which the value of every partition is less than PositiveSum. A cycle of
// positive edges and one negative edge is a conflict: a partition either cuts one of the positive
// edges or has the negative edge inside a block, and so loses at least the least absolute weight
// of the cycle. Conflicts are taken greedily, the shortest first. Each subtracts its least weight
// from all of its edges, so that the losses of all conflicts add up.
//
// At most work edges are looked at; the result depends on the graph and on work alone. If stop
// ends the search early, the result is 0.
func (g *Graph) ConflictBound(work int64, stop func() bool) int64 {
	p := packing{g: g, left: make([]int64, len(g.Weight)), work: work, from: make([]int64, g.N), met: make([]int32, g.N),
		last: make([]int64, g.N), near: make([]int32, g.N)}
	for k, w := range g.Weight {
		p.left[k] = max(w, -w)
	}
	var sum int64
	for length := 2; length <= longest && p.work > 0; length++ { // of the positive path
		found := int64(0)
		p.open = false
		for i := range g.N {
			if stop() {
				return 0
			}
			for k := g.Start[i]; k < g.Start[i+1] && p.work > 0; k++ {
				if j := g.Col[k]; int(j) > i && g.Weight[k] < 0 && p.left[k] > 0 {
					found += p.close(int32(i), k, length)
				}
			}
		}
		sum += found
		if !p.open {
			break
		}
	}
	return sum
}

// longest is the most positive edges of a conflict.
const longest = 64

type packing struct {
	g     *Graph
	left  []int64 // of each edge's absolute weight, the same from both ends
	work  int64   // edges that may be looked at
	open  bool    // some negative edge may have a path longer than those looked for
	from  []int64 // the edge by which a node was met, from its other end
	met   []int32 // the search, from 1, that met it
	last  []int64 // the edge from the search's end to a node
	near  []int32 // the search that set last
	turn  int32
	queue []int32
}

// close takes conflicts of the negative edge k of node i with paths of at most so many edges
// until none is left, and returns the sum of their losses.
func (p *packing) close(i int32, k int64, length int) (sum int64) {
	j := p.g.Col[k]
	for p.left[k] > 0 && p.path(i, j, length) {
		least := p.left[k]
		for v := j; v != i; v = p.source(v) {
			least = min(least, p.left[p.from[v]])
		}
		sum += least
		p.use(i, k, least)
		for v := j; v != i; {
			u := p.source(v)
			p.use(u, p.from[v], least)
			v = u
		}
	}
	return sum
}

// source is the node from which v was met.
func (p *packing) source(v int32) int32 {
	u, _ := slices.BinarySearch(p.g.Start, p.from[v]+1)
	return int32(u - 1)
}

// mirror is the edge k of node i from its other end.
func (p *packing) mirror(i int32, k int64) int64 {
	j := p.g.Col[k]
	at, _ := slices.BinarySearch(p.g.Col[p.g.Start[j]:p.g.Start[j+1]], i)
	return p.g.Start[j] + int64(at)
}

// use subtracts from what is left of edge k of node i, in the lists of both of its nodes.
func (p *packing) use(i int32, k, amount int64) {
	p.left[k] -= amount
	p.left[p.mirror(i, k)] -= amount
}

// path looks for one of at most so many positive edges that have some weight left, breadth
// first from i until a neighbour of j is met; from has its edges then.
func (p *packing) path(i, j int32, length int) bool {
	p.turn++
	low, high := p.g.Start[j], p.g.Start[j+1]
	p.work -= high - low
	for k := low; k < high; k++ {
		if p.g.Weight[k] > 0 && p.left[k] > 0 {
			u := p.g.Col[k]
			p.last[u], p.near[u] = k, p.turn
		}
	}
	p.met[i] = p.turn
	level := append(p.queue[:0], i)
	for begin, depth := 0, 1; depth < length; depth++ {
		end := len(level)
		for _, u := range level[begin:end] {
			low, high := p.g.Start[u], p.g.Start[u+1]
			p.work -= high - low
			for k := low; k < high; k++ {
				v := p.g.Col[k]
				if p.g.Weight[k] <= 0 || p.left[k] == 0 || p.met[v] == p.turn {
					continue
				}
				p.met[v], p.from[v] = p.turn, k
				if p.near[v] == p.turn {
					p.from[j] = p.mirror(j, p.last[v])
					return true
				}
				level = append(level, v)
			}
		}
		p.queue = level
		if begin = end; begin == len(level) || p.work < 0 {
			return false
		}
	}
	p.open = true
	return false
}
