// Package lp solves linear relaxations of programs of 0 and 1 by the bounded dual simplex
// method: maximise Σ price(j)·x(j) where the columns of each row, times their entries, add up to at most 1,
// or what else the row allows, and 0 ≤ x ≤ 1. Entries are 1 unless the matrix has others.
//
// Columns are boxed, so every basis with row prices of at least 0 can be made dual
// feasible by moving columns between their bounds: after any change of bounds the
// solver goes on from the basis that it has. Of few rows, or full ones, the inverse of the basis is kept
// (rows of slacks stay unit rows), which makes the weights of dual steepest edge exact by-products of the pivots; of others
// sparse factors and the pivots since then (lu.go). The ratio test
// takes long steps. Where equal prices make it stall, costs are perturbed (perturb.go).
//
// The solver works in float64, so that its row prices and its objective are approximate. A caller that
// needs a proven bound computes it from the prices in integers.
package lp

import (
	"context"
	"math"

	"coalesce/runtime/host/kernels/linear"
)

const (
	feasible = 1e-9 // a basic column may exceed its bounds by this much
	small    = 1e-9 // smaller entries of a pivot row count as zero
	refactor = 200  // pivots between two inversions from scratch, unless the caller sets another number
)

var inf = math.Inf(1)

// A Matrix is the rows and the columns of a program, as lists.
type Matrix struct {
	Columns [][]int32   // rows of each column, ascending
	Entries [][]float64 // of each column, in these rows; nil: all are 1
	Rows    int
	Most    []float64 // the most that the columns of each row may add up to; nil: 1
	Equal   []bool    // rows whose columns add up to that; nil: none has to
}

// A Solver is a basis of a matrix under bounds. Columns are 0..n-1; n+i is the slack
// of row i.
type Solver struct {
	*Matrix
	n, m    int
	given   []float64 // costs: -price; slacks cost 0
	cost    []float64 // given, or perturbed
	low, up []float64
	head    []int32   // column of each place in the basis
	place   []int32   // place of each column, -1 outside the basis
	upper   []bool    // a column outside the basis is at its upper bound
	inverse []float64 // of the basis, row by row; nil if lu is not
	x       []float64 // of the basis
	d       []float64 // reduced costs: of slack i the price of row i
	weight  []float64 // squared lengths of the inverse's rows
	age     int       // pivots since the inverse was computed from scratch
	noise   float64   // the most by which a cost may differ from the one given; 0: none differs
	most    float64   // sum of what the rows allow, and of the columns where entries are not all 1
	Pivots  int
	Lasting int // pivots between two inversions from scratch
	// Perturbations is how often equal costs made steps of 0 and were perturbed.
	Perturbations int

	factors
	scratch
	free    []int32 // columns whose bounds differ
	changed bool    // bounds have changed since x was computed
}

// A scratch is the memory of a pivot.
type scratch struct {
	row, column, shift []float64
	spare              []float64 // where the inverse is copied to as rows are added and removed
	touched            []int32
	blocked            bool // no column can enter
	ray                []float64
	unbounded          bool // prices without end along ray
	ratios             []ratio
	ends               []int32   // of the parts of ratios that quicksort has made
	unit, edge         []float64 // where factors are kept: the row of the inverse that belongs to the tableau's row, and what the basis makes of that
}

type ratio struct {
	column int32
	step   float64
	entry  float64 // the pivot row's, its sign turned so that the leaving column falls
}

// New is the basis of all slacks.
func New(a *Matrix, prices []float64) *Solver { return newSolver(a, prices, fewRows) }

