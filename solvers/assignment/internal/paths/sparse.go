package paths

import (
	"math"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/problem"
)

// A sparse solves matrices most of whose costs are one, the common cost, as those of trackers are and those that forbid most pairs. It reads the costs
// once, and lists the others. A row takes one of its listed pairs that cost less, or pays the common cost: such rows get the columns that are left in the end.
// Prices of columns are at most 0, and 0 where a column is left, so that no pair of the common cost is nearer to a row than that cost.
// All is in units, integers, and without rounding but for that of costs to units.
type sparse struct {
	unlikes
	pairs
	duals
	tree
	found []int32 // columns of the rows
}

// An unlikes holds the costs that differ from the common one, in the order of the matrix.
type unlikes struct {
	common    float64 // infinity: pairs not listed are forbidden
	places    []int32
	differing []float64
	order     []int32 // of these, by columns
}

// A pairs is what a sparse solves.
type pairs struct {
	rows, cols int     // at most as many rows as columns
	closed     bool    // all columns have rows, by listed pairs: prices may have any sign
	scale      float64 // units in 1
	rest       int64   // the common cost in units; nowhere, where it is infinite
	lost       bool    // units round a cost
	start      []int32 // of each row: its pairs
	column     []int32 // of pairs that cost less than the common cost
	exact      []float64
	cost       []int64
	above      []problem.Pair // pairs that cost more
}

// A duals is a matching with its duals.
type duals struct {
	u, v  []int64
	pair  []int32 // of rows: of the lists, or unpaired, or common
	owner []int32 // of columns, -1: free
	free  []int32 // rows
	tied  bool    // another pair of a row is as near as its own, perhaps, if units round costs
}

// A tree is the state of path, one search for a shortest path.
type tree struct {
	dist []int64 // of columns
	seen []int32 // of columns: the search that came to them, or its negative once it left them
	from []int32 // of columns: the pair that gave the distance
	by   []int32 // its row
	done []int32 // columns that the search has left
	heap []waiting
}

// A waiting is a column that a search may leave next.
type waiting struct {
	dist   int64
	column int32
}

// What rows have in place of a pair.
const (
	unpaired = -1
	common   = -2 // they pay the common cost
)

// Sums of costs and prices that a sparse adds up are below farSum, costs below farCost.
const (
	nowhere = 1 << 62 // a distance that no sum comes to
	farSum  = 1 << 61
	farCost = 1 << 57
)

// Whole rows are faster for matrices of fewer columns than fewest, and where more than one of dense costs differs from the common one.
const fewest, dense = 65, 4

// isSparse reports whether a matrix is one for findSparse, with its common cost.
func isSparse[T problem.Number](rows, cols int, costs []T) (common T, ok bool) {
	n := max(rows, cols)
	if n < fewest || len(costs) > math.MaxInt32 {
		return common, false
	}
	common, ok = usual(costs)
	forbids := common == problem.Forbidden[T](false) || common == problem.Forbidden[T](true)
	return common, ok && (!forbids || rows != cols || n >= fewestAllowed())
}

// mostAllowed is the most pairs a row, of squares that forbid most, that are all listed.
const mostAllowed = 20

// fewestAllowed is how many rows there are from which on squares that forbid most pairs are solved sooner by lists of the others.
func fewestAllowed() int {
	if lapjv.FastestKernels[float64]().Name == "avx512" {
		return 400
	}
	return 200
}

// forbidsMost reports whether a square's usual cost forbids a pair.
func forbidsMost[T problem.Number](rows, cols int, costs []T) bool {
	if _, whole := any(costs).([]int64); whole || rows != cols || cols < fewest || len(costs) > math.MaxInt32 {
		return false
	}
	common, ok := usual(costs)
	return ok && common == problem.Forbidden[T](false)
}

