package integer

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	feasible = 1e-9 // a basic variable may exceed its bounds by this much
	small    = 1e-9 // smaller entries of a pivot row count as zero
	refactor = 100  // pivots between two inversions from scratch
)

// A simplex is a basis of the linear relaxation. It maximises by the bounded dual simplex method, where passed variables
// move to their other bounds. Variables are boxed, so that every basis whose prices have the signs of their rows can be made
// dual feasible, and a solve goes on from the basis at hand. Variable n+i is the slack of row i.
type simplex struct {
	n, m    int
	columns [][]entry // of the variables
	price   []float64
	most    []float64
	low, up []float64
	head    []int32 // variable of each place in the basis
	place   []int32 // place of each variable, -1 outside the basis
	upper   []bool  // a variable outside the basis is at its upper bound
	inverse [][]float64
	x, y    []float64 // of the basis; prices of the rows, after a solve
	d       []float64 // of variables outside the basis, their prices less those of their rows
	ray     []float64 // prices that show that no solution is feasible, after a solve that says so
	age     int
	row     []float64
	column  []float64
	ratios  []ratio
	some    []int32
}

type entry struct {
	row int32
	a   float64
}

type ratio struct {
	variable int32
	step, a  float64
}

func newSimplex(prices []int64, unit float64, rows []Row) *simplex {
	n, m := len(prices), len(rows)
	s := &simplex{n: n, m: m, columns: make([][]entry, n), price: make([]float64, n+m), most: make([]float64, m), low: make([]float64, n+m), up: make([]float64, n+m),
		head: make([]int32, m), place: make([]int32, n+m), upper: make([]bool, n+m), inverse: make([][]float64, m), x: make([]float64, m), y: make([]float64, m), d: make([]float64, n+m),
		row: make([]float64, n+m), column: make([]float64, m)}
	for j, c := range prices {
		s.price[j], s.up[j], s.place[j] = float64(c)/unit, 1, -1
	}
	for i := range m {
		r := &rows[i]
		scale := scaleOf(r)
		for k, j := range r.Columns {
			s.columns[j] = append(s.columns[j], entry{int32(i), float64(r.Entries[k]) / scale})
		}
		s.most[i] = float64(r.Most) / scale
		if s.up[n+i] = math.Inf(1); r.Equal {
			s.up[n+i] = 0
		}
		s.head[i], s.place[n+i], s.inverse[i] = int32(n+i), int32(i), make([]float64, m)
	}
	s.invert()
	return s
}

// scaleOf is the number by which a row is divided: its largest entry.
func scaleOf(r *Row) float64 {
	scale := 1.0
	for _, a := range r.Entries {
		scale = max(scale, math.Abs(float64(a)))
	}
	return scale
}

// each calls f with the entries of a variable.
func (s *simplex) each(j int, f func(i int, a float64)) {
	if j >= s.n {
		f(j-s.n, 1)
		return
	}
	for _, e := range s.columns[j] {
		f(int(e.row), e.a)
	}
}

// invert computes the inverse from scratch: the variables of the basis enter one after the other where slacks are.
func (s *simplex) invert() {
	var enter []int32
	free := make([]bool, s.m) // places whose slack is not in the basis
	for i := range free {
		free[i] = true
	}
	for _, j := range s.head {
		if int(j) >= s.n {
			free[int(j)-s.n] = false
		} else {
			enter = append(enter, j)
		}
	}
	for i := range s.m {
		clear(s.inverse[i])
		s.inverse[i][i] = 1
		s.head[i] = int32(s.n + i)
	}
	for _, j := range enter {
		s.enterColumn(int(j))
		best := -1
		for i := range s.m {
			if free[i] && (best < 0 || math.Abs(s.column[i]) > math.Abs(s.column[best])) {
				best = i
			}
		}
		if best < 0 || math.Abs(s.column[best]) < 1e-9 { // singular but for rounding: the variable leaves
			s.place[j], s.upper[j] = -1, s.price[j] > 0
			continue
		}
		free[best] = false
		s.head[best] = j
		s.eliminate(best)
	}
	for i := range s.m {
		s.place[s.n+i] = -1
	}
	for i, j := range s.head {
		s.place[j] = int32(i)
	}
	s.age = 0
}

