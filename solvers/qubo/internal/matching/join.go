package matching

import (
	"math/big"
	"slices"
)

// none stands for no vertex and no node.
const none = -1

// Labels of nodes at the top: of those in the tree that a search grows, regions at an even depth grow, and those at an odd depth
// shrink.
const (
	growing   = 1
	shrinking = -1
)

// A node is a region: of a terminal, with its vertex's number, or of a blossom, an odd cycle of nodes.
type node struct {
	y      int64 // the dual, the region's radius; while it is labelled, at the time t: y + label t
	sum    int64 // of the duals from this node to the one before up
	up     int32 // a node around this one; none: it is at the top
	around int32 // the blossom that this one is in; none: it is at the top
	shell  int32 // the vertex that came last into the region
	label  int8

	// Edges between nodes are pairs of terminals, the first within the node. Their length is the sum of the duals around both.
	mate edge // none: the node is not matched
	tree edge // of a shrinking node to the one before it in the tree
	next edge // to the next node of the cycle
	side int32

	first    int32 // a blossom's first node
	shortcut int32 // the last of the nodes inside that point to this one instead of the node right around them; 0: none
	mark     int32
}

type edge struct{ own, to int32 }

// A shortcut is a node that points past the one right around it, and the number of the one before, from 1.
type shortcut struct{ node, next int32 }

// A link is a node of a cycle, and the edge to the next.
type link struct {
	node int32
	next edge
}

var nowhere = edge{none, none}

// A tree grows from a node at the top.
type tree struct {
	now    int64
	events events
	ready  []int32 // half-edges to be looked at now
	looked int     // of ready
	late   []int32
	target int32   // a half-edge to an unmatched node outside the tree, without slack; none: not found yet
	tops   []int32 // nodes that were labelled
}

// A Join is a lightest T-join under way. A clone may be solved on another goroutine.
type Join struct {
	g      *Graph
	length []int64
	gone   []bool // edges that were removed

	terminal []bool
	source   []int32 // of vertices: the terminal whose region they are in; none: no region
	dist     []int64 // of vertices in regions: the distance from the source
	below    []int32 // of vertices: the one that came before into the region
	nodes    []node
	free     []int32 // numbers of blossoms that are not in use
	pending  []int32 // vertices in regions that may be unmatched
	walls    walls
	changed  []int32 // nodes whose regions or duals changed since Mark, some more than once
	sum      int64   // of all duals, modulo 2^64

	tree
	marks     int32
	work      []int32
	cycle     []link
	shortcuts []shortcut
	reached   int // half-edges looked at
}

// New is an empty join. Lengths have to be even and at least 0. Clones share them.
func New(g *Graph, length []int64) *Join {
	n := g.Vertices()
	j := &Join{
		g: g, length: length, gone: make([]bool, g.Edges()), terminal: make([]bool, n),
		source: slices.Repeat([]int32{none}, n), dist: make([]int64, n), below: make([]int32, n), nodes: make([]node, n+n/2+1), walls: walls{stage: g.last},
	}
	for k := n + n/2; k >= n; k-- {
		j.free = append(j.free, int32(k))
	}
	return j
}

// Clone is a copy that changes by itself.
func (j *Join) Clone() *Join { return new(Join).Become(j) }

// Become makes j a copy of k, in j's own memory where it is large enough, and returns it.
func (j *Join) Become(k *Join) *Join {
	j.g, j.length, j.sum, j.marks, j.now = k.g, k.length, k.sum, k.marks, 0
	j.gone, j.terminal = append(j.gone[:0], k.gone...), append(j.terminal[:0], k.terminal...)
	j.source, j.dist, j.below = append(j.source[:0], k.source...), append(j.dist[:0], k.dist...), append(j.below[:0], k.below...)
	j.nodes, j.free, j.pending = append(j.nodes[:0], k.nodes...), append(j.free[:0], k.free...), append(j.pending[:0], k.pending...)
	j.changed = append(j.changed[:0], k.changed...)
	j.walls = k.walls
	j.loosenAll()
	return j
}

