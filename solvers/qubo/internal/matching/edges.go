package matching

import "slices"

// Edges are those of the join, ascending. All terminals must be matched.
func (j *Join) Edges() []int32 {
	odd := make([]bool, j.g.Edges())
	w := newWalk(j)
	var stack []link // nodes, and the terminals in them that are matched outside
	for s := range int32(j.g.Vertices()) {
		if !j.terminal[s] || j.nodes[s].around >= 0 {
			continue
		}
		stack = append(stack, link{s, j.nodes[s].mate})
	}
	j.eachNode(func(x int32) {
		if n := &j.nodes[x]; n.first >= 0 && n.around < 0 {
			stack = append(stack, link{x, n.mate})
		}
	})
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m := l.next; m.own < m.to {
			w.path(m, odd)
		}
		for base := l.next.own; base != l.node; base = j.nodes[base].around { // up to the node
			for c := j.nodes[base].side; c != base; {
				d, e := j.nodes[c].side, j.nodes[c].next
				stack = append(stack, link{c, e}, link{d, edge{e.to, e.own}})
				c = j.nodes[d].side
			}
		}
	}
	var list []int32
	for e, is := range odd {
		if is {
			list = append(list, int32(e))
		}
	}
	return list
}

// A walk finds shortest paths, one after the other.
type walk struct {
	j    *Join
	dist []int64
	came []int32 // half-edges that arrive
	seen []int32
	turn int32
	heap events
}

func newWalk(j *Join) *walk {
	n := j.g.Vertices()
	return &walk{j: j, dist: make([]int64, n), came: make([]int32, n), seen: slices.Repeat([]int32{-1}, n)}
}

// path toggles the edges of a shortest path between two terminals.
func (w *walk) path(m edge, odd []bool) {
	j := w.j
	w.turn++
	w.heap = w.heap[:0]
	visit := func(v int32, d int64, h int32) {
		if w.seen[v] != w.turn || d < w.dist[v] {
			w.seen[v], w.dist[v], w.came[v] = w.turn, d, h
			w.heap.push(event{d, v})
		}
	}
	visit(m.own, 0, none)
	for {
		e := w.heap.pop()
		if e.id == m.to {
			break
		}
		if e.at > w.dist[e.id] {
			continue
		}
		for _, h := range j.g.at(e.id) {
			if !j.gone[h>>1] {
				visit(j.g.head[h], e.at+j.length[h>>1], h)
			}
		}
	}
	for v := m.to; v != m.own; {
		h := w.came[v]
		odd[h>>1] = !odd[h>>1]
		v = j.g.head[h^1]
	}
}
