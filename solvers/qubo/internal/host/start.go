package host

import (
	"math/rand/v2"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/draw"
)

// start takes the walk from an elite to a start of massive multi-start (Lewis 2017, Figure 2: Diversify and
// PerformSteepestAscent): the elite blended by coins with the searcher's last start, every h-th variable
// turned over, and steepest ascent. From there path relinking goes on to the second elite, which is the
// polishing that the paper names as further work.
func (s *searcher[S]) start() bool {
	n := s.p.N
	if s.last == nil {
		s.last = draw.Bits(rand.New(s.random), n)
	}
	s.starts++
	for k, elite := range s.x[:len(s.last)] {
		coins := s.random.Uint64()
		s.last[k] = elite&coins | s.last[k]&^coins
	}
	draw.Turn(s.last, n, s.starts, draw.Strides(n))
	cost, add := s.m.cost()
	flips := s.approach(s.last)
	if !s.tick(add*float64(flips), flips) {
		return false
	}
	for b := qubo.PickFlip(s.field, s.x, s.every, 0); b.Gain > 0; {
		b = s.m.step(b.At, s.turn(b.At), s.field, s.x, s.every, 0)
		if !s.tick(cost, 1) {
			return false
		}
	}
	copy(s.last, s.x)
	s.note() // the best of the walk counts from here
	return true
}
