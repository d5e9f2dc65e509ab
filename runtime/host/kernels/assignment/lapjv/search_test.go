package lapjv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// The assembly knows the fields by their offsets.
func TestFieldsOfSearch(t *testing.T) {
	var s Search
	begin := uintptr(unsafe.Pointer(&s))
	for k, field := range []unsafe.Pointer{unsafe.Pointer(&s.costs), unsafe.Pointer(&s.stride), unsafe.Pointer(&s.rows), unsafe.Pointer(&s.cols),
		unsafe.Pointer(&s.turns), unsafe.Pointer(&s.share), unsafe.Pointer(&s.price), unsafe.Pointer(&s.column), unsafe.Pointer(&s.row), unsafe.Pointer(&s.free),
		unsafe.Pointer(&s.distance), unsafe.Pointer(&s.shut), unsafe.Pointer(&s.from), unsafe.Pointer(&s.left), unsafe.Pointer(&s.reach), unsafe.Pointer(&s.scans),
		unsafe.Pointer(&s.dualRow), unsafe.Pointer(&s.dualCol), unsafe.Pointer(&s.scale), unsafe.Pointer(&s.slack), unsafe.Pointer(&s.rounded),
		unsafe.Pointer(&s.near), unsafe.Pointer(&s.nearby), unsafe.Pointer(&s.nearbyStride)} {
		at := uintptr(field) - begin
		if at != uintptr(8*k) {
			t.Errorf("field %d is at %d, expected %d", k, at, 8*k)
		}
	}
}

// solve is a solve by a set of kernels: 0, or the step that failed.
func solve[T Cost](s *Search, k *Kernels, costs []T, rows, cols, stride int) int {
	Open(s, costs, rows, cols, stride)
	n := 0
	if rows == cols {
		if k.Minima(s) != 0 {
			return 1
		}
		n = k.Transfer(s)
	} else {
		n = k.Nearest(s)
	}
	if n < 0 {
		return 1
	}
	if rows == cols {
		for range 2 {
			if n = k.Bid(s, n); n < 0 {
				return 2
			}
		}
	} else {
		for i := range rows {
			s.SetDual(i, 0, false)
		}
	}
	for _, i := range s.Free(n) {
		if k.Path(s, int(i)) != 0 {
			return 3
		}
	}
	return 0
}

// draw makes costs whose sums are exact.
func draw[T Cost](r *rand.Rand, n int, kind int) []T {
	costs := make([]T, n)
	for k := range costs {
		switch kind {
		case 0:
			costs[k] = T(r.IntN(1 << 20))
		case 1:
			costs[k] = T(r.IntN(4) - 1)
		case 2:
			costs[k] = T(100)
			if r.IntN(10) == 0 {
				costs[k] = T(r.IntN(100))
			}
		case 3:
			costs[k] = T(r.IntN(1<<10)) - 1<<9
			if inf := math.Inf(1); r.IntN(2) == 0 && any(T(0)) != any(int32(0)) {
				costs[k] = T(inf)
			}
		}
	}
	return costs
}

// Every set of kernels finds matchings of the same cost, with duals that prove it, in memory that it does not leave.
func TestKernels(t *testing.T) {
	t.Run("int32", testKernels[int32])
	t.Run("float32", testKernels[float32])
	t.Run("float64", testKernels[float64])
}

