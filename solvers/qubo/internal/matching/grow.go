package matching

import "slices"

// A Status is how a solve ended.
type Status int

// The ways to end.
const (
	Solved     Status = iota // the join is the lightest
	Infeasible               // a component has an odd number of terminals
	Beyond                   // the sum of the duals reached the limit
	Stopped                  // the caller stopped it
	Overflow                 // lengths are too large for int64
)

// farthest is the largest distance that is computed with.
const farthest = 1 << 61

// Solve matches all terminals. It ends early where the duals add up to limit, or more, unless limit is nil, or where stop
// is true, which it calls now and then; duals hold then too.
func (j *Join) Solve(limit *int64, stop func() bool) Status {
	for {
		if len(j.pending) == 0 {
			if !j.nextStage() {
				return Solved
			}
			continue
		}
		s := j.pending[len(j.pending)-1]
		if j.source[s] >= 0 {
			if root := j.outer(j.source[s]); j.nodes[root].mate.to < 0 {
				if status := j.search(root, limit, stop); status != Solved {
					return status
				}
			}
		}
		j.pending = j.pending[:len(j.pending)-1]
	}
}

// search grows a tree from an unmatched node until it meets another, and matches all of the tree and this.
func (j *Join) search(root int32, limit *int64, stop func() bool) Status {
	j.now, j.events, j.ready, j.tops, j.target = 0, j.events[:0], j.ready[:0], j.tops[:0], none
	j.looked = 0
	if len(j.shortcuts) > 4*len(j.nodes) {
		j.loosenAll()
	}
	j.grow(root)
	for {
		var id int32
		switch {
		case j.target >= 0:
			j.meet(j.target)
			j.settle()
			return Solved
		case j.looked < len(j.ready):
			id = j.ready[j.looked]
			j.looked++
		case len(j.events) == 0:
			j.settle()
			return Infeasible
		default:
			first := j.events.pop()
			if first.at > farthest {
				j.settle()
				return Overflow
			}
			if limit != nil && j.sum+first.at-*limit >= 0 {
				j.now = max(j.now, *limit-j.sum)
				j.settle()
				return Beyond
			}
			j.now, id = first.at, first.id
		}
		if j.reached++; j.reached&4095 == 0 && stop != nil && stop() {
			j.settle()
			return Stopped
		}
		if id < 0 {
			j.shrunk(^id)
		} else if j.meet(id) {
			j.settle()
			return Solved
		}
	}
}

// settle ends a tree: its duals stay, its labels go.
func (j *Join) settle() {
	j.sum += j.now
	j.changed = append(j.changed, j.tops...)
	for _, x := range j.tops {
		n := &j.nodes[x]
		n.y += int64(n.label) * j.now
		n.label = 0
	}
	j.now = 0
	for _, x := range j.tops {
		if n := &j.nodes[x]; n.around < 0 && n.label == 0 && n.first >= 0 {
			j.openEmpty(x)
		}
	}
}

// openEmpty opens a blossom at the top whose dual is 0, and those in it.
func (j *Join) openEmpty(x int32) {
	n := &j.nodes[x]
	if n.first < 0 || n.y != 0 || n.mate.to < 0 {
		return
	}
	for v := n.shell; v >= 0; v = j.below[v] {
		j.source[v] = none
	}
	n.shell = none
	first := n.first
	j.open(x)
	for c := first; ; {
		side := j.nodes[c].side
		j.openEmpty(c)
		if c = side; c == first {
			return
		}
	}
}

// grow labels a node at the top, whose region grows from now on.
func (j *Join) grow(x int32) {
	n := &j.nodes[x]
	n.label = growing
	n.y -= j.now
	j.tops = append(j.tops, x)
	j.eachVertex(x, j.scan)
}

// shrink labels a node at the top, whose region shrinks from now on.
func (j *Join) shrink(x int32, tree edge) {
	n := &j.nodes[x]
	n.label = shrinking
	n.y += j.now
	n.tree = tree
	j.tops = append(j.tops, x)
	j.awaitShrunk(x)
}