// newSolver is New with factors from so many rows on; 0: at all times.
func newSolver(a *Matrix, prices []float64, fewRows int) *Solver {
	n, m := len(a.Columns), a.Rows
	s := &Solver{Matrix: a, n: n, m: m, factors: factors{fewRows: fewRows}, Lasting: refactor, given: make([]float64, n+m), cost: make([]float64, n+m), low: make([]float64, n+m), up: make([]float64, n+m),
		head: make([]int32, m), place: make([]int32, n+m), upper: make([]bool, n+m),
		x: make([]float64, m), d: make([]float64, n+m), weight: make([]float64, m),
		scratch: scratch{row: make([]float64, n+m), column: make([]float64, m), shift: make([]float64, m)}}
	for j := range n {
		s.given[j], s.up[j], s.place[j] = -prices[j], 1, -1
	}
	copy(s.cost, s.given)
	for i := range m {
		if s.up[n+i] = inf; a.Equal != nil && a.Equal[i] {
			s.up[n+i] = 0
		}
		s.head[i], s.place[n+i] = int32(n+i), int32(i)
		s.most += math.Abs(s.allowed(i))
	}
	if a.Entries != nil {
		s.most += float64(n)
	}
	for i := range s.weight {
		s.weight[i] = 1
	}
	s.chooseFactors()
	s.refactor()
	return s
}

// allowed is the most that the columns of a row add up to.
func (a *Matrix) allowed(i int) float64 {
	if a.Most == nil {
		return 1
	}
	return a.Most[i]
}

// addColumn adds a column, or a slack, times a number to sums of rows.
func (s *Solver) addColumn(j int, times float64, sums []float64) {
	switch {
	case j >= s.n:
		sums[j-s.n] += times
	case s.Entries == nil:
		for _, i := range s.Columns[j] {
			sums[i] += times
		}
	default:
		entries := s.Entries[j]
		for k, i := range s.Columns[j] {
			sums[i] += times * entries[k]
		}
	}
}

// product is the sum of a column's entries, each times the number of its row.
func (s *Solver) product(j int, numbers []float64) float64 {
	sum := 0.0
	if s.Entries == nil {
		for _, i := range s.Columns[j] {
			sum += numbers[i]
		}
		return sum
	}
	entries := s.Entries[j]
	for k, i := range s.Columns[j] {
		sum += entries[k] * numbers[i]
	}
	return sum
}

// Bound sets the bounds of a column: 0 and 1, or both the same to fix the column.
func (s *Solver) Bound(j int, low, up float64) {
	if s.low[j] != low || s.up[j] != up {
		s.low[j], s.up[j], s.changed = low, up, true
	}
}

// Value is x of a column.
func (s *Solver) Value(j int) float64 {
	if p := s.place[j]; p >= 0 {
		return s.x[p]
	}
	if s.upper[j] {
		return s.up[j]
	}
	return s.low[j]
}

// Price is the dual price of a row, at least 0 where its columns may add up to less than they do.
func (s *Solver) Price(i int) float64 {
	price := s.d[s.n+i] - s.cost[s.n+i]
	if s.up[s.n+i] > 0 {
		price = max(0, price)
	}
	return price
}

// Ray is a direction in which prices of rows prove, far enough, that no solution has a value above any number; nil where the
// last solve did not end with one.
func (s *Solver) Ray() []float64 {
	if !s.unbounded {
		return nil
	}
	return s.ray
}

// setRay makes the ray that of the basis's place r, whose column no other can replace.
func (s *Solver) setRay(r int, sign float64) {
	s.unbounded = true
	line := s.unit
	if s.lu == nil {
		line = s.inverse[r*s.m : (r+1)*s.m]
	}
	s.ray = s.ray[:0]
	for _, v := range line {
		s.ray = append(s.ray, -sign*v)
	}
}

// SlackIsBasic reports whether the slack of a row is in the basis: the row binds nothing.
func (s *Solver) SlackIsBasic(i int) bool { return s.place[s.n+i] >= 0 }

// Objective is the value of the current basis: an upper bound, but for rounding,
// before the optimum is reached, and the optimum then. Perturbed costs move it a little.
func (s *Solver) Objective() float64 {
	z := 0.0
	for j := range s.n {
		if s.place[j] < 0 {
			if s.upper[j] {
				z -= s.cost[j] * s.up[j]
			} else {
				z -= s.cost[j] * s.low[j]
			}
		}
	}
	for r, j := range s.head {
		z -= s.cost[j] * s.x[r]
	}
	return z
}

