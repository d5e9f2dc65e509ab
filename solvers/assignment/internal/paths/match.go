package paths

import (
	"math"
	"slices"
	"unsafe"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/problem"
)

// A Matcher solves dense problems on costs as they are, in float64, and checks the answers in integers. It keeps its
// memory, and belongs to one goroutine at a time; the zero value is ready.
type Matcher struct {
	Reading Reading // of the next matrices

	small  lapjv.Small
	sparse sparse
	search lapjv.Search
	lists  lists
	found  []int32   // columns of the rows of turned
	turned []float64 // costs that were negated, transposed or int64
	listed bool      // the lists say what the other pairs of a row cost at least, for the duals as they are
	lost   bool      // units round costs of the lists
	near   []problem.Pair
	left   []int32  // rows
	alive  []uint64 // bits of columns
	u, v   []int64  // duals of the shorter and the longer side
	graph  graph
	own    []float64 // costs of matched pairs

	allowed      int // the pairs that a square does not forbid, of which sparse lists the places and costs; 0: all pairs are looked at
	columns      columns
	knownNearest bool // own and found have the least costs and the nearest columns of the search's rows

	unchecked bool // for the benchmark of the certificate: searches end before their check
}

// A Reading says which pairs of a row searches read.
type Reading int

// Readings.
const (
	ByShape   Reading = iota // as ByLists says
	AllPairs                 // whole rows
	NearPairs                // lists of near pairs
)

// ByLists reports whether lists of near pairs are faster than whole rows, as a rule.
func ByLists(rows, cols int) bool {
	if rows == cols {
		return rows >= 700
	}
	return cols < 2*rows && rows*cols >= 100_000
}

// plain is the most columns for which the kernels in Go are faster than those with vectors.
const plain = 5

// untied is the most columns for which prices fall by nearly all of what they may: the check is faster by a fifth where most pairs cost the same
// or are forbidden, as it finds no near pairs. Costs of float32 are rarely rounded and need no such check. From 15 uniform costs on the bids take longer by more than that.
const untied = 12

// Match finds a matching of the least sum, or of the largest, and writes the column of each row, -1 where a row stays
// free. The matching is the best for the costs as they are, without any rounding: value is its sum, rounded once. It is false where it
// cannot say so, and for costs that are no numbers: other solvers decide these.
func Match[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, column []int32) (value float64, ok bool) {
	if !findSmall(s, rows, cols, costs, maximize, column) {
		defer s.search.Close()
		if !solve(s, rows, cols, costs, maximize, 0, column) {
			return 0, false
		}
	}
	if value, ok = sum(s.own); maximize && value != 0 {
		value = -value
	}
	return value, ok
}

// mostOfWide is the most columns of a wide matrix of which the kernel for few columns is faster: the others end where each row's nearest column is its own.
const mostOfWide = 64

// findSmall is solve for few rows and columns; false also where its kernel does not prove the answer.
func findSmall[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, column []int32) bool {
	m, n, ok := min(rows, cols), max(rows, cols), false
	if n > lapjv.SmallColumns || n > mostOfWide && m < n || m == 0 {
		return false
	}
	found := column
	if rows > cols {
		s.found = resize(s.found, m)
		found = s.found
	}
	if _, whole := any(costs).([]int64); whole || rows > cols || maximize {
		ok = turn(s, rows, cols, costs, maximize) && lapjv.FindSmall(&s.small, s.turned, m, n, found)
	} else {
		switch c := any(costs).(type) {
		case []int32:
			ok = lapjv.FindSmall(&s.small, c, m, n, found)
		case []float32:
			ok = lapjv.FindSmall(&s.small, c, m, n, found)
		case []float64:
			ok = lapjv.FindSmall(&s.small, c, m, n, found)
		}
	}
	if !ok {
		return false
	}
	s.own = resize(s.own, m)
	forbidden := problem.Forbidden[T](maximize)
	if rows > cols {
		for i := range column {
			column[i] = -1
		}
		for i, j := range found {
			column[j] = int32(i)
			s.own[i] = s.turned[i*rows+int(j)]
		}
		return true
	}
	for i, j := range column {
		c := costs[i*cols+int(j)]
		if c == forbidden {
			return false
		}
		if s.own[i] = float64(c); maximize {
			s.own[i] = -s.own[i]
		}
	}
	return true
}

// A Proof shows that a matching is the best: duals of the matcher's memory, without slack at any matched pair.
type Proof struct {
	problem.Duals       // of the rows and columns of the costs
	Units         int64 // that the matched costs add up to, as the duals do
	Pairs         int64 // costs that allow a pair
	Rounded       int64 // costs of these that units round
}

