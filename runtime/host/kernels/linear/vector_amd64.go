package linear

import "golang.org/x/sys/cpu"

func hasVectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

func combineVector(out, rows []float32, col []int32, weight []float64) bool {
	if !hasVectors() {
		return false
	}
	combineAVX2(&out[0], &rows[0], len(out), &col[0], &weight[0], len(col))
	return true
}

func subtractVector(tile []float64, stride int, left, right []float64) bool {
	if !hasVectors() {
		return false
	}
	subtractAVX2(&tile[0], stride, &left[0], &right[0], len(left)/TileRows)
	return true
}

// eliminateVector does the first numbers, and returns how many.
func eliminateVector(row, pivot []float64, factor float64) (at int, grown float64) {
	if at = len(row) &^ 7; at == 0 || !hasVectors() {
		return 0, 0
	}
	return at, eliminateAVX2(&row[0], &pivot[0], at, factor)
}
