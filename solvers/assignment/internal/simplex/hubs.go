package simplex

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

// The constants were compared on 8,000 x 100 and 4,000 x 100 costs: docs/notes/assignment-transport.md.
const (
	mostHubs    = 256      // rows, at most, of problems that shortest paths over the rows solve
	perHub      = 8        // columns of a row, at least
	sweeps      = 2        // of rows that let columns go
	sampleEvery = 4        // columns, where prices have far to fall
	leastSample = 16       // columns of a row, from which on a part is solved first
	muchLeft    = 8        // where sweeps leave more than this part
	lowest      = -1 << 60 // of prices, which are at most 0
	unreachable = 5 << 59  // distances and costs less prices are less
	forbidden   = 1 << 62  // a cost
)

// Hubs are the rows of a problem that has few rows for its columns. The columns begin at their best rows by prices that sweeps have found, as in an
// auction of the rows, and shortest paths move what is too much at a row to rows with room (successive shortest paths, Busacker and Gowen 1960). A path
// visits rows alone: from one to another lead the columns that ship to it, at the least difference of their costs. So no path is longer than there are
// rows, and a search looks at the square of their number, whatever the number of columns.
type hubs struct {
	threads int
	n, m    int     // rows and columns, with the ones that stand for what is left
	cost    []int64 // [m][n], forbidden: not allowed
	price   []int64 // of rows
	takes   []int64 // of rows
	demand  []int64 // of columns
	total   int64   // of these
	over    []int64 // of rows: what ships to them beyond what they take, negative: room
	parts   []part
	members [][]int32 // of rows: parts
	least   []int64   // [n][n] least difference of costs by which a part of the first may move to the second
	by      []int32   // [n][n] that part, none: there is none
	first   int       // row before which none has too much
	paths   int64
	read    int64 // costs

	// of a search
	far    []int64
	from   []int32
	closed []bool
}

// A part is what a column ships to a row.
type part struct {
	amount int64
	row    int32
	col    int32
	at     int32 // in the row's list
}

// FewRows reports whether a problem is dense and has few rows for its columns, so that shortest paths over the rows solve it.
func FewRows(p *problem.Normal) bool {
	return p.Instance.Sparse == nil && p.Rows >= 2 && p.Rows <= mostHubs && p.Cols >= perHub*p.Rows && p.Limit == problem.Infinity
}

// byHubs solves a dense problem of few rows. It is nil where it has many, where not all can be shipped, and where prices leave their range.
func (s *solve) byHubs(ctx context.Context, supply, demand []int64) (*Solution, error) {
	p := s.p
	if !FewRows(p) {
		return nil, nil
	}
	h := newHubs(p, supply, demand, s.Threads)
	if possible, err := h.run(ctx); !possible || err != nil {
		return nil, err
	}
	f := h.solution(p)
	f.Counts = s.counts
	f.Counts.Paths, f.Counts.Passes = h.paths, float64(h.read)/float64(p.Rows*p.Cols)
	return f, nil
}

// run moves until no row has too much. It begins with the prices of a part of the columns where sweeps leave much. possible is false where not all can be shipped,
// or prices leave their range.
func (h *hubs) run(ctx context.Context) (possible bool, err error) {
	if !h.begin() {
		return false, nil
	}
	if !h.spread() {
		return false, nil
	}
	if h.m >= leastSample*h.n && h.tooMuch() > h.total/muchLeft {
		coarse := h.sample()
		if possible, err := coarse.run(ctx); !possible || err != nil {
			return possible, err
		}
		h.read, h.paths, h.price = h.read+coarse.read, h.paths+coarse.paths, coarse.price
		h.reset()
		if h.begin(); !h.spread() {
			return false, nil
		}
	}
	h.measure()
	for k := 0; ; k++ {
		if k%steps == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if done, possible := h.move(); done || !possible {
			return possible, nil
		}
	}
}

// tooMuch is what ships to rows beyond what they take.
func (h *hubs) tooMuch() (sum int64) {
	for _, x := range h.over {
		sum += max(0, x)
	}
	return sum
}

