package lapjv

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The assembly knows the lists by their offsets.
func TestListsOfSmall(t *testing.T) {
	var s Small
	for name, at := range map[string][2]uintptr{
		"open": {unsafe.Offsetof(s.open), 16}, "ends": {unsafe.Offsetof(s.ends), 32}, "left": {unsafe.Offsetof(s.left), 48},
		"price": {unsafe.Offsetof(s.price), 128}, "dual": {unsafe.Offsetof(s.dual), 1152}, "sets": {unsafe.Offsetof(s.sets), 2176},
		"owner": {unsafe.Offsetof(s.owner), 4256}, "free": {unsafe.Offsetof(s.free), 4768}, "tree": {unsafe.Offsetof(s.tree), 5296}, "when": {unsafe.Offsetof(s.when), 5824},
	} {
		if at[0] != at[1] {
			t.Errorf("%s: found at %d, the assembly has it at %d", name, at[0], at[1])
		}
	}
}

func TestSmall(t *testing.T) {
	for name, set := range map[string]struct {
		most int
		wide bool
	}{"AVX2": {smallOfAVX2, false}, "AVX-512": {smallOfAVX512, true}} {
		t.Run(name, func(t *testing.T) {
			if SmallColumns < set.most {
				t.Skip("this processor lacks the instructions")
			}
			t.Run("float64", func(t *testing.T) { testSmall[float64](t, set.most, set.wide) })
			t.Run("float32", func(t *testing.T) { testSmall[float32](t, set.most, set.wide) })
			t.Run("int32", func(t *testing.T) { testSmall[int32](t, set.most, set.wide) })
		})
	}
}

// testSmall compares the kernels for at most so many columns with those in Go: both find sums of integers that are equal, and those for few columns prove a matching that is the only best one.
func testSmall[T Cost](t *testing.T, most int, wide bool) {
	r := rand.New(rand.NewPCG(11, 3))
	var s Small
	proven, rounds := 0, 3000
	for round := range rounds {
		cols := 1 + r.IntN(most)
		if round%2 == 0 {
			cols = 1 + r.IntN(10)
		}
		rows := cols
		if round%3 == 0 {
			rows = 1 + r.IntN(cols)
		}
		costs := make([]T, rows*cols)
		largest := []float64{2, 20, 1e6}[round%7%3]
		for k := range costs {
			switch x := r.Float64(); {
			case round%11 == 0 && x < 0.7:
				costs[k] = T(largest)
			default:
				costs[k] = T(math.Floor(r.Float64() * largest))
			}
		}
		column, want := make([]int32, rows), make([]int32, rows)
		found := findSmall(unsafe.Pointer(&s), costs, rows, cols, column, wide) == 0
		reference(t, costs, rows, cols, want)
		sum := func(column []int32) (x float64) {
			seen := make([]bool, cols)
			for i, j := range column {
				if j < 0 || seen[j] {
					t.Fatalf("round %d, %d x %d: row %d has column %d, of another row or none", round, rows, cols, i, j)
				}
				seen[j] = true
				x += float64(costs[i*cols+int(j)])
			}
			return x
		}
		if found {
			proven++
			if a, b := sum(column), sum(want); a != b {
				t.Fatalf("round %d, %d x %d: found %v, expected %v", round, rows, cols, a, b)
			}
		}
	}
	if proven < rounds {
		t.Errorf("proved %d of %d", proven, rounds)
	}
}

// reference solves by the kernels in Go.
func reference[T Cost](t *testing.T, costs []T, rows, cols int, column []int32) {
	t.Helper()
	var q Search
	k := portable[T]()
	Open(&q, costs, rows, cols, cols)
	n := 0
	if rows == cols {
		if k.Minima(&q) != 0 {
			t.Fatal("the kernels in Go find no matching")
		}
		n = k.Transfer(&q)
	} else if n = k.Nearest(&q); n < 0 {
		t.Fatal("the kernels in Go find no matching")
	}
	for _, i := range q.Free(n) {
		if k.Path(&q, int(i)) != 0 {
			t.Fatal("the kernels in Go find no matching")
		}
	}
	copy(column, q.Columns())
}
