// Package paths solves small dense problems on one core, on the goroutine that asks: by
// the shortest augmenting paths of Jonker and Volgenant ("A shortest augmenting path
// algorithm for dense and sparse linear assignment problems", Computing 38, 1987).
package paths

import (
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A Workspace is the memory of solves, which grows as they need it. It belongs to one
// goroutine at a time; the zero value is ready.
type Workspace struct {
	costs []int64 // scaled, row after row
	u, v  []int64
	col   []int32 // of a row, -1: free
	row   []int32 // of a column, -1: free
	free  []int32 // rows
	dist  []int64 // of a column, in a search
	from  []int32 // the row that gave it
	left  []int32 // columns that the search has not come to
	done  []int32 // those that it has
}

// none is a reduced cost that no allowed pair has.
const none = problem.Infinity / 2

// resize is a list of n, in the memory of the list before where that suffices.
func resize[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}

// Solve finds an optimal matching of a dense problem without a limit; false where no full matching
// exists. The solution is in s's memory, which the next solve overwrites.
func (s *Workspace) Solve(p *problem.Normal) (*engine.Solution, bool) {
	m, n := p.Rows, p.Cols
	s.costs = resize(s.costs, m*n)
	s.u, s.v, s.dist = resize(s.u, m), resize(s.v, n), resize(s.dist, n)
	s.col, s.row, s.from = resize(s.col, m), resize(s.row, n), resize(s.from, n)
	s.left, s.done, s.free = resize(s.left, n), resize(s.done, n), resize(s.free, m)
	for i := range s.col {
		s.col[i] = -1
	}
	for j := range s.row {
		s.row[j], s.v[j] = -1, 0
	}
	s.scale(p, m, n)
	if m == n && !s.reduceColumns(n) {
		return nil, false
	}
	s.free = s.free[:0]
	for i, j := range s.col {
		if j < 0 {
			s.free = append(s.free, int32(i))
		}
	}
	for range 2 {
		s.bid(m, n)
	}
	for _, i := range s.free {
		if !s.augment(int(i), n) {
			return nil, false
		}
	}
	for i, j := range s.col {
		s.u[i] = s.costs[i*n+int(j)] - s.v[j]
	}
	return &engine.Solution{Column: s.col, Prices: problem.Prices{U: s.u, V: s.v}}, true
}

// scale fills in the costs, row by row, and of a square their columns' least.
func (s *Workspace) scale(p *problem.Normal, m, n int) {
	v := s.v
	for i := range m {
		row := p.Scaled(i*n, (i+1)*n, s.costs[i*n:(i+1)*n])
		switch {
		case m < n:
		case i == 0:
			copy(v, row)
		default:
			for j, c := range row[:len(v)] {
				v[j] = min(v[j], c)
			}
		}
	}
}

// reduceColumns has each column's least cost for its price. A row gets the first free column whose least
// cost is in that row. The column's price then falls by the least reduced cost of the row's other
// columns (reduction transfer). false: a column is allowed to no row.
func (s *Workspace) reduceColumns(n int) bool {
	v := s.v
	for _, c := range v {
		if c >= none {
			return false
		}
	}
	for i := range s.col {
		row := s.costs[i*n : (i+1)*n]
		for j, c := range row[:len(v)] {
			if c == v[j] && s.row[j] < 0 {
				s.col[i], s.row[j] = int32(j), int32(i)
				break
			}
		}
	}
	for i, j := range s.col {
		if j < 0 {
			continue
		}
		row := s.costs[i*n : (i+1)*n]
		second := int64(none)
		for k, c := range row[:len(v)] {
			if k != int(j) {
				second = min(second, c-v[k])
			}
		}
		if second < none && second > 0 {
			v[j] -= second
		}
	}
	return true
}

// bid has the free rows bid for their nearest columns (augmenting row reduction), and
// those that lost theirs at once, as often as there are rows at most.
// Columns that no row has keep the price 0 where they may stay unmatched.
func (s *Workspace) bid(m, n int) {
	v := s.v
	turns := m // more of them, or none, made 300 x 300 uniform costs slower
	waiting := s.free
	lost := s.left[:0] // rows for the next round; a search overwrites it
	for len(waiting) > 0 {
		i := waiting[0]
		if turns--; turns < 0 {
			break
		}
		row := s.costs[int(i)*n : (int(i)+1)*n]
		first, second := int64(none), int64(none)
		at, next := int32(-1), int32(-1)
		for j, c := range row[:len(v)] {
			if h := c - v[j]; h < second {
				if h < first {
					first, second, at, next = h, first, int32(j), at
				} else {
					second, next = h, int32(j)
				}
			}
		}
		if second >= none { // one column or none: nothing to compare with
			lost = append(lost, i)
			waiting = waiting[1:]
			continue
		}
		owner := s.row[at]
		switch {
		case first < second:
			v[at] -= second - first
		case owner >= 0:
			at = next
			owner = s.row[at]
		}
		s.col[i], s.row[at] = at, i
		if owner < 0 {
			waiting = waiting[1:]
			continue
		}
		s.col[owner] = -1
		if first < second {
			waiting[0] = owner // at once
		} else {
			lost = append(lost, owner)
			waiting = waiting[1:]
		}
	}
	lost = append(lost, waiting...)
	s.free = append(s.free[:0], lost...)
}

// augment searches the nearest free column from a free row, raises the prices of the columns that
// it passed, and moves the rows along the path. It is false where no free column can be reached.
func (s *Workspace) augment(root, n int) bool {
	v, dist, from := s.v, s.dist, s.from
	left, done := s.left[:n], s.done[:0]
	row := s.costs[root*n : (root+1)*n]
	for j := range left {
		left[j] = int32(j)
		dist[j], from[j] = row[j]-v[j], int32(root)
	}
	at, reach := -1, int64(none)
	for k, j := range left {
		if d := row[j] - v[j]; d < reach || d == reach && at >= 0 && s.row[j] < 0 {
			at, reach = k, d
		}
	}
	end := int32(-1)
	for {
		if at < 0 {
			return false
		}
		j := left[at]
		if s.row[j] < 0 {
			end = j
			break
		}
		left[at] = left[len(left)-1]
		left = left[:len(left)-1]
		done = append(done, j)
		i := s.row[j]
		row := s.costs[int(i)*n : (int(i)+1)*n]
		base := reach - (row[j] - v[j])
		at, reach = -1, none
		for k, j := range left {
			d := row[j] - v[j] + base
			if d < dist[j] {
				dist[j], from[j] = d, i
			} else {
				d = dist[j]
			}
			if d < reach || d == reach && at >= 0 && s.row[j] < 0 {
				at, reach = k, d
			}
		}
	}
	for _, j := range done {
		v[j] += dist[j] - reach
	}
	for j := end; ; {
		i := from[j]
		before := s.col[i]
		s.col[i], s.row[j] = j, i
		if int(i) == root {
			return true
		}
		j = before
	}
}
