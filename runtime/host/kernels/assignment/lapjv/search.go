// Package lapjv holds the kernels of the algorithm of Jonker and Volgenant for dense linear assignment ("A shortest augmenting
// path algorithm for dense and sparse linear assignment problems", Computing 38, 1987), on costs as they are, in float64, and of its
// check, in integers: in Go, and in assembly for AVX-512 and AVX2.
package lapjv

import (
	"math"
	"unsafe"
)

// A Cost is a type of costs that the kernels read. An infinity forbids a pair; the largest int32 is a cost like others.
type Cost interface{ int32 | float32 | float64 }

// A Search is the memory of a solve: lists with room for a whole block of columns beyond the last. The
// assembly knows where the fields of its parts but the last are.
type Search struct {
	matrix
	matching
	tree
	proof
	memory
}

// A matrix is what Open is given.
type matrix struct {
	costs      unsafe.Pointer // of the first row
	stride     int            // bytes from row to row
	rows, cols int            // at most as many rows as columns
	turns      int            // most bids for each row looked at
	share      float64        // of what a price may fall as a row takes a column
}

// A matching is what all kernels of the search improve.
type matching struct {
	price  unsafe.Pointer // float64s, of columns
	column unsafe.Pointer // int32s, of rows; -1: free
	row    unsafe.Pointer // int32s, of columns; -1: free
	free   unsafe.Pointer // int32s: free rows
}

// A tree is the state of Path, one search for a shortest path.
type tree struct {
	distance unsafe.Pointer // float64s, of columns
	shut     unsafe.Pointer // float64s: price, or minus infinity in columns that the search has left
	from     unsafe.Pointer // int64s: the row that gave a column its distance
	left     unsafe.Pointer // int32s: columns that the search has left
	reach    unsafe.Pointer // float64s: their distances
	scans    int            // columns that all searches since Open have left
}

// A proof is what Check and Close find.
type proof struct {
	dualRow unsafe.Pointer // int64s: u in units
	dualCol unsafe.Pointer // int64s: v in units
	scale   float64        // units in 1
	slack   int            // sum of what matched pairs cost more than their duals, in units
	rounded uint64         // not 0: units rounded a cost
	near    unsafe.Pointer // int32s: columns

	nearby       unsafe.Pointer // nil: left out; of each row that Check looked at, bits of the columns whose slack is at most NearbyUnits, and perhaps more
	nearbyStride int            // bytes from row to row; 0: all rows write the same
}

// A memory holds the lists that the pointers lead to.
type memory struct {
	ints   []int32
	floats []float64
	longs  []int64
	bytes  []byte
	m, n   int // room for so many rows and columns
}

// block is more columns than a register holds, twice.
const block = 16

// Open makes room for a matrix whose rows follow one another stride costs apart, with no row matched and all prices 0. At most as
// many rows as columns.
func Open[T Cost](s *Search, costs []T, rows, cols, stride int) {
	if rows > s.m || cols > s.n {
		s.m, s.n = max(s.m, rows+rows/4), max(s.n, cols+cols/4)
		n := (s.n + 2*block) / block * block
		s.floats, s.longs, s.ints = make([]float64, 4*n), make([]int64, 2*n+s.m), make([]int32, 3*n+2*s.m)
		float := func(k int) unsafe.Pointer { return unsafe.Pointer(&s.floats[k*n]) }
		s.price, s.distance, s.shut, s.reach = float(0), float(1), float(2), float(3)
		s.from, s.dualCol, s.dualRow = unsafe.Pointer(&s.longs[0]), unsafe.Pointer(&s.longs[n]), unsafe.Pointer(unsafe.SliceData(s.longs[2*n:]))
		s.row, s.left, s.near = unsafe.Pointer(&s.ints[0]), unsafe.Pointer(&s.ints[n]), unsafe.Pointer(&s.ints[2*n])
		s.column, s.free = unsafe.Pointer(unsafe.SliceData(s.ints[3*n:])), unsafe.Pointer(unsafe.SliceData(s.ints[3*n+s.m:]))
	}
	s.costs, s.stride, s.rows, s.cols = unsafe.Pointer(unsafe.SliceData(costs)), stride*int(unsafe.Sizeof(*new(T))), rows, cols
	s.scale, s.turns, s.share, s.scans = 1, 3, 1, 0
	if cols >= manyColumns {
		s.turns = 4
	}
	s.nearbyStride = (cols + 63) / 64 * 8
	if rows*cols > manyBits {
		s.nearbyStride = 0
	}
	if n := rows*s.nearbyStride + (cols+63)/64*8; len(s.bytes) < n {
		s.bytes = make([]byte, n+n/4)
	}
	s.nearby = unsafe.Pointer(&s.bytes[0])
	fill(s.ints[:cols+block], -1)
	fill(s.Columns(), -1)
	clear(s.floats[:cols+block])
	fill(list[int64](s.dualRow, rows), unset)
}

