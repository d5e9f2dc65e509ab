package lp

import (
	"context"
	"math"
)

const (
	still    = 1e-10 // steps of reduced costs up to this one are no progress
	patience = 30    // steps without progress, after which costs are perturbed
	shake    = 1e-6  // of the costs, which are about 1, at the first perturbation
)

// perturb raises the reduced costs of the columns outside the basis away from 0, each by an amount
// of its own, so that the steps of the dual simplex are no longer 0. Optima of equal prices have many
// bases, among which it would wander, or cycle, else. polish takes the amounts back.
func (s *Solver) perturb() {
	size := shake
	if s.noise > 0 {
		size = min(4*s.noise, 1e-3)
	}
	s.noise += 2 * size
	s.Perturbations++
	hash := uint64(s.Pivots)
	move := func(j int) {
		if s.place[j] >= 0 {
			return
		}
		hash = hash*6364136223846793005 + 1442695040888963407
		by := size * (1 + float64(hash>>11)/(1<<53))
		if s.upper[j] {
			by = -by
		}
		s.cost[j] += by
		s.d[j] += by
	}
	for _, j := range s.free {
		move(int(j))
	}
	for i := range s.m {
		if s.up[s.n+i] > 0 {
			move(s.n + i)
		}
	}
}

// polish takes the perturbation back, and ends with the primal simplex method: the basis is feasible, and
// few reduced costs have the wrong sign. It reports whether the basis is optimal, or so near that no more
// than the pivots allowed separate it from that.
func (s *Solver) polish(ctx context.Context) bool {
	copy(s.cost, s.given)
	s.noise = 0
	s.reduceCosts()
	for range 2*s.m + 200 {
		q := s.enter()
		if q < 0 || !s.primal(q) {
			break
		}
		if s.Pivots%8 == 0 && ctx.Err() != nil {
			return false
		}
		if s.worn(0) {
			s.refactor()
			s.loadBasis()
		}
	}
	return true
}

// enter is the column outside the basis whose reduced cost has the wrong sign and is largest; -1: none.
func (s *Solver) enter() int {
	at, most := -1, feasible
	consider := func(j int) {
		if s.place[j] >= 0 || s.low[j] == s.up[j] {
			return
		}
		d := s.d[j]
		if !s.upper[j] {
			d = -d
		}
		if d > most {
			at, most = j, d
		}
	}
	for _, j := range s.free {
		consider(int(j))
	}
	for i := range s.m {
		consider(s.n + i)
	}
	return at
}

// primal moves column q from its bound until a column of the basis comes to a bound, or it to its
// other one. It returns false where rounding prevents the pivot.
func (s *Solver) primal(q int) bool {
	s.enterColumn(q)
	sign := 1.0
	if s.upper[q] {
		sign = -1
	}
	// Harris's ratio test: of the columns that come to their bounds within the tolerance, the one of the largest entry.
	room := func(r int) (room, entry float64) {
		entry = sign * s.column[r]
		j := s.head[r]
		if entry > 0 {
			return s.x[r] - s.low[j], entry
		}
		return s.up[j] - s.x[r], -entry
	}
	least := math.Inf(1)
	for r := range s.m {
		if space, entry := room(r); entry > small {
			least = min(least, (max(0, space)+feasible)/entry)
		}
	}
	at, most := -1, small
	for r := range s.m {
		if space, entry := room(r); entry > most && space <= least*entry {
			at, most = r, entry
		}
	}
	if reach := s.up[q] - s.low[q]; reach <= least {
		for r, v := range s.column {
			s.x[r] -= sign * reach * v
		}
		s.upper[q] = !s.upper[q]
		return true
	}
	if at < 0 {
		return false
	}
	s.tableauRow(at, sign)
	if entry := s.column[at]; math.Abs(entry-s.row[q]) > 1e-6*(1+math.Abs(entry)) {
		return false
	}
	leaving := s.head[at]
	upper := sign*s.column[at] < 0
	bound := s.low[leaving]
	if upper {
		bound = s.up[leaving]
	}
	s.exchange(at, q, bound, upper)
	return true
}
