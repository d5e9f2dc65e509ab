//go:build !amd64

package linear

func combineVector(out, rows []float32, col []int32, weight []float64) bool { return false }

func subtractVector(tile []float64, stride int, left, right []float64) bool { return false }

func eliminateVector(row, pivot []float64, factor float64) (at int, grown float64) { return 0, 0 }
