// Package order finds orders of rows and columns in which costs are nearly a Monge array, and the flows that are nearly optimal for them.
package order

import (
	"cmp"
	"math"
	"slices"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
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
	nearly      = 2   // violation of an order up to which its flow is a beginning
)

// Costs are where the costs of pairs are read, here or on a device.
type Costs interface {
	// Pairs sets out[k] to the scaled cost of rows[k] and cols[k].
	Pairs(rows, cols []int32, out []int64) error
}

// OfInstance reads the costs that a problem's instance has.
func OfInstance(p *problem.Normal) Costs { return instance{p} }

type instance struct{ p *problem.Normal }

func (c instance) Pairs(rows, cols []int32, out []int64) error {
	for k, i := range rows {
		out[k] = c.p.Cost(int(i), int(cols[k]))
	}
	return nil
}

// A matrix has the costs of a sample.
type matrix struct {
	costs []int64
	cols  int
}

func (c matrix) Pairs(rows, cols []int32, out []int64) error {
	for k, i := range rows {
		out[k] = c.costs[int(i)*c.cols+int(cols[k])]
	}
	return nil
}

// A search looks for an order.
type search struct {
	costs      Costs
	rows, cols int
	ties       int64 // units by which rounding, perhaps that of whoever made the costs, lets equal differences differ
	slack      int64 // units by which rounding lets a flow's prices violate costs
	most       int64 // the largest price
	keys       []key
	a, b       []int32 // pairs
	out        []int64
}

// An order is one of rows and one of columns in which costs are, as nearly as is found, a Monge array: c(i,j) + c(k,l) <= c(i,l) + c(k,j) for i before k
// and j before l. So the difference of two rows grows from column to column, and the difference of two columns grows from row to row.
type order struct{ row, col []int32 }

// A key is a number by which rows or columns are sorted.
type key struct {
	by     int64
	id, at int32 // at: its place before, which decides between equal ones
}

// A Shipment is one of an order's flow, perhaps of nothing.
type Shipment struct {
	Row, Col int32
	Amount   int64
}

// A Flow ships in an order, by the northwest corner rule: each shipment but the first has the row or the column of the one before. Its prices make the pairs
// that it ships on tight, and are optimal if costs are a Monge array in that order.
type Flow struct {
	Shipments []Shipment
	problem.Prices
	Below int64   // by how much the least c - v of a row is less than its price, in the mean of some rows
	worst float64 // the same in the mean distance of a row's nearest pairs
}

// Find returns the flow of an order of costs that are nearly a Monge array and have as much supply as demand; nil where they are none, or where prices would be
// beyond most.
func Find(c Costs, p *problem.Normal, supply, demand []int64, most int64) (*Flow, error) {
	if ok, err := promises(c, p, supply, demand, most); !ok || err != nil {
		return nil, err
	}
	f, err := newSearch(c, p, p.Rows, p.Cols, most).find(supply, demand)
	if err != nil || f.worst > nearly {
		return nil, err
	}
	return f, nil
}

// FindFast is Find without the search for a better order than the first one, in a tenth of the time. Below says how good its flow is.
func FindFast(c Costs, p *problem.Normal, supply, demand []int64, most int64) (*Flow, error) {
	if ok, err := promises(c, p, supply, demand, most); !ok || err != nil {
		return nil, err
	}
	s := newSearch(c, p, p.Rows, p.Cols, most)
	o, err := s.first()
	if err != nil {
		return nil, err
	}
	f := flow(o, supply, demand)
	if err := s.look(o, f); err != nil || f.worst == math.Inf(1) {
		return nil, err
	}
	return f, nil
}

// promises reports whether an order of a part of the rows and columns is nearly one of a Monge array, which takes little time.
func promises(c Costs, p *problem.Normal, supply, demand []int64, most int64) (bool, error) {
	if min(p.Rows, p.Cols) < orderedRows || problem.Total(supply) != problem.Total(demand) {
		return false, nil
	}
	step := min(p.Rows, p.Cols) / sampleRows
	rows, cols := everyOther(p.Rows, step), everyOther(p.Cols, step)
	sample := matrix{make([]int64, len(rows)*len(cols)), len(cols)}
	a, b := make([]int32, len(sample.costs)), make([]int32, len(sample.costs))
	for k := range a {
		a[k], b[k] = rows[k/len(cols)], cols[k%len(cols)]
	}
	if err := c.Pairs(a, b, sample.costs); err != nil {
		return false, err
	}
	equal := func(n, each int) []int64 { return slices.Repeat([]int64{int64(each)}, n) }
	f, err := newSearch(sample, p, len(rows), len(cols), most).find(equal(len(rows), len(cols)), equal(len(cols), len(rows)))
	return err == nil && f.worst <= promising, err
}

