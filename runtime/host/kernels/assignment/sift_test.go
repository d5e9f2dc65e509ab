package assignment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is the plainest filter.
func plain[T Value](c []T, v []int64, scale float64, limit int64, from, to int, h *Hits) int {
	for j := from; j < to; j++ {
		if x := ScaleCost(c[j], scale); x != Infinity && x-v[j] < limit {
			if h.Add(j, x-v[j]); h.Full() {
				return j + 1
			}
		}
	}
	return to
}

func forbidden[T Value](sign int) T {
	var c any
	switch any(T(0)).(type) {
	case int32:
		c = int32(math.MaxInt32)
	case int64:
		c = int64(math.MaxInt64)
	case float32:
		c = float32(math.Inf(sign))
	case float64:
		c = math.Inf(sign)
	}
	return c.(T)
}

func TestLeast(t *testing.T) {
	t.Run("int32", testLeast[int32])
	t.Run("int64", testLeast[int64])
	t.Run("float32", testLeast[float32])
	t.Run("float64", testLeast[float64])
}

// testLeast compares both filters with sorting, and LowerDuals with a loop.
func testLeast[T Value](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := r.IntN(200)
		span := []int{1, 3, 1000, 1 << 24}[r.IntN(4)]
		holes := []float64{0, 0.1, 0.9}[r.IntN(3)]
		scale := []float64{1, -1}[r.IntN(2)]
		if T(1)/2 != 0 {
			scale = math.Ldexp(scale, r.IntN(20)-2)
		}
		c, v := make([]T, n), make([]int64, n)
		var want []int64
		low := make([]int64, n)
		u := r.Int64N(100)
		for j := range c {
			c[j] = T(r.IntN(2*span) - span)
			v[j] = r.Int64N(int64(span)+1) - int64(span)
			if r.Float64() < holes {
				c[j] = forbidden[T](int(math.Copysign(1, scale)))
			}
			x := ScaleCost(c[j], scale)
			if x != Infinity {
				want = append(want, x-v[j])
			}
			low[j] = min(v[j], x-u)
		}
		slices.Sort(want)
		guess := []int64{Infinity, 0, r.Int64N(int64(span) + 1)}[r.IntN(3)]
		first, k, room := 0, 1+r.IntN(20), 8+r.IntN(50)
		few := r.IntN(k + 1)
		if n > 0 {
			first = r.IntN(n)
		}
		for name, f := range map[string]Filter[T]{"plain": plain[T], "vector": Vector[T](plain[T])} {
			var h Hits
			bound := SelectLeast(f, c, v, scale, first, k, few, guess, room, &h)
			if err := check(c, v, scale, want, k, few, bound, &h); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			limit := make([]int64, n)
			count := 0
			for j := range limit {
				limit[j] = r.Int64N(int64(2*span)+1) - int64(span)
				if x := ScaleCost(c[j], scale); x < limit[j] {
					count++
				}
			}
			if FilterBelow(f, c, limit, scale, &h); h.N != count {
				t.Fatalf("%s: Below found %d, want %d", name, h.N, count)
			}
		}
		if LowerDuals(c, v, scale, u); !slices.Equal(v, low) {
			t.Fatalf("Lower: %v, want %v", v, low)
		}
	}
}

func check[T Value](c []T, v []int64, scale float64, want []int64, k, few int, bound int64, h *Hits) error {
	if h.N < min(few, len(want)) || h.N > 2*k {
		return fmt.Errorf("%d hits, want %d to %d of %d", h.N, few, 2*k, len(want))
	}
	got := slices.Clone(h.Value[:h.N])
	slices.Sort(got)
	if !slices.Equal(got, want[:h.N]) {
		return fmt.Errorf("least %v, want %v", got, want[:h.N])
	}
	if h.N < len(want) && bound > want[h.N] || h.N == len(want) && bound == Infinity-Infinity/4 {
		return fmt.Errorf("bound %d, %d hits, all %v", bound, h.N, want)
	}
	columns := map[int64]bool{}
	for i, j := range h.Index[:h.N] {
		if columns[j] || ScaleCost(c[j], scale)-v[j] != h.Value[i] {
			return fmt.Errorf("column %d: found %d", j, h.Value[i])
		}
		columns[j] = true
	}
	return nil
}

// TestTies expects the first columns from the one looked at first, also with
// buffers that were larger before.
func TestTies(t *testing.T) {
	var h Hits
	c, v := make([]int32, 1000), make([]int64, 1000)
	f := Vector(plain[int32])
	FilterBelow(f, c, slices.Repeat([]int64{1}, 1000), 1, &h)
	if h.N != 1000 {
		t.Fatalf("Below found %d of 1000", h.N)
	}
	for first := range 1000 {
		SelectLeast(f, c, v, 1, first, 16, 16, Infinity, 96, &h)
		for i, j := range h.Index[:h.N] {
			if int(j) != (first+i)%1000 {
				t.Fatalf("first %d: hit %d is column %d", first, i, j)
			}
		}
	}
}

func TestVectorsAreUsed(t *testing.T) {
	if !hasVectors() {
		t.Skip("no vector registers that the kernels know")
	}
	used := true
	f := Vector(func(c []int32, v []int64, scale float64, limit int64, from, to int, h *Hits) int {
		used = to-from < turn && used
		return to
	})
	var h Hits
	if SelectLeast(f, make([]int32, 1000), make([]int64, 1000), 1, 17, 4, 4, Infinity, 16, &h); !used || h.N != 4 {
		t.Errorf("%d hits; the rest took whole turns: %v", h.N, !used)
	}
}

func BenchmarkLeast(b *testing.B) {
	for _, n := range []int{1000, 5000, 20000} {
		c, v := make([]int32, 100*n), make([]int64, n)
		for i := range c {
			c[i] = rand.Int32N(1e6)
		}
		for name, f := range map[string]Filter[int32]{"plain": plain[int32], "vector": Vector[int32](plain[int32])} {
			b.Run(fmt.Sprint(name, n), func(b *testing.B) {
				var h Hits
				for i := range b.N {
					SelectLeast(f, c[i%100*n:i%100*n+n], v, 1, i%n, 16, 16, Infinity, 96, &h)
				}
			})
		}
	}
}
