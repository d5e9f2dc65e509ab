package lp

import "math"

const (
	threshold = 0.1   // a pivot of a factorisation is at least this share of its row's largest entry
	searched  = 4     // lists of the fewest entries that a pivot is looked for in, of rows and of columns
	gone      = 1e-13 // smaller entries that elimination leaves count as zero
	updates   = 64    // pivots between two factorisations
)

// An lu is the factors of a basis, and a column for each pivot since then (the product form of the inverse, Dantzig and
// Orchard-Hays 1954; factors as by Markowitz, Management Science 3, 1957, with pivots no less than a share of their row's
// largest entry). To go back to an older basis is to leave out the last of these columns.
//
// Rows are the matrix's, places the basis's. Solves skip zeros.
type lu struct {
	m          int
	row, place []int32 // of each pivot, in the order of elimination: slacks first
	slacks     int
	pivot      []float64
	lower      sparse  // by pivot: rows and multipliers
	lowerRows  sparse  // by pivot of a row: rows from which multipliers come
	upperRows  sparse  // by pivot: places of later pivots
	upper      sparse  // by pivot: rows of earlier pivots
	lowers     []int32 // pivots with multipliers, ascending
	lowerings  []int32 // pivots whose rows have multipliers, ascending

	etas       sparse  // columns of the updates, without their pivots
	etaPlace   []int32 // place that the column of each update took
	etaPivot   []float64
	generation int // factorisations

	byRow, byPlace []float64 // scratch, zeros
	elimination
}

// A sparse is lists of indices and values, one after the other.
type sparse struct {
	start []int32
	index []int32
	value []float64
}

func (s *sparse) clear() {
	s.start, s.index, s.value = append(s.start[:0], 0), s.index[:0], s.value[:0]
}

func (s *sparse) add(index int32, value float64) {
	s.index, s.value = append(s.index, index), append(s.value, value)
}

// end ends a list.
func (s *sparse) end() { s.start = append(s.start, int32(len(s.index))) }

func (s *sparse) list(k int) ([]int32, []float64) {
	from, to := s.start[k], s.start[k+1]
	return s.index[from:to], s.value[from:to]
}

// transpose makes s the lists of t by index, given the number of each index's list, with names in place of t's numbers.
func (s *sparse) transpose(t *sparse, number, name []int32) {
	m := len(number)
	s.start = append(s.start[:0], make([]int32, m+1)...)
	for _, i := range t.index {
		s.start[number[i]+1]++
	}
	for k := range m {
		s.start[k+1] += s.start[k]
	}
	s.index = append(s.index[:0], t.index...)
	s.value = append(s.value[:0], t.value...)
	for k := range m {
		index, value := t.list(k)
		for at, i := range index {
			to := s.start[number[i]]
			s.index[to], s.value[to] = name[k], value[at]
			s.start[number[i]]++
		}
	}
	copy(s.start[1:], s.start[:m])
	s.start[0] = 0
}

// An elimination is the part of a basis that is not eliminated yet.
type elimination struct {
	rows    [][]entry // by row
	columns [][]int32 // rows of each place
	buckets [2]buckets
	at      []int32 // scratch: place of a column in the pivot row, from 1; 0: it is not there
	number  []int32 // pivots of rows, of places
	bestAt  int     // of choose
}

type entry struct {
	column int32
	value  float64
}

// Buckets are items by their numbers of entries, in lists linked both ways.
type buckets struct {
	first          []int32 // of each number, -1: none
	next, previous []int32
	count          []int32
}

func (b *buckets) reset(m int) {
	b.first, b.next, b.previous, b.count = resized(b.first, m+1), resized(b.next, m), resized(b.previous, m), resized(b.count, m)
	for k := range b.first {
		b.first[k] = -1
	}
}

func resized(list []int32, n int) []int32 {
	if cap(list) < n {
		return make([]int32, n)
	}
	return list[:n]
}

func (b *buckets) insert(k int32, count int) {
	b.count[k] = int32(count)
	head := b.first[count]
	b.next[k], b.previous[k] = head, -1
	if head >= 0 {
		b.previous[head] = k
	}
	b.first[count] = k
}

func (b *buckets) remove(k int32) {
	if p := b.previous[k]; p >= 0 {
		b.next[p] = b.next[k]
	} else {
		b.first[b.count[k]] = b.next[k]
	}
	if n := b.next[k]; n >= 0 {
		b.previous[n] = b.previous[k]
	}
}

