package host

import (
	"math"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// Chains of flips serve problems with constraints as penalties, whose one-flip neighbours break a constraint.
const (
	chainsFrom  = 8    // times the median of the weights that the largest is, from which chains are made
	chainLength = 128  // flips of a chain, at most
	chainPast   = 3    // of its flips past its best end
	chainSweeps = 4    // chains a variable in the shortest walk
	chainLow    = 0.05 // share of the losses of chains below the unit of temperatures
	chainRate   = 0.2  // at which the unit follows losses
	chainBroken = 20   // units from which a loss is a penalty
	chainRests  = 6    // binary orders of the chains that a variable rests for whose chains end with a penalty
)

// hasPenalties reports whether some weights are far larger than most, as penalties are.
func hasPenalties(p *problem.Normal) bool {
	if len(p.Weight) == 0 {
		return false
	}
	const look = 4096 // weights, spread over all
	step := max(1, len(p.Weight)/look)
	var sample []int64
	for k := 0; k < len(p.Weight); k += step {
		sample = append(sample, max(p.Weight[k], -p.Weight[k]))
	}
	slices.Sort(sample)
	return sample[len(sample)-1] >= chainsFrom*max(1, sample[len(sample)/2])
}

// chain anneals chains of flips (Glover 1996, ejection chains): a variable, drawn at random, flips, and the best flip of one that has
// not flipped follows, until chainPast flips have found no better end. The chain up to its best end is accepted by Metropolis' rule, or
// taken back. Temperatures are multiples of a loss that few chains stay below, which penalties do not enter. Variables whose chains end
// with a penalty are drawn less often: those that others decide.
func (s *searcher[S]) chain() bool {
	if !s.ascend() {
		return false
	}
	n := s.p.N
	step, add := s.m.flipCosts()
	s.setBits(s.free)
	chains := chainSweeps * n << (2 * s.course.length)
	high := math.Exp2(7*float64(s.random.Uint64()>>11)/(1<<53) - 4)
	unit, up, down := 1.0, math.Exp(chainRate*chainLow), math.Exp(chainRate*(chainLow-1))
	rest := make([]uint8, n)
	for k := range chains {
		first := int(s.random.Uint64() >> 32 * uint64(n) >> 32)
		if r := rest[first]; r > 0 && s.random.Uint64()>>(64-r) != 0 {
			if !s.countWork(1, 0) {
				return false
			}
			continue
		}
		before := s.value
		end := s.grow(first)
		flips := 2*len(s.group) - end
		s.shorten(end)
		if lost := float64(before - s.value); lost > 0 {
			if lost > unit {
				unit *= up
			} else {
				unit *= down
			}
			if lost > chainBroken*unit {
				rest[first] = min(rest[first]+1, chainRests)
			} else {
				rest[first] = 0
			}
			if -lost < unit*high*(1-float64(k)/float64(chains))*s.logs[s.random.Uint64()>>52] {
				s.shorten(0)
				flips += end
			}
		}
		if s.value > s.best {
			s.keepBest()
		}
		if !s.countWork(step*float64(len(s.group))+add*float64(flips), int64(flips)) {
			return false
		}
	}
	return s.ascend()
}

// grow flips a variable and those of its chain, all in s.group, and returns the length at which the value was best. All are free again.
func (s *searcher[S]) grow(first int) (end int) {
	s.group = s.group[:0]
	at, top := first, int64(math.MinInt64)
	for len(s.group) < min(chainLength, s.p.N-1) && len(s.group)-end <= chainPast {
		s.free[at>>6] &^= 1 << (at & 63)
		s.group = append(s.group, int32(at))
		at = s.m.step(at, s.flipBit(at), s.field, s.x, s.free, int(s.random.Uint64()&63)).At
		if s.value > top {
			top, end = s.value, len(s.group)
		}
	}
	for _, i := range s.group {
		s.free[i>>6] |= 1 << (i & 63)
	}
	return end
}

// shorten takes the flips of a chain back down to a length.
func (s *searcher[S]) shorten(length int) {
	for _, i := range slices.Backward(s.group[length:]) {
		s.flip(int(i))
	}
	s.group = s.group[:length]
}
