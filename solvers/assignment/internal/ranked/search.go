package ranked

import (
	"container/heap"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// nobody is, on paths, the row of the columns that have none.
const nobody = -2

// A path search is one for the shortest path of reduced costs from the row whose pair
// a space bars to the column that the row has left.
type pathSearch struct {
	dist []int64 // of columns: length of the shortest path found
	from []int32 // the row before the column on that path, or nobody
	done []bool  // columns whose path is the shortest, and those that the space keeps
	rows []int32 // reached, nobody among them
	at   []int64 // length of the path to each of those
	via  int32   // the column by which nobody was reached
}

// solveSpace finds the best matching of a space. It begins with the duals of the matching that the
// space was cut from, which stay feasible because a space only bars pairs. One row is without a
// pair and one column free; a shortest path between them completes the matching. A space without a
// matching is dropped.
func (r *ranker) solveSpace(s *subspace) error {
	old := s.from.best
	a := &answer{column: slices.Clone(old.column), u: slices.Clone(old.u), v: slices.Clone(old.v)}
	fixed := r.pairsKept(s)
	rowOf := slices.Repeat([]int32{nobody}, r.width)
	for i, j := range a.column {
		rowOf[j] = int32(i)
	}
	free := a.column[s.row]
	r.found.Searches++
	d, ok := r.shortest(s, a, fixed, rowOf, free)
	if !ok {
		return nil
	}
	d.update(a, fixed, rowOf, d.dist[free])
	for j := free; ; {
		i := d.from[j]
		if i == nobody { // the column stays without a row, and the one before gets one
			j = d.via
			continue
		}
		a.column[i], j = j, a.column[i]
		if i == s.row {
			break
		}
	}
	if err := r.checkOptimal(s, a, fixed); err != nil {
		return err
	}
	s.best, s.bound = a, r.scaledCost(a)
	heap.Push(&r.left, s)
	return nil
}

// shortest searches from the row of a space for a free column, in the manner of Dijkstra; false
// where no path exists.
func (r *ranker) shortest(s *subspace, a *answer, fixed keptPairs, rowOf []int32, free int32) (*pathSearch, bool) {
	d := &pathSearch{dist: slices.Repeat([]int64{problem.Infinity}, r.width), from: make([]int32, r.width), done: slices.Clone(fixed.cols)}
	buf := make([]int64, r.width)
	reached := false // columns without a row
	for i, length := s.row, int64(0); ; {
		d.rows, d.at = append(d.rows, i), append(d.at, length)
		best, at := int64(problem.Infinity), -1
		if i != nobody {
			buf = r.rowCosts(s, int(i), buf)
		}
		for j, known := range d.dist {
			if d.done[j] {
				continue
			}
			c := int64(0)
			if i != nobody {
				c = buf[j] - a.u[i]
			}
			if next := length + c - a.v[j]; (i == nobody || buf[j] != problem.Infinity) && next < known {
				known, d.dist[j], d.from[j] = next, next, i
			}
			if known < best || known == best && int32(j) == free && at >= 0 {
				best, at = known, j
			}
		}
		if at < 0 {
			return d, false
		}
		d.done[at] = true
		if int32(at) == free {
			return d, true
		}
		i, length = rowOf[at], best
		if i == nobody {
			if reached {
				panic("ranked: columns without a row were reached twice")
			}
			reached, d.via = true, int32(at)
			for j := range d.done { // the others are as far, and lead nowhere else
				d.done[j] = d.done[j] || rowOf[j] == nobody
			}
		}
	}
}

// update makes the duals prove the matching that a path of a length leads to.
func (d *pathSearch) update(a *answer, fixed keptPairs, rowOf []int32, length int64) {
	shift := int64(0) // of the dual of columns without a row's place, which stays 0
	for k, i := range d.rows {
		more := length - d.at[k]
		if i == nobody {
			shift = more
			continue
		}
		a.u[i] += more
		if k > 0 {
			a.v[a.column[i]] -= more
		}
	}
	if shift == 0 {
		return
	}
	for i := range a.u {
		if !fixed.rows[i] {
			a.u[i] -= shift
		}
	}
	for j := range a.v {
		if !fixed.cols[j] && rowOf[j] != nobody {
			a.v[j] += shift
		}
	}
}
