package lapjv

import "unsafe"

// A Small is the memory of FindSmall. The assembly knows where its lists are.
type Small struct {
	all     uint64 // bits of the columns
	left    int    // free rows that a turn of bids or the paths begin with
	turn    int    // turns of bids left
	at      int    // of the list of free rows
	_       [4]int
	price   [64]float64
	dual    [64]int64  // of columns, in units
	near    [64]uint64 // of rows: bits of near columns
	updated [66]uint64 // of steps of a search: bits of the columns whose distance the step made
	owner   [64]int32  // of columns: the row
	free    [68]int32
	tree    [68]int32 // of steps: the row
	when    [64]int32 // of columns that a search has left: the step
}

// SmallColumns is the most columns that FindSmall takes.
const SmallColumns = 64

// FindSmall finds the best matching of a matrix of at most SmallColumns columns, and no more rows than those and than one, and writes the columns
// of the rows. It reports whether its check has shown that no other is better; it does not for costs that are no numbers, where there is no
// full matching, and without AVX-512. The largest int32 is a cost like others.
func FindSmall[T Cost](s *Small, costs []T, rows, cols int, column []int32) bool {
	if rows < 1 || rows > cols || cols > SmallColumns || !HasSmall {
		return false
	}
	return findSmall(unsafe.Pointer(s), costs[:rows*cols], rows, cols, column[:rows]) == 0
}
