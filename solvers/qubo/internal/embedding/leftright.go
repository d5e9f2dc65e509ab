package embedding

import (
	"cmp"
	"slices"
)

// None stands for no edge and no vertex.
const None = -1

const none = None

// A leftRight is the left-right test of planarity (U. Brandes, The left-right planarity test, 2009), without recursion. Edges are
// named by their half-edge in the direction of the search.
type leftRight struct {
	g        *Graph
	height   []int32 // of vertices in the search tree
	parent   []int32 // edges to vertices
	out      [][]int32
	low      []int32 // lowest and second lowest heights that return edges of edges reach
	low2     []int32
	depth    []int32 // nesting order
	ref      []int32 // the edge whose side an edge's is relative to
	side     []int8
	lowEdge  []int32
	bottom   []int // of the stack, when an edge was met
	conflict []pair
}

// An interval are return edges from low to high.
type interval struct{ low, high int32 }

func (i interval) empty() bool { return i.low == none && i.high == none }

type pair struct{ left, right interval }

var nothing = interval{none, none}

// rotation is the order of half-edges around vertices of a plane drawing, each one's next; nil where there is none.
func rotation(g *Graph) []int32 {
	n, m := g.vertices(), len(g.ends)
	if n > 2 && m > 3*n-6 {
		return nil
	}
	fill := func(k int) []int32 {
		list := make([]int32, k)
		for i := range list {
			list[i] = none
		}
		return list
	}
	t := &leftRight{
		g: g, height: fill(n), parent: fill(n), out: make([][]int32, n), low: make([]int32, 2*m), low2: make([]int32, 2*m), depth: make([]int32, 2*m),
		ref: fill(2 * m), side: make([]int8, 2*m), lowEdge: fill(2 * m), bottom: make([]int, 2*m),
	}
	for h := range t.side {
		t.side[h] = 1
	}
	room := make([]int32, 0, m)
	var roots []int32
	taken := make([]int32, n) // edges of vertices that were dealt with
	met := make([]bool, m)
	degree := make([]int32, n)
	var order []int32 // edges, as they were directed
	for v := range int32(n) {
		if t.height[v] == none {
			t.height[v] = 0
			roots = append(roots, v)
			order = t.orient(v, taken, met, order)
		}
	}
	for _, h := range order {
		degree[g.tail(h)]++
	}
	for v := range t.out {
		k := len(room)
		room = room[:k+int(degree[v])]
		t.out[v] = room[k:k:len(room)]
	}
	for _, h := range order {
		v := g.tail(h)
		t.out[v] = append(t.out[v], h)
	}
	sorted := func() {
		for _, list := range t.out {
			slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(t.depth[a], t.depth[b]) })
		}
	}
	sorted()
	clear(taken)
	for _, v := range roots {
		if !t.test(v, taken) {
			return nil
		}
	}
	for _, h := range order {
		t.depth[h] *= int32(t.sign(h))
	}
	sorted()
	return t.embed(roots, taken)
}

// orient directs the edges of a component along a depth-first search.
func (t *leftRight) orient(root int32, taken []int32, met []bool, order []int32) []int32 {
	g := t.g
	stack := []int32{root}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		e := t.parent[v]
		list := g.at(v)
		deeper := false
		for ; taken[v] < int32(len(list)); taken[v]++ {
			h := list[taken[v]]
			w := g.head(h)
			first := !met[h>>1]
			if first {
				met[h>>1] = true
				order = append(order, h)
				t.low[h], t.low2[h] = t.height[v], t.height[v]
				if t.height[w] == none {
					t.parent[w], t.height[w] = h, t.height[v]+1
					stack = append(stack, w)
					deeper = true
					break
				}
				t.low[h] = t.height[w]
			} else if t.parent[w] != h {
				continue // directed from its other end
			}
			t.depth[h] = 2 * t.low[h]
			if t.low2[h] < t.height[v] {
				t.depth[h]++
			}
			if e == none {
				continue
			}
			switch {
			case t.low[h] < t.low[e]:
				t.low2[e] = min(t.low[e], t.low2[h])
				t.low[e] = t.low[h]
			case t.low[h] > t.low[e]:
				t.low2[e] = min(t.low2[e], t.low[h])
			default:
				t.low2[e] = min(t.low2[e], t.low2[h])
			}
		}
		if !deeper {
			stack = stack[:len(stack)-1]
		}
	}
	return order
}

// test looks for conflicts of return edges in a component.
func (t *leftRight) test(root int32, taken []int32) bool {
	stack := []int32{root}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		e := t.parent[v]
		down := false
		for list := t.out[v]; taken[v] < int32(len(list)); taken[v]++ {
			h := list[taken[v]]
			w := t.g.head(h)
			tree := t.parent[w] == h
			switch {
			case tree && t.bottom[h] == 0:
				t.bottom[h] = len(t.conflict) + 1
				stack = append(stack, w)
				down = true
			case !tree:
				t.bottom[h] = len(t.conflict) + 1
				t.lowEdge[h] = h
				t.conflict = append(t.conflict, pair{nothing, interval{h, h}})
			}
			if down {
				break
			}
			if t.low[h] >= t.height[v] {
				continue
			}
			if taken[v] == 0 {
				t.lowEdge[e] = t.lowEdge[h]
			} else if !t.constrain(h, e) {
				return false
			}
		}
		if down {
			continue
		}
		stack = stack[:len(stack)-1]
		if e != none {
			t.leave(e)
		}
	}
	return true
}