// fill makes each of a list x.
func fill[T any](list []T, x T) {
	const first = 16
	for k := range list[:min(first, len(list))] {
		list[k] = x
	}
	for n := first; n < len(list); n *= 2 {
		copy(list[n:], list[:n])
	}
}

// From manyColumns on four bids for each row are faster than three. Eight take 1.1 to 1.2 times as long to 250 rows.
const manyColumns = 256

// Of more than manyBits pairs there are no Nearby columns.
const manyBits = 1 << 19

// NearbyUnits is the slack up to which a pair is Nearby.
const NearbyUnits = 1 << 20

// NearlyAll is a share that leaves a row's own column nearer than its next, by far more than rounding.
const NearlyAll = 1 - 0x1p-12

// SetShare has prices fall in Transfer and Bid by a part of what they may: with 1 a row's next column is as near then as its own, to the rounding of
// float64, so that the check finds slack and near pairs.
func (s *Search) SetShare(x float64) { s.share = x }

// unset is the u of rows for which Check is to find it.
const unset = math.MinInt64

// Least are the costs of the rows' nearest columns, after Nearest. They lie where the duals are to be: SetDual overwrites them.
func (s *Search) Least() []float64 { return list[float64](s.dualRow, s.rows) }

// TakeNearest is Nearest where the least costs and the columns are known.
func (s *Search) TakeNearest(least []float64, at []int32) (free int) {
	column, owner, list := s.Columns(), s.Owners(), s.Free(s.rows)
	copy(s.Least(), least)
	for i, j := range at[:s.rows] {
		if owner[j] < 0 {
			column[i], owner[j] = j, int32(i)
		} else {
			list[free] = int32(i)
			free++
		}
	}
	return free
}

// SetDual sets the dual of a row in units, which is to be at most each of its costs less the prices, or leaves it to Check.
func (s *Search) SetDual(i int, u int64, known bool) {
	if !known {
		u = unset
	}
	list[int64](s.dualRow, s.rows)[i] = u
}

// Close lets go of the costs.
func (s *Search) Close() { s.costs = nil }

func list[T any](at unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(at), n) }

// Columns are those of the rows, -1 for free ones.
func (s *Search) Columns() []int32 { return list[int32](s.column, s.rows) }

// Owners are the rows of the columns, -1 for free ones.
func (s *Search) Owners() []int32 { return list[int32](s.row, s.cols) }

// Free are the first n of the list of free rows.
func (s *Search) Free(n int) []int32 { return list[int32](s.free, n) }

// Prices are those of the columns.
func (s *Search) Prices() []float64 { return list[float64](s.price, s.cols) }

// Duals are those of the rows and of the columns in units, after Check.
func (s *Search) Duals() (u, v []int64) {
	return list[int64](s.dualRow, s.rows), list[int64](s.dualCol, s.cols)
}

// Nearby is how many words of 64 columns Check has written for all rows; false where it has not.
func (s *Search) Nearby(k *Kernels) (words int, ok bool) {
	return s.rows * s.nearbyStride / 8, k.nearby && s.nearbyStride > 0 && s.nearby != nil
}

// LeaveNearby has Check of AVX2, where that takes time that counts, leave out what Nearby reads. Other kernels need it.
func (s *Search) LeaveNearby() { s.nearby = nil }

// NearbyOf has a bit for each column of row i whose slack is at most NearbyUnits, its own among these, and for others perhaps; bits beyond the last
// column mean nothing. Rows whose u was set have none.
func (s *Search) NearbyOf(i int) []uint64 {
	return list[uint64](unsafe.Add(s.nearby, i*s.nearbyStride), s.nearbyStride/8)
}