// sample is the problem of every fourth column, with as large a part of what rows take.
func (h *hubs) sample() *hubs {
	c := &hubs{n: h.n, m: h.m / sampleEvery, threads: h.threads, takes: make([]int64, h.n)}
	c.cost, c.demand = make([]int64, c.m*c.n), make([]int64, c.m)
	for k := range c.m {
		j := k * sampleEvery
		copy(c.cost[k*c.n:][:c.n], h.cost[j*h.n:][:h.n])
		c.demand[k] = h.demand[j]
		c.total += h.demand[j]
	}
	left, part := c.total, float64(c.total)/float64(h.total)
	for i, x := range h.takes {
		c.takes[i] = min(left, int64(float64(x)*part))
		left -= c.takes[i]
	}
	for i := 0; left > 0; i = (i + 1) % c.n { // what rounding leaves
		x := min(left, 1+left/int64(c.n))
		c.takes[i] += x
		left -= x
	}
	c.price = make([]int64, c.n)
	c.reset()
	return c
}

// newHubs reads the costs, by columns. A row or a column more stands for what is left.
func newHubs(p *problem.Normal, supply, demand []int64, threads int) *hubs {
	has, wants := problem.Total(supply), problem.Total(demand)
	h := &hubs{n: p.Rows, m: p.Cols, threads: threads, takes: supply, demand: demand, total: max(has, wants)}
	switch {
	case has < wants:
		h.takes = append(slices.Clone(supply), wants-has)
		h.n++
	case has > wants:
		h.demand = append(slices.Clone(demand), has-wants)
		h.m++
	}
	n := h.n
	h.cost, h.price = make([]int64, h.m*n), make([]int64, n)
	const width = 16 // columns that a thread reads at once, two lines of its cache
	host.ParallelParts(threads, (p.Cols+width-1)/width, func() func(low, high int) {
		buf := make([]int64, width)
		return func(low, high int) {
			for first := low * width; first < min(high*width, p.Cols); first += width {
				last := min(first+width, p.Cols)
				for i := range p.Rows {
					if p.Instance.Points == nil {
						p.Scaled(i*p.Cols+first, i*p.Cols+last, buf)
					} else {
						for k := range last - first {
							buf[k] = p.Cost(i, first+k)
						}
					}
					for k, c := range buf[:last-first] {
						if c == problem.Infinity {
							c = forbidden
						}
						h.cost[(first+k)*n+i] = c
					}
				}
			}
		}
	})
	h.reset()
	return h
}

// reset ships nothing.
func (h *hubs) reset() {
	n := h.n
	h.members, h.parts, h.over, h.first = make([][]int32, n), make([]part, 0, h.m+n), make([]int64, n), 0
	for i, x := range h.takes {
		h.over[i] = -x
		h.members[i] = make([]int32, 0, 2*h.m/n)
	}
}

// begin ships each column's all to its best row; false: a column has none.
func (h *hubs) begin() bool {
	at := make([]int32, h.m)
	host.ParallelParts(h.threads, h.m, func() func(low, high int) {
		return func(low, high int) {
			for j := low; j < high; j++ {
				row, least, _ := h.best(int32(j))
				if at[j] = row; least >= unreachable {
					at[j] = none
				}
			}
		}
	})
	h.read += int64(h.m * h.n)
	for j, amount := range h.demand {
		if amount == 0 {
			continue
		}
		if at[j] == none {
			return false
		}
		h.add(at[j], int32(j), amount)
		h.over[at[j]] += amount
	}
	return true
}

// best is the row with the least cost - price of a column, that difference, and the second least one.
func (h *hubs) best(col int32) (row int32, least, second int64) {
	least, second = math.MaxInt64, math.MaxInt64
	c, price := h.cost[int(col)*h.n:][:h.n], h.price[:h.n]
	for i, x := range c {
		if d := x - price[i]; d < second {
			if d < least {
				row, least, second = int32(i), d, least
			} else {
				second = d
			}
		}
	}
	return row, least, second
}

