//go:build !amd64

package qubo

func stepVector[R Row, S Sum](row []R, shift int, negate bool, field []S, x, free []uint64, rotate int) (b Best, ok bool) {
	return b, false
}

func pickVector[S Sum](field []S, x, free []uint64, rotate int) (b Best, ok bool) { return b, false }

func addVector[R Row, S Sum](row []R, shift int, negate bool, field []S) bool { return false }
