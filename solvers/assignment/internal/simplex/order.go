package simplex

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// Constants of orders, which were compared on 19 kinds of costs of 4,000 rows.
const (
	orderedRows = 256 // rows from which on orders are tried
	sampleRows  = 128 // rows and columns that are ordered first
	turns       = 4   // of rows and columns that find each other's ends
	window      = 16  // rows or columns that are sorted by others nearby, at least
	looked      = 16  // rows whose pairs are held against prices
	nearest     = 16  // pairs of a row
	promising   = 0.5 // violation of the first ones' order, up to which all are ordered
	nearly      = 2   // violation of an order up to which pivots begin with its flow
	orderPivots = 32  // of a row, in the mean, at most
	mostPrice   = problem.Infinity / 16
)

// An order is one of rows and one of columns in which costs are, as nearly as is found, a Monge array: c(i,j) + c(k,l) <= c(i,l) + c(k,j) for i before k
// and j before l. The differences of two rows increase in the order of columns then, and those of two columns in that of rows.
type order struct {
	p        *problem.Normal
	row, col []int32
	keys     []key
}

// A key is a number by which rows or columns are sorted.
type key struct {
	by     int64
	id, at int32 // at: its place before, which decides between equal ones
}

// newOrder sorts some rows and columns, which it takes over, by the differences of the first and the last of the others.
func newOrder(p *problem.Normal, rows, cols []int32) *order {
	o := &order{p: p, row: rows, col: cols}
	for range turns {
		i, last := int(rows[0]), len(rows)-1
		o.extremes(o.col, o.betweenRows(0, last), func(j int32) int64 { return p.Cost(i, int(j)) })
		j, last := int(cols[0]), len(cols)-1
		o.extremes(o.row, o.betweenCols(0, last), func(i int32) int64 { return p.Cost(int(i), j) })
	}
	o.sort(o.col, o.betweenRows(0, len(rows)-1))
	o.sort(o.row, o.betweenCols(0, len(cols)-1))
	return o
}

// everyOther are the numbers 0, step, 2*step and so on that are less than n.
func everyOther(n, step int) (list []int32) {
	for k := 0; k < n; k += step {
		list = append(list, int32(k))
	}
	return list
}

// betweenRows is the difference of the costs of a column to two rows, numbers in their order.
func (o *order) betweenRows(a, b int) func(int32) int64 {
	x, y := int(o.row[a]), int(o.row[b])
	return func(j int32) int64 { return o.p.Cost(x, int(j)) - o.p.Cost(y, int(j)) }
}

// betweenCols is the difference of the costs of a row to two columns, numbers in their order.
func (o *order) betweenCols(a, b int) func(int32) int64 {
	x, y := int(o.col[a]), int(o.col[b])
	return func(i int32) int64 { return o.p.Cost(int(i), x) - o.p.Cost(int(i), y) }
}

// extremes exchanges the first and the last of a list with those of the least and the largest key. Many have the same, those beyond both of the others that
// they are held against: the ones that cost the first of these most are taken.
func (o *order) extremes(list []int32, by func(int32) int64, cost func(int32) int64) {
	o.weigh(list, by)
	ties := min(4, (o.p.Max-o.p.Min)>>16) // units by which rounding, perhaps that of whoever made the costs, lets equal differences differ
	least, most := o.keys[0].by, o.keys[0].by
	for _, x := range o.keys {
		least, most = min(least, x.by), max(most, x.by)
	}
	first, last := none, none
	var far [2]int64
	for k, x := range o.keys {
		if x.by <= least+ties || x.by >= most-ties {
			c := cost(x.id)
			if x.by <= least+ties && (first == none || c > far[0]) {
				first, far[0] = k, c
			}
			if x.by >= most-ties && (last == none || c > far[1]) {
				last, far[1] = k, c
			}
		}
	}
	end := len(list) - 1
	list[0], list[first] = list[first], list[0]
	if last == 0 {
		last = first
	}
	list[end], list[last] = list[last], list[end]
}

// weigh lists the keys of a list.
func (o *order) weigh(list []int32, by func(int32) int64) {
	o.keys = o.keys[:0]
	for k, x := range list {
		o.keys = append(o.keys, key{by(x), x, int32(k)})
	}
}

// sort sorts a list by a key.
func (o *order) sort(list []int32, by func(int32) int64) {
	o.weigh(list, by)
	slices.SortFunc(o.keys, func(x, y key) int { return cmp.Or(cmp.Compare(x.by, y.by), cmp.Compare(x.at, y.at)) })
	for k, x := range o.keys {
		list[k] = x.id
	}
}

// refine sorts windows of so many rows and columns again, by others that are near in the order.
func (o *order) refine(size int) {
	rows, cols := len(o.row), len(o.col)
	for _, shift := range []int{0, size / 2} {
		for low := shift; low < rows; low += size {
			high := min(low+size, rows)
			o.sort(o.row[low:high], o.betweenCols(max(0, low*cols/rows-size/4), min(cols-1, (high-1)*cols/rows+size/4)))
		}
		for low := shift; low < cols; low += size {
			high := min(low+size, cols)
			o.sort(o.col[low:high], o.betweenRows(max(0, low*rows/cols-size/4), min(rows-1, (high-1)*rows/cols+size/4)))
		}
	}
}