// usual is a cost that most of a sample have.
func usual[T problem.Number](costs []T) (common T, ok bool) {
	const sample, most = 16, 11
	var seen [sample]T
	for k := range seen {
		at := uint64(uint32(k)*0x9e3779b9+0x1234567) * uint64(len(costs)) >> 32
		seen[k] = costs[at]
	}
	left := 0
	for _, c := range seen { // by votes
		switch {
		case left == 0:
			common, left = c, 1
		case c == common:
			left++
		default:
			left--
		}
	}
	n := 0
	for _, c := range seen {
		if c == common {
			n++
		}
	}
	return common, n >= most
}

// findSparse is solve for matrices most of whose costs are one; false for others too.
func findSparse[T problem.Number](s *Matcher, rows, cols int, costs []T, one T, maximize bool, scale float64, column []int32) bool {
	q := &s.sparse
	n, ok := collect(q, costs, one, maximize, len(costs)/dense)
	if !ok || !q.open(rows, cols, n, T(1)/2 == 0, scale) || !q.match() {
		return false
	}
	if !s.unchecked && (!q.check() || q.lost && q.tied && !q.isBest(&s.graph)) || !q.complete() {
		return false
	}
	s.own = resize(s.own, q.rows)
	for i, e := range q.pair {
		if s.own[i] = q.common; e >= 0 {
			s.own[i] = q.exact[e]
		}
	}
	if rows <= cols {
		copy(column, q.found)
		return true
	}
	for i := range column {
		column[i] = -1
	}
	for i, j := range q.found {
		column[j] = int32(i)
	}
	return true
}

// collect lists the places of the costs that differ from the common one, and these costs, negated where the largest sum is looked for, and infinite where they
// forbid a pair. It returns how many they are; false where they seem to be more than most, and for costs that are no numbers.
func collect[T problem.Number](q *sparse, costs []T, one T, maximize bool, most int) (n int, ok bool) {
	forbidden, integer, sign := problem.Forbidden[T](false), T(1)/2 == 0, 1.0
	if maximize {
		sign = -1
	}
	value := func(c T) float64 {
		if integer && c == forbidden {
			return math.Inf(1)
		}
		return sign * float64(c)
	}
	if q.common = value(one); !(q.common > math.Inf(-1)) {
		return 0, false
	}
	const part = 1 << 12
	for low := 0; low < len(costs); low += part {
		list := costs[low:min(low+part, len(costs))]
		if room := n + part + 16; len(q.places) < room {
			places, differing := make([]int32, 2*room), make([]float64, 2*room)
			copy(places, q.places[:n])
			copy(differing, q.differing[:n])
			q.places, q.differing = places, differing
		}
		more := lapjv.Unlike(list, one, q.places[n:])
		for k, at := range q.places[n : n+more] {
			x := value(list[at])
			if !(x > math.Inf(-1)) {
				return 0, false
			}
			q.places[n+k], q.differing[n+k] = at+int32(low), x
		}
		if n += more; n > (low+part)*most/len(costs) {
			return 0, false
		}
	}
	return n, true
}