// factorise computes the factors of the basis of which column gives the rows of each place with its entries (nil: all are 1), and whether it
// is a row's slack. Where columns depend on each other it returns a place and the row whose slack can take it, else -1.
func (f *lu) factorise(m int, column func(place int) (rows []int32, entries []float64, slack int)) (place, row int) {
	f.m = m
	f.generation++
	f.row, f.place, f.pivot = f.row[:0], f.place[:0], f.pivot[:0]
	f.lower.clear()
	f.upperRows.clear()
	f.dropUpdates(0)
	if len(f.byRow) != m {
		f.byRow, f.byPlace = make([]float64, m), make([]float64, m)
	}
	f.rows, f.columns = resizedLists(f.rows, m), resizedLists(f.columns, m)
	f.at, f.number = resized(f.at, m), resized(f.number, 2*m)
	clear(f.at)
	ofRow, ofPlace := f.number[:m], f.number[m:]
	for k := range m {
		ofRow[k], ofPlace[k] = -1, -1
	}
	for p := range m {
		if _, _, i := column(p); i >= 0 {
			ofRow[i], ofPlace[p] = int32(len(f.row)), int32(len(f.row))
			f.row, f.place, f.pivot = append(f.row, int32(i)), append(f.place, int32(p)), append(f.pivot, 1)
		}
	}
	f.slacks = len(f.row)
	for p := range m {
		rows, entries, slack := column(p)
		if slack >= 0 {
			continue
		}
		for k, i := range rows {
			value := 1.0
			if entries != nil {
				value = entries[k]
			}
			f.rows[i] = append(f.rows[i], entry{int32(p), value})
			if ofRow[i] < 0 {
				f.columns[p] = append(f.columns[p], i)
			}
		}
	}
	for _, i := range f.row {
		for _, e := range f.rows[i] {
			f.upperRows.add(e.column, e.value)
		}
		f.upperRows.end()
		f.lower.end()
	}
	f.buckets[0].reset(m)
	f.buckets[1].reset(m)
	for k := int32(m) - 1; k >= 0; k-- {
		if ofRow[k] < 0 {
			f.buckets[0].insert(k, len(f.rows[k]))
		}
		if ofPlace[k] < 0 {
			f.buckets[1].insert(k, len(f.columns[k]))
		}
	}
	for len(f.row) < m {
		i, at := f.choose()
		if i < 0 {
			for p := range m {
				if ofPlace[p] < 0 {
					place = p
				}
				if ofRow[p] < 0 {
					row = p
				}
			}
			return place, row
		}
		p := f.rows[i][at].column
		ofRow[i], ofPlace[p] = int32(len(f.row)), int32(len(f.row))
		f.eliminate(i, at)
	}
	f.lowerRows.transpose(&f.lower, ofRow, f.row)
	f.upper.transpose(&f.upperRows, ofPlace, f.row)
	f.lowers, f.lowerings = f.lowers[:0], f.lowerings[:0]
	for k := range int32(m) {
		if f.lower.start[k] < f.lower.start[k+1] {
			f.lowers = append(f.lowers, k)
		}
		if f.lowerRows.start[k] < f.lowerRows.start[k+1] {
			f.lowerings = append(f.lowerings, k)
		}
	}
	return -1, -1
}

func resizedLists[T any](lists [][]T, n int) [][]T {
	for len(lists) < n {
		lists = append(lists, nil)
	}
	lists = lists[:n]
	for k := range lists {
		lists[k] = lists[k][:0]
	}
	return lists
}

// choose is the next pivot, by its row and its place there: of few other entries in its row and column. -1: none is left.
func (f *elimination) choose() (row int32, at int) {
	row = -1
	rows, columns := &f.buckets[0], &f.buckets[1]
	least, seen := math.MaxInt, 0
	consider := func(i int32, at int) {
		p := f.rows[i][at].column
		if cost := (len(f.rows[i]) - 1) * (len(f.columns[p]) - 1); cost < least {
			least, row = cost, i
			f.bestAt = at
		}
	}
	for count := 1; count < len(rows.first); count++ {
		for p := columns.first[count]; p >= 0; p = columns.next[p] {
			for _, i := range f.columns[p] {
				if at := f.admissible(i, p); at >= 0 {
					consider(i, at)
				}
			}
			if seen++; least == 0 || seen >= searched && row >= 0 {
				return row, f.bestAt
			}
		}
		for i := rows.first[count]; i >= 0; i = rows.next[i] {
			most := f.largest(i)
			for at, e := range f.rows[i] {
				if v := math.Abs(e.value); v >= threshold*most && v > small {
					consider(i, at)
				}
			}
			if seen++; least == 0 || seen >= searched && row >= 0 {
				return row, f.bestAt
			}
		}
	}
	return row, f.bestAt
}

func (f *elimination) largest(i int32) (most float64) {
	for _, e := range f.rows[i] {
		most = max(most, math.Abs(e.value))
	}
	return most
}

// admissible is the place of a column's entry in a row; -1: the entry is too small for a pivot.
func (f *elimination) admissible(i, p int32) int {
	at, most := -1, 0.0
	for k, e := range f.rows[i] {
		if e.column == p {
			at = k
		}
		most = max(most, math.Abs(e.value))
	}
	if v := math.Abs(f.rows[i][at].value); v < threshold*most || v <= small {
		return -1
	}
	return at
}