// enterColumn computes the tableau's column of a column outside the basis.
func (s *Solver) enterColumn(j int) {
	if s.lu != nil {
		s.addColumn(j, 1, s.lu.byRow)
		s.lu.solve(s.lu.byRow, s.column)
		return
	}
	clear(s.column)
	add := func(i int) {
		for r, k := 0, i; r < s.m; r, k = r+1, k+s.m {
			s.column[r] += s.inverse[k]
		}
	}
	switch {
	case j >= s.n:
		add(j - s.n)
	case s.Entries == nil:
		for _, i := range s.Columns[j] {
			add(int(i))
		}
	default:
		for at, i := range s.Columns[j] {
			times := s.Entries[j][at]
			for r, k := 0, int(i); r < s.m; r, k = r+1, k+s.m {
				s.column[r] += times * s.inverse[k]
			}
		}
	}
}

// updateInverse updates the inverse and its weights for a pivot in row r of s.column.
func (s *Solver) updateInverse(r int) {
	pivot := s.inverse[r*s.m : (r+1)*s.m]
	s.touched = s.touched[:0]
	turn := 1 / s.column[r]
	length := 0.0
	for i, v := range pivot {
		if v != 0 {
			if math.Abs(v) < 1e-14 {
				pivot[i] = 0
				continue
			}
			v *= turn
			pivot[i] = v
			length += v * v
			s.touched = append(s.touched, int32(i))
		}
	}
	s.weight[r] = length
	dense := 8*len(s.touched) > s.m // then vectors of all numbers are faster than a list
	for k, f := range s.column {
		if k == r || math.Abs(f) < 1e-13 {
			continue
		}
		row := s.inverse[k*s.m : (k+1)*s.m]
		if dense {
			s.weight[k] = max(s.weight[k]+linear.Eliminate(row, pivot, f), 1e-4)
			continue
		}
		w, v := 0.0, 0.0
		list := s.touched
		for ; len(list) >= 2; list = list[2:] { // two sums, so that neither waits for the other
			i, j := list[0], list[1]
			old, older := row[i], row[j]
			now, next := old-f*pivot[i], older-f*pivot[j]
			row[i], row[j] = now, next
			w += (now - old) * (now + old)
			v += (next - older) * (next + older)
		}
		for _, i := range list {
			old := row[i]
			now := old - f*pivot[i]
			row[i] = now
			w += (now - old) * (now + old)
		}
		s.weight[k] = max(s.weight[k]+w+v, 1e-4)
	}
}

// restart puts columns outside the basis at the bound that is dual feasible, and
// computes x.
func (s *Solver) restart() {
	s.free = s.free[:0]
	for j := range s.n {
		if s.low[j] < s.up[j] {
			s.free = append(s.free, int32(j))
		}
		if s.place[j] >= 0 {
			continue
		}
		d := s.cost[j] // pivots keep the reduced costs of free columns only
		for k, i := range s.Columns[j] {
			price := s.d[s.n+int(i)] - s.cost[s.n+int(i)]
			if s.Entries != nil {
				price *= s.Entries[j][k]
			}
			d += price
		}
		s.d[j] = d
		if math.Abs(s.d[j]) > small { // else both bounds are dual feasible
			s.upper[j] = s.d[j] < 0
		}
	}
	if s.lu != nil {
		s.lines.update(s)
	}
	s.loadBasis()
}

// loadBasis computes x of the basis from the bounds at which the other columns are.
func (s *Solver) loadBasis() {
	load := s.shift
	for i := range load {
		load[i] = 1
	}
	copy(load, s.Most)
	for j := range s.n {
		if s.place[j] >= 0 {
			continue
		}
		if v := s.Value(j); v != 0 {
			s.addColumn(j, -v, load)
		}
	}
	s.changed = false
	if s.lu != nil {
		s.lu.solve(load, s.x)
		return
	}
	for r := range s.m {
		v := 0.0
		for i, e := range s.inverse[r*s.m : (r+1)*s.m] {
			v += e * load[i]
		}
		s.x[r] = v
	}
}