// Toggle makes a vertex a terminal, or no terminal where it is one.
func (j *Join) Toggle(v int32) {
	j.endStages()
	j.toggle(v)
}

// toggle is Toggle at a stage.
func (j *Join) toggle(v int32) {
	j.peel(v)
	j.changed = append(j.changed, v)
	if j.terminal[v] {
		j.unmatch(v)
		j.terminal[v], j.source[v] = false, none
		return
	}
	j.terminal[v], j.source[v], j.dist[v], j.below[v] = true, v, 0, none
	j.nodes[v] = node{up: none, around: none, shell: v, mate: nowhere, tree: nowhere, next: nowhere, first: none}
	j.pending = append(j.pending, v)
}

// Mark forgets which nodes have changed.
func (j *Join) Mark() { j.changed = j.changed[:0] }

// Changed returns the nodes that changed since Mark, in this join or in the joins that it was cloned from, ascending.
func (j *Join) Changed() []int32 {
	slices.Sort(j.changed)
	j.changed = slices.Compact(j.changed)
	return j.changed
}

// Remove removes an edge, which must have a positive length.
func (j *Join) Remove(e int32) {
	j.endStages()
	u, v := j.g.Ends(e)
	j.peel(u)
	j.peel(v)
	j.gone[e] = true
}

// Removed reports whether an edge was removed.
func (j *Join) Removed(e int32) bool { return j.gone[e] }

// Sum is the sum of the duals modulo 2^64, a lower bound on the join's length at any time. Differences between clones are exact.
func (j *Join) Sum() int64 { return j.sum }

// Total is the sum of the duals.
func (j *Join) Total() *big.Int {
	total, part := new(big.Int), int64(0)
	flush := func() {
		total.Add(total, big.NewInt(part))
		part = 0
	}
	j.eachNode(func(x int32) {
		if part += j.nodes[x].y; part > 1<<61 {
			flush()
		}
	})
	flush()
	return total
}

// eachNode calls back all nodes, of terminals and of blossoms.
func (j *Join) eachNode(each func(x int32)) {
	n, idle := int32(j.g.Vertices()), j.idle()
	for x := range int32(len(j.nodes)) {
		if x < n && j.terminal[x] || x >= n && !idle[x-n] {
			each(x)
		}
	}
}

// idle are the blossoms that are not in use, numbered from the first.
func (j *Join) idle() []bool {
	n := int32(j.g.Vertices())
	idle := make([]bool, len(j.nodes)-int(n))
	for _, x := range j.free {
		idle[x-n] = true
	}
	return idle
}

// top is the node at the top around x, and the sum of the duals from x to the one before it. Nodes on the way point further up
// afterwards, but never to the top, so that few point to a blossom that is opened.
func (j *Join) top(x int32) (int32, int64) {
	sum := int64(0)
	for {
		n := &j.nodes[x]
		if n.up < 0 {
			return x, sum
		}
		u := &j.nodes[n.up]
		if u.up < 0 {
			return n.up, sum + n.sum
		}
		w := u.up
		if j.nodes[w].up < 0 {
			return w, sum + n.sum + u.sum
		}
		n.sum += u.sum
		n.up = w
		j.shortcuts = append(j.shortcuts, shortcut{x, j.nodes[w].shortcut})
		j.nodes[w].shortcut = int32(len(j.shortcuts))
		sum += n.sum
		x = w
	}
}

// outer is the node at the top around x.
func (j *Join) outer(x int32) int32 {
	t, _ := j.top(x)
	return t
}

// reach is the region that a vertex is in, and how far it reaches beyond the vertex.
func (j *Join) reach(v int32) (top int32, far int64) {
	s := j.source[v]
	if s < 0 {
		return none, 0
	}
	t, sum := j.top(s)
	n := &j.nodes[t]
	return t, sum + n.y + int64(n.label)*j.now - j.dist[v]
}

