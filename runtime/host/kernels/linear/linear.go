// Package linear holds inner loops of linear algebra: sums of rows of float32 with weights, updates of tiles and rows of float64. AVX2
// assembly does them where the processor has it.
package linear

// Combine sets out to the sum of rows with weights: weight[t] times row col[t], for every t. Rows have len(out) numbers, a
// multiple of 16, and follow one another. Weights are rounded to float32.
func Combine(out, rows []float32, col []int32, weight []float64) {
	width := len(out)
	if width%16 != 0 || len(weight) < len(col) {
		panic("linear: slices of other lengths")
	}
	if width == 0 || len(col) > 0 && combineVector(out, rows, col, weight) {
		return
	}
	combinePlain(out, rows, col, weight)
}

func combinePlain(out, rows []float32, col []int32, weight []float64) {
	width := len(out)
	clear(out)
	for t, j := range col {
		w := float32(weight[t])
		for k, v := range rows[int(j)*width : (int(j)+1)*width] {
			out[k] += w * v
		}
	}
}

// Tiles have so many rows and columns.
const (
	TileRows = 4
	TileCols = 8
)

// Subtract subtracts from a tile, whose rows begin stride numbers after each other, the product of left, columns of TileRows numbers, and
// right, as many rows of TileCols numbers.
func Subtract(tile []float64, stride int, left, right []float64) {
	depth := len(left) / TileRows
	if len(right) != TileCols*depth || len(tile) < (TileRows-1)*stride+TileCols {
		panic("linear: slices of other lengths")
	}
	if depth > 0 && !subtractVector(tile, stride, left, right) {
		subtractPlain(tile, stride, left, right)
	}
}

func subtractPlain(tile []float64, stride int, left, right []float64) {
	depth := len(left) / TileRows
	for i := range TileRows {
		row := tile[i*stride:][:TileCols]
		var sum [TileCols]float64
		for p := range depth {
			x := left[p*TileRows+i]
			for j, y := range right[p*TileCols:][:TileCols] {
				sum[j] += x * y
			}
		}
		for j := range row {
			row[j] -= sum[j]
		}
	}
}

// Eliminate subtracts factor times pivot from row, which is as long, and returns by how much the sum of the row's squares has grown.
func Eliminate(row, pivot []float64, factor float64) (grown float64) {
	if len(pivot) != len(row) {
		panic("linear: slices of other lengths")
	}
	at, grown := eliminateVector(row, pivot, factor)
	return grown + eliminatePlain(row[at:], pivot[at:], factor)
}

func eliminatePlain(row, pivot []float64, factor float64) (grown float64) {
	for i, v := range pivot {
		old := row[i]
		now := old - factor*v
		row[i] = now
		grown += (now - old) * (now + old)
	}
	return grown
}