// Solve pivots until the basis is optimal, which it reports, or until the objective is
// at most cutoff, limit pivots are made (0: any number) or ctx ends. The prices are of
// use in any case.
func (s *Solver) Solve(ctx context.Context, cutoff float64, limit int) bool {
	if s.stale || s.age > s.lasting()/2 && limit == 0 {
		s.refactor()
	}
	if s.changed {
		s.restart()
	}
	most := 50*(s.n+s.m) + 1000
	if limit > 0 {
		most = limit
	}
	fresh, stalled := s.age == 0, 0
	s.unbounded = false
	for count := 1; count <= most; count++ {
		if s.worn(limit) {
			s.refactor()
			s.restart()
			fresh = true
		}
		if count%8 == 0 && (s.Objective() <= cutoff-s.noise*s.most || ctx.Err() != nil) {
			return false
		}
		r, sign := s.leave()
		if r < 0 {
			return s.noise == 0 || limit > 0 || s.polish(ctx)
		}
		leaving := s.head[r]
		if !s.pivot(r, sign) {
			if fresh {
				if s.blocked {
					s.setRay(r, sign)
				}
				return false // rounding prevents further pivots; the prices are valid proposals
			}
			s.refactor()
			s.restart()
			fresh = true
			continue
		}
		fresh = false
		if limit == 0 && math.Abs(s.d[leaving]) < still {
			if stalled++; stalled > patience {
				s.perturb()
				stalled = 0
			}
		}
	}
	return false
}

// leave chooses the place of the basis that is farthest outside its bounds by
// steepest edge, and 1 where it is above, -1 below. -1 is none.
func (s *Solver) leave() (int, float64) {
	at, best, sign := -1, 0.0, 1.0
	for r, v := range s.x {
		j := s.head[r]
		side := 1.0
		out := v - s.up[j]
		if below := s.low[j] - v; below > out {
			out, side = below, -1
		}
		if out > feasible {
			if score := out * out / s.weight[r]; score > best {
				at, best, sign = r, score, side
			}
		}
	}
	return at, sign
}

// pivot moves the column of place r out of the basis, to the bound that it exceeds. It returns false
// if no column can enter, or if the inverse has become too inaccurate.
func (s *Solver) pivot(r int, sign float64) bool {
	s.tableauRow(r, sign)
	leaving := int(s.head[r])
	bound := s.up[leaving]
	slope := s.x[r] - bound
	if sign < 0 {
		bound = s.low[leaving]
		slope = bound - s.x[r]
	}
	q, flips := s.long(slope)
	if s.blocked = q < 0; s.blocked {
		return false
	}
	s.enterColumn(q)
	entry := s.column[r]
	if math.Abs(entry-s.row[q]) > 1e-6*(1+math.Abs(entry)) || math.Abs(entry) < small {
		return false
	}
	// Columns passed move to their other bound.
	if len(flips) > 0 {
		clear(s.shift)
		for _, f := range flips {
			j := f.column
			move := s.up[j] - s.low[j]
			if s.upper[j] {
				move = -move
			}
			s.upper[j] = !s.upper[j]
			s.addColumn(int(j), move, s.shift)
		}
		if s.lu != nil {
			s.lu.solve(s.shift, s.edge)
			for k, v := range s.edge {
				s.x[k] -= v
			}
			s.exchange(r, q, bound, sign > 0)
			return true
		}
		s.touched = s.touched[:0]
		for i, v := range s.shift {
			if v != 0 {
				s.touched = append(s.touched, int32(i))
			}
		}
		for k := range s.m {
			line := s.inverse[k*s.m : (k+1)*s.m]
			v := 0.0
			for _, i := range s.touched {
				v += line[i] * s.shift[i]
			}
			s.x[k] -= v
		}
	}
	s.exchange(r, q, bound, sign > 0)
	return true
}

// tableauRow computes the tableau's row r, and lists the ratios of the columns outside the basis that
// can enter where the leaving column falls (sign 1) or rises (-1).
func (s *Solver) tableauRow(r int, sign float64) {
	s.ratios = s.ratios[:0]
	if s.lu != nil {
		s.sparseRow(r)
		for _, j := range s.touched {
			if a := sign * s.row[j]; s.low[j] < s.up[j] {
				switch {
				case !s.upper[j] && a > small:
					s.ratios = append(s.ratios, ratio{j, max(0, s.d[j]) / a, a})
				case s.upper[j] && a < -small:
					s.ratios = append(s.ratios, ratio{j, min(0, s.d[j]) / a, a})
				}
			}
		}
		return
	}
	inverse := s.inverse[r*s.m : (r+1)*s.m]
	consider := func(j int, entry float64) {
		s.row[j] = entry
		if a := sign * entry; s.low[j] < s.up[j] {
			switch {
			case !s.upper[j] && a > small:
				s.ratios = append(s.ratios, ratio{int32(j), max(0, s.d[j]) / a, a})
			case s.upper[j] && a < -small:
				s.ratios = append(s.ratios, ratio{int32(j), min(0, s.d[j]) / a, a})
			}
		}
	}
	for _, f := range s.free {
		j := int(f)
		if s.place[j] >= 0 {
			continue
		}
		consider(j, s.product(j, inverse))
	}
	for i, entry := range inverse {
		if s.place[s.n+i] < 0 {
			consider(s.n+i, entry)
		}
	}
}

