package refine

import (
	"slices"
	"sync"

	"coalesce/solvers/assignment/problem"
)

// prune keeps the rows and columns that lie on alternating cycles of the pairs that near accepts,
// and of these the pairs on such cycles and the matched ones. reach is the most units that another
// optimal matching may pay for a column left free; left reports whether one may leave a matched row
// out.
//
// The graph has a node a row, and one for nobody: row i leads to the row that has the column of a
// pair of i, or to nobody where it is free. Nobody leads to the rows whose columns may become free,
// and to the unmatched ones; rows that may be left out lead to nobody.
func (r *undecidedPart) prune(near func(*residualPair) bool, reach float64, left func(i int) bool) {
	nobody := int32(r.rows)
	next := make([]int32, 0, len(r.pairs)) // successors, by rows
	from := make([]int, r.rows+2)
	for i := range r.rows {
		for k := r.start[i]; k < r.start[i+1]; k++ {
			if x := &r.pairs[k]; x.col != r.match[i] && near(x) {
				next = append(next, r.successor(x))
			}
		}
		if r.limit && r.match[i] >= 0 && left(i) {
			next = append(next, nobody)
		}
		from[i+1] = len(next)
	}
	if r.loose {
		for i, j := range r.match {
			if j < 0 || float64(-r.v[j]) <= reach {
				next = append(next, int32(i))
			}
		}
	}
	from[r.rows+1] = len(next)
	part, size := components(next, from)
	alive := func(i int) bool { return size[part[i]] > 1 }
	r.compact(alive, func(x *residualPair) bool {
		return x.col == r.match[x.row] || part[r.successor(x)] == part[x.row] && near(x)
	})
}

// HasNoCycle reports whether a matching is the only one of its own pairs and the near ones, whose slack is at most width
// units, as are the duals of columns that it could leave for another at no more cost; there is no limit. The graph of prune has
// no cycle then, as rows that lead nowhere can be taken away until none is left. This is the usual case, and the quick one.
func HasNoCycle(column []int32, v []int64, near []problem.Pair, width int64) bool {
	rows, cols := len(column), len(v)
	if len(near) == 0 && rows == cols {
		return true
	}
	g := graphs.Get().(*graph)
	defer graphs.Put(g)
	const end = -1
	nobody := int32(rows)
	owner := resized(&g.owner, cols) // row of each column
	for j := range owner {
		owner[j] = nobody
	}
	for i, j := range column {
		owner[j] = int32(i)
	}
	leads := resized(&g.leads, rows+1)    // edges that leave a node
	enter := resized(&g.enter, rows+1)    // the last of the edges that enter it
	other := resized(&g.other, len(near)) // and of each edge the one before, into the same node
	clear(leads)
	for k := range enter {
		enter[k] = end
	}
	for e, x := range near {
		k := owner[x.Col]
		leads[x.Row]++
		other[e], enter[k] = enter[k], int32(e)
	}
	freed := func(j int32) bool { return rows < cols && -v[j] <= width } // nobody leads to the rows of such columns
	for _, j := range column {
		if freed(j) {
			leads[nobody]++
		}
	}
	done := resized(&g.done, rows+1)[:0]
	for k, n := range leads {
		if n == 0 {
			done = append(done, int32(k))
		}
	}
	for at := 0; at < len(done); at++ {
		k := done[at]
		for e := enter[k]; e != end; e = other[e] {
			i := near[e].Row
			if leads[i]--; leads[i] == 0 {
				done = append(done, i)
			}
		}
		if k != nobody && freed(column[k]) {
			if leads[nobody]--; leads[nobody] == 0 {
				done = append(done, nobody)
			}
		}
	}
	return len(done) == rows+1
}

// A graph is the memory of HasNoCycle, which solves take again: of many rows the pages of new memory
// take as long as the rest.
type graph struct{ owner, leads, enter, other, done []int32 }

var graphs = sync.Pool{New: func() any { return new(graph) }}

// resized is a list of n numbers, any, in the memory of another where that has room.
func resized(list *[]int32, n int) []int32 {
	if cap(*list) < n {
		*list = make([]int32, n)
	}
	*list = (*list)[:n]
	return *list
}

// successor is the row that has a pair's column, or nobody.
func (r *undecidedPart) successor(x *residualPair) int32 {
	if k := r.owner[x.col]; k >= 0 {
		return k
	}
	return int32(r.rows)
}

// compact keeps the rows of alive, the pairs of keep among theirs, and the columns of these.
func (r *undecidedPart) compact(alive func(int) bool, keep func(*residualPair) bool) {
	rank := slices.Repeat([]int32{-1}, len(r.col)) // new numbers of columns
	next := undecidedPart{shift: r.shift, unit: r.unit, limit: r.limit, bound: r.bound, rest: r.rest, start: []int{0}}
	next.pairs = r.pairs[:0] // they move forward alone
	number := func(j int32) int32 {
		if rank[j] < 0 {
			rank[j] = int32(len(next.col))
			next.col = append(next.col, r.col[j])
			if r.loose {
				next.v = append(next.v, r.v[j])
			}
		}
		return rank[j]
	}
	for i := range r.rows {
		if !alive(i) {
			continue
		}
		at := int32(len(next.row))
		for k := r.start[i]; k < r.start[i+1]; k++ {
			if keep(&r.pairs[k]) {
				x := r.pairs[k]
				x.row, x.col = at, number(x.col)
				next.pairs = append(next.pairs, x)
			}
		}
		next.row, next.start = append(next.row, r.row[i]), append(next.start, len(next.pairs))
		j := r.match[i]
		if j >= 0 {
			j = number(j)
		}
		next.match = append(next.match, j)
		if r.limit {
			next.out = append(next.out, r.out[i])
		}
		if r.low != nil {
			next.low = append(next.low, r.low[i])
		}
	}
	next.rows, next.owner = len(next.row), rowsOfColumns(next.match, len(next.col))
	next.loose = next.limit || len(next.col) > next.rows
	*r = next
}

// components numbers the strong components of a graph (Tarjan 1972), whose node k leads to the nodes
// next[from[k]:from[k+1]]: the component of each node, and the nodes of each component.
func components(next []int32, from []int) (part []int32, size []int32) {
	n := len(from) - 1
	part = slices.Repeat([]int32{-1}, n)
	reached := make([]int32, n) // order in which nodes were reached, from 1; 0: not yet
	lowest := make([]int32, n)  // the earliest that a node is known to lead back to
	at := make([]int, n)        // the next successor to look at
	var open, path []int32
	clock := int32(0)
	for root := range n {
		if reached[root] > 0 {
			continue
		}
		path = append(path, int32(root))
		for len(path) > 0 {
			x := path[len(path)-1]
			if reached[x] == 0 {
				clock++
				reached[x], lowest[x], at[x] = clock, clock, from[x]
				open = append(open, x)
			}
			deeper := false
			for at[x] < from[x+1] && !deeper {
				y := next[at[x]]
				switch {
				case reached[y] == 0:
					path, deeper = append(path, y), true
				case part[y] < 0:
					lowest[x] = min(lowest[x], lowest[y])
					at[x]++
				default:
					at[x]++
				}
			}
			if deeper {
				continue
			}
			path = path[:len(path)-1]
			if lowest[x] < reached[x] {
				continue
			}
			number := int32(len(size))
			size = append(size, 0)
			for part[x] < 0 {
				y := open[len(open)-1]
				open = open[:len(open)-1]
				part[y] = number
				size[number]++
			}
		}
	}
	return part, size
}
