// Package crouse finds the matching that SciPy's linear_sum_assignment finds, where several are optimal too: shortest augmenting
// paths, a row after the other, by Crouse (On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace and
// Electronic Systems 52, 2016), with columns looked at in SciPy's order and sums of float64 in SciPy's order.
package crouse

import (
	"math"

	"coalesce/solvers/assignment/problem"
)

// A Matcher keeps the memory of matrices that are solved one after the other. It belongs to one goroutine at a time; the zero value is
// ready.
type Matcher struct {
	costs             []float64 // with no more rows than columns, to be minimised
	u, v, shortest    []float64
	path, owner, open []int32
	column            []int32 // of turned costs
	seenRows          []int32
	seenColumns       []int32
}

// Match is the matching of the least sum, or of the largest: it writes the column of each row, -1 where a row stays unmatched. It is
// false where no full matching exists. Costs are taken as float64; infinite ones forbid pairs, and no integer does.
func Match[T problem.Number](w *Matcher, rows, cols int, costs []T, maximize bool, column []int32) bool {
	w.costs = zeros(w.costs, len(costs))
	sign := 1.0
	if maximize {
		sign = -1
	}
	if rows <= cols {
		for k, c := range costs {
			w.costs[k] = sign * float64(c)
		}
		return w.match(rows, cols, column)
	}
	for i := range rows {
		for j, c := range costs[i*cols : (i+1)*cols] {
			w.costs[j*rows+i] = sign * float64(c)
		}
	}
	w.column = zeros(w.column, cols)
	full := w.match(cols, rows, w.column)
	for i := range column {
		column[i] = -1
	}
	for j, i := range w.column {
		if full {
			column[i] = int32(j)
		}
	}
	return full
}

// match is Match for w.costs, which have no more rows than columns.
func (w *Matcher) match(rows, cols int, column []int32) bool {
	w.u, w.v, w.shortest = zeros(w.u, rows), zeros(w.v, cols), zeros(w.shortest, cols)
	w.path, w.owner, w.open = zeros(w.path, cols), zeros(w.owner, cols), zeros(w.open, cols)
	for i := range column {
		column[i] = -1
	}
	for j := range w.owner {
		w.owner[j] = -1
	}
	for root := range rows {
		if !w.augment(root, cols, column) {
			return false
		}
	}
	return true
}

// augment gives the row root a column, by the path to the nearest column that has no row; false where none is within reach.
func (w *Matcher) augment(root, cols int, column []int32) bool {
	shortest, v, owner, path, open := w.shortest[:cols], w.v[:cols], w.owner[:cols], w.path[:cols], w.open[:cols]
	for k := range open {
		open[k] = int32(cols - 1 - k)
		shortest[k] = math.Inf(1)
	}
	seenRows, seenColumns := w.seenRows[:0], w.seenColumns[:0]
	i, sink, reach := int32(root), int32(-1), 0.0
	for sink < 0 {
		seenRows = append(seenRows, i)
		index, lowest := -1, math.Inf(1)
		costs, u := w.costs[int(i)*cols:][:cols], w.u[i]
		for k, j := range open {
			s := shortest[j]
			if d := reach + costs[j] - u - v[j]; d < s {
				s, shortest[j], path[j] = d, d, i
			}
			if s < lowest || s == lowest && owner[j] < 0 {
				lowest, index = s, k
			}
		}
		if reach = lowest; math.IsInf(reach, 1) || index < 0 {
			return false
		}
		j := open[index]
		if owner[j] < 0 {
			sink = j
		} else {
			i = owner[j]
		}
		seenColumns = append(seenColumns, j)
		open[index] = open[len(open)-1]
		open = open[:len(open)-1]
	}
	w.u[root] += reach
	for _, i := range seenRows[1:] {
		w.u[i] += reach - shortest[column[i]]
	}
	for _, j := range seenColumns {
		v[j] -= reach - shortest[j]
	}
	for j := sink; ; {
		i := path[j]
		owner[j] = i
		column[i], j = j, column[i]
		if int(i) == root {
			break
		}
	}
	w.seenRows, w.seenColumns = seenRows, seenColumns
	return true
}

// zeros is a list of n zeros, in the memory of another where that suffices.
func zeros[T float64 | int32](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}