func newSearch(c Costs, p *problem.Normal, rows, cols int, most int64) *search {
	s := &search{costs: c, rows: rows, cols: cols, ties: min(4, (p.Max-p.Min)>>16), most: most, keys: make([]key, max(rows, cols))}
	if !p.Exact {
		s.slack = int64(p.Rows)
	}
	return s
}

// find returns the flow of the best order: of a first one, or of what refine makes of it in windows of four lengths.
func (s *search) find(supply, demand []int64) (*Flow, error) {
	o, err := s.first()
	if err != nil {
		return nil, err
	}
	best := flow(o, supply, demand)
	if err := s.look(o, best); err != nil {
		return nil, err
	}
	for size := s.rows / 2; size >= window && best.worst > 0 && best.worst < math.Inf(1); size /= 4 {
		finer := &order{row: slices.Clone(o.row), col: slices.Clone(o.col)}
		if err := s.refine(finer, size); err != nil {
			return nil, err
		}
		next := flow(finer, supply, demand)
		if err := s.look(finer, next); err != nil {
			return nil, err
		}
		if next.worst < best.worst {
			o, best = finer, next
		}
	}
	return best, nil
}

// first sorts rows and columns by the differences of the first and the last of the others.
func (s *search) first() (*order, error) {
	o := &order{row: everyOther(s.rows, 1), col: everyOther(s.cols, 1)}
	for range turns {
		if err := s.extremes(o.col, o.row, false); err != nil {
			return nil, err
		}
		if err := s.extremes(o.row, o.col, true); err != nil {
			return nil, err
		}
	}
	end := func(n int) func(int32) (int, int) { return func(int32) (int, int) { return 0, n - 1 } }
	if err := s.sort(o.col, o.row, s.cols, 0, false, end(s.rows)); err != nil {
		return nil, err
	}
	return o, s.sort(o.row, o.col, s.rows, 0, true, end(s.cols))
}

// everyOther are the numbers 0, step, 2*step and so on that are less than n.
func everyOther(n, step int) (list []int32) {
	for k := 0; k < n; k += step {
		list = append(list, int32(k))
	}
	return list
}

// pairs begins a list of pairs.
func (s *search) pairs() { s.a, s.b = s.a[:0], s.b[:0] }

// pair lists a pair of a row and a column, or, the other way around, of a column and a row.
func (s *search) pair(x, y int32, byRow bool) {
	if !byRow {
		x, y = y, x
	}
	s.a, s.b = append(s.a, x), append(s.b, y)
}

// read returns the costs of the listed pairs.
func (s *search) read() ([]int64, error) {
	if len(s.out) < len(s.a) {
		s.out = make([]int64, len(s.a))
	}
	return s.out[:len(s.a)], s.costs.Pairs(s.a, s.b, s.out[:len(s.a)])
}

// weigh makes the keys of a list: the differences of the costs of each to two of the others. byRow: the list is one of rows.
func (s *search) weigh(list, others []int32, byRow bool, ends func(at int32) (int, int)) error {
	s.pairs()
	for k, x := range list {
		from, to := ends(int32(k))
		s.pair(x, others[from], byRow)
		s.pair(x, others[to], byRow)
	}
	c, err := s.read()
	for k, x := range list {
		s.keys[k] = key{c[2*k] - c[2*k+1], x, int32(k)}
	}
	return err
}

// extremes exchanges the first and the last of a list with those of the least and the largest key. Many have the same, those beyond both of the others that
// they are held against: the ones that cost the first of these most are taken.
func (s *search) extremes(list, others []int32, byRow bool) error {
	if err := s.weigh(list, others, byRow, func(int32) (int, int) { return 0, len(others) - 1 }); err != nil {
		return err
	}
	keys := s.keys[:len(list)]
	least, most := keys[0].by, keys[0].by
	for _, x := range keys {
		least, most = min(least, x.by), max(most, x.by)
	}
	s.pairs()
	var tied []key
	for _, x := range keys {
		if x.by <= least+s.ties || x.by >= most-s.ties {
			tied = append(tied, x)
			s.pair(x.id, others[0], byRow)
		}
	}
	costs, err := s.read()
	if err != nil {
		return err
	}
	first, last := -1, -1
	var far [2]int64
	for k, x := range tied {
		if c := costs[k]; x.by <= least+s.ties && (first < 0 || c > far[0]) {
			first, far[0] = int(x.at), c
		}
		if c := costs[k]; x.by >= most-s.ties && (last < 0 || c > far[1]) {
			last, far[1] = int(x.at), c
		}
	}
	end := len(list) - 1
	list[0], list[first] = list[first], list[0]
	if last == 0 {
		last = first
	}
	list[end], list[last] = list[last], list[end]
	return nil
}