// awaitShrunk makes an event of the next vertex that leaves the region of a node, or of its end.
func (j *Join) awaitShrunk(x int32) {
	n := &j.nodes[x]
	left := n.y - j.now
	if v := n.shell; v >= 0 && v != x {
		_, far := j.reach(v)
		left = min(left, far)
	}
	j.events.push(event{j.now + max(0, left), ^x})
}

// shrunk takes vertices out of the region of a node that shrinks, and ends it where it has no size.
func (j *Join) shrunk(x int32) {
	n := &j.nodes[x]
	if n.label != shrinking || n.up >= 0 {
		return
	}
	for v := n.shell; v >= 0 && v != x; v = n.shell {
		if _, far := j.reach(v); far > 0 {
			break
		}
		n.shell = j.below[v]
		j.source[v] = none
		j.rescan(v)
	}
	switch {
	case n.y-j.now > 0:
		j.awaitShrunk(x)
	case n.first < 0: // the nodes on both sides meet
		j.blossom(n.tree.to, n.mate.to)
	default:
		j.divide(x)
	}
}

// scan sorts the edges of a vertex, in a region that grows, by the time at which they have to be looked at.
func (j *Join) scan(v int32) {
	from, far := j.reach(v)
	for _, h := range j.g.at(v) {
		to, near := j.reach(j.g.head[h])
		slack := j.length[h>>1] - far - near
		label := int8(0)
		if to >= 0 {
			label = j.nodes[to].label
		}
		switch {
		case to == from || label == shrinking || j.gone[h>>1]:
		case slack > 0 && label == growing:
			j.events.push(event{j.now + slack/2, h})
		case slack > 0:
			j.events.push(event{j.now + slack, h})
		case to < 0 && j.isWall(j.g.head[h]) || to >= 0 && label == 0 && j.isFree(to):
			j.target = h
		default:
			j.ready = append(j.ready, h)
		}
	}
}

// rescan looks again at all edges to a vertex, in a region at rest or in none.
func (j *Join) rescan(v int32) {
	for _, h := range j.g.at(v) {
		j.ready = append(j.ready, h^1)
	}
}

// meet looks at a half-edge from a region that grows. It reports whether the search has ended.
func (j *Join) meet(h int32) bool {
	u, v := j.g.head[h^1], j.g.head[h]
	from, far := j.reach(u)
	if from < 0 || j.nodes[from].label != growing {
		return false
	}
	to, near := j.reach(v)
	label := int8(0)
	if to >= 0 {
		label = j.nodes[to].label
	}
	if from == to || label == shrinking || j.gone[h>>1] {
		return false
	}
	slack := j.length[h>>1] - far - near
	if slack > 0 {
		if label == growing {
			slack /= 2
		}
		j.events.push(event{j.now + slack, h})
		return false
	}
	switch {
	case to < 0 && j.isWall(v):
		j.augment(j.source[u], v)
		return true
	case to < 0:
		j.source[v], j.dist[v] = j.source[u], j.dist[u]+j.length[h>>1]
		j.below[v], j.nodes[from].shell = j.nodes[from].shell, v
		j.scan(v)
	case label == growing:
		j.blossom(j.source[u], j.source[v])
	case j.isFree(to):
		j.augment(j.source[u], j.source[v])
		return true
	default:
		mate := j.nodes[to].mate.to
		j.shrink(to, edge{j.source[v], j.source[u]})
		j.grow(j.outer(mate))
	}
	return false
}

// augment matches the nodes of two terminals, the first in the tree, and the tree's from there to its root.
func (j *Join) augment(a, b int32) {
	if !j.isWall(b) {
		j.nodes[j.outer(b)].mate = edge{b, a}
	}
	for {
		n := &j.nodes[j.outer(a)]
		before := n.mate
		n.mate = edge{a, b}
		if before.to < 0 {
			return
		}
		n = &j.nodes[j.outer(before.to)]
		a, b = n.tree.to, n.tree.own
		n.mate = edge{b, a}
	}
}

