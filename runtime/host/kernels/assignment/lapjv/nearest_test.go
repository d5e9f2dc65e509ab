package lapjv

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The kernels of tall matrices find what a loop over all costs finds, by each set of instructions, and write no further than they may.
func TestNearestRows(t *testing.T) {
	t.Run("int32", testNearestRows[int32])
	t.Run("float32", testNearestRows[float32])
	t.Run("float64", testNearestRows[float64])
}

func testNearestRows[T Cost](t *testing.T) {
	sets := All[T]()
	kept := sets[0]
	defer func() { sets[0] = kept }()
	r := rand.New(rand.NewPCG(2, 5))
	for round := range 600 {
		rows, cols := 1+r.IntN(300), 1+r.IntN(40)
		if round%9 == 0 {
			cols += 200
		}
		costs := draw[T](r, rows*cols, round%4)
		least, at := make([]T, cols+ColumnsMore), make([]int32, cols+ColumnsMore)
		broken := round%10 == 0 && any(T(0)) != any(int32(0))
		if broken {
			nan := math.NaN()
			costs[r.IntN(len(costs))] = T(nan)
		}
		for _, k := range All[T]() {
			sets[0] = k
			if ok := NearestRows(costs, rows, cols, least, at); ok == broken {
				t.Fatalf("%s, round %d, %d x %d: found %t, a cost is no number: %t", k.Name, round, rows, cols, ok, broken)
			}
			if broken {
				continue
			}
			bars, below := make([]T, cols+ColumnsMore), make([]int32, rows)
			for j := range cols {
				for i := range rows {
					if c := costs[i*cols+j]; c < least[j] {
						t.Fatalf("%s, round %d, %d x %d: column %d has %v in row %d, found %v", k.Name, round, rows, cols, j, c, i, least[j])
					}
				}
				if costs[int(at[j])*cols+j] != least[j] {
					t.Fatalf("%s, round %d, %d x %d: column %d has no %v in row %d", k.Name, round, rows, cols, j, least[j], at[j])
				}
				bars[j] = least[j] + T(r.IntN(3))
			}
			n := RowsBelow(costs, rows, cols, bars, below)
			want := 0
			for i := range rows {
				for j, c := range costs[i*cols : (i+1)*cols] {
					if c < bars[j] {
						if want >= n || below[want] != int32(i) {
							t.Fatalf("%s, round %d, %d x %d: row %d is below a bar, and is not listed", k.Name, round, rows, cols, i)
						}
						want++
						break
					}
				}
			}
			if n != want {
				t.Fatalf("%s, round %d, %d x %d: %d rows listed, expected %d", k.Name, round, rows, cols, n, want)
			}
		}
	}
}