// Prove is Match with its proof, in units of 1/scale, a power of two from 1 on, those of a problem.Normal of the costs. With scale 0 the units
// are those of problem.FinestShift. It is false too where rounding leaves slack.
func Prove[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, scale float64, column []int32) (p Proof, ok bool) {
	defer s.search.Close()
	least, most, allowed := allowedRange(costs)
	if scale == 0 {
		if scale = 1; T(1)/2 != 0 && allowed > 0 && (least != 0 || most != 0) {
			scale = math.Ldexp(1, problem.FinestShift(max(math.Abs(least), math.Abs(most)), min(rows, cols)))
		}
	}
	if scale < 1 || !solve(s, rows, cols, costs, maximize, scale, column) {
		return p, false
	}
	u, v := s.u, s.v
	for _, list := range [][]int64{u, v} {
		for _, x := range list {
			p.Units += x
		}
	}
	p.U, p.V, p.Scale, p.Pairs, p.Rounded = u, v, scale, int64(allowed), rounded(costs, scale)
	if rows > cols {
		p.U, p.V = v, u
	}
	if maximize {
		p.Scale = -scale
	}
	return p, true
}

// allowedRange is lapjv.Range for all types of costs.
func allowedRange[T problem.Number](costs []T) (least, most float64, allowed int) {
	switch c := any(costs).(type) {
	case []int32:
		return lapjv.Range(c)
	case []float32:
		return lapjv.Range(c)
	case []float64:
		return lapjv.Range(c)
	}
	forbidden := problem.Forbidden[T](false)
	for _, c := range costs {
		if c != forbidden {
			allowed++
		}
	}
	return 0, 0, allowed // integers are their own units
}

// HasLargest reports whether one of some integers is the largest of its type.
func HasLargest[T int32 | int64](costs []T) bool {
	if c, ok := any(costs).([]int32); ok {
		return lapjv.Most(c) == math.MaxInt32
	}
	return slices.Contains(costs, problem.Forbidden[T](false))
}

// rounded is lapjv.Rounded for all types of costs.
func rounded[T problem.Number](costs []T, scale float64) int64 {
	switch c := any(costs).(type) {
	case []float32:
		return int64(lapjv.Rounded(c, scale))
	case []float64:
		return int64(lapjv.Rounded(c, scale))
	}
	return 0
}

// Solve is the optimal solution of a dense problem without a limit, in lists of its own; false where Prove is.
func (s *Matcher) Solve(p *problem.Normal) (*engine.Solution, bool) {
	switch p.Instance.Type {
	case problem.Int32:
		return solution(s, p, p.Instance.I32)
	case problem.Int64:
		return solution(s, p, p.Instance.I64)
	case problem.Float32:
		return solution(s, p, p.Instance.F32)
	}
	return solution(s, p, p.Instance.F64)
}

func solution[T problem.Number](s *Matcher, p *problem.Normal, costs []T) (*engine.Solution, bool) {
	if p.Instance.Every || p.Instance.Unsigned {
		return nil, false
	}
	column := make([]int32, p.Rows)
	proof, ok := Prove(s, p.Rows, p.Cols, costs, p.Instance.Maximize, math.Abs(p.Scale), column)
	if !ok {
		return nil, false
	}
	return &engine.Solution{Column: column, Prices: problem.Prices{U: slices.Clone(proof.U), V: slices.Clone(proof.V)}}, true
}

// solve is Match without the sum, whose summands are in own. scale is 0 for the finest units of the matched costs.
func solve[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, scale float64, column []int32) bool {
	if rows == 0 || cols == 0 {
		return false
	}
	if !maximize && forbidsMost(rows, cols, costs) {
		if bySomePairs(s, rows, cols, costs, scale, column) {
			return true
		}
	} else if one, ok := isSparse(rows, cols, costs); ok && findSparse(s, rows, cols, costs, one, maximize, scale, column) {
		s.u, s.v = s.sparse.u, s.sparse.v
		return true
	}
	s.knownNearest = false
	if rows > cols && !maximize && !(s.Reading == NearPairs || s.Reading == ByShape && ByLists(cols, rows)) {
		ok := false
		switch c := any(costs).(type) {
		case []int32:
			ok = byColumns(s, rows, cols, c, scale, column)
		case []float32:
			ok = byColumns(s, rows, cols, c, scale, column)
		case []float64:
			ok = byColumns(s, rows, cols, c, scale, column)
		}
		if ok {
			return true
		}
	}
	return byKernels(s, rows, cols, costs, maximize, scale, column)
}