// conflicting reports whether an interval reaches above the lowest return of an edge.
func (t *leftRight) conflicting(i interval, e int32) bool {
	return !i.empty() && t.low[i.high] > t.low[e]
}

func (t *leftRight) pop() pair {
	p := t.conflict[len(t.conflict)-1]
	t.conflict = t.conflict[:len(t.conflict)-1]
	return p
}

// constrain adds the constraints of edge h, below e.
func (t *leftRight) constrain(h, e int32) bool {
	p := pair{nothing, nothing}
	for {
		q := t.pop()
		if !q.left.empty() {
			q.left, q.right = q.right, q.left
		}
		if !q.left.empty() {
			return false
		}
		if t.low[q.right.low] > t.low[e] {
			if p.right.empty() {
				p.right = q.right
			} else {
				t.ref[p.right.low] = q.right.high
			}
			p.right.low = q.right.low
		} else {
			t.ref[q.right.low] = t.lowEdge[e]
		}
		if len(t.conflict) == t.bottom[h]-1 {
			break
		}
	}
	for len(t.conflict) > 0 {
		top := t.conflict[len(t.conflict)-1]
		if !t.conflicting(top.left, h) && !t.conflicting(top.right, h) {
			break
		}
		q := t.pop()
		if t.conflicting(q.right, h) {
			q.left, q.right = q.right, q.left
		}
		if t.conflicting(q.right, h) {
			return false
		}
		t.setRef(p.right.low, q.right.high)
		if q.right.low != none {
			p.right.low = q.right.low
		}
		if p.left.empty() {
			p.left = q.left
		} else {
			t.setRef(p.left.low, q.left.high)
		}
		p.left.low = q.left.low
	}
	if !p.left.empty() || !p.right.empty() {
		t.conflict = append(t.conflict, p)
	}
	return true
}

func (t *leftRight) setRef(e, to int32) {
	if e != none {
		t.ref[e] = to
	}
}

// lowest is the lowest height that a pair returns to.
func (t *leftRight) lowest(p pair) int32 {
	switch {
	case p.left.empty():
		return t.low[p.right.low]
	case p.right.empty():
		return t.low[p.left.low]
	}
	return min(t.low[p.left.low], t.low[p.right.low])
}

// leave takes out return edges that end where edge e begins.
func (t *leftRight) leave(e int32) {
	u := t.g.tail(e)
	for len(t.conflict) > 0 && t.lowest(t.conflict[len(t.conflict)-1]) == t.height[u] {
		if p := t.pop(); p.left.low != none {
			t.side[p.left.low] = -1
		}
	}
	if len(t.conflict) > 0 {
		p := t.pop()
		for p.left.high != none && t.g.head(p.left.high) == u {
			p.left.high = t.ref[p.left.high]
		}
		if p.left.high == none && p.left.low != none {
			t.ref[p.left.low] = p.right.low
			t.side[p.left.low] = -1
			p.left.low = none
		}
		for p.right.high != none && t.g.head(p.right.high) == u {
			p.right.high = t.ref[p.right.high]
		}
		if p.right.high == none && p.right.low != none {
			t.ref[p.right.low] = p.left.low
			t.side[p.right.low] = -1
			p.right.low = none
		}
		t.conflict = append(t.conflict, p)
	}
	if t.low[e] < t.height[u] {
		top := t.conflict[len(t.conflict)-1]
		left, right := top.left.high, top.right.high
		if left != none && (right == none || t.low[left] > t.low[right]) {
			t.ref[e] = left
		} else {
			t.ref[e] = right
		}
	}
}

// sign is the side of an edge.
func (t *leftRight) sign(e int32) int8 {
	var chain []int32
	for t.ref[e] != none {
		chain = append(chain, e)
		e = t.ref[e]
	}
	for _, c := range slices.Backward(chain) {
		t.side[c] *= t.side[e]
		t.ref[c] = none
		e = c
	}
	return t.side[e]
}

// embed is the order around vertices: the next half-edge of each, clockwise.
func (t *leftRight) embed(roots, taken []int32) []int32 {
	g := t.g
	next, before := make([]int32, 2*len(g.ends)), make([]int32, 2*len(g.ends))
	first := make([]int32, g.vertices())
	after := func(h, at int32) { // puts h right after at
		next[h], before[h] = next[at], at
		before[next[at]], next[at] = h, h
	}
	alone := func(h int32) { next[h], before[h] = h, h }
	for v, list := range t.out {
		first[v] = none
		for k, h := range list {
			if k == 0 {
				alone(h)
				first[v] = h
			} else {
				after(h, list[k-1])
			}
		}
	}
	left, right := make([]int32, g.vertices()), make([]int32, g.vertices())
	clear(taken)
	for _, root := range roots {
		stack := []int32{root}
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			list := t.out[v]
			if taken[v] == int32(len(list)) {
				stack = stack[:len(stack)-1]
				continue
			}
			h := list[taken[v]]
			taken[v]++
			w, back := g.head(h), h^1
			switch {
			case t.parent[w] == h:
				if first[w] == none {
					alone(back)
				} else {
					after(back, before[first[w]])
				}
				first[w] = back
				left[v], right[v] = h, h
				stack = append(stack, w)
			case t.side[h] == 1:
				after(back, right[w])
			default:
				after(back, before[left[w]])
				left[w] = back
			}
		}
	}
	return next
}