// parent is the growing node before a growing one in the tree, none for the root.
func (j *Join) parent(x int32) int32 {
	mate := j.nodes[x].mate.to
	if mate < 0 {
		return none
	}
	return j.outer(j.nodes[j.outer(mate)].tree.to)
}

// blossom makes a node of the cycle that an edge between two terminals, in growing nodes, closes.
func (j *Join) blossom(a, b int32) {
	first := j.meeting(j.outer(a), j.outer(b))
	j.cycle = j.cycle[:0]
	step := func(c int32, next edge) { j.cycle = append(j.cycle, link{c, next}) }
	for c := j.outer(a); c != first; { // up to the first
		n := &j.nodes[c]
		step(c, n.mate)
		d := j.outer(n.mate.to)
		step(d, j.nodes[d].tree)
		c = j.outer(j.nodes[d].tree.to)
	}
	at := len(j.cycle) // and down again
	for c, next := j.outer(b), (edge{b, a}); ; {
		step(c, next)
		if c == first {
			break
		}
		mate := j.nodes[c].mate
		d := j.outer(mate.to)
		step(d, edge{mate.to, mate.own})
		next = edge{j.nodes[d].tree.to, j.nodes[d].tree.own}
		c = j.outer(j.nodes[d].tree.to)
	}
	slices.Reverse(j.cycle[at:])

	x := j.free[len(j.free)-1]
	j.free = j.free[:len(j.free)-1]
	j.nodes[x] = node{y: -j.now, label: growing, up: none, around: none, shell: none, mate: j.nodes[first].mate, tree: nowhere, next: nowhere, first: first}
	j.tops = append(j.tops, x)
	for k, l := range j.cycle {
		n := &j.nodes[l.node]
		n.y += int64(n.label) * j.now
		n.up, n.around, n.sum = x, x, n.y
		n.next, n.side = l.next, j.cycle[(k+1)%len(j.cycle)].node
		if n.label == shrinking {
			j.late = append(j.late, l.node)
		}
		n.label = 0
	}
	for _, c := range j.late {
		j.eachVertex(c, j.scan)
	}
	j.late = j.late[:0]
}

// meeting is the node in which the ways from two growing nodes to the root meet.
func (j *Join) meeting(x, y int32) int32 {
	j.marks++
	for ; ; x, y = y, x {
		if x < 0 {
			continue
		}
		if j.nodes[x].mark == j.marks {
			return x
		}
		j.nodes[x].mark = j.marks
		x = j.parent(x)
	}
}

// divide opens a shrinking blossom whose dual is 0. The way through its cycle that has an even number of edges stays in the tree.
func (j *Join) divide(x int32) {
	b := j.nodes[x]
	j.open(x)
	entry, base := j.outer(b.tree.own), j.outer(b.mate.own)
	var around []int32
	at := 0
	for c := base; ; {
		if c == entry {
			at = len(around)
		}
		around = append(around, c)
		if c = j.nodes[c].side; c == base {
			break
		}
	}
	left := around[at+1:]
	if at%2 == 1 {
		tree, k := b.tree, at
		for ; k < len(around); k += 2 {
			j.shrink(around[k], tree)
			j.grow(around[k+1])
			next := j.nodes[around[k+1]].next
			tree = edge{next.to, next.own}
		}
		j.shrink(base, tree)
		left = around[1:at]
	} else {
		tree, k := b.tree, at
		for ; k > 0; k -= 2 {
			j.shrink(around[k], tree)
			j.grow(around[k-1])
			tree = j.nodes[around[k-2]].next
		}
		j.shrink(base, tree)
	}
	for _, c := range left {
		j.eachVertex(c, j.rescan)
	}
}