// unmatch takes a node at the top from its mate.
func (j *Join) unmatch(x int32) {
	m := j.nodes[x].mate
	if m.to < 0 {
		return
	}
	j.nodes[x].mate, j.nodes[j.outer(m.to)].mate = nowhere, nowhere
	j.pending = append(j.pending, m.own, m.to)
}

// peel reduces duals until a vertex is in no region, or is a terminal by itself with a region of no size.
func (j *Join) peel(v int32) {
	for j.source[v] >= 0 {
		x, far := j.reach(v)
		j.changed = append(j.changed, x)
		n := &j.nodes[x]
		cut := min(n.y, far)
		if v == x {
			cut = n.y
		}
		if cut > 0 {
			j.unmatch(x)
			n.y -= cut
			j.sum -= cut
			j.pending = append(j.pending, j.source[v])
		}
		j.dropShell(x)
		if x == v || j.source[v] < 0 {
			return
		}
		if n.mate.to < 0 { // any of its nodes may be left unmatched
			n.mate.own = j.source[v]
			j.pending = append(j.pending, j.source[v])
		}
		j.open(x)
	}
}

// dropShell takes vertices out of the region of a node at the top that it no longer reaches, and those at its very end.
func (j *Join) dropShell(x int32) {
	n := &j.nodes[x]
	for v := n.shell; v >= 0 && v != x; v = n.shell {
		if _, far := j.reach(v); far > 0 {
			return
		}
		n.shell = j.below[v]
		j.source[v] = none
	}
}

// open makes the nodes of a blossom at the top, with a dual of 0, nodes at the top, and matches them.
func (j *Join) open(x int32) {
	j.changed = append(j.changed, x)
	j.loosen(x)
	b := j.nodes[x]
	for c := b.first; ; {
		n := &j.nodes[c]
		n.up, n.around, n.label = none, none, 0
		if c = n.side; c == b.first {
			break
		}
	}
	base := j.outer(b.mate.own) // one of them now
	j.nodes[base].mate = b.mate
	if b.mate.to < 0 {
		j.nodes[base].mate = nowhere
	}
	for c := j.nodes[base].side; c != base; {
		d, e := j.nodes[c].side, j.nodes[c].next
		j.nodes[c].mate, j.nodes[d].mate = e, edge{e.to, e.own}
		c = j.nodes[d].side
	}
	j.nodes[x].label, j.nodes[x].first = 0, none
	j.free = append(j.free, x)
}

// loosen makes the nodes that point to a blossom at the top point to those right around them.
func (j *Join) loosen(x int32) {
	for k := j.nodes[x].shortcut; k > 0; {
		c := j.shortcuts[k-1]
		if n := &j.nodes[c.node]; n.up == x && n.around >= 0 {
			n.up, n.sum = n.around, n.y
		}
		k = c.next
	}
	j.nodes[x].shortcut = 0
}

// loosenAll is loosen of all nodes.
func (j *Join) loosenAll() {
	for x := range j.nodes {
		n := &j.nodes[x]
		n.up, n.sum, n.shortcut = n.around, n.y, 0
	}
	j.shortcuts = j.shortcuts[:0]
}

// eachInside calls back a node and those within.
func (j *Join) eachInside(x int32, each func(c int32)) {
	base := len(j.work)
	j.work = append(j.work, x)
	for len(j.work) > base {
		c := j.work[len(j.work)-1]
		j.work = j.work[:len(j.work)-1]
		if first := j.nodes[c].first; first >= 0 {
			for d := first; ; {
				j.work = append(j.work, d)
				if d = j.nodes[d].side; d == first {
					break
				}
			}
		}
		each(c)
	}
}

// eachVertex calls back the vertices in the region of a node.
func (j *Join) eachVertex(x int32, each func(v int32)) {
	j.eachInside(x, func(c int32) {
		for v := j.nodes[c].shell; v >= 0; v = j.below[v] {
			each(v)
		}
	})
}
