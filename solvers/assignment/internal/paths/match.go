package paths

import (
	"math"
	"unsafe"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/problem"
)

// A Matcher solves dense problems on costs as they are, in float64, and checks the answers in integers. It keeps its
// memory, and belongs to one goroutine at a time; the zero value is ready.
type Matcher struct {
	search lapjv.Search
	lists  lists
	turned []float64 // costs that were negated, transposed or int64
	near   []problem.Pair
	graph  graph
	own    []float64 // costs of matched pairs
}

// byLists reports whether lists of near pairs are faster than whole rows.
func byLists(rows, cols int) bool {
	if rows == cols {
		return rows >= 700
	}
	return cols < 2*rows && rows*cols >= 100_000
}

// plain is the most columns for which the kernels in Go are faster than those with vectors.
const plain = 5

// Match finds a matching of the least sum, or of the largest, and writes the column of each row, -1 where a row stays
// free. The matching is the best for the costs as they are, without any rounding: value is its sum, rounded once. It is false where it
// cannot say so, and for costs that are no numbers: other solvers decide these.
func Match[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, column []int32) (value float64, ok bool) {
	if rows == 0 || cols == 0 {
		return 0, false
	}
	defer s.search.Close()
	tall := rows > cols
	if tall || maximize {
		if !turn(s, rows, cols, costs, maximize) {
			return 0, false
		}
	} else {
		switch c := any(costs).(type) {
		case []int32:
			value, ok = match(s, rows, cols, c, true, byLists(rows, cols))
		case []float32:
			value, ok = match(s, rows, cols, c, false, byLists(rows, cols))
		case []float64:
			value, ok = match(s, rows, cols, c, false, byLists(rows, cols))
		case []int64:
			if !turn(s, rows, cols, costs, maximize) {
				return 0, false
			}
			value, ok = match(s, rows, cols, s.turned, true, byLists(rows, cols))
		}
		if ok {
			copy(column, s.search.Columns())
		}
		return value, ok
	}
	m, n := rows, cols
	if tall {
		m, n = n, m
	}
	integer := T(1)/2 == 0
	if value, ok = match(s, m, n, s.turned[:m*n], integer, byLists(m, n)); !ok {
		return 0, false
	}
	if maximize && value != 0 {
		value = -value
	}
	if tall {
		copy(column, s.search.Owners())
	} else {
		copy(column, s.search.Columns())
	}
	return value, true
}

// turn fills turned with costs, those of integers that forbid a pair infinite. It is false where sums of integers could be rounded.
func turn[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool) bool {
	s.turned = resize(s.turned, rows*cols)
	sign := 1.0
	if maximize {
		sign = -1
	}
	integer := T(1)/2 == 0
	forbidden := problem.Forbidden[T](false)
	bound := float64(int64(1) << 52 / int64(min(rows, cols)))
	value := func(c T) float64 {
		if integer && c == forbidden {
			return math.Inf(1)
		}
		return sign * float64(c)
	}
	out := s.turned
	if rows > cols {
		switch c := any(costs).(type) {
		case []int32:
			lapjv.Turn(c, rows, cols, out, maximize)
			return true
		case []float32:
			lapjv.Turn(c, rows, cols, out, maximize)
			return true
		case []float64:
			lapjv.Turn(c, rows, cols, out, maximize)
			return true
		}
	}
	if rows <= cols {
		for k, c := range costs {
			out[k] = value(c)
		}
	} else {
		const tile = 8
		for low := 0; low < rows; low += tile {
			high := min(rows, low+tile)
			for j := range cols {
				to := out[j*rows : (j+1)*rows]
				for i := low; i < high; i++ {
					to[i] = value(costs[i*cols+j])
				}
			}
		}
	}
	if integer && unsafe.Sizeof(forbidden) == 8 {
		for _, x := range out {
			if !(math.Abs(x) <= bound) && x != math.Inf(1) {
				return false
			}
		}
	}
	return true
}