// A shipment is one of an order's flow, perhaps of nothing.
type shipment struct {
	row, col int32
	amount   int64
}

// flow ships in the order, by the northwest corner rule. Each shipment but the first has the row or the column of the one before.
func (o *order) flow(supply, demand []int64) (list []shipment) {
	left, room := slices.Clone(supply), slices.Clone(demand)
	for i, j := 0, 0; i < len(o.row) && j < len(o.col); {
		row, col := o.row[i], o.col[j]
		x := min(left[row], room[col])
		left[row] -= x
		room[col] -= x
		list = append(list, shipment{row, col, x})
		if room[col] == 0 && j+1 < len(o.col) || i+1 == len(o.row) { // an arc without flow leads to the next column, upwards in the tree
			j++
		} else {
			i++
		}
	}
	return list
}

// violation is by how much the least c - v of some rows are less than the prices of a flow allow, in the mean distance of a row's nearest pairs and
// beyond what rounding does. It is infinite where the flow needs forbidden pairs, or its prices are too large.
func (o *order) violation(list []shipment) float64 {
	p := o.p
	u, v := make([]int64, p.Rows), make([]int64, p.Cols)
	for k, x := range list {
		c, other := p.Cost(int(x.row), int(x.col)), int64(0)
		if k > 0 && list[k-1].row == x.row {
			other = u[x.row]
			v[x.col] = c - other
		} else {
			other = v[x.col]
			u[x.row] = c - other
		}
		if c == problem.Infinity || max(other, -other) > mostPrice {
			return math.Inf(1)
		}
	}
	slack := int64(0)
	if !p.Exact {
		slack = int64(p.Rows)
	}
	below, width := 0.0, 0.0
	buf := make([]int64, p.Cols)
	for k := range looked {
		i := int(o.row[k*len(o.row)/looked])
		var near [nearest]int64
		n := 0
		p.Row(i, buf)
		for _, j := range o.col {
			c := buf[j] - v[j]
			if n == nearest && c >= near[n-1] {
				continue
			}
			n = min(n+1, nearest)
			at := n - 1
			for ; at > 0 && near[at-1] > c; at-- {
				near[at] = near[at-1]
			}
			near[at] = c
		}
		below += float64(max(0, u[i]-near[0]-slack))
		width += float64(near[n-1] - near[0])
	}
	if below == 0 {
		return 0
	}
	return below / width
}

// refined is the best of an order and what refine makes of it in windows of four lengths, with its flow and its violation.
func (o *order) refined(supply, demand []int64) (best *order, list []shipment, worst float64) {
	best, list = o, o.flow(supply, demand)
	worst = o.violation(list)
	for size := len(o.row) / 2; size >= window && worst > 0 && worst < math.Inf(1); size /= 4 {
		finer := &order{p: o.p, row: slices.Clone(best.row), col: slices.Clone(best.col), keys: o.keys}
		finer.refine(size)
		next := finer.flow(supply, demand)
		if x := finer.violation(next); x < worst {
			best, list, worst = finer, next, x
		}
	}
	return best, list, worst
}

// inOrder solves a problem whose costs are nearly a Monge array, from the flow of an order on; nil where they are none, or where pivots do not end soon. The
// order of a part of the rows and columns comes first, which takes little time.
func (s *solve) inOrder(ctx context.Context, supply, demand []int64) (*Solution, error) {
	p := s.p
	if p.Instance.Sparse != nil || p.Source != nil || min(p.Rows, p.Cols) < orderedRows || problem.Total(supply) != problem.Total(demand) {
		return nil, nil
	}
	step := min(p.Rows, p.Cols) / sampleRows
	rows, cols := everyOther(p.Rows, step), everyOther(p.Cols, step)
	equal := func(n int, x []int32) []int64 { return slices.Repeat([]int64{int64(len(x))}, n) }
	if _, _, worst := newOrder(p, rows, cols).refined(equal(p.Rows, cols), equal(p.Cols, rows)); worst > promising {
		return nil, nil
	}
	_, list, worst := newOrder(p, everyOther(p.Rows, 1), everyOther(p.Cols, 1)).refined(supply, demand)
	if worst > nearly {
		return nil, nil
	}
	s.network = newNetwork(p.Rows, p.Cols, 0)
	s.path(list)
	return s.improve(ctx, orderPivots*int64(p.Rows))
}

// path makes the arcs of an order's flow the basis: a path that ends below the root. Arcs without flow lead upwards, but those to columns
// that want nothing: pivots might cycle there, until their limit.
func (s *solve) path(list []shipment) {
	t := s.network
	for _, x := range list {
		t.add(x.row, x.col, s.p.Cost(int(x.row), int(x.col)))
	}
	last := t.to[len(list)-1]
	t.link(last, t.root)
	t.away[last], t.toRoot = true, make([]int64, t.root)
	for k := len(list) - 1; k >= 0; k-- {
		x, y, away := t.from[k], t.to[k], true
		if k+1 < len(list) && t.from[k+1] == x {
			x, y, away = y, x, false
		}
		t.link(x, y)
		t.arc[x], t.away[x], t.flow[x] = int32(k), away, list[k].amount
	}
	t.reprice()
}