// enterColumn computes the tableau's column of a variable.
func (s *simplex) enterColumn(j int) {
	clear(s.column)
	s.each(j, func(i int, a float64) {
		for r := range s.m {
			s.column[r] += a * s.inverse[r][i]
		}
	})
}

// eliminate pivots the inverse on a place of s.column.
func (s *simplex) eliminate(r int) {
	pivot := s.inverse[r]
	turn := 1 / s.column[r]
	s.some = s.some[:0]
	for i, v := range pivot {
		if v != 0 {
			pivot[i] = v * turn
			s.some = append(s.some, int32(i))
		}
	}
	for k, f := range s.column {
		if k == r || math.Abs(f) < 1e-13 {
			continue
		}
		row := s.inverse[k]
		for _, i := range s.some {
			row[i] -= f * pivot[i]
		}
	}
}

func (s *simplex) value(j int) float64 {
	switch p := s.place[j]; {
	case p >= 0:
		return s.x[p]
	case s.upper[j]:
		return s.up[j]
	}
	return s.low[j]
}

// reduced is the price of a variable less those of its rows.
func (s *simplex) reduced(j int) float64 {
	d := s.price[j]
	s.each(j, func(i int, a float64) { d -= a * s.y[i] })
	return d
}

// computePrices computes the prices of the rows.
func (s *simplex) computePrices() {
	clear(s.y)
	for r, j := range s.head {
		if c := s.price[j]; c != 0 {
			for i, v := range s.inverse[r] {
				s.y[i] += c * v
			}
		}
	}
}

// restart puts variables outside the basis at the bound that is dual feasible, and computes x.
func (s *simplex) restart() {
	s.computePrices()
	load := slices.Clone(s.most)
	for j := range s.n + s.m {
		if s.place[j] >= 0 {
			continue
		}
		d := s.reduced(j)
		if s.d[j] = d; math.IsInf(s.up[j], 1) {
			s.upper[j] = false
		} else if d > small {
			s.upper[j] = true
		} else if d < -small {
			s.upper[j] = false
		}
		if v := s.value(j); v != 0 {
			s.each(j, func(i int, a float64) { load[i] -= a * v })
		}
	}
	clear(s.x)
	s.subtract(load, -1)
}

// subtract takes a right-hand side times a number, transformed by the inverse, from x.
func (s *simplex) subtract(load []float64, times float64) {
	for r, row := range s.inverse {
		v := 0.0
		for i, e := range row {
			v += e * load[i]
		}
		s.x[r] -= times * v
	}
}

// The ends of a solve.
const (
	optimal = iota
	infeasible
	unsolved // rounding, a limit of pivots or the context ended it: prices are of use
)

// solve goes on from the basis at hand, under the bounds at hand.
func (s *simplex) solve(ctx context.Context) int {
	if s.age > refactor/2 {
		s.invert()
	}
	s.restart()
	limit, stalled := 20*(s.n+s.m)+1000, false
	for count := range limit {
		if s.age > refactor {
			s.invert()
			s.restart()
		}
		if count%16 == 15 && ctx.Err() != nil {
			s.computePrices()
			return unsolved
		}
		r, below := s.leave(count > limit/2)
		if r < 0 {
			s.computePrices()
			return optimal
		}
		switch s.pivot(r, below) {
		case infeasible:
			if s.age == 0 || stalled {
				s.computePrices()
				return infeasible
			}
			fallthrough
		case unsolved:
			if stalled && s.age == 0 {
				s.computePrices()
				return unsolved
			}
			s.invert()
			s.restart()
			stalled = true
		default:
			stalled = false
		}
	}
	s.computePrices()
	return unsolved
}

