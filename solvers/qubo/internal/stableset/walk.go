package stableset

import (
	"math/bits"
	"math/rand/v2"
)

// A walk is a stable set that moves from one to the next. Counts of neighbours in the set are kept in planes: bit k of a word's plane k
// is bit k of a vertex's count, so that a move updates the counts of 64 vertices at once.
type walk struct {
	*graph
	random *rand.PCG
	moves
	set    []uint64
	size   int
	planes []uint64 // depth for each word of vertices
	free   []uint64 // vertices without a neighbour in the set
	single []uint64 // outside the set, with one neighbour in it
	double []uint64 // with two
	top    int      // the largest size
	topSet []uint64
	moved  int64 // vertices that entered or left
}

// moves chooses the moves of a walk.
type moves interface {
	// step makes a move.
	step(w *walk)
}

func newWalk(g *graph, seed, stream uint64, m moves) *walk {
	w := &walk{graph: g, random: rand.NewPCG(seed, stream), moves: m}
	w.set, w.topSet, w.free, w.single, w.double = make([]uint64, g.words), make([]uint64, g.words), make([]uint64, g.words), make([]uint64, g.words), make([]uint64, g.words)
	w.planes = make([]uint64, g.words*g.depth)
	w.clear()
	return w
}

// below draws a number below k.
func (w *walk) below(k int) int {
	high, _ := bits.Mul64(w.random.Uint64(), uint64(k))
	return int(high)
}

// clear empties the set.
func (w *walk) clear() {
	clear(w.set)
	clear(w.planes)
	clear(w.single)
	clear(w.double)
	w.size = 0
	for k := range w.free {
		w.free[k] = ^uint64(0)
	}
	if w.n%64 != 0 {
		w.free[w.words-1] = 1<<(w.n%64) - 1
	}
}

// none stands for no vertex in exchange.
const none = -1

// exchange lets a vertex leave the set and another one enter, either of which may be none. The one that enters must have no other
// neighbour in the set. The set of most vertices so far is kept.
func (w *walk) exchange(leaves, enters int) {
	var out, in []uint64
	if leaves != none {
		w.set[leaves>>6] &^= 1 << (leaves & 63)
		out = w.row(leaves)
		w.size--
		w.moved++
	}
	if enters != none {
		w.set[enters>>6] |= 1 << (enters & 63)
		in = w.row(enters)
		w.size++
		w.moved++
	}
	depth := w.depth
	for k := range w.words {
		var less, more uint64
		if out != nil {
			less = out[k]
		}
		if in != nil {
			more = in[k]
		}
		less, more = less&^more, more&^less
		if less|more == 0 && k != leaves>>6 && k != enters>>6 {
			continue
		}
		plane := w.planes[k*depth : k*depth+depth]
		for b := 0; more != 0; b++ {
			was := plane[b]
			plane[b] = was ^ more
			more &= was
		}
		for b := 0; less != 0; b++ {
			was := plane[b]
			plane[b] = was ^ less
			less &^= was
		}
		var many uint64
		for _, p := range plane[2:] {
			many |= p
		}
		w.free[k] = ^(plane[0] | plane[1] | many)
		w.single[k] = plane[0] &^ (plane[1] | many | w.set[k])
		w.double[k] = plane[1] &^ (plane[0] | many)
	}
	if w.n%64 != 0 {
		w.free[w.words-1] &= 1<<(w.n%64) - 1
	}
	if w.size > w.top {
		w.top = w.size
		copy(w.topSet, w.set)
	}
}

// enter lets a vertex enter and all its neighbours leave; left, unless nil, is called with each of these.
func (w *walk) enter(v int, left func(u int)) {
	for u := w.member(v); u != none; u = w.member(v) {
		w.exchange(u, none)
		if left != nil {
			left(u)
		}
	}
	w.exchange(none, v)
}

// member is a neighbour of v in the set, or none.
func (w *walk) member(v int) int {
	row := w.row(v)
	for k, s := range w.set {
		if m := row[k] & s; m != 0 {
			return k<<6 + bits.TrailingZeros64(m)
		}
	}
	return none
}

// draw draws one of the vertices of list that are not in except, and returns how many there are; none where there is none.
func (w *walk) draw(list, except []uint64) (v, count int) {
	for k, s := range list {
		count += bits.OnesCount64(s &^ except[k])
	}
	if count == 0 {
		return none, 0
	}
	left := w.below(count)
	for k, s := range list {
		s &^= except[k]
		if c := bits.OnesCount64(s); left >= c {
			left -= c
			continue
		}
		for ; left > 0; left-- {
			s &= s - 1
		}
		return k<<6 + bits.TrailingZeros64(s), count
	}
	panic("a vertex was counted, and not found")
}

// contains reports whether v is in a set.
func contains(set []uint64, v int) bool { return set[v>>6]>>(v&63)&1 != 0 }
