package host

import (
	"math/rand/v2"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/draw"
)

// multistartFromElite takes the walk from an elite to a start of massive multi-start (Lewis 2017, Figure 2: Diversify and
// PerformSteepestAscent): the elite blended by coins with the searcher's last start, every h-th variable
// turned over, and steepest ascent. From there path relinking goes on to the second elite, which is the
// polishing that the paper names as further work.
func (s *searcher[S]) multistartFromElite() bool {
	n := s.p.N
	if s.last == nil {
		s.last = draw.RandomSolution(rand.New(s.random), n)
	}
	s.starts++
	for k, elite := range s.x[:len(s.last)] {
		coins := s.random.Uint64()
		s.last[k] = elite&coins | s.last[k]&^coins
	}
	draw.FlipStride(s.last, n, s.starts, draw.StrideCount(n))
	cost, add := s.m.flipCosts()
	flips := s.flipTowards(s.last)
	if !s.countWork(add*float64(flips), flips) {
		return false
	}
	for b := qubo.PickFlip(s.field, s.x, s.every, 0); b.Gain > 0; {
		b = s.m.step(b.At, s.flipBit(b.At), s.field, s.x, s.every, 0)
		if !s.countWork(cost, 1) {
			return false
		}
	}
	copy(s.last, s.x)
	s.keepBest() // the best of the walk counts from here
	return true
}
