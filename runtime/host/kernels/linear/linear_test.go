package linear

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sums of rows are those of plain loops, up to rounding, for every width and number of rows.
func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := 0; width <= 208; width += 16 {
		for _, n := range []int{0, 1, 2, 7, 40} {
			rows, col, weight := make([]float32, 50*width), make([]int32, n), make([]float64, n)
			for k := range rows {
				rows[k] = float32(r.NormFloat64())
			}
			for t := range col {
				col[t], weight[t] = int32(r.IntN(50)), r.NormFloat64()
			}
			for name, combine := range map[string]func(out, rows []float32, col []int32, weight []float64){"vector": Combine, "plain": combinePlain} {
				out := slices.Repeat([]float32{9}, width+8)
				combine(out[:width], rows, col, weight)
				for k := range out {
					want := 9.0
					if k < width {
						want = 0
						for t, j := range col {
							want += weight[t] * float64(rows[int(j)*width+k])
						}
					}
					if math.Abs(float64(out[k])-want) > 1e-4 {
						t.Fatalf("%s: %d rows of %d: number %d is %v, expected %v", name, n, width, k, out[k], want)
					}
				}
			}
		}
	}
}

// Tiles are updated as by plain loops, up to rounding, and nothing beside them is touched.
func TestSubtract(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, depth := range []int{0, 1, 2, 64} {
		const stride = 11
		left, right := make([]float64, TileRows*depth), make([]float64, TileCols*depth)
		for k := range left {
			left[k] = r.NormFloat64()
		}
		for k := range right {
			right[k] = r.NormFloat64()
		}
		for name, subtract := range map[string]func(tile []float64, stride int, left, right []float64){"vector": Subtract, "plain": subtractPlain} {
			tile := make([]float64, TileRows*stride)
			for k := range tile {
				tile[k] = float64(k)
			}
			subtract(tile, stride, left, right)
			for k := range tile {
				i, j, want := k/stride, k%stride, float64(k)
				for p := 0; p < depth && j < TileCols; p++ {
					want -= left[p*TileRows+i] * right[p*TileCols+j]
				}
				if math.Abs(tile[k]-want) > 1e-12 {
					t.Fatalf("%s, depth %d: number %d is %v, expected %v", name, depth, k, tile[k], want)
				}
			}
		}
	}
}

// Rows are eliminated as by plain loops, up to rounding, for every length.
func TestEliminate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for n := range 70 {
		pivot, before := make([]float64, n), make([]float64, n+1)
		for k := range pivot {
			pivot[k], before[k] = r.NormFloat64(), r.NormFloat64()
		}
		factor := r.NormFloat64()
		for name, eliminate := range map[string]func(row, pivot []float64, factor float64) float64{"vector": Eliminate, "plain": eliminatePlain} {
			row, grown := slices.Clone(before), 0.0
			got := eliminate(row[:n], pivot, factor)
			for k, v := range pivot {
				want := before[k] - factor*v
				grown += want*want - before[k]*before[k]
				if math.Abs(row[k]-want) > 1e-12 {
					t.Fatalf("%s: number %d of %d is %v, expected %v", name, k, n, row[k], want)
				}
			}
			if math.Abs(got-grown) > 1e-11 || row[n] != 0 {
				t.Fatalf("%s: %d numbers grew by %v, expected %v", name, n, got, grown)
			}
		}
	}
}
