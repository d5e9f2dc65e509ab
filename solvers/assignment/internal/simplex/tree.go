package simplex

import (
	"math"
	"slices"
)

// none is no node and no arc.
const none = -1

// A network is a transportation problem on the arcs that it knows, with a basis: a spanning tree that is strongly feasible
// (Cunningham, "A network simplex method", Mathematical Programming 11, 1976), so that degenerate pivots cannot cycle. Nodes are the
// rows, the columns and last the root. Rows ship what they have, columns take what they want. Every node has an arc of the tree, to its
// parent; artificial arcs join parts of the tree to the root, and the root to columns, at the cost big and more.
type network struct {
	rows, cols int
	root       int32
	big        int64

	// arcs from rows to columns
	from, to []int32
	cost     []int64

	toRoot, fromRoot []int64 // costs of each node's artificial arcs

	// of each node
	place []place
	arc   []int32 // to the parent, none: artificial
	away  []bool  // the arc leads from the node to its parent
	flow  []int64 // on that arc
	price []int64 // of every arc of the tree: cost = price of its tail - price of its head. Sums may wrap; differences do not

	at, block int // where pricing goes on, and how many arcs it looks at before it decides
	pivots    int64
}

// A place is that of a node in the tree. Walks of a subtree read all of it.
type place struct {
	parent, child int32 // child: the first, none: a leaf
	next, prev    int32 // siblings
	size          int32 // nodes below it, itself among them
}

func newNetwork(rows, cols int, big int64) *network {
	n := rows + cols + 1
	t := &network{rows: rows, cols: cols, root: int32(n - 1), big: big,
		place: make([]place, n), arc: make([]int32, n), away: make([]bool, n), flow: make([]int64, n), price: make([]int64, n)}
	for x := range n {
		t.place[x], t.arc[x] = place{none, none, none, none, 1}, none
	}
	return t
}

// add makes an arc known.
func (t *network) add(row, col int32, cost int64) {
	t.from, t.to, t.cost = append(t.from, row), append(t.to, col+int32(t.rows)), append(t.cost, cost)
}

// link makes x a child of y.
func (t *network) link(x, y int32) {
	t.place[x].parent, t.place[x].prev, t.place[x].next = y, none, t.place[y].child
	if c := t.place[y].child; c != none {
		t.place[c].prev = x
	}
	t.place[y].child = x
}

// unlink takes x from its parent's children.
func (t *network) unlink(x int32) {
	if p := t.place[x].prev; p != none {
		t.place[p].next = t.place[x].next
	} else {
		t.place[t.place[x].parent].child = t.place[x].next
	}
	if n := t.place[x].next; n != none {
		t.place[n].prev = t.place[x].prev
	}
}

// reprice computes all prices and sizes from the root on, whose price is 0.
func (t *network) reprice() {
	t.price[t.root], t.place[t.root].size = 0, 1
	walk := make([]int32, 0, t.root)
	for x := t.following(t.root, t.root); x != none; x = t.following(x, t.root) {
		y := t.place[x].parent
		t.place[x].size = 1
		walk = append(walk, x)
		c := int64(0)
		switch e := t.arc[x]; {
		case e != none:
			c = t.cost[e]
		case t.away[x]:
			c = t.toRoot[x]
		default:
			c = t.fromRoot[x]
		}
		if t.away[x] {
			t.price[x] = t.price[y] + c
		} else {
			t.price[x] = t.price[y] - c
		}
	}
	for _, x := range slices.Backward(walk) {
		t.place[t.place[x].parent].size += t.place[x].size
	}
}

// above is the price of a node, less that of the root.
func (t *network) above(x int) int64 { return t.price[x] - t.price[t.root] }

// following is the node after x in a walk, parents first, of the tree below top; none at its end.
func (t *network) following(x, top int32) int32 {
	if c := t.place[x].child; c != none {
		return c
	}
	return t.beyond(x, top)
}