func testKernels[T Cost](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	searches := make([]Search, len(All[T]()))
	for round := range 3000 {
		rows := 1 + r.IntN(40)
		if round%100 == 0 {
			rows = 1 + r.IntN(200)
		}
		cols := rows
		if round%3 == 1 {
			cols += r.IntN(3 * rows)
		}
		stride := cols + r.IntN(3)
		costs := draw[T](r, rows*stride, round/3%4)
		want, failed := math.NaN(), 0
		for q, k := range All[T]() {
			s := &searches[len(searches)-1-q]
			step := solve(s, &k, costs, rows, cols, stride)
			if q == 0 {
				failed = step
			}
			if (step == 0) != (failed == 0) {
				t.Fatalf("round %d, %d x %d, %s: failed in step %d, another in %d", round, rows, cols, k.Name, step, failed)
			}
			if step != 0 {
				continue
			}
			sum, taken := 0.0, make([]bool, cols)
			for i, j := range s.Columns() {
				if taken[j] || s.Owners()[j] != int32(i) {
					t.Fatalf("round %d, %s: row %d has column %d, which row %d has", round, k.Name, i, j, s.Owners()[j])
				}
				taken[j] = true
				sum += float64(costs[i*stride+int(j)])
			}
			if q == 0 {
				want = sum
			}
			if sum != want {
				t.Fatalf("round %d, %d x %d, %s: found %v, another %v", round, rows, cols, k.Name, sum, want)
			}
			s.SetScale(1<<22, any(T(0)) == any(int32(0)))
			if k.Check(s, 0) != 0 || s.slack != 0 || s.rounded != 0 {
				t.Fatalf("round %d, %d x %d, %s: found a slack of %d units, rounded %x", round, rows, cols, k.Name, s.slack, s.rounded)
			}
			u, v := s.Duals()
			bound := 0.0
			for i, x := range u {
				bound += float64(x) / s.scale
				near := fmt.Sprint(s.Closest(k.Close(s, i, 1, 0)))
				var pairs []int32
				for j, y := range v {
					c := float64(costs[i*stride+j]) * s.scale
					if float64(x+y) > c {
						t.Fatalf("round %d, %s: duals %d and %d of a cost of %v units", round, k.Name, x, y, c)
					}
					if c-float64(y)-float64(x) <= 1 {
						pairs = append(pairs, int32(j))
					}
				}
				if near != fmt.Sprint(pairs) {
					t.Fatalf("round %d, %s, row %d: listed %s, expected %v", round, k.Name, i, near, pairs)
				}
			}
			for j, y := range v {
				bound += float64(y) / s.scale
				if rows < cols && (y > 0 || y != 0 && !taken[j]) {
					t.Fatalf("round %d, %s: column %d, which may stay free, has the dual %d", round, k.Name, j, y)
				}
			}
			if bound != sum {
				t.Fatalf("round %d, %s: found a sum of %v and duals of %v", round, k.Name, sum, bound)
			}
		}
	}
}

// Turn transposes, negates, and knows what forbids an int32.
func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		rows, cols, negate := 1+r.IntN(40), 1+r.IntN(40), r.IntN(2) == 1
		ints, singles, doubles := draw[int32](r, rows*cols, 0), draw[float32](r, rows*cols, 3), draw[float64](r, rows*cols, 3)
		ints[r.IntN(len(ints))] = math.MaxInt32
		a, b, c := make([]float64, rows*cols), make([]float64, rows*cols), make([]float64, rows*cols)
		Turn(ints, rows, cols, a, negate)
		Turn(singles, rows, cols, b, negate)
		Turn(doubles, rows, cols, c, negate)
		for k := range ints {
			x, y, z, to := float64(ints[k]), float64(singles[k]), doubles[k], k%cols*rows+k/cols
			if negate {
				x, y, z = -x, -y, -z
			}
			if ints[k] == math.MaxInt32 {
				x = math.Inf(1)
			}
			if a[to] != x || b[to] != y || c[to] != z {
				t.Fatalf("%d x %d, pair %d: found %v, %v and %v, expected %v, %v and %v", rows, cols, k, a[to], b[to], c[to], x, y, z)
			}
		}
	}
}

// Least finds the place of the least.
func TestLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, k := range All[float64]() {
		for n := 0; n < 200; n += 8 {
			list := make([]float64, n)
			for q := range list {
				list[q] = float64(r.IntN(50))
			}
			if at := k.Least(list); n > 0 && list[at] != slices.Min(list) || n == 0 && at != 0 {
				t.Errorf("%s: found place %d of %v", k.Name, at, list)
			}
		}
	}
}

