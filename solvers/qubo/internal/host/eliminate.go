package host

import (
	"math/rand/v2"
	"slices"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/problem"
)

// maxDegree is the mean number of pairs a variable above which elimination is
// not tried: too many variables would have to keep their values.
const maxDegree = 16

// maxEliminated is the number of variables above which a move takes too long
// to be worth its while.
const maxEliminated = 1 << 17

// widest is the most neighbours that a variable may have when it is
// eliminated: tables have up to 2^widest entries.
const widest = 12

// eliminateWidth is that number in the shortest walks.
const eliminateWidth = 6

// An elimination solves a large part of a sparse problem exactly while the
// other variables keep their values: dynamic programming by elimination of
// variables (Bertele and Brioschi 1972), which on a grid is a sweep over a
// strip and on a tree is the usual recursion. Variables are eliminated in the
// order of fewest neighbours; where all that are left have more than width, one
// of many neighbours keeps its value and falls away.
type elimination[S qubo.Sum] struct {
	s      *state[S]
	rows   *sparseRows[S]
	random *rand.Rand
	end    *alarm

	near   [][]int32 // neighbours among the variables that are left, ascending
	status []uint8
	queue  [widest + 1][]int32 // variables by number of neighbours, some out of date
	order  []int32             // a permutation: where to look for variables to keep
	tables []table
	held   [][]int32 // tables with a variable in scope
	gone   []choice
	marks  []uint64
	sums   []int32
	joined []int32
	spare  [widest + 1][][]int32
	done   float64 // table entries computed
}

// What became of a variable.
const (
	left uint8 = iota
	kept
	eliminated
)

// A table is the largest value of the terms of eliminated variables, for all
// values of the variables in scope; scope[k] is bit k of the index.
type table struct {
	scope []int32
	value []int32 // nil once its terms are in another table
}

// A choice tells the best value of an eliminated variable given its scope: bit
// i of marks[at:] where the scope's values are i.
type choice struct {
	variable int32
	at       int
	scope    []int32
}

func newElimination[S qubo.Sum](s *state[S], rows *sparseRows[S], random *rand.Rand, end *alarm) *elimination[S] {
	n := s.p.N
	e := &elimination[S]{
		s: s, rows: rows, random: random, end: end,
		near: make([][]int32, n), status: make([]uint8, n), order: make([]int32, n), held: make([][]int32, n),
		sums: make([]int32, 1<<widest), joined: make([]int32, 2<<widest),
	}
	for i := range e.order {
		e.order[i] = int32(i)
	}
	return e
}

// move makes one exact move with tables of at most 2^width entries and returns
// how many variables it flipped, none where time is over. The value does not
// fall.
func (e *elimination[S]) move(width int) (flips int64) {
	e.reset(width)
	for next := 0; ; {
		if len(e.gone)%16 == 0 && e.end.over() {
			return 0
		}
		v, ok := e.pop(width)
		if ok {
			e.eliminate(v, width)
			continue
		}
		if v, ok = e.busiest(&next); !ok {
			break
		}
		e.keep(v, width)
	}
	for k := len(e.gone) - 1; k >= 0; k-- {
		c := e.gone[k]
		index := 0
		for b, j := range c.scope {
			index |= int(problem.Bit(e.s.x, int(j))) << b
		}
		if want := e.marks[c.at+index>>6] >> (index & 63) & 1; want != problem.Bit(e.s.x, int(c.variable)) {
			e.s.flip(int(c.variable))
			flips++
		}
	}
	return flips
}

func (e *elimination[S]) reset(width int) {
	clear(e.status)
	for _, t := range e.tables {
		if t.value != nil {
			e.spare[len(t.scope)] = append(e.spare[len(t.scope)], t.value)
		}
	}
	e.tables = e.tables[:0]
	e.gone, e.marks, e.done = e.gone[:0], e.marks[:0], 0
	for k := range e.queue {
		e.queue[k] = e.queue[k][:0]
	}
	e.random.Shuffle(len(e.order), func(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] })
	for _, v := range e.order {
		col, _ := e.rows.row(int(v))
		e.near[v] = append(e.near[v][:0], col...)
		e.held[v] = e.held[v][:0]
		e.push(v, width)
	}
}

// push queues a variable by its number of neighbours.
func (e *elimination[S]) push(v int32, width int) {
	if d := len(e.near[v]); d <= width {
		e.queue[d] = append(e.queue[d], v)
	}
}

// pop takes a variable with the fewest neighbours.
func (e *elimination[S]) pop(width int) (int32, bool) {
	for d := 0; d <= width; {
		q := e.queue[d]
		if len(q) == 0 {
			d++
			continue
		}
		v := q[len(q)-1]
		e.queue[d] = q[:len(q)-1]
		if e.status[v] == left && len(e.near[v]) == d {
			return v, true
		}
	}
	return 0, false
}

// busiest finds the variable with the most neighbours among the next few left.
func (e *elimination[S]) busiest(next *int) (best int32, ok bool) {
	for tries := 0; *next < len(e.order) && tries < 4; *next++ {
		v := e.order[*next]
		if e.status[v] != left {
			continue
		}
		tries++
		if !ok || len(e.near[v]) > len(e.near[best]) {
			best, ok = v, true
		}
	}
	if !ok {
		for _, v := range e.order {
			if e.status[v] == left {
				return v, true
			}
		}
	}
	return best, ok
}

