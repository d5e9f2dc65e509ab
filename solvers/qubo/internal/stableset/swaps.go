package stableset

import "math/bits"

// swaps are the moves of a tabu search among exchanges (Jin and Hao, Engineering Applications of Artificial Intelligence 37, 2015, in a
// plainer form): a vertex without neighbours in the set enters; else one with a single neighbour takes its place, drawn at random or the
// one that has not moved for longest; now and then, or where there is none, one with two. What left may not come back for a while, unless
// it becomes free.
type swaps struct {
	now   int64
	moved []int64 // when a vertex entered or left
	tabu  []uint64
	until []int64
	ring  []int32 // the vertex whose tabu ends at a time, or none
	held  int     // entries of ring
}

// Parameters of swaps: exchanges for two members in 2^32 steps; draws of the oldest vertex among 16; steps for which a vertex that left is tabu, and as many
// more, at most, as there are vertices to draw from; the same after an exchange for two.
const (
	doubleShare = 1 << 21
	oldestOf16  = 2
	tabuLeast   = 7
	tabuMost    = 1 << 10
)

func newSwaps(n int) *swaps {
	s := &swaps{moved: make([]int64, n), tabu: make([]uint64, (n+63)/64), until: make([]int64, n), ring: make([]int32, 4*tabuMost)}
	for k := range s.ring {
		s.ring[k] = none
	}
	return s
}

// forbid makes a vertex tabu for about so many steps.
func (s *swaps) forbid(v, steps int) {
	if s.held > len(s.ring)/2 {
		return
	}
	mask := int64(len(s.ring) - 1)
	t := s.now + int64(min(steps, tabuMost))
	for s.ring[t&mask] != none {
		t++
	}
	s.ring[t&mask], s.until[v] = int32(v), t
	s.held++
	s.tabu[v>>6] |= 1 << (v & 63)
}

func (s *swaps) step(w *walk) {
	s.now++
	if at := &s.ring[s.now&int64(len(s.ring)-1)]; *at != none {
		if v := *at; s.until[v] == s.now {
			s.tabu[v>>6] &^= 1 << (v & 63)
		}
		*at = none
		s.held--
	}
	draw := w.random.Uint64()
	if v, count := w.draw(w.free, noVertices[:w.words]); count > 0 {
		w.exchange(none, v)
		s.moved[v] = s.now
		return
	}
	v, count := w.draw(w.single, s.tabu)
	if count == 0 || draw>>32 < doubleShare {
		other, found := w.draw(w.double, s.tabu)
		if found == 0 && count == 0 {
			other = w.below(w.n)
		}
		if other != none {
			s.enter(w, other)
			return
		}
	}
	if draw&15 < oldestOf16 {
		v = s.oldest(w.single)
	}
	u := w.member(v)
	w.exchange(u, v)
	s.moved[u], s.moved[v] = s.now, s.now
	s.forbid(u, tabuLeast+w.below(count+1))
}

// enter lets a vertex enter, whose neighbours leave; nothing where it is in the set.
func (s *swaps) enter(w *walk, v int) {
	if contains(w.set, v) {
		return
	}
	w.enter(v, func(u int) {
		s.moved[u] = s.now
		s.forbid(u, tabuLeast)
	})
	s.moved[v] = s.now
}

// oldest is the vertex of a list, which has some that are not tabu, that has not moved for longest.
func (s *swaps) oldest(list []uint64) int {
	best := none
	for k, rest := range list {
		for rest &^= s.tabu[k]; rest != 0; rest &= rest - 1 {
			if v := k<<6 + bits.TrailingZeros64(rest); best == none || s.moved[v] < s.moved[best] {
				best = v
			}
		}
	}
	return best
}

// noVertices is an empty list.
var noVertices [mostVertices / 64]uint64
