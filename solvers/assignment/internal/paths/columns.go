package paths

import (
	"math"
	"unsafe"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/problem"
)

// A columns is the memory for tall matrices, which are looked at column by column without being transposed.
type columns struct {
	least, some []float64 // costs of any type
	at          []int32   // rows of the least costs; then rows that are below a bar
	v           []int64
}

// A tall matrix of manyParts*partRows rows or more, and of so many times as many rows as columns, is read in so many parts: the bar of a column is
// the least cost of one part, and bar-1 parts have less.
const manyParts, partRows, perColumn, bar = 16, 64, 24, 5

// as is a list of n costs in memory for as many float64s.
func as[T lapjv.Cost](memory *[]float64, n int) []T {
	*memory = resize(*memory, n)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*memory))), n)
}

// byColumns is solve for more rows than columns, where the least costs of the columns lie in different rows. Where not, own and found keep the costs and
// the rows, so that a search need not look for them; and of many more rows those alone are solved that are among the best of a column.
func byColumns[T lapjv.Cost](s *Matcher, rows, cols int, costs []T, scale float64, column []int32) bool {
	q := &s.columns
	s.knownNearest = false
	parts := 1
	if rows >= manyParts*partRows && rows >= perColumn*cols {
		parts = manyParts
	}
	room := cols + lapjv.ColumnsMore
	least := as[T](&q.least, parts*room)
	q.at, s.found, s.own = resize(q.at, max(parts*room, rows)), resize(s.found, room), resize(s.own, cols)
	for p := range parts {
		from, to := p*rows/parts, (p+1)*rows/parts
		if !lapjv.NearestRows(costs[from*cols:], to-from, cols, least[p*room:], q.at[p*room:]) {
			return false
		}
	}
	forbidden := problem.Forbidden[T](false)
	for j := range cols {
		var first [bar]T
		n := 0
		for p := range parts {
			c, k := least[p*room+j], min(n, bar-1)
			if n == bar && !(c < first[k]) {
				continue
			}
			for ; k > 0 && first[k-1] > c; k-- {
				first[k] = first[k-1]
			}
			if first[k] = c; k == 0 {
				s.found[j] = q.at[p*room+j] + int32(p*rows/parts)
			}
			n = min(n+1, bar)
		}
		if first[0] == forbidden {
			return false
		}
		s.own[j], least[j] = float64(first[0]), first[n-1]
	}
	if !(magnitude(s.own) < math.MaxFloat64/4) {
		return false
	}
	for i := range column {
		column[i] = -1
	}
	for j, i := range s.found[:cols] {
		if column[i] >= 0 {
			if parts > 1 && bySomeRows(s, rows, cols, costs, least, scale, column) {
				return true
			}
			s.knownNearest = parts == 1
			return false
		}
		column[i] = int32(j)
	}
	if scale > 0 { // the other duals are 0
		s.u, s.v = resize(s.u, cols), resize(s.v, rows)
		clear(s.v)
		for j, c := range s.own {
			s.u[j], _ = lapjv.Units(c, scale)
		}
	}
	return true
}

// bySomeRows is solve for the rows with a cost below the bar of its column. The others do not matter where the duals of the columns do not
// come to the bars, by more than rounding leaves open.
func bySomeRows[T lapjv.Cost](s *Matcher, rows, cols int, costs, bars []T, scale float64, column []int32) bool {
	q := &s.columns
	n := lapjv.RowsBelow(costs, rows, cols, bars, q.at)
	if n < cols || n > rows/4 {
		return false
	}
	list := q.at[:n]
	some := as[T](&q.some, n*cols)
	for k, i := range list {
		copy(some[k*cols:(k+1)*cols], costs[int(i)*cols:])
	}
	_, integer := any(costs).([]int32)
	if !turn(s, n, cols, some, false) || !match(s, cols, n, s.turned, integer, false, scale) {
		return false
	}
	u, v := s.search.Duals()
	slack, units, _ := s.search.Slack()
	margin := slack + int64(cols) + 1
	if integer {
		margin = 0
	}
	for j, x := range u {
		if most, _ := lapjv.Units(float64(bars[j]), units); x+margin > most {
			return false
		}
	}
	for i := range column {
		column[i] = -1
	}
	for k, j := range s.search.Owners() {
		column[list[k]] = j
	}
	q.v = resize(q.v, rows)
	clear(q.v)
	for k, i := range list {
		q.v[i] = v[k]
	}
	s.u, s.v = u, q.v
	return true
}