// Scans is how many rows the searches of Path have read since Open, besides their roots.
func (s *Search) Scans() int { return s.scans }

// Closest are the first n columns that Close listed.
func (s *Search) Closest(n int) []int32 { return list[int32](s.near, n) }

// costsOf is row i.
func costsOf[T Cost](s *Search, i int) []T {
	return list[T](unsafe.Add(s.costs, i*s.stride), s.cols)
}

// Kernels are the functions for one type of costs and one set of instructions. Those that return a number of free rows list these,
// and return -1 where nothing is allowed to a row. Costs that are no numbers may make them return
// anything; Check finds them.
type Kernels struct {
	Name string // of the instructions

	// Minima makes the prices the least costs of their columns. It returns 1 where a column is allowed to no row.
	Minima func(*Search) (failed int)
	// Transfer gives each row of a square the first free column that costs it as much as the price, and moves what the row could
	// lose from that.
	Transfer func(*Search) (free int)
	// Bid has n free rows bid for their nearest columns, and those that lost theirs at once while the price falls.
	Bid func(s *Search, n int) (free int)
	// Path augments along a shortest path from a free row to a free column, and lowers the prices of the columns that the search
	// has left. It returns 0, or 1 where no free column can be reached.
	Path func(s *Search, root int) (failed int)
	// Nearest gives each row its nearest column where that is free, at prices of 0. The costs of the nearest are in Least. It
	// finds costs that are no numbers.
	Nearest func(*Search) (free int)
	// Below lists the columns of a row whose cost less the price is not bar or more, and their costs. The lists have room for ListsMore more.
	Below func(s *Search, row int, bar float64, columns []int32, costs []float64) (n int)
	// Check makes the duals v of the prices in units, and for each row whose u nobody set the least c - v, so that u + v is at
	// most c for every pair. It sums up the slack of the matched pairs, and returns 1 where that is too large, as it is where a cost is no number or
	// minus infinity.
	// With raise 1 it takes the duals v as they are, and raises those of pairs with slack by that: a further
	// pass that finds no slack proves the duals.
	Check func(s *Search, raise int) (failed int)
	// Close lists the columns of a row whose slack is at most width units, the matched one too; with lost 1 those alone whose costs
	// units round.
	Close func(s *Search, row, width, lost int) (n int)
	// Least is the place of the least of some numbers, a multiple of 8.
	Least func(list []float64) int

	two    func(columns *int32, costs *float64, n int, prices, out *float64) int // of a multiple of 8 pairs; nil: TwoNearest and Nearer are in Go
	nearer func(columns *int32, costs *float64, n int, prices *float64, base, bar int, places *int32, distances *float64) int

	lanes int // rows that turn transposes at once, 0 without it
	turn  func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int)
	span  func(costs unsafe.Pointer, n int, ends *[2]float64) int // of a multiple of 8 costs; nil: Range is in Go
	cut   func(costs unsafe.Pointer, n int, scale float64) int    // likewise
	most  func(list *int32, n int) int                            // of a multiple of 16 integers; nil: Most is in Go

	unlike func(list *byte, n, word int, at *int32) int // of a multiple of 64 words of the costs' size; nil: Unlike is in Go

	nearby bool // Check writes what Nearby reads

	nearestRows func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int // of at least bandRows rows; nil: NearestRows and RowsBelow are in Go
	rowsBelow   func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int
}

// ListsMore is for how many pairs more the lists that Below and Nearer write have to have room.
const ListsMore = 8

// TwoNearest finds the two least reduced costs of a list, cost less the column's price, and the place of the first. The list has a multiple of 8
// pairs. Neither costs nor prices are NaN.
func (k *Kernels) TwoNearest(columns []int32, costs, prices []float64, least *[2]float64) (at int) {
	costs = costs[:len(columns)]
	if k.two != nil && len(columns) > 0 {
		return k.two(&columns[0], &costs[0], len(columns), unsafe.SliceData(prices), &least[0])
	}
	first, second := math.Inf(1), math.Inf(1)
	for e, j := range columns {
		x := costs[e] - prices[j]
		if x < first {
			first, second, at = x, first, e
		} else if x < second {
			second = x
		}
	}
	*least = [2]float64{first, second}
	return at
}