// beyond is the node after all below x in that walk.
func (t *network) beyond(x, top int32) int32 {
	for x != top {
		if n := t.place[x].next; n != none {
			return n
		}
		x = t.place[x].parent
	}
	return none
}

// entering is an arc whose reduced cost is negative, the least of a block of arcs (Grigoriadis, "An efficient implementation of the
// network simplex method", Mathematical Programming Study 26, 1986); none where there is no such arc.
func (t *network) entering() (arc int32, reduced int64) {
	m := len(t.from)
	if m == 0 {
		return none, 0
	}
	arc = none
	price := t.price
	for looked, k := 0, t.at; looked < m; {
		end := min(k+t.block, m)
		from, to, cost := t.from[k:end], t.to[k:end], t.cost[k:end]
		for q, c := range cost {
			if r := c - price[from[q]] + price[to[q]]; r < reduced {
				arc, reduced = int32(k+q), r
			}
		}
		looked += end - k
		if k = end; k == m {
			k = 0
		}
		if arc != none {
			t.at = k
			return arc, reduced
		}
	}
	return none, 0
}

// pivot brings an arc into the basis, whose reduced cost is given.
func (t *network) pivot(e int32, reduced int64) {
	t.pivots++
	i, j := t.from[e], t.to[e]
	// The cycle: from the meeting point of both paths down to i, over the arc to j, and up again. Flow falls on arcs against it. Of
	// those that empty first the last on the cycle leaves, which keeps the tree strongly feasible.
	least, out, below := int64(math.MaxInt64), int32(none), 0
	x, y := i, j
	for x != y {
		if t.place[x].size < t.place[y].size { // y is not below x
			if t.away[x] && t.flow[x] < least {
				least, out, below = t.flow[x], x, 0
			}
			x = t.place[x].parent
		} else {
			if !t.away[y] && t.flow[y] <= least {
				least, out, below = t.flow[y], y, 1
			}
			y = t.place[y].parent
		}
	}
	if least > 0 {
		for z := i; z != x; z = t.place[z].parent {
			if t.away[z] {
				t.flow[z] -= least
			} else {
				t.flow[z] += least
			}
		}
		for z := j; z != x; z = t.place[z].parent {
			if t.away[z] {
				t.flow[z] += least
			} else {
				t.flow[z] -= least
			}
		}
	}
	// The part below the arc that leaves hangs from the arc that enters.
	q, p, delta := i, j, reduced
	if below == 1 {
		q, p, delta = j, i, -reduced
	}
	moved := t.place[out].size
	for z := t.place[out].parent; z != x; z = t.place[z].parent {
		t.place[z].size -= moved
	}
	for z := p; z != x; z = t.place[z].parent {
		t.place[z].size += moved
	}
	arc, away, flow, size := e, below == 0, least, moved
	for z, parent := q, p; ; {
		old := t.place[z].parent
		t.unlink(z)
		oldArc, oldAway, oldFlow, oldSize := t.arc[z], t.away[z], t.flow[z], t.place[z].size
		t.link(z, parent)
		t.arc[z], t.away[z], t.flow[z], t.place[z].size = arc, away, flow, size
		if z == out {
			break
		}
		arc, away, flow, size = oldArc, !oldAway, oldFlow, moved-oldSize
		z, parent = old, z
	}
	t.shift(q, delta)
}

// shift adds to all prices below a node, or, where these are most, takes as much from the others.
func (t *network) shift(q int32, delta int64) {
	if 2*int(t.place[q].size) <= len(t.place) {
		t.price[q] += delta
		for z := t.following(q, q); z != none; z = t.following(z, q) {
			t.price[z] += delta
		}
		return
	}
	for z := t.root; z != none; {
		if z == q {
			z = t.beyond(z, t.root)
			continue
		}
		t.price[z] -= delta
		z = t.following(z, t.root)
	}
}