// open makes the rows' lists of n costs that differ, and has all rows and columns free at the prices 0. It is false where units do not hold the costs.
func (q *sparse) open(rows, cols, n int, integer bool, scale float64) bool {
	q.rows, q.cols = min(rows, cols), max(rows, cols)
	q.closed = rows == cols && math.IsInf(q.common, 1)
	q.start = resize(q.start, q.rows+1)
	q.column, q.exact, q.cost = resize(q.column, n), resize(q.exact, n), resize(q.cost, n)
	q.above = q.above[:0]
	most, used := 0.0, int32(0)
	if !math.IsInf(q.common, 1) {
		most = math.Abs(q.common)
	}
	add := func(i, j int32, x float64) {
		switch {
		case x < q.common:
			q.column[used], q.exact[used] = j, x
			most = max(most, math.Abs(x))
			used++
		case x > q.common:
			q.above = append(q.above, problem.Pair{Row: i, Col: j})
		}
	}
	if rows <= cols {
		i, end := int32(-1), 0
		for k, at := range q.places[:n] {
			for ; int(at) >= end; end += cols {
				i++
				q.start[i] = used
			}
			add(i, at-int32(end-cols), q.differing[k])
		}
		for i++; int(i) <= rows; i++ {
			q.start[i] = used
		}
	} else { // by columns of the costs
		q.order, q.from = resize(q.order, n), resize(q.from, n)
		clear(q.start)
		for k, at := range q.places[:n] {
			j := at % int32(cols)
			q.from[k] = j
			q.start[j+1]++
		}
		for j := range cols {
			q.start[j+1] += q.start[j]
		}
		for k, j := range q.from[:n] {
			q.order[q.start[j]] = int32(k)
			q.start[j]++
		}
		low := int32(0)
		for j := range int32(cols) {
			high := q.start[j]
			q.start[j] = used
			for _, k := range q.order[low:high] {
				add(j, q.places[k]/int32(cols), q.differing[k])
			}
			low = high
		}
		q.start[cols] = used
	}
	q.column, q.exact, q.cost = q.column[:used], q.exact[:used], q.cost[:used]
	if q.scale = scale; scale == 0 {
		if q.scale = 1; most > 0 && !integer {
			_, e := math.Frexp(most)
			q.scale = math.Ldexp(1, min(57-e, 1000))
		}
	}
	if q.scale < 1 || !(most*q.scale < farCost) {
		return false
	}
	q.lost, q.rest = false, nowhere
	units := func(x float64) int64 {
		whole, lost := lapjv.Units(x, q.scale)
		q.lost = q.lost || lost
		return whole
	}
	for e, x := range q.exact {
		q.cost[e] = units(x)
	}
	if !math.IsInf(q.common, 1) {
		q.rest = units(q.common)
	}
	q.u, q.v, q.pair, q.owner = resize(q.u, q.rows), resize(q.v, q.cols), resize(q.pair, q.rows), resize(q.owner, q.cols)
	q.dist, q.seen, q.from, q.by = resize(q.dist, q.cols), resize(q.seen, q.cols), resize(q.from, q.cols), resize(q.by, q.cols)
	clear(q.v)
	clear(q.seen)
	for i := range q.pair {
		q.pair[i] = unpaired
	}
	for j := range q.owner {
		q.owner[j] = -1
	}
	return true
}

// match finds the best matching of the listed pairs and the common cost.
func (q *sparse) match() bool {
	if q.closed { // prices are the least costs of the columns
		for j := range q.v {
			q.v[j] = nowhere
		}
		for e, j := range q.column {
			q.v[j] = min(q.v[j], q.cost[e])
		}
		for _, x := range q.v {
			if x == nowhere {
				return false
			}
		}
	}
	q.free = q.free[:0]
	for i := range q.rows {
		q.free = append(q.free, int32(i))
	}
	if !q.bid() {
		return false
	}
	for turn, i := range q.free {
		if !q.path(i, int32(turn+1)) {
			return false
		}
	}
	return true
}

// bid has the free rows bid for their nearest columns, and those that lost theirs at once while the price falls.
func (q *sparse) bid() bool {
	v, free, kept, bids := q.v, q.free, 0, 0
	for k := 0; k < len(free); {
		i := free[k]
		k++
		bids++
		first, second, at := int64(nowhere), q.rest, int32(unpaired)
		low := q.start[i]
		costs := q.cost[low:q.start[i+1]]
		columns := q.column[low:]
		columns = columns[:len(costs)]
		for e, c := range costs {
			x := c - v[columns[e]]
			second = min(second, max(first, x))
			if x < first {
				at = int32(e)
			}
			first = min(first, x)
		}
		switch {
		case q.rest < nowhere && first >= q.rest:
			q.pair[i] = common
			continue
		case at < 0:
			return false
		}
		if first == second && q.owner[columns[at]] >= 0 { // a free column is as near, perhaps
			for e, j := range columns {
				if costs[e]-v[j] == first && q.owner[j] < 0 {
					at = int32(e)
				}
			}
		}
		at += low
		j := q.column[at]
		fall := second - first
		fall -= fall >> 12 // so that the row's own column stays nearer than its next
		falls := bids < 8*k && second < nowhere && fall > 0
		if falls {
			if v[j] -= fall; v[j] < -farSum {
				return false
			}
		}
		out := q.owner[j]
		q.pair[i], q.owner[j] = at, i
		if out < 0 {
			continue
		}
		q.pair[out] = unpaired
		if falls {
			k--
			free[k] = out
		} else {
			free[kept] = out
			kept++
		}
	}
	q.free = free[:kept]
	return true
}