// add ships an amount of a column to a row, in a new part.
func (h *hubs) add(row, col int32, amount int64) int32 {
	id := int32(len(h.parts))
	h.parts = append(h.parts, part{amount, row, col, int32(len(h.members[row]))})
	h.members[row] = append(h.members[row], id)
	return id
}

// drop takes a part from its row's list.
func (h *hubs) drop(row, id int32) {
	list := h.members[row]
	last := list[len(list)-1]
	list[h.parts[id].at] = last
	h.parts[last].at = h.parts[id].at
	h.members[row] = list[:len(list)-1]
}

// spread has all rows that too much ships to lower their prices at once, so that columns go that cost little more elsewhere, until little is too much.
// It reports whether prices stay in their range.
func (h *hubs) spread() bool {
	type farther struct {
		by      int64
		id, row int32
	}
	var list []farther
	inParts := func(work func(x *farther)) {
		host.ParallelParts(h.threads, len(list), func() func(low, high int) {
			return func(low, high int) {
				for k := low; k < high; k++ {
					work(&list[k])
				}
			}
		})
		h.read += int64(len(list) * h.n)
	}
	for range sweeps {
		list = list[:0]
		for i, members := range h.members {
			if h.over[i] > 0 {
				for _, id := range members {
					list = append(list, farther{0, id, int32(i)})
				}
			}
		}
		inParts(func(x *farther) {
			_, least, second := h.best(h.parts[x.id].col)
			x.by = second - least
		})
		// Those go that the row need not keep whole. Prices of others only fall, so that the columns that stay are still at their best rows.
		slices.SortFunc(list, func(a, b farther) int {
			return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.by, b.by), cmp.Compare(a.id, b.id))
		})
		keep, full := 0, int32(none) // full: the row has let go all it may
		for _, x := range list {
			amount := h.parts[x.id].amount
			if x.row == full || x.by >= unreachable || amount > h.over[x.row] {
				full = x.row
				continue
			}
			h.over[x.row] -= amount
			list[keep] = x
			keep++
		}
		list = list[:keep]
		for k, x := range list {
			if k+1 == keep || list[k+1].row != x.row {
				if h.price[x.row] -= x.by; h.price[x.row] < lowest {
					return false
				}
			}
		}
		if keep == 0 {
			break
		}
		inParts(func(x *farther) { x.row, _, _ = h.best(h.parts[x.id].col) })
		for _, x := range list {
			part := &h.parts[x.id]
			h.drop(part.row, x.id)
			part.row, part.at = x.row, int32(len(h.members[x.row]))
			h.members[x.row] = append(h.members[x.row], x.id)
			h.over[x.row] += part.amount
		}
	}
	return true
}

// measure finds the least differences of all rows.
func (h *hubs) measure() {
	n := h.n
	h.least, h.by = make([]int64, n*n), make([]int32, n*n)
	h.far, h.from, h.closed = make([]int64, n), make([]int32, n), make([]bool, n)
	host.ParallelParts(h.threads, n, func() func(low, high int) {
		return func(low, high int) {
			for i := low; i < high; i++ {
				for k := range n {
					h.least[i*n+k], h.by[i*n+k] = forbidden, none
				}
				for _, id := range h.members[i] {
					h.offer(int32(i), id)
				}
			}
		}
	})
}

// offer compares a part's differences with the least ones of its row.
func (h *hubs) offer(row, id int32) {
	n := h.n
	c := h.cost[int(h.parts[id].col)*n:][:n]
	least, by, own := h.least[int(row)*n:][:n], h.by[int(row)*n:][:n], c[row]
	for k, x := range c {
		if x -= own; x < least[k] {
			least[k], by[k] = x, id
		}
	}
}

// withdraw finds the least differences anew that were a part's, which the row has lost.
func (h *hubs) withdraw(row, id int32) {
	n := h.n
	least, by := h.least[int(row)*n:][:n], h.by[int(row)*n:][:n]
	lost := h.from[:0:n] // no search is under way
	for k, x := range by {
		if x == id {
			lost = append(lost, int32(k))
			least[k], by[k] = forbidden, none
		}
	}
	for _, other := range h.members[row] {
		c := h.cost[int(h.parts[other].col)*n:][:n]
		own := c[row]
		for _, k := range lost {
			if x := c[k] - own; x < least[k] {
				least[k], by[k] = x, other
			}
		}
	}
	h.read += int64(len(lost) * len(h.members[row]))
}

