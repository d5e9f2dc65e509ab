package host

import (
	"math/bits"
	"math/rand/v2"

	"coalesce/solvers/qubo/problem"
)

// cross moves x to the best child of x and another solution (partition crossover, Whitley, Hains
// and Howe 2009). The variables in which the two differ fall into groups that share no pair. Each
// group flips where its flip raises the value, and by a coin where its flip changes nothing.
func (s *searcher[S]) cross(rows *sparseRows[S], to []uint64) bool {
	_, add := s.m.flipCosts()
	different := s.free
	clear(different)
	for k := range to {
		different[k] = s.x[k] ^ to[k]
	}
	var flips int64
	for k := range to {
		for different[k] != 0 {
			first := k<<6 + bits.TrailingZeros64(different[k])
			before := s.value
			group := append(s.group[:0], int32(first))
			different[k] &= different[k] - 1
			for at := 0; at < len(group); at++ {
				i := int(group[at])
				s.flip(i)
				col, _ := rows.row(i)
				for _, j := range col {
					if problem.Bit(different, int(j)) != 0 {
						different[j>>6] &^= 1 << (j & 63)
						group = append(group, j)
					}
				}
			}
			flips += int64(len(group))
			if s.value < before || s.value == before && s.random.Uint64()&1 == 0 {
				for _, i := range group {
					s.flip(int(i))
				}
				flips += int64(len(group))
			}
			s.group = group
		}
	}
	if s.value > s.best {
		s.keepBest()
	}
	return s.countWork(add*float64(flips), flips)
}

// reheat anneals from an elite, at a temperature low enough to keep most of it. Then it crosses
// the result with the elite, which undoes the changes that lowered the value.
func (s *searcher[S]) reheat() bool {
	if !s.anneal(s.drawTemperature(cold, (hot+hottest)/2), cold*s.spread, reheatSweeps<<(2*s.course.length)) {
		return false
	}
	rows := s.m.sparse()
	if rows == nil || s.course.from == nil {
		return true
	}
	return s.cross(rows, s.course.from)
}

// eliminate crosses two elites, or anneals briefly where the pool has no two, and makes exact
// moves until four in a row have found no better value.
func (s *searcher[S]) eliminate() bool {
	rows := s.m.sparse()
	if s.elimination == nil {
		s.elimination = newElimination(s.state, rows, rand.New(s.random), s.end)
	}
	if s.course.from == nil {
		if !s.anneal(hot*s.spread, cold*s.spread, annealSweeps) {
			return false
		}
	} else if s.course.toward != nil && !s.cross(rows, s.course.toward) {
		return false
	}
	_, add := s.m.flipCosts()
	for idle := 0; idle < 4; idle++ {
		flips := s.elimination.exactMove(eliminateWidth + 2*s.course.length)
		if s.value > s.best {
			s.keepBest()
			idle = 0
		}
		if !s.countWork(2*s.elimination.done+200*float64(s.p.N)+add*float64(flips), flips) {
			return false
		}
	}
	return true
}