// path augments along a shortest path from a free row. Searches have numbers from 1 on.
func (q *sparse) path(root, turn int32) bool {
	v, seen, dist, owner := q.v, q.seen, q.dist, q.owner
	q.heap, q.done = q.heap[:0], q.done[:0]
	end, last, ends := int32(-1), int32(-1), int64(nowhere) // the nearest free column, or the row that pays the common cost
	i, best, dual := root, int64(0), int64(0)
	for {
		base := best - dual
		if q.rest < nowhere && base+q.rest < ends {
			end, last, ends = -1, i, base+q.rest
		}
		low := q.start[i]
		costs := q.cost[low:q.start[i+1]]
		for e, j := range q.column[low:q.start[i+1]] {
			d := base + (costs[e] - v[j])
			switch {
			case d >= ends || seen[j] == -turn || seen[j] == turn && d >= dist[j]:
				continue
			case owner[j] < 0:
				end, ends = j, d
			default:
				q.push(waiting{d, j})
			}
			seen[j], dist[j], q.from[j], q.by[j] = turn, d, low+int32(e), i
		}
		next := int32(-1)
		for len(q.heap) > 0 && next < 0 {
			w := q.heap[0]
			if w.dist >= ends {
				break
			}
			if q.pop(); seen[w.column] == turn && dist[w.column] == w.dist {
				next = w.column
			}
		}
		if next < 0 {
			break
		}
		seen[next], best = -turn, dist[next]
		q.done = append(q.done, next)
		i = owner[next]
		dual = q.cost[q.pair[i]] - v[next]
	}
	if ends > farSum {
		return false
	}
	for _, j := range q.done {
		if v[j] += dist[j] - ends; v[j] < -farSum {
			return false
		}
	}
	j := end
	if end < 0 {
		e := q.pair[last]
		if q.pair[last] = common; last == root {
			return true
		}
		j = q.column[e]
	}
	for {
		r, e := q.by[j], q.pair[q.by[j]]
		q.pair[r], owner[j] = q.from[j], r
		if r == root {
			return true
		}
		j = q.column[e]
	}
}

func (q *sparse) push(w waiting) {
	q.heap = append(q.heap, w)
	h, k := q.heap, len(q.heap)-1
	for k > 0 {
		up := (k - 1) / 2
		if h[up].dist <= w.dist {
			break
		}
		h[k] = h[up]
		k = up
	}
	h[k] = w
}

func (q *sparse) pop() {
	n := len(q.heap) - 1
	w, h, k := q.heap[n], q.heap[:n], 0
	q.heap = h
	for {
		low := 2*k + 1
		if low >= n {
			break
		}
		if low+1 < n && h[low+1].dist < h[low].dist {
			low++
		}
		if h[low].dist >= w.dist {
			break
		}
		h[k] = h[low]
		k = low
	}
	if n > 0 {
		h[k] = w
	}
}