// Check finds costs that are no numbers, and rounding.
func TestCheckFinds(t *testing.T) {
	for _, k := range All[float64]() {
		for n := 1; n < 40; n++ {
			for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
				costs := draw[float64](rand.New(rand.NewPCG(uint64(n), 1)), n*n, 0)
				costs[n*n/2] = bad
				var s Search
				if solve(&s, &k, costs, n, n, n) == 0 {
					if i := n * n / 2 / n; int(s.Columns()[i]) == n*n/2%n {
						continue // a matched pair, whose cost the caller looks at
					}
					if s.SetScale(1<<20, false); k.Check(&s, 0) == 0 {
						t.Errorf("%s, %d rows: a cost of %v passed", k.Name, n, bad)
					}
				}
			}
			costs := draw[float64](rand.New(rand.NewPCG(uint64(n), 1)), n*n, 0)
			costs[n*n/2] += 0x1p-30
			var s Search
			if failed := solve(&s, &k, costs, n, n, n); failed != 0 {
				t.Fatalf("%s, %d rows: step %d failed", k.Name, n, failed)
			}
			if s.SetScale(1<<30, false); k.Check(&s, 0) != 0 || s.rounded == 0 {
				t.Errorf("%s, %d rows: found no cost that was rounded", k.Name, n)
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	for _, n := range []int{3, 10, 20, 50, 100, 200, 500} {
		costs := make([]float64, n*n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range costs {
			costs[i] = r.Float64()
		}
		for _, k := range All[float64]() {
			b.Run(fmt.Sprintf("%s/%d", k.Name, n), func(b *testing.B) {
				var s Search
				for b.Loop() {
					solve(&s, &k, costs, n, n, n)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/check", k.Name, n), func(b *testing.B) {
				var s Search
				solve(&s, &k, costs, n, n, n)
				s.SetScale(1, false)
				for b.Loop() {
					k.Check(&s, 0)
				}
			})
		}
	}
}

// Passes over whole matrices find what a loop finds, infinite and largest costs among them.
func TestRangeAndRounded(t *testing.T) {
	t.Run("float64", testRange[float64])
	t.Run("float32", testRange[float32])
	t.Run("int32", testRange[int32])
}

func testRange[T Cost](t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	_, integer := any(T(0)).(int32)
	for round := range 400 {
		costs := make([]T, r.IntN(70))
		least, most, allowed, rounded := math.Inf(1), math.Inf(-1), 0, 0
		for k := range costs {
			x := float64(r.IntN(1<<12) - 1<<11)
			forbidden := round%3 > 0 && r.IntN(1+round%5) > 0
			switch {
			case forbidden && integer:
				x = math.MaxInt32
			case forbidden:
				x = math.Inf(1 - 2*r.IntN(2))
			case !integer:
				x /= 64
			}
			costs[k] = T(x)
			if forbidden {
				continue
			}
			least, most, allowed = min(least, x), max(most, x), allowed+1
			if x*4 != math.Trunc(x*4) {
				rounded++
			}
		}
		if a, b, n := Range(costs); a != least || b != most || n != allowed {
			t.Fatalf("%v: found %v to %v of %d, expected %v to %v of %d", costs, a, b, n, least, most, allowed)
		}
		if n := Rounded(costs, 4); n != rounded {
			t.Fatalf("%v: found %d rounded, expected %d", costs, n, rounded)
		}
	}
}

// Most is the largest of lists of all lengths, of whole registers and others, for all sets of kernels.
func TestMost(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for n := range 300 {
		list := make([]int32, n)
		for k := range list {
			list[k] = int32(r.Uint32())
		}
		want := int32(math.MinInt32)
		if n > 0 {
			want = slices.Max(list)
		}
		if most := Most(list); most != want {
			t.Fatalf("%d integers: found %d, expected %d", n, most, want)
		}
		for _, k := range All[int32]() {
			if k.most == nil || n == 0 || n%16 != 0 {
				continue
			}
			if most := k.most(&list[0], n); most != int(want) {
				t.Fatalf("%s, %d integers: found %d, expected %d", k.Name, n, most, want)
			}
		}
	}
}

// Unlike lists what a loop finds, at lengths of whole registers and others, for all sets of kernels.
func TestUnlike(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testUnlike(t, math.NaN()) })
	t.Run("float32", func(t *testing.T) { testUnlike[float32](t, 0) })
	t.Run("int64", func(t *testing.T) { testUnlike[int64](t, -1) })
	t.Run("int32", func(t *testing.T) { testUnlike[int32](t, -1) })
	t.Run("int16", func(t *testing.T) { testUnlike[int16](t, 7) })
}

func testUnlike[T int16 | int32 | int64 | float32 | float64](t *testing.T, one T) {
	r := rand.New(rand.NewPCG(3, 8))
	kernels := make([]func(list *byte, n, word int, at *int32) int, 0, 2)
	for k := range float64s {
		switch unsafe.Sizeof(one) {
		case 4:
			kernels = append(kernels, int32s[k].unlike)
		case 8:
			kernels = append(kernels, float64s[k].unlike)
		}
	}
	for n := range 400 {
		costs := make([]T, n)
		want, at := make([]int32, 0, n), make([]int32, n+16)
		for k := range costs {
			if costs[k] = one; r.IntN(1+n%9*n%9) == 0 {
				costs[k] = T(100 + r.IntN(3))
				want = append(want, int32(k))
			}
		}
		if found := at[:Unlike(costs, one, at)]; !slices.Equal(found, want) {
			t.Fatalf("%d costs: found %v, expected %v", n, found, want)
		}
		for _, kernel := range kernels {
			if whole := n &^ 63; kernel != nil && whole > 0 {
				found := at[:kernel((*byte)(unsafe.Pointer(&costs[0])), whole, int(bitsOf(one)), &at[0])]
				if end, _ := slices.BinarySearch(want, int32(whole)); !slices.Equal(found, want[:end]) {
					t.Fatalf("%d costs: found %v, expected %v", whole, found, want)
				}
			}
		}
	}
}

// All sets of kernels find the same pairs of a list.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for round := range 300 {
		n := 8 * (1 + r.IntN(6))
		columns, costs, prices := make([]int32, n), make([]float64, n), make([]float64, 50)
		for k := range costs {
			if columns[k], costs[k] = int32(r.IntN(50)), float64(r.IntN(100)-50); r.IntN(8) == 0 {
				costs[k] = math.Inf(1)
			}
		}
		for j := range prices {
			if prices[j] = -float64(r.IntN(20)); round%2 == 1 && r.IntN(4) == 0 {
				prices[j] = math.Inf(-1) // a column that a search has left
			}
		}
		base, bar := float64(r.IntN(50)), float64(r.IntN(100))
		if r.IntN(4) == 0 {
			bar = math.Inf(1)
		}
		reduced := make([]float64, n)
		var places, distances []string
		for k, j := range columns {
			if reduced[k] = costs[k] - prices[j]; base+reduced[k] < bar {
				places, distances = append(places, fmt.Sprint(k)), append(distances, fmt.Sprint(base+reduced[k]))
			}
		}
		sorted := slices.Sorted(slices.Values(reduced))
		for _, k := range All[float64]() {
			var least [2]float64
			at := k.TwoNearest(columns, costs, prices, &least)
			if least != [2]float64{sorted[0], sorted[1]} || reduced[at] != sorted[0] {
				t.Fatalf("%s: found %v, the first at %d, in %v", k.Name, least, at, reduced)
			}
			to, far := make([]int32, n+ListsMore), make([]float64, n+ListsMore)
			found := k.Nearer(columns, costs, prices, base, bar, to, far)
			if fmt.Sprint(to[:found]) != fmt.Sprint(places) || fmt.Sprint(far[:found]) != fmt.Sprint(distances) {
				t.Fatalf("%s: found %v at %v, expected %v at %v", k.Name, far[:found], to[:found], distances, places)
			}
		}
	}
}