// Nearer lists the places of the pairs of a list whose distance, base and the cost less the price of the column, is below a bar, and the distances. It
// returns how many they are. The list is a multiple of 8 pairs.
func (k *Kernels) Nearer(columns []int32, costs, prices []float64, base, bar float64, places []int32, distances []float64) (n int) {
	costs = costs[:len(columns)]
	if _, _ = places[len(columns)+ListsMore-1], distances[len(columns)+ListsMore-1]; k.nearer != nil && len(columns) > 0 {
		return k.nearer(&columns[0], &costs[0], len(columns), unsafe.SliceData(prices), int(math.Float64bits(base)), int(math.Float64bits(bar)), &places[0], &distances[0])
	}
	for e, j := range columns {
		if d := base + (costs[e] - prices[j]); d < bar {
			places[n], distances[n] = int32(e), d
			n++
		}
	}
	return n
}

// Range is the range of the costs that allow a pair, and how many they are: those but infinite ones and the largest
// int32. Where none does, least is above most.
func Range[T Cost](costs []T) (least, most float64, allowed int) {
	ends, k, whole := [2]float64{math.Inf(1), math.Inf(-1)}, FastestKernels[T](), 0
	if n := len(costs) &^ 7; k.span != nil && n > 0 {
		allowed, whole = k.span(unsafe.Pointer(&costs[0]), n, &ends), n
	}
	least, most = ends[0], ends[1]
	_, integer := any(T(0)).(int32)
	for _, c := range costs[whole:] {
		x := float64(c)
		if x-x == 0 && (!integer || x != math.MaxInt32) {
			least, most = min(least, x), max(most, x)
			allowed++
		}
	}
	return least, most, allowed
}

// bandRows is how many rows the kernels of NearestRows read at once, and the fewest they take.
const bandRows = 64

// NearestRows finds the least cost of each column and a row that has it, in the first cols of two lists with room for ColumnsMore more. It is false
// where a cost is no number.
func NearestRows[T Cost](costs []T, rows, cols int, least []T, at []int32) bool {
	costs = costs[:rows*cols]
	_, _ = least[cols+ColumnsMore-1], at[cols+ColumnsMore-1]
	if k := FastestKernels[T](); k.nearestRows != nil && rows >= bandRows && cols > 0 {
		return k.nearestRows(unsafe.Pointer(&least[0]), unsafe.Pointer(&costs[0]), cols*int(unsafe.Sizeof(costs[0])), rows, cols, &at[0]) == 0
	}
	for j := range cols {
		at[j] = 0
	}
	copy(least, costs[:cols])
	for i := range rows {
		for j, c := range costs[i*cols : (i+1)*cols] {
			switch {
			case c != c:
				return false
			case c < least[j]:
				least[j], at[j] = c, int32(i)
			}
		}
	}
	return true
}

// RowsBelow lists the rows with a cost below a bar of its column, and returns how many they are. bars have room for ColumnsMore columns more.
func RowsBelow[T Cost](costs []T, rows, cols int, bars []T, at []int32) (n int) {
	costs, at = costs[:rows*cols], at[:rows]
	_ = bars[cols+ColumnsMore-1]
	if k := FastestKernels[T](); k.rowsBelow != nil && rows > 0 && cols > 0 {
		return k.rowsBelow(unsafe.Pointer(&bars[0]), unsafe.Pointer(&costs[0]), cols*int(unsafe.Sizeof(costs[0])), rows, cols, &at[0])
	}
	for i := range rows {
		for j, c := range costs[i*cols : (i+1)*cols] {
			if c < bars[j] {
				at[n] = int32(i)
				n++
				break
			}
		}
	}
	return n
}

// ColumnsMore is for how many columns more NearestRows and RowsBelow have to have room.
const ColumnsMore = 16

// Most is the largest of a list of integers, the least int32 of an empty one.
func Most(list []int32) int32 {
	k, whole, most := FastestKernels[int32](), 0, int32(math.MinInt32)
	if n := len(list) &^ 15; k.most != nil && n > 0 {
		most, whole = int32(k.most(&list[0], n)), n
	}
	for _, x := range list[whole:] {
		most = max(most, x)
	}
	return most
}

