package stableset

import "math/bits"

// penalties are the moves of a dynamic local search (Pullan and Hoos, Journal of Artificial Intelligence Research 25, 2006; Pullan,
// Journal of Heuristics 12, 2006): free vertices of the least penalty enter, else one with a single neighbour takes its place, each
// vertex once in a phase. A phase ends where no move is left, or the set has nothing in common with the one with which exchanges began. Then
// its vertices are penalized, and another phase begins from the last one that entered. So vertices of many neighbours, of which large
// sets that were hidden in a graph consist, are tried as often as others.
type penalties struct {
	penalty []int32
	used    []uint64
	first   []uint64 // the set with which exchanges of a phase began
	begun   bool     // there is one
	last    int      // the vertex that entered last in this phase, or none
	delay   int      // phases after which all penalties fall by one
	phases  int      // since they fell
}

// penalized is the share of vertices that are to have a penalty, by which delay is set.
const penalized = 0.75

// firstDelay is the delay with which a walk begins.
const firstDelay = 2

func newPenalties(n int) *penalties {
	words := (n + 63) / 64
	return &penalties{penalty: make([]int32, n), used: make([]uint64, words), first: make([]uint64, words), last: none, delay: firstDelay}
}

func (s *penalties) step(w *walk) {
	if v := s.least(w, w.free); v != none {
		w.exchange(none, v)
		s.use(v)
		s.begun = false
		return
	}
	if !s.begun {
		copy(s.first, w.set)
		s.begun = true
	} else if !s.meets(w.set) {
		s.endPhase(w)
		return
	}
	v := s.least(w, w.single)
	if v == none {
		s.endPhase(w)
		return
	}
	w.exchange(w.member(v), v)
	s.use(v)
}

func (s *penalties) use(v int) {
	s.used[v>>6] |= 1 << (v & 63)
	s.last = v
}

// meets reports whether a set has a vertex of the first in common.
func (s *penalties) meets(set []uint64) bool {
	for k, x := range s.first {
		if x&set[k] != 0 {
			return true
		}
	}
	return false
}

// least draws among the vertices of a list, not yet used, of the least penalty; none where there is none.
func (s *penalties) least(w *walk, list []uint64) int {
	best, count := none, 0
	for k, rest := range list {
		for rest &^= s.used[k]; rest != 0; rest &= rest - 1 {
			v := k<<6 + bits.TrailingZeros64(rest)
			switch {
			case best == none || s.penalty[v] < s.penalty[best]:
				best, count = v, 1
			case s.penalty[v] == s.penalty[best]:
				if count++; w.below(count) == 0 {
					best = v
				}
			}
		}
	}
	return best
}

// endPhase penalizes the set and begins another phase.
func (s *penalties) endPhase(w *walk) {
	for k, rest := range w.set {
		for ; rest != 0; rest &= rest - 1 {
			s.penalty[k<<6+bits.TrailingZeros64(rest)]++
		}
	}
	if s.phases++; s.phases >= s.delay {
		s.lower()
	}
	clear(s.used)
	s.begun = false
	if s.delay > 1 {
		v := s.last
		if v == none {
			v = w.below(w.n)
		}
		w.clear()
		w.exchange(none, v)
	} else if v := w.below(w.n); !contains(w.set, v) {
		w.enter(v, nil)
	}
	s.last = none
}

// lower lowers all penalties, and sets the delay so that the share penalized has one.
func (s *penalties) lower() {
	s.phases = 0
	count := 0
	for v, p := range s.penalty {
		if p > 0 {
			s.penalty[v]--
		}
		if p > 1 {
			count++
		}
	}
	switch {
	case float64(count) < penalized*float64(len(s.penalty)):
		s.delay++
	case s.delay > 1:
		s.delay--
	}
}