// exchange lets column q, whose column and row of the tableau are known, take place r of the
// basis. The column that leaves goes to its upper or its lower bound.
func (s *Solver) exchange(r, q int, bound float64, upper bool) {
	leaving := s.head[r]
	step := s.d[q] / s.row[q]
	if s.lu != nil {
		for _, j := range s.touched {
			s.d[j] -= step * s.row[j]
		}
	} else {
		for _, j := range s.free {
			if s.place[j] < 0 {
				s.d[j] -= step * s.row[j]
			}
		}
		for i, j := range s.place[s.n:] {
			if j < 0 {
				s.d[s.n+i] -= step * s.row[s.n+i]
			}
		}
	}
	s.d[q], s.d[leaving] = 0, -step
	move := (s.x[r] - bound) / s.column[r]
	at := s.Value(q) + move
	for k, v := range s.column {
		s.x[k] -= move * v
	}
	s.x[r] = at
	if s.lu != nil {
		s.updateFactors(r)
	} else {
		s.updateInverse(r)
	}
	s.head[r], s.place[q] = int32(q), int32(r)
	s.place[leaving], s.upper[leaving] = -1, upper
	s.age++
	s.Pivots++
}

// long is the ratio test of long steps: columns are passed, and flipped to their other
// bound, as long as the leaving one stays beyond its own. -1: no column can enter.
func (s *Solver) long(slope float64) (int, []ratio) {
	if len(s.ratios) == 0 {
		return -1, nil
	}
	list := s.ratios
	// As a rule few breakpoints are passed: they are selected one by one, and after some by quicksort as far as it is needed
	// (Paredes and Navarro, ALENEX 2006).
	ends := append(s.ends[:0], int32(len(list)))
	order := func(at int) {
		if at < 12 {
			least := at
			for k := at + 1; k < len(list); k++ {
				if list[k].step < list[least].step {
					least = k
				}
			}
			list[at], list[least] = list[least], list[at]
			return
		}
		for int(ends[len(ends)-1]) > at {
			to := int(ends[len(ends)-1])
			middle := at + (to-at)/2
			list[at], list[middle] = list[middle], list[at]
			by, k := list[at], at
			for q := at + 1; q < to; q++ {
				if list[q].step < by.step || list[q].step == by.step && list[q].column < by.column {
					k++
					list[k], list[q] = list[q], list[k]
				}
			}
			list[at], list[k] = list[k], list[at]
			ends = append(ends, int32(k))
		}
		ends = ends[:len(ends)-1]
	}
	order(0)
	at := 0
	for {
		j := list[at].column
		slope -= math.Abs(list[at].entry) * (s.up[j] - s.low[j])
		if slope < 0 {
			break
		}
		if at == len(list)-1 {
			if slope > small { // all together do not bring the leaving column to its bound
				return -1, nil
			}
			break
		}
		at++
		order(at)
	}
	s.ends = ends
	// Of those at nearly the same step the largest entry is the safest.
	best := at
	for k := at - 1; k >= 0 && list[at].step-list[k].step <= 1e-9; k-- {
		if math.Abs(list[k].entry) > 2*math.Abs(list[best].entry) {
			best = k
		}
	}
	for k := at + 1; k < len(list); k++ {
		if list[k].step-list[at].step <= 1e-9 && math.Abs(list[k].entry) > 2*math.Abs(list[best].entry) {
			best = k
		}
	}
	q := int(list[best].column)
	return q, list[:min(best, at)]
}