// match is Match for at most as many rows as columns, of which the least sum is looked for, by lists of near pairs or by
// whole rows.
func match[T lapjv.Cost](s *Matcher, rows, cols int, costs []T, integer, listed bool) (value float64, ok bool) {
	kernels := lapjv.FastestKernels[T]()
	if cols <= plain {
		all := lapjv.All[T]()
		kernels = &all[len(all)-1]
	}
	q := &s.search
	lapjv.Open(q, costs, rows, cols, cols)
	if listed {
		s.lists.open(q, kernels, rows, cols)
		ok = augmentLists(&s.lists, costs)
	} else {
		ok = augment(q, kernels)
	}
	if !ok {
		return 0, false
	}
	s.own = resize(s.own, rows)
	most, forbidden := 0.0, problem.Forbidden[T](false)
	column := q.Columns()
	for i, j := range column {
		c := costs[i*cols+int(j)]
		if c == forbidden {
			return 0, false
		}
		s.own[i] = float64(c)
		most = max(most, math.Abs(s.own[i]))
	}
	for _, x := range q.Prices() {
		most = max(most, math.Abs(x))
	}
	if !(most < math.MaxFloat64/4) {
		return 0, false
	}
	q.SetScale(most, integer)
	lost := false
	if listed {
		if lost, ok = s.lists.duals(s.own); !ok {
			return 0, false
		}
	} else if rows < cols { // rows whose nearest column is theirs, at the price 0
		prices := q.Prices()
		_, scale, _ := q.Slack()
		for i, x := range q.Least() {
			known := s.own[i] == x && prices[column[i]] == 0
			u, _ := lapjv.Units(x, scale)
			q.SetDual(i, u, known)
		}
	}
	if kernels.Check(q, 0) != 0 {
		return 0, false
	}
	if !feasible(q) || !decide(s, kernels, costs, integer, lost) {
		return 0, false
	}
	return sum(s.own)
}

// decide reports whether the matching that Check has looked at is the best for the costs as they are; lost says that units rounded costs
// that Check did not look at.
func decide[T lapjv.Cost](s *Matcher, k *lapjv.Kernels, costs []T, integer, lost bool) bool {
	q := &s.search
	slack, scale, rounded := q.Slack()
	if rounded = rounded || lost; slack == 0 && !rounded && scale >= 1 {
		return true
	}
	const few, many = 4, 64 // near pairs a column
	width := int(slack) + len(q.Columns()) + 1
	switch {
	case integer:
		return false
	case s.close(k, width, 0, few) && s.alone(width):
		return true
	case scale < 1:
		return false
	}
	if slack > 0 {
		if !tighten(q, k) {
			return false
		}
		slack, _, rounded = q.Slack()
		width = int(slack) + len(q.Columns()) + 1
	}
	if slack == 0 && (!rounded || s.close(k, width, 1, 0) && len(s.near) == 0) {
		return true
	}
	return s.close(k, width, 0, many) && isBest(s, costs, int64(width))
}

// feasible reports whether the duals of columns that may stay free are at most 0, and of those that do just that.
func feasible(q *lapjv.Search) bool {
	owner := q.Owners()
	if len(q.Columns()) == len(owner) {
		return true
	}
	_, v := q.Duals()
	for j, x := range v {
		if x > 0 || x != 0 && owner[j] < 0 {
			return false
		}
	}
	return true
}

// tighten raises the duals v, which rounding in the search left some units too low, until no matched pair has slack. Where a few
// passes do not do that, the duals stay as they were. It is false for costs that are no numbers.
func tighten(q *lapjv.Search, k *lapjv.Kernels) bool {
	unset := func() {
		for i := range q.Columns() {
			q.SetDual(i, 0, false)
		}
	}
	const passes = 10
	for range passes {
		unset()
		if k.Check(q, 1) != 0 {
			return false
		}
		if slack, _, _ := q.Slack(); slack == 0 {
			if !feasible(q) {
				break
			}
			return true
		}
	}
	unset()
	return k.Check(q, 0) == 0
}

// augment finds the matching.
func augment(q *lapjv.Search, k *lapjv.Kernels) bool {
	column := q.Columns()
	n := 0
	if len(column) == len(q.Owners()) {
		if k.Minima(q) != 0 {
			return false
		}
		n = k.Transfer(q)
		for turn := 0; turn < 2 && n > 0; turn++ {
			n = k.Bid(q, n)
		}
	} else {
		n = k.Nearest(q)
	}
	if n < 0 {
		return false
	}
	for _, i := range q.Free(n) {
		if k.Path(q, int(i)) != 0 {
			return false
		}
	}
	return true
}

// close lists the unmatched pairs whose slack is at most width units, with lost 1 all pairs of these whose costs units round. It is false
// where they are more than most for each column; the list has some then.
func (s *Matcher) close(k *lapjv.Kernels, width, lost, most int) bool {
	q := &s.search
	s.near = s.near[:0]
	for i, own := range q.Columns() {
		for _, j := range q.Closest(k.Close(q, i, width, lost)) {
			if j != own || lost > 0 {
				s.near = append(s.near, problem.Pair{Row: int32(i), Col: j})
			}
		}
		if len(s.near) > most*len(q.Owners()) {
			return false
		}
	}
	return true
}

// alone reports whether the matching is the only one of its own pairs and those listed.
func (s *Matcher) alone(width int) bool {
	_, v := s.search.Duals()
	return refine.HasNoCycle(s.search.Columns(), v, s.near, int64(width))
}