// Unlike lists the places of the costs that differ from one in a bit, and returns how many they are. at has room for all, and for 16 more.
func Unlike[T int16 | int32 | int64 | float32 | float64](costs []T, one T, at []int32) int {
	var kernel func(list *byte, n, word int, at *int32) int
	word := bitsOf(one)
	switch unsafe.Sizeof(one) {
	case 4:
		kernel = int32s[0].unlike
	case 8:
		kernel = float64s[0].unlike
	}
	whole, count := 0, 0
	if n := len(costs) &^ 63; kernel != nil && n > 0 {
		_ = at[n+15]
		count, whole = kernel((*byte)(unsafe.Pointer(&costs[0])), n, int(word), &at[0]), n
	}
	for j := whole; j < len(costs); j++ {
		if bitsOf(costs[j]) != word {
			at[count] = int32(j)
			count++
		}
	}
	return count
}

func bitsOf[T int16 | int32 | int64 | float32 | float64](x T) uint64 {
	at := unsafe.Pointer(&x)
	switch unsafe.Sizeof(x) {
	case 2:
		return uint64(*(*uint16)(at))
	case 4:
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// Rounded is how many of the costs that allow a pair are no multiples of 1/scale, a power of two from 1 on.
func Rounded[T Cost](costs []T, scale float64) int {
	k, whole, count := FastestKernels[T](), 0, 0
	if n := len(costs) &^ 7; k.cut != nil && n > 0 {
		count, whole = k.cut(unsafe.Pointer(&costs[0]), n, scale), n
	}
	for _, c := range costs[whole:] {
		if x := float64(c) * scale; x-x == 0 && x != math.Trunc(x) {
			count++
		}
	}
	return count
}

// Turn writes costs, row after row, as float64s column after column, negated where that is asked for. The largest int32 becomes infinite, which
// forbids the pair.
func Turn[T Cost](costs []T, rows, cols int, to []float64, negate bool) {
	if costs, to = costs[:rows*cols], to[:rows*cols]; len(costs) == 0 {
		return
	}
	k := FastestKernels[T]()
	sign := 0
	if negate {
		sign = math.MinInt64
	}
	size := int(unsafe.Sizeof(costs[0]))
	if n := k.lanes; n > 0 && rows >= n && cols >= n { // the last bands of rows and columns overlap those before
		whole := cols / n * n
		turn := func(i, j, some int) {
			k.turn(unsafe.Pointer(&costs[i*cols+j]), cols*size, some, &to[j*rows+i], rows*8, sign)
		}
		for i := 0; i < rows; i += n {
			at := min(i, rows-n)
			turn(at, 0, whole)
			if whole < cols {
				turn(at, cols-n, n)
			}
		}
		return
	}
	_, integer := any(costs[0]).(int32)
	forbidden := 0
	if integer {
		forbidden = math.MaxInt32
	}
	for i := range rows {
		for j := range cols {
			c := costs[i*cols+j]
			x := float64(c)
			if negate {
				x = -x
			}
			if integer && c == T(forbidden) {
				x = math.Inf(1)
			}
			to[j*rows+i] = x
		}
	}
}

// FastestKernels is the fastest set of kernels of this processor.
func FastestKernels[T Cost]() *Kernels {
	switch any(*new(T)).(type) {
	case int32:
		return &int32s[0]
	case float32:
		return &float32s[0]
	}
	return &float64s[0]
}

// All are the sets of kernels that this processor can run, the fastest first.
func All[T Cost]() []Kernels {
	switch any(*new(T)).(type) {
	case int32:
		return int32s
	case float32:
		return float32s
	}
	return float64s
}

var (
	int32s   = append(vectors[int32](), portable[int32]())
	float32s = append(vectors[float32](), portable[float32]())
	float64s = append(vectors[float64](), portable[float64]())
)

// SetScale makes units the finest for the prices and the costs of matched pairs, the largest of which is most: integers cost units.
func (s *Search) SetScale(most float64, integer bool) {
	s.scale = 1
	if most > 0 && !integer {
		_, e := math.Frexp(most)
		s.scale = math.Ldexp(1, max(min(59-e, 1000), -1000))
	}
}

// SetUnits has units of 1/scale, a power of two.
func (s *Search) SetUnits(scale float64) { s.scale = scale }

// Slack is the sum of what the matched pairs cost more than their duals, in units of 1/scale, and whether units rounded costs.
func (s *Search) Slack() (slack int64, scale float64, rounded bool) {
	return int64(s.slack), s.scale, s.rounded != 0
}