// bySomePairs is solve for a square that forbids most pairs, by lists of the others; false also where other methods are faster.
func bySomePairs[T problem.Number](s *Matcher, rows, cols int, costs []T, scale float64, column []int32) bool {
	if rows < fewestAllowed() {
		return false
	}
	n, ok := collect(&s.sparse, costs, problem.Forbidden[T](false), false, mostAllowed*rows)
	if !ok || n == 0 {
		return false
	}
	s.allowed = n
	ok = byKernels(s, rows, cols, costs, false, scale, column)
	s.allowed = 0
	return ok
}

// byKernels is solve by the kernels of lapjv for rows.
func byKernels[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, scale float64, column []int32) bool {
	m, n, integer := min(rows, cols), max(rows, cols), T(1)/2 == 0
	listed, ok := s.allowed > 0 || s.Reading == NearPairs || s.Reading == ByShape && ByLists(m, n), false
	if _, whole := any(costs).([]int64); whole || rows > cols || maximize {
		ok = turn(s, rows, cols, costs, maximize) && match(s, m, n, s.turned, integer, listed, scale)
	} else {
		switch c := any(costs).(type) {
		case []int32:
			ok = match(s, m, n, c, true, listed, scale)
		case []float32:
			ok = match(s, m, n, c, false, listed, scale)
		case []float64:
			ok = match(s, m, n, c, false, listed, scale)
		}
	}
	if !ok {
		return false
	}
	s.u, s.v = s.search.Duals()
	if m < rows {
		copy(column, s.search.Owners())
	} else {
		copy(column, s.search.Columns())
	}
	return true
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
// whole rows. scale is as in solve; unless it is 0, the duals have no slack.
func match[T lapjv.Cost](s *Matcher, rows, cols int, costs []T, integer, listed bool, scale float64) bool {
	ok := false
	kernels := lapjv.FastestKernels[T]()
	if cols <= plain {
		all := lapjv.All[T]()
		kernels = &all[len(all)-1]
	}
	q := &s.search
	lapjv.Open(q, costs, rows, cols, cols)
	if _, double := any(costs).([]float64); double && cols <= untied && !integer {
		q.SetShare(lapjv.NearlyAll)
	}
	if listed {
		s.lists.open(q, kernels, rows, cols)
		if s.allowed > 0 {
			s.lists.listAllowed(s.sparse.places[:s.allowed], s.sparse.differing)
		}
		ok = augmentLists(&s.lists, costs)
	} else {
		ok = augment(s, kernels)
	}
	if !ok {
		return false
	}
	s.own = resize(s.own, rows)
	forbidden := problem.Forbidden[T](false)
	column := q.Columns()
	for i, j := range column {
		c := costs[i*cols+int(j)]
		if c == forbidden {
			return false
		}
		s.own[i] = float64(c)
	}
	if s.unchecked {
		return true
	}
	most := max(magnitude(s.own), magnitude(q.Prices()))
	if !(most < math.MaxFloat64/4) {
		return false
	}
	if scale > 0 {
		q.SetUnits(scale)
	} else {
		q.SetScale(most, integer)
	}
	if kernels.Name == "avx2" && coarse(s.own, most) { // sums in float64 are exact, so that near pairs are not looked for
		q.LeaveNearby()
	}
	s.listed, s.lost = listed, false
	if listed {
		_, units, _ := q.Slack()
		_, v := q.Duals()
		for j, x := range q.Prices() {
			v[j], _ = lapjv.Units(x, units)
		}
		s.byLists()
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
		return false
	}
	if !feasible(q) || !decide(s, kernels, costs, integer) {
		return false
	}
	slack, _, _ := q.Slack()
	return scale == 0 || slack == 0 || s.close(kernels, int(slack), 0, many) && tighten(s, kernels, costs)
}

// coarse reports whether numbers are multiples of 2^-52 of the largest power of two that is no larger than most.
func coarse(list []float64, most float64) bool {
	b := math.Float64bits(most) >> 52 & 0x7ff
	if b < 64 || b > 1980 {
		return false
	}
	scale := math.Float64frombits((1023 + 1023 + 52 - b) << 52)
	for _, x := range list {
		if x *= scale; float64(int64(x)) != x {
			return false
		}
	}
	return true
}

// magnitude is the largest magnitude of some numbers, an infinity or no number where one is.
func magnitude(list []float64) float64 {
	if len(list) < 16 {
		most := 0.0
		for _, x := range list {
			most = max(most, math.Abs(x))
		}
		return most
	}
	least, most, n := lapjv.Range(list)
	if n < len(list) {
		return math.Inf(1)
	}
	return max(-least, most)
}

// few and many are numbers of near pairs a column: how many are looked at for cycles before and after the duals were made tight.
const few, many = 4, 64

// byLists sets the duals of rows that the lists suffice for.
func (s *Matcher) byLists() { s.lost, s.listed = s.lists.duals() }

// decide reports whether the matching that Check has looked at is the best for the costs as they are.
func decide[T lapjv.Cost](s *Matcher, k *lapjv.Kernels, costs []T, integer bool) bool {
	q := &s.search
	slack, scale, rounded := q.Slack()
	if rounded = rounded || s.lost; slack == 0 && !rounded && scale >= 1 {
		return true
	}
	width := int(slack) + len(q.Columns()) + 1
	switch {
	case integer:
		return false
	case s.marked(k, width):
		return true
	case s.close(k, width, 0, few) && s.alone(width):
		return true
	case scale < 1:
		return false
	}
	if slack > 0 {
		if !s.close(k, int(slack), 0, many) {
			return false
		}
		tighten(s, k, costs)
		slack, _, rounded = q.Slack()
		rounded = rounded || s.lost
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

// augment finds the matching.
func augment(s *Matcher, k *lapjv.Kernels) bool {
	q := &s.search
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
	} else if s.knownNearest {
		n = q.TakeNearest(s.own, s.found)
	} else {
		n = k.Nearest(q)
	}
	if n < 0 {
		return false
	}
	return paths(q, k, q.Free(n))
}

// Beyond wholeRows rows, searches over whole rows of a square take longer than the host's method on one core, and beyond freely costs they
// end after mostScans rows read for each row of the matrix: distances take 50 at 2,000 rows, products of the row's and the column's
// number half the rows.
const wholeRows, freely, mostScans = 2000, 1 << 20, 128

// paths augments from free rows by searches over whole rows. It is false where there is no full matching, and where they take too long.
func paths(q *lapjv.Search, k *lapjv.Kernels, free []int32) bool {
	rows := len(q.Columns())
	for _, i := range free {
		if k.Path(q, int(i)) != 0 || q.Scans() > mostScans*rows && rows*len(q.Owners()) > freely {
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
		for _, j := range s.closest(k, i, width, lost) {
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

// marked reports whether the matching of a square is the only one of its own pairs and those that Check marked as near, where these are all whose
// slack is at most width units: as refine.HasNoCycle, by bits.
func (s *Matcher) marked(k *lapjv.Kernels, width int) bool {
	q := &s.search
	column := q.Columns()
	if width > lapjv.NearbyUnits || s.listed || len(column) < len(q.Owners()) { // then duals may be known before
		return false
	}
	words, ok := q.Nearby(k)
	if !ok {
		return false
	}
	n := words / len(column)
	s.alive, s.left = resize(s.alive, n), resize(s.left, len(column)) // rows that lead to columns
	clear(s.alive)
	last, kept := ^uint64(0)>>(-uint(len(column))%64), 0
	for i, j := range column {
		near, own := q.NearbyOf(i)[:n], uint(j)
		near[own/64] &^= 1 << (own % 64)
		near[n-1] &= last
		leads := uint64(0)
		for _, bits := range near {
			leads |= bits
		}
		s.left[kept] = int32(i)
		if leads != 0 {
			kept++
			s.alive[own/64] |= 1 << (own % 64)
		}
	}
	for before := kept + 1; kept < before; {
		before, kept = kept, 0
		for _, i := range s.left[:before] {
			leads, own := uint64(0), uint(column[i])
			for w, bits := range q.NearbyOf(int(i))[:n] {
				leads |= bits & s.alive[w]
			}
			if s.left[kept] = i; leads != 0 {
				kept++
			} else {
				s.alive[own/64] &^= 1 << (own % 64)
			}
		}
	}
	return kept == 0
}

// closest are the columns of a row that close lists.
func (s *Matcher) closest(k *lapjv.Kernels, i, width, lost int) []int32 {
	if s.listed {
		if near, ok := s.lists.closest(i, width, lost); ok {
			return near
		}
	}
	return s.search.Closest(k.Close(&s.search, i, width, lost))
}

// alone reports whether the matching is the only one of its own pairs and those listed.
func (s *Matcher) alone(width int) bool {
	_, v := s.search.Duals()
	return refine.HasNoCycle(s.search.Columns(), v, s.near, int64(width))
}
