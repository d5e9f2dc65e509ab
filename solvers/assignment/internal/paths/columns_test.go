package paths

import (
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/problem"
)

// Tall matrices that are read column by column have the matchings of their transposes, and proofs.
func TestColumnsAgainstTransposed(t *testing.T) {
	t.Run("float64", testColumns[float64])
	t.Run("float32", testColumns[float32])
	t.Run("int32", testColumns[int32])
}

func testColumns[T lapjv.Cost](t *testing.T) {
	_, integer := any(T(0)).(int32)
	var tall, wide Matcher
	for kind, draw := range draws {
		if integer && (kind == "uniform" || kind == "forbidden" || kind == "constant") {
			continue
		}
		r := rand.New(rand.NewPCG(7, 8))
		direct := 0
		for round := range 40 {
			cols := 1 + r.IntN(20)
			rows := cols + 1 + r.IntN(400)
			if round%2 == 0 {
				rows += 1024
			}
			costs, turned := make([]T, rows*cols), make([]T, rows*cols)
			for k := range costs {
				costs[k] = T(draw(r, k/cols, k%cols))
				turned[k%cols*rows+k/cols] = costs[k]
			}
			column, other := make([]int32, rows), make([]int32, cols)
			scale := 1.0
			if !integer {
				scale = 0x1p50
			}
			ok := byColumns(&tall, rows, cols, costs, scale, column)
			if _, decided := Match(&wide, cols, rows, turned, false, other); !ok || !decided {
				continue
			}
			direct++
			want := 0.0
			for j, i := range other {
				want += float64(turned[j*rows+int(i)])
			}
			found, pairs := 0.0, 0
			taken := make([]bool, cols)
			units, _ := lapjv.Units(0, scale)
			for i, j := range column {
				if j >= 0 {
					if taken[j] {
						t.Fatalf("%s, round %d: two rows have column %d", kind, round, j)
					}
					taken[j] = true
					pairs++
					found += float64(costs[i*cols+int(j)])
					c, _ := lapjv.Units(float64(costs[i*cols+int(j)]), scale)
					units += c
				}
			}
			if pairs != cols || math.Abs(found-want) > 1e-12*(1+math.Abs(want)) {
				t.Fatalf("%s, round %d, %d x %d: found %d pairs of %v, expected %d of %v", kind, round, rows, cols, pairs, found, cols, want)
			}
			for k, c := range costs { // u are the duals of the columns here
				if x, _ := lapjv.Units(float64(c), scale); c != problem.Forbidden[T](false) && tall.u[k%cols]+tall.v[k/cols] > x {
					t.Fatalf("%s, round %d: duals %d and %d of a cost of %d units", kind, round, tall.u[k%cols], tall.v[k/cols], x)
				}
			}
			for _, list := range [][]int64{tall.u, tall.v} {
				for _, x := range list {
					units -= x
				}
			}
			if units != 0 {
				t.Fatalf("%s, round %d: the duals lack %d units", kind, round, units)
			}
		}
		if t.Logf("%s: %d of 40", kind, direct); (kind == "uniform" || kind == "integers") && direct < 15 {
			t.Errorf("%s: %d of 40 were solved column by column", kind, direct)
		}
	}
}