// keep lets a variable keep its value.
func (e *elimination[S]) keep(v int32, width int) {
	e.status[v] = kept
	for _, j := range e.near[v] {
		if at, ok := slices.BinarySearch(e.near[j], v); ok {
			e.near[j] = slices.Delete(e.near[j], at, at+1)
		}
		e.push(j, width)
	}
}

// eliminate replaces a variable by a table over its neighbours, which become
// neighbours of each other.
func (e *elimination[S]) eliminate(v int32, width int) {
	e.status[v] = eliminated
	scope := slices.Clone(e.near[v])
	e.maximize(v, scope)
	for _, j := range scope {
		e.near[j] = merge(e.near[j], scope, v, j)
		e.push(j, width)
	}
}

// merge is the union of two ascending lists without v and j, in a's memory
// where there is room.
func merge(a, b []int32, v, j int32) []int32 {
	var room [128]int32
	out := room[:0]
	for len(a) > 0 || len(b) > 0 {
		var next int32
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			next, a = a[0], a[1:]
		case len(a) == 0 || b[0] < a[0]:
			next, b = b[0], b[1:]
		default:
			next, a, b = a[0], a[1:], b[1:]
		}
		if next != v && next != j {
			out = append(out, next)
		}
	}
	return slices.Clone(out)
}

// maximize computes the table that v leaves on scope and the choice of v.
func (e *elimination[S]) maximize(v int32, scope []int32) {
	d := len(scope)
	e.ones(v, scope)
	// joined is the sum of the messages over scope and v; v is bit place.
	place, _ := slices.BinarySearch(scope, v)
	joined := e.joined[:2<<d]
	clear(joined)
	e.done += float64(int(3) << d)
	for _, k := range e.held[v] {
		t := &e.tables[k]
		if t.value == nil {
			continue
		}
		e.include(joined, *t, v, place, scope)
		e.done += float64(int(2) << d)
		e.spare[len(t.scope)] = append(e.spare[len(t.scope)], t.value)
		t.value = nil
	}
	out := e.take(d)
	at := len(e.marks)
	e.marks = slices.Grow(e.marks, 1<<d>>6+1)[:at+max(1, 1<<d>>6)]
	marks := e.marks[at:]
	clear(marks)
	tie := int32(e.random.Uint64() & 1)
	low := 1<<place - 1
	for i := range out {
		index := i&low | i&^low<<1
		zero := joined[index]
		one := joined[index|1<<place] + e.sums[i]
		if one+tie > zero {
			marks[i>>6] |= 1 << (i & 63)
		}
		out[i] = max(zero, one)
	}
	first := out[0]
	for i := range out { // differences only: they stay small
		out[i] -= first
	}
	e.gone = append(e.gone, choice{v, at, scope})
	for _, j := range scope { // whichever is eliminated first takes it in
		e.held[j] = append(e.held[j], int32(len(e.tables)))
	}
	e.tables = append(e.tables, table{scope, out})
}

// ones fills sums with the addition of v = 1 for all values of scope.
func (e *elimination[S]) ones(v int32, scope []int32) {
	alone := e.s.p.Diag[v]
	col, weight := e.rows.row(int(v))
	var pair [widest]int32
	for k, j := range col {
		switch e.status[j] {
		case kept:
			if problem.Bit(e.s.x, int(j)) != 0 {
				alone += int64(weight[k])
			}
		case left:
			b, _ := slices.BinarySearch(scope, j)
			pair[b] = int32(weight[k])
		}
	}
	e.sums[0] = int32(alone)
	for b := range scope {
		for i := range 1 << b {
			e.sums[i|1<<b] = e.sums[i] + pair[b]
		}
	}
}

// include adds a message to joined, whose bits are scope with v put in.
func (e *elimination[S]) include(joined []int32, t table, v int32, place int, scope []int32) {
	offset, from, to := 0, 0, 0
	for b, j := range t.scope {
		if e.status[j] == kept {
			offset |= int(problem.Bit(e.s.x, int(j))) << b
			continue
		}
		from |= 1 << b
		if j == v {
			to |= 1 << place
			continue
		}
		k, _ := slices.BinarySearch(scope, j)
		if k >= place {
			k++
		}
		to |= 1 << k
	}
	rest := (len(joined) - 1) &^ to
	for a, b := 0, 0; ; {
		value := t.value[offset|b]
		for c := 0; ; {
			joined[a|c] += value
			if c = (c - rest) & rest; c == 0 {
				break
			}
		}
		if b = (b - from) & from; b == 0 {
			break
		}
		a = (a - to) & to
	}
}

// take finds memory for a table of d variables.
func (e *elimination[S]) take(d int) []int32 {
	if last := len(e.spare[d]) - 1; last >= 0 {
		t := e.spare[d][last]
		e.spare[d] = e.spare[d][:last]
		return t
	}
	return make([]int32, 1<<d)
}