// check finds the duals u, and reports whether they and v prove that no other matching costs less, in units: no pair costs less than its duals,
// matched ones cost them, and a price is at most 0 where a column may be left, 0 where it is.
func (q *sparse) check() bool {
	width := int64(q.rows + 1)
	q.tied = false
	for i, pair := range q.pair {
		first, second, own := int64(nowhere), q.rest, q.rest
		low, high := q.start[i], q.start[i+1]
		costs, columns := q.cost[low:high], q.column[low:high]
		for e, c := range costs {
			x := c - q.v[columns[e]]
			second = min(second, max(first, x))
			first = min(first, x)
		}
		first, second = min(first, second), max(first, second)
		if pair >= 0 {
			j := q.column[pair]
			own = q.cost[pair] - q.v[j]
			if pair < low || pair >= high || q.owner[j] != int32(i) {
				return false
			}
		}
		if pair == unpaired || own == nowhere || own != first {
			return false
		}
		q.u[i] = first
		q.tied = q.tied || second-first <= width
	}
	if !q.closed {
		for j, x := range q.v {
			if x > 0 || x != 0 && q.owner[j] < 0 {
				return false
			}
		}
	}
	return true
}

// complete gives the rows that pay the common cost the columns that are left, none where they cost more. It is false where it does not find such columns.
func (q *sparse) complete() bool {
	q.found = resize(q.found, q.rows)
	for i, e := range q.pair {
		if q.found[i] = -1; e >= 0 {
			q.found[i] = q.column[e]
		}
	}
	if q.rest == nowhere {
		return true
	}
	left := q.done[:0]
	for j, i := range q.owner {
		if i < 0 {
			left = append(left, int32(j))
		}
	}
	q.done = left
	clear(q.seen)
	for k := 0; k < len(q.above); { // rows with columns that cost more
		i, n := q.above[k].Row, len(left)-1
		for ; k < len(q.above) && q.above[k].Row == i; k++ {
			q.seen[q.above[k].Col] = i + 1
		}
		if q.found[i] >= 0 {
			continue
		}
		for ; n >= 0 && q.seen[left[n]] == i+1; n-- {
		}
		if n < 0 {
			return false
		}
		q.found[i] = left[n]
		left[n] = left[len(left)-1]
		left = left[:len(left)-1]
	}
	for i, j := range q.found {
		if j < 0 {
			q.found[i] = left[len(left)-1]
			left = left[:len(left)-1]
		}
	}
	return true
}

// isBest is isBest for costs that units round: a column for each row stands for the common cost.
func (q *sparse) isBest(g *graph) bool {
	exact := true
	part := func(x float64, units int64) int64 {
		rest := (x*q.scale - float64(units)) * fine
		whole := int64(rest)
		exact = exact && float64(whole) == rest
		return whole
	}
	residual := func(i int, e int32) int64 {
		if e < 0 {
			return (q.rest-q.u[i])*fine + part(q.common, q.rest)
		}
		return (q.cost[e]-q.u[i]-q.v[q.column[e]])*fine + part(q.exact[e], q.cost[e])
	}
	nobody, width := int32(q.rows), int64(q.rows+1)
	g.open(q.rows)
	for i, e := range q.pair {
		g.own[i] = residual(i, e)
	}
	for i, pair := range q.pair {
		g.start[i] = int32(len(g.to))
		for e := q.start[i]; e < q.start[i+1]; e++ {
			j := q.column[e]
			switch k := q.owner[j]; {
			case e == pair || q.cost[e]-q.u[i]-q.v[j] > width:
			case k < 0:
				g.add(nobody, residual(i, e))
			default:
				g.add(k, residual(i, e)-g.own[k])
			}
		}
		if q.rest < nowhere && pair >= 0 && q.rest-q.u[i] <= width {
			g.add(nobody, residual(i, common))
		}
	}
	g.start[nobody] = int32(len(g.to))
	for i, pair := range q.pair {
		price := int64(0)
		if pair >= 0 {
			price = -q.v[q.column[pair]]
		}
		if !q.closed && price <= width {
			g.add(int32(i), price*fine-g.own[i])
		}
	}
	g.start[nobody+1] = int32(len(g.to))
	return exact && !g.improves()
}
