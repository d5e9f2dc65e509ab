package problem

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// tight makes a square instance of floats and the duals of its diagonal. Some pairs off it have no slack, some
// are near, some lose bits, some are forbidden.
func tight[T float32 | float64](r *rand.Rand, n int, forbidden float64) (*Instance, []int32, Duals) {
	const width = 1 << 10 // of random slacks in units
	d := Duals{U: make([]int64, n), V: make([]int64, n), Scale: 1 << 20}
	column := make([]int32, n)
	for i := range n {
		column[i], d.U[i], d.V[i] = int32(i), r.Int64N(1<<20), r.Int64N(1<<20)
	}
	costs := make([]T, n*n)
	for k := range costs {
		i, j := k/n, k%n
		units := float64(d.U[i] + d.V[j])
		if i != j {
			units += float64(r.Int64N(width)) + float64(r.IntN(8))/8*float64(r.IntN(2))
		}
		costs[k] = T(units / d.Scale)
		if i != j && r.Float64() < forbidden {
			costs[k] = Forbidden[T](false)
		}
	}
	inst := &Instance{Rows: n, Cols: n}
	SetCosts(inst, costs)
	return inst, column, d
}

// Dense costs are checked in runs, pairs one by one: both count and list the same.
func TestRunsAreTheirPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for turn := range 200 {
		n, width := 1+r.IntN(40), r.Int64N(1<<10)
		inst, column, d := tight[float64](r, n, []float64{0, 0.1, 0.9}[turn%3])
		if turn%2 == 1 {
			inst, column, d = tight[float32](r, n, []float64{0, 0.1, 0.9}[turn%3])
		}
		switch k := r.IntN(n * n); turn % 7 {
		case 3: // one unit too cheap
			put(inst, k, float64(d.U[k/n]+d.V[k%n]-1)/d.Scale)
		case 4:
			d.U[k%n]++
		case 5:
			put(inst, k, math.NaN())
		case 6:
			put(inst, k, -1e300)
		}
		pairs := *inst
		pairs.Sparse = &Sparse{Start: []int64{0}}
		for i := range n {
			for j := range n {
				pairs.Sparse.Col = append(pairs.Sparse.Col, int32(j))
			}
			pairs.Sparse.Start = append(pairs.Sparse.Start, int64((i+1)*n))
		}
		want, wantNear, wrong := CheckNear(&pairs, column, d, width, math.MaxInt)
		got, gotNear, err := CheckNear(inst, column, d, width, math.MaxInt)
		order := func(a, b Pair) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) }
		slices.SortFunc(wantNear, order)
		slices.SortFunc(gotNear, order)
		if (err == nil) != (wrong == nil) || err == nil && got != want || !slices.Equal(gotNear, wantNear) {
			t.Fatalf("turn %d, %d rows, %s: found %+v, %d near pairs, %v, expected %+v, %d, %v", turn, n, inst.Type, got, len(gotNear), err, want, len(wantNear), wrong)
		}
		plain, err := Check(inst, column, d)
		if (err == nil) != (wrong == nil) || err == nil && plain != want {
			t.Fatalf("turn %d, %d rows, %s: without a list found %+v, %v, expected %+v", turn, n, inst.Type, plain, err, want)
		}
		if most := len(wantNear); wrong == nil && most > 0 {
			if _, kept, err := CheckNear(inst, column, d, width, most); err != nil || len(kept) != most {
				t.Fatalf("turn %d: at most %d near pairs: %d, %v, expected all", turn, most, len(kept), err)
			}
			if few, none, err := CheckNear(inst, column, d, width, most-1); err != nil || none != nil || few != want {
				t.Fatalf("turn %d: at most %d near pairs of %d: found %+v, %d, %v, expected %+v and no list", turn, most-1, most, few, len(none), err, want)
			}
		}
	}
}

func put(inst *Instance, k int, x float64) {
	if inst.Type == Float32 {
		inst.F32[k] = float32(x)
		return
	}
	inst.F64[k] = x
}

// What every solve of floats on a host pays for its proof: about one near pair a row.
func BenchmarkCheckNear(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		r := rand.New(rand.NewPCG(1, 2))
		inst := &Instance{Type: Float64, Rows: n, Cols: n, F64: make([]float64, n*n)}
		d := Duals{U: make([]int64, n), V: make([]int64, n), Scale: 1 << 49}
		column := make([]int32, n)
		for k := range inst.F64 {
			inst.F64[k] = r.Float64()
		}
		for i := range n {
			column[i] = int32(i)
			inst.F64[i*n+i], inst.F64[i*n+r.IntN(n)] = 0, 0
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, near, err := CheckNear(inst, column, d, int64(n)+1, math.MaxInt); err != nil || len(near) < n/2 {
					b.Fatal(len(near), err)
				}
			}
		})
	}
}
