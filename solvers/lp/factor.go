package lp

import (
	"math"
	"slices"
)

// refactor inverts the basis from scratch: from the basis of slacks, one column after
// the other enters, in the row of its largest entry. A column that depends on those
// before it is left out, and its row's slack stays.
func (s *Solver) refactor() {
	s.stale = false
	if s.lu != nil {
		s.factorise()
		return
	}
	enter := make([]int32, 0, s.m)
	for _, j := range s.head {
		if int(j) < s.n {
			enter = append(enter, j)
		}
	}
	slices.SortFunc(enter, func(a, b int32) int {
		if c := len(s.Columns[a]) - len(s.Columns[b]); c != 0 {
			return c
		}
		return int(a - b)
	})
	open := make([]bool, s.m)
	for i := range s.m {
		open[i] = s.place[s.n+i] < 0
	}
	clear(s.inverse)
	for i := range s.m {
		s.inverse[i*s.m+i] = 1
		s.weight[i] = 1
		s.head[i] = int32(s.n + i)
		s.place[s.n+i] = int32(i)
	}
	for _, j := range enter {
		s.place[j] = -1
		s.enterColumn(int(j))
		best, at := 1e-7, -1
		for i := range s.m {
			if v := math.Abs(s.column[i]); open[i] && v > best {
				best, at = v, i
			}
		}
		if at < 0 {
			continue
		}
		open[at] = false
		s.place[s.n+at] = -1
		s.upper[s.n+at] = false
		s.updateInverse(at)
		s.head[at], s.place[j] = j, int32(at)
	}
	s.age = 0
	s.reduceCosts()
	s.changed = true
}

// reduceCosts computes the reduced costs from the inverse.
func (s *Solver) reduceCosts() {
	price := s.shift
	s.pricesOf(func(j int32) float64 { return s.cost[j] }, price)
	for i := range s.m {
		s.d[s.n+i] = s.cost[s.n+i] - price[i]
		if s.place[s.n+i] >= 0 {
			s.d[s.n+i] = 0
		}
	}
	for j := range s.n {
		d := s.cost[j] - s.product(j, price)
		if s.place[j] >= 0 {
			d = 0
		}
		s.d[j] = d
	}
}

// pricesOf computes the prices of rows at which the columns of the basis cost what cost says.
func (s *Solver) pricesOf(cost func(j int32) float64, price []float64) {
	if s.lu != nil {
		for r, j := range s.head {
			s.lu.byPlace[r] = cost(j)
		}
		s.lu.solveRow(s.lu.byPlace, price)
		return
	}
	clear(price)
	for r, j := range s.head {
		if c := cost(j); c != 0 {
			for i, v := range s.inverse[r*s.m : (r+1)*s.m] {
				price[i] += c * v
			}
		}
	}
}