// leave chooses the place of the basis that is farthest outside its bounds, or the first, and reports whether it is below; -1: none is.
func (s *simplex) leave(first bool) (at int, below bool) {
	at, best := -1, feasible
	for r, v := range s.x {
		j := s.head[r]
		if out := s.low[j] - v; out > best {
			at, best, below = r, out, true
		}
		if out := v - s.up[j]; out > best {
			at, best, below = r, out, false
		}
		if first && at >= 0 {
			break
		}
	}
	return at, below
}

// pivot moves the variable of place r out of the basis, to the bound that it exceeds.
func (s *simplex) pivot(r int, below bool) int {
	sign := 1.0 // of the entries by which the leaving variable approaches its bound
	leaving := int(s.head[r])
	bound, slope := s.up[leaving], 0.0
	if below {
		sign, bound = -1, s.low[leaving]
	}
	slope = sign * (s.x[r] - bound)
	inverse := s.inverse[r]
	s.ratios = s.ratios[:0]
	for j := range s.n + s.m {
		if s.place[j] >= 0 {
			continue
		}
		v := 0.0
		if j >= s.n {
			v = inverse[j-s.n]
		} else {
			for _, e := range s.columns[j] {
				v += e.a * inverse[e.row]
			}
		}
		s.row[j] = v
		switch a := sign * v; {
		case s.low[j] == s.up[j]:
		case !s.upper[j] && a > small:
			s.ratios = append(s.ratios, ratio{int32(j), max(0, -s.d[j]) / a, a})
		case s.upper[j] && a < -small:
			s.ratios = append(s.ratios, ratio{int32(j), max(0, s.d[j]) / -a, -a})
		}
	}
	slices.SortFunc(s.ratios, func(a, b ratio) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(b.a, a.a)) })
	q := -1
	for k, x := range s.ratios {
		slope -= x.a * (s.up[x.variable] - s.low[x.variable])
		if slope < feasible {
			q = k
			break
		}
	}
	if q < 0 { // all moves together do not bring the variable to its bound
		s.ray = s.ray[:0]
		for _, v := range inverse {
			s.ray = append(s.ray, -sign*v)
		}
		return infeasible
	}
	for k := q + 1; k < len(s.ratios) && s.ratios[k].step <= s.ratios[q].step+1e-12; k++ { // of equal steps the largest entry
		if s.ratios[k].a > 10*s.ratios[q].a {
			s.ratios[q], s.ratios[k] = s.ratios[k], s.ratios[q]
		}
	}
	entering := int(s.ratios[q].variable)
	s.enterColumn(entering)
	if v := s.column[r]; math.Abs(v) < small || math.Abs(v-s.row[entering]) > 1e-6*(1+math.Abs(v)) {
		return unsolved
	}
	if q > 0 { // variables that are passed move to their other bounds
		load := make([]float64, s.m)
		for _, x := range s.ratios[:q] {
			j := int(x.variable)
			move := s.up[j] - s.low[j]
			if s.upper[j] {
				move = -move
			}
			s.upper[j] = !s.upper[j]
			s.each(j, func(i int, a float64) { load[i] += a * move })
		}
		s.subtract(load, 1)
	}
	turn := s.d[entering] / s.column[r]
	for j := range s.n + s.m {
		if s.place[j] < 0 && s.row[j] != 0 {
			s.d[j] -= turn * s.row[j]
		}
	}
	s.d[leaving] = -turn
	shift := (s.x[r] - bound) / s.column[r]
	at := s.value(entering) + shift
	for k, v := range s.column {
		s.x[k] -= shift * v
	}
	s.x[r] = at
	s.head[r] = int32(entering)
	s.place[entering], s.place[leaving] = int32(r), -1
	s.upper[leaving] = !below && s.low[leaving] < s.up[leaving]
	s.eliminate(r)
	s.age++
	return optimal
}