// eliminate makes an entry of row i the next pivot.
func (f *lu) eliminate(i int32, at int) {
	line := f.rows[i]
	pivot := line[at]
	line[at] = line[len(line)-1]
	line = line[:len(line)-1]
	f.row, f.place, f.pivot = append(f.row, i), append(f.place, pivot.column), append(f.pivot, pivot.value)
	f.buckets[0].remove(i)
	f.buckets[1].remove(pivot.column)
	for k, e := range line {
		f.upperRows.add(e.column, e.value)
		f.at[e.column] = int32(k + 1)
		f.dropRow(e.column, i)
	}
	f.upperRows.end()
	for _, r := range f.columns[pivot.column] {
		if r == i {
			continue
		}
		other := f.rows[r]
		times := 0.0
		for k, e := range other {
			if e.column == pivot.column {
				times = e.value / pivot.value
				other[k] = other[len(other)-1]
				other = other[:len(other)-1]
				break
			}
		}
		f.lower.add(r, times)
		for k := 0; k < len(other); k++ {
			e := &other[k]
			from := f.at[e.column]
			if from == 0 {
				continue
			}
			f.at[e.column] = -from // met
			if e.value -= times * line[from-1].value; math.Abs(e.value) < gone {
				f.dropRow(e.column, r)
				other[k] = other[len(other)-1]
				other = other[:len(other)-1]
				k--
			}
		}
		for _, e := range line {
			if from := f.at[e.column]; from < 0 {
				f.at[e.column] = -from
				continue
			}
			other = append(other, entry{e.column, -times * e.value})
			f.columns[e.column] = append(f.columns[e.column], r)
			f.recount(1, e.column, len(f.columns[e.column]))
		}
		f.rows[r] = other
		f.recount(0, r, len(other))
	}
	f.lower.end()
	for _, e := range line {
		f.at[e.column] = 0
	}
}

func (f *elimination) recount(side int, k int32, count int) {
	f.buckets[side].remove(k)
	f.buckets[side].insert(k, count)
}

// dropRow takes a row out of a column's list.
func (f *elimination) dropRow(p, i int32) {
	list := f.columns[p]
	for k, r := range list {
		if r == i {
			list[k] = list[len(list)-1]
			f.columns[p] = list[:len(list)-1]
			break
		}
	}
	f.recount(1, p, len(f.columns[p]))
}

// solve computes the basis's solution of x, which is by rows, by places. It clears x.
func (f *lu) solve(x, solution []float64) {
	for _, k := range f.lowers {
		if v := x[f.row[k]]; v != 0 {
			index, value := f.lower.list(int(k))
			for at, i := range index {
				x[i] -= v * value[at]
			}
		}
	}
	for k := f.m - 1; k >= f.slacks; k-- {
		i := f.row[k]
		v := x[i]
		if v == 0 {
			solution[f.place[k]] = 0
			continue
		}
		x[i] = 0
		v /= f.pivot[k]
		solution[f.place[k]] = v
		index, value := f.upper.list(k)
		for at, r := range index {
			x[r] -= v * value[at]
		}
	}
	for k, i := range f.row[:f.slacks] {
		solution[f.place[k]] = x[i]
		x[i] = 0
	}
	for e, p := range f.etaPlace {
		v := solution[p]
		if v == 0 {
			continue
		}
		v *= f.etaPivot[e]
		solution[p] = v
		index, value := f.etas.list(e)
		for at, r := range index {
			solution[r] -= v * value[at]
		}
	}
}

// solveRow computes y, by rows, of y times the basis equal to c, which is by places. It clears c.
func (f *lu) solveRow(c, y []float64) {
	for e := len(f.etaPlace) - 1; e >= 0; e-- {
		p := f.etaPlace[e]
		v := c[p]
		index, value := f.etas.list(e)
		for at, r := range index {
			v -= value[at] * c[r]
		}
		c[p] = v * f.etaPivot[e]
	}
	for k, p := range f.place {
		v := c[p]
		if v == 0 {
			y[f.row[k]] = 0
			continue
		}
		c[p] = 0
		v /= f.pivot[k]
		y[f.row[k]] = v
		index, value := f.upperRows.list(k)
		for at, q := range index {
			c[q] -= v * value[at]
		}
	}
	for at := len(f.lowerings) - 1; at >= 0; at-- {
		k := f.lowerings[at]
		if v := y[f.row[k]]; v != 0 {
			index, value := f.lowerRows.list(int(k))
			for at, i := range index {
				y[i] -= v * value[at]
			}
		}
	}
}

// update puts a column, as the basis expresses it, into place p.
func (f *lu) update(column []float64, p int) {
	for r, v := range column {
		if r != p && math.Abs(v) > gone {
			f.etas.add(int32(r), v)
		}
	}
	f.etas.end()
	f.etaPlace, f.etaPivot = append(f.etaPlace, int32(p)), append(f.etaPivot, 1/column[p])
}

// dropUpdates goes back to the basis after so many updates.
func (f *lu) dropUpdates(count int) {
	if count == 0 {
		f.etas.clear()
	} else {
		f.etas.start = f.etas.start[:count+1]
		f.etas.index, f.etas.value = f.etas.index[:f.etas.start[count]], f.etas.value[:f.etas.start[count]]
	}
	f.etaPlace, f.etaPivot = f.etaPlace[:count], f.etaPivot[:count]
}

// worn reports whether to factorise anew would make solves faster.
func (f *lu) worn() bool {
	return len(f.etaPlace) >= updates || len(f.etas.index) > 2*(len(f.lower.index)+len(f.upper.index))+4*f.m
}
