// Package transpose is the body of the kernels matrix/transpose. Its constants are the parameters of go.generate.
package transpose

const (
	tile  = 16
	order = "rows"
)

type value = float32

// Transpose writes the transpose of the n x n matrix from to the matrix to. A block takes a band of rows of tiles.
func Transpose(block, blocks int64, from, to []value, n uint64) {
	bands := int64((n + tile - 1) / tile)
	for band := block * bands / blocks; band < (block+1)*bands/blocks; band++ {
		for left := uint64(0); left < n; left += tile {
			copyTile(from, to, n, uint64(band)*tile, left)
		}
	}
}

// copyTile copies the tile whose first element is in a row and a column.
func copyTile(from, to []value, n, top, left uint64) {
	bottom, right := min(top+tile, n), min(left+tile, n)
	if order == "rows" {
		for y := top; y < bottom; y++ {
			row := from[y*n+left : y*n+right]
			for k, x := range row {
				to[(left+uint64(k))*n+y] = x
			}
		}
		return
	}
	for x := left; x < right; x++ {
		column := to[x*n+top : x*n+bottom]
		for k := range column {
			column[k] = from[(top+uint64(k))*n+x]
		}
	}
}
