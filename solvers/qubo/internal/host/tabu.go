package host

import (
	"math/bits"

	"coalesce/runtime/host/kernels/qubo"
)

// tabu makes the best flip that is not tabu, or that beats the best of the
// walk, again and again, until stall flips brought no improvement. A flipped
// variable is tabu for tenure and, drawn at random, less than spread flips more,
// by default for n/100 + 1 to 10.
func (s *searcher[S]) tabu(stall int) bool {
	n := s.p.N
	s.setBits(s.free)
	tenure, span := s.rules.Tenure, uint64(s.rules.Spread)
	// ring[t] is the variable that is free again from step t on, or -1; two
	// never share a step.
	mask := 1<<bits.Len(uint(4*(tenure+int(span)))) - 1
	if len(s.ring) != mask+1 {
		s.ring, s.until = make([]int32, mask+1), make([]int, n)
	}
	for i := range s.ring {
		s.ring[i] = -1
	}
	clear(s.until)
	cost, _ := s.m.flipCosts()
	b := qubo.PickFlip(s.field, s.x, s.free, 0)
	for step, idle := 0, 0; idle < stall; idle++ {
		draw := s.random.Uint64()
		rotate := int(draw & 63)
		if b.Any > b.Gain && s.value+int64(b.Any) > s.best {
			b = qubo.PickFlip(s.field, s.x, s.every, rotate)
		}
		at := b.At
		if v := s.ring[(step+1)&mask]; v >= 0 {
			s.ring[(step+1)&mask] = -1
			if s.until[v] == step+1 {
				s.free[v>>6] |= 1 << (v & 63)
			}
		}
		end := step + 1 + tenure + int(draw>>32*span>>32)
		for s.ring[end&mask] >= 0 {
			end++
		}
		s.ring[end&mask], s.until[at] = int32(at), end
		s.free[at>>6] &^= 1 << (at & 63)
		step++
		b = s.m.step(at, s.flipBit(at), s.field, s.x, s.free, rotate)
		if s.value > s.best {
			s.keepBest()
			idle = 0
		}
		if !s.countWork(cost, 1) {
			return false
		}
	}
	return true
}

// relink walks from x towards to, by the best flip of a variable that differs,
// and ends at the best solution between a third and two thirds of the way.
func (s *searcher[S]) relink(to []uint64) bool {
	way := 0
	for k := range to {
		s.free[k] = s.x[k] ^ to[k]
		way += bits.OnesCount64(s.free[k])
	}
	if way < 3 {
		return true
	}
	clear(s.free[len(to):])
	cost, add := s.m.flipCosts()
	b := qubo.PickFlip(s.field, s.x, s.free, 0)
	var top int64
	for k := 1; k <= 2*way/3; k++ {
		at := b.At
		s.free[at>>6] &^= 1 << (at & 63)
		b = s.m.step(at, s.flipBit(at), s.field, s.x, s.free, int(s.random.Uint64()&63))
		if k == (way+2)/3 || k > way/3 && s.value > top {
			top = s.value
			copy(s.middle, s.x)
		}
		if !s.countWork(cost, 1) {
			return false
		}
	}
	flips := s.flipTowards(s.middle)
	return s.countWork(add*float64(flips), flips)
}