// move ships along a shortest path from a row to which too much ships to one with room. done: there was no such row; possible is false where no path
// leads to room.
func (h *hubs) move() (done, possible bool) {
	n := h.n
	far, from, closed, price := h.far, h.from, h.closed, h.price
	for h.over[h.first] <= 0 {
		if h.first++; h.first == n {
			return true, true
		}
	}
	for i := range far {
		far[i], from[i], closed[i] = forbidden, none, false
	}
	far[h.first] = 0
	end := int32(none)
	for {
		at, d := none, int64(unreachable)
		for i, x := range far {
			if x < d && !closed[i] {
				at, d = i, x
			}
		}
		if at == none {
			return false, false
		}
		closed[at] = true
		if h.over[at] < 0 {
			end = int32(at)
			break
		}
		base := d + price[at]
		for k, x := range h.least[at*n:][:n] {
			if x >= unreachable || closed[k] {
				continue
			}
			if x += base - price[k]; x < far[k] {
				far[k], from[k] = x, int32(at)
			}
		}
	}
	// Prices of rows that the search has closed rise by how much nearer they are than its end, so that the path costs nothing and no other less.
	for i, d := range far {
		if closed[i] {
			if price[i] -= far[end] - d; price[i] < lowest {
				return false, false
			}
		}
	}
	amount := -h.over[end]
	start := end
	for from[start] != none {
		i := from[start]
		amount = min(amount, h.parts[h.by[int(i)*n+int(start)]].amount)
		start = i
	}
	amount = min(amount, h.over[start])
	h.over[start] -= amount
	h.over[end] += amount
	h.paths++
	path := h.far[:0:n] // distances are no longer needed
	for x := end; x != start; x = from[x] {
		path = append(path, int64(x))
	}
	for k, x := range path {
		to, row := int32(x), start
		if k+1 < len(path) {
			row = int32(path[k+1])
		}
		h.ship(row, to, h.by[int(row)*n+int(to)], amount)
	}
	return false, true
}

// ship moves an amount of a part from a row to another.
func (h *hubs) ship(row, to, id int32, amount int64) {
	col := h.parts[id].col
	gone := h.parts[id].amount == amount
	if gone {
		h.drop(row, id)
	}
	h.parts[id].amount -= amount
	if at := slices.IndexFunc(h.members[to], func(x int32) bool { return h.parts[x].col == col }); at >= 0 {
		h.parts[h.members[to][at]].amount += amount
	} else {
		h.offer(to, h.add(to, col, amount))
	}
	if gone {
		h.withdraw(row, id)
	}
}

// solution is the flow with its duals.
func (h *hubs) solution(p *problem.Normal) *Solution {
	f := &Solution{Prices: problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}}
	level := int64(0) // price of what is left
	switch {
	case h.n > p.Rows:
		level = h.price[p.Rows]
	case h.m > p.Cols:
		_, least, _ := h.best(int32(p.Cols))
		level = -least
	}
	for i := range f.U {
		f.U[i] = h.price[i] - level
	}
	host.ParallelParts(h.threads, p.Cols, func() func(low, high int) {
		return func(low, high int) {
			for j := low; j < high; j++ {
				_, least, _ := h.best(int32(j))
				f.V[j] = least + level
			}
		}
	})
	// By columns first, in whose order nearly all parts are, then by rows.
	parts := slices.DeleteFunc(h.parts, func(x part) bool { return x.amount == 0 || int(x.row) >= p.Rows || int(x.col) >= p.Cols })
	slices.SortFunc(parts, func(a, b part) int { return int(a.col - b.col) })
	for _, x := range parts {
		f.Row, f.Col, f.Amount = append(f.Row, x.col), append(f.Col, x.row), append(f.Amount, x.amount)
	}
	f.Flow = f.Flow.Transpose()
	return f
}