// sort sorts windows of a list, which begin at shift, by the others that ends names.
func (s *search) sort(list, others []int32, size, shift int, byRow bool, ends func(at int32) (int, int)) error {
	if shift >= len(list) {
		return nil
	}
	list = list[shift:]
	if err := s.weigh(list, others, byRow, ends); err != nil {
		return err
	}
	cores.Split((len(list)+size-1)/size, max(1, 512/size), func(from, to int) {
		for w := from; w < to; w++ {
			low, high := w*size, min((w+1)*size, len(list))
			slices.SortFunc(s.keys[low:high], func(x, y key) int { return cmp.Or(cmp.Compare(x.by, y.by), cmp.Compare(x.at, y.at)) })
			for k := low; k < high; k++ {
				list[k] = s.keys[k].id
			}
		}
	})
	return nil
}

// refine sorts windows of so many rows and columns again, by others that are near in the order.
func (s *search) refine(o *order, size int) error {
	for _, byRow := range []bool{true, false} {
		list, others := o.col, o.row
		if byRow {
			list, others = o.row, o.col
		}
		n, m := len(list), len(others)
		for _, shift := range []int{0, size / 2} {
			err := s.sort(list, others, size, shift, byRow, func(at int32) (int, int) {
				low := shift + int(at)/size*size
				high := min(low+size, n)
				return max(0, low*m/n-size/4), min(m-1, (high-1)*m/n+size/4)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// flow ships in an order.
func flow(o *order, supply, demand []int64) *Flow {
	f := &Flow{}
	left, room := slices.Clone(supply), slices.Clone(demand)
	for i, j := 0, 0; i < len(o.row) && j < len(o.col); {
		row, col := o.row[i], o.col[j]
		x := min(left[row], room[col])
		left[row] -= x
		room[col] -= x
		f.Shipments = append(f.Shipments, Shipment{row, col, x})
		if room[col] == 0 && j+1 < len(o.col) || i+1 == len(o.row) { // an arc without flow leads to the next column, upwards in the tree
			j++
		} else {
			i++
		}
	}
	return f
}

// look sets the prices of a flow, and by how much the least c - v of some rows are less than they allow, beyond what rounding does. That is infinite where
// the flow needs forbidden pairs, or prices would be too large.
func (s *search) look(o *order, f *Flow) error {
	f.U, f.V, f.worst = make([]int64, s.rows), make([]int64, s.cols), math.Inf(1)
	s.pairs()
	for _, x := range f.Shipments {
		s.pair(x.Row, x.Col, true)
	}
	costs, err := s.read()
	if err != nil {
		return err
	}
	for k, x := range f.Shipments {
		c, other := costs[k], int64(0)
		if k > 0 && f.Shipments[k-1].Row == x.Row {
			other = f.U[x.Row]
			f.V[x.Col] = c - other
		} else {
			other = f.V[x.Col]
			f.U[x.Row] = c - other
		}
		if c == problem.Infinity || max(other, -other) > s.most {
			return nil
		}
	}
	s.pairs()
	for k := range looked {
		for _, j := range o.col {
			s.pair(o.row[k*len(o.row)/looked], j, true)
		}
	}
	if costs, err = s.read(); err != nil {
		return err
	}
	below, width := int64(0), 0.0
	for k := range looked {
		i := o.row[k*len(o.row)/looked]
		var near [nearest]int64
		n := 0
		for q, j := range o.col {
			c := costs[k*len(o.col)+q] - f.V[j]
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
		below += max(0, f.U[i]-near[0]-s.slack) / looked
		width += float64(near[n-1]-near[0]) / looked
	}
	if f.Below, f.worst = below, float64(below)/width; below == 0 {
		f.worst = 0
	}
	return nil
}
