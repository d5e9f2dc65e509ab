package lapjv

import "unsafe"

// A Small is the memory of FindSmall. The assembly knows where its lists are.
type Small struct {
	all   [2]uint64 // bits of the columns
	open  [2]uint64 // of the free ones, where columns are more than 64
	ends  [2]uint64 // of those that may as well be free
	left  int       // free rows that a turn of bids or the paths begin with
	turn  int       // turns of bids left
	at    int       // of the list of free rows
	_     [7]int
	price [smallOfAVX512]float64 // with AVX2, the second half are the distances
	dual  [smallOfAVX512]int64   // of columns, in units; with AVX2, masks in the second half
	sets  [260]uint64            // of steps of a search: bits of the columns whose distance the step made; then of rows: of near columns. A word each to 64 columns, else two
	owner [smallOfAVX512]int32   // of columns: the row
	free  [132]int32
	tree  [132]int32           // of steps: the row
	when  [smallOfAVX512]int32 // of columns that a search has left: the step
}

// The most columns of the kernels for AVX-512 and for AVX2.
const smallOfAVX512, smallOfAVX2 = 128, 64

// FindSmall finds the best matching of a matrix of at most SmallColumns columns, and no more rows than those and than one, and writes the columns
// of the rows. It reports whether its check has shown that no other is better; it does not for costs that are no numbers, where there is no
// full matching, and without AVX2. The largest int32 is a cost like others.
func FindSmall[T Cost](s *Small, costs []T, rows, cols int, column []int32) bool {
	if rows < 1 || rows > cols || cols > SmallColumns {
		return false
	}
	return findSmall(unsafe.Pointer(s), costs[:rows*cols], rows, cols, column[:rows], SmallColumns == smallOfAVX512) == 0
}
