package paths

import (
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/problem"
)

// Lists of the pairs that do not cost the common cost find what the kernels of whole rows find.
func TestSparseAgainstRows(t *testing.T) {
	t.Run("float64", testSparse[float64])
	t.Run("float32", testSparse[float32])
	t.Run("int32", testSparse[int32])
	t.Run("int64", testSparse[int64])
}

func testSparse[T problem.Number](t *testing.T) {
	integer := T(1)/2 == 0
	r := rand.New(rand.NewPCG(7, 2))
	var sparse, whole Matcher
	for kind, draw := range map[string]func() float64{
		"uniform":   func() float64 { return r.Float64() * 1e6 },
		"ties":      func() float64 { return float64(r.IntN(4)) },
		"negative":  func() float64 { return float64(r.IntN(2000) - 1000) },
		"near ties": func() float64 { return 1/float64(1+r.IntN(3)) + float64(r.IntN(3))*0x1p-52 },
		"wide":      func() float64 { return math.Ldexp(r.Float64(), r.IntN(24)) },
		"small":     func() float64 { return math.Ldexp(r.Float64(), -r.IntN(60)) },
	} {
		proven, rounds := 0, 120
		for round := range rounds {
			rows, cols := 1+r.IntN(80), 32+r.IntN(80)
			if round%3 == 0 {
				rows = cols
			}
			if round%7 == 0 {
				rows, cols = cols, rows
			}
			common, forbids := []float64{1, 1e6, 2, -3, 500}[round%5], round%4 == 0
			maximize := round%2 == 0
			forbidden := problem.Forbidden[T](maximize)
			costs, column := make([]T, rows*cols), make([]int32, rows)
			for k := range costs {
				switch {
				case forbids:
					costs[k] = forbidden
				case round%6 == 0 && r.IntN(20) == 0:
					costs[k] = forbidden
				default:
					costs[k] = T(common)
				}
			}
			for range r.IntN(5*max(rows, cols) + 1) {
				costs[r.IntN(len(costs))] = T(draw())
			}
			shorter, longer := r.Perm(min(rows, cols)), r.Perm(max(rows, cols))
			for k, i := range shorter {
				j := longer[k]
				if rows > cols {
					i, j = j, i
				}
				if r.IntN(30) > 0 || forbids && r.IntN(3) > 0 {
					costs[i*cols+j] = T(draw())
				}
			}
			scale := []float64{0, 0x1p30}[round%2]
			if integer {
				scale = float64(round % 2)
			}
			if one, ok := usual(costs); !ok || !findSparse(&sparse, rows, cols, costs, one, maximize, scale, column) {
				continue
			}
			proven++
			taken := make([]bool, cols)
			matched := 0
			want := make([]float64, 0, len(column)) // costs of the pairs
			for i, j := range column {
				if j < 0 {
					continue
				}
				c := costs[i*cols+int(j)]
				if taken[j] || c == forbidden {
					t.Fatalf("%s, round %d, %d x %d: row %d has column %d of cost %v", kind, round, rows, cols, i, j, c)
				}
				taken[j] = true
				matched++
				want = append(want, map[bool]float64{false: 1, true: -1}[maximize]*float64(c))
			}
			if matched != min(rows, cols) {
				t.Fatalf("%s, round %d, %d x %d: %d pairs", kind, round, rows, cols, matched)
			}
			found, _ := sum(sparse.own)
			if own, ok := sum(want); !ok || own != found {
				t.Fatalf("%s, round %d, %d x %d: the pairs cost %v, the sum is %v", kind, round, rows, cols, own, found)
			}
			ok := whole.wholeRows(rows, cols, any(costs), maximize, column)
			if best, summed := sum(whole.own); ok && summed && best != found {
				t.Fatalf("%s, round %d, %d x %d: found %v, expected %v", kind, round, rows, cols, found, best)
			}
			units := 0.0 // of the duals, which cost each pair at most its cost
			u, v := sparse.sparse.u, sparse.sparse.v
			for i, x := range u {
				units += float64(x)
				for j, y := range v {
					k := i*cols + j
					if rows > cols {
						k = j*cols + i
					}
					c := costs[k]
					if c == forbidden {
						continue
					}
					cost, _ := lapjv.Units(map[bool]float64{false: 1, true: -1}[maximize]*float64(c), sparse.sparse.scale)
					if x+y > cost {
						t.Fatalf("%s, round %d: duals %d and %d of a cost of %d units", kind, round, x, y, cost)
					}
				}
			}
		}
		t.Logf("%s: proved %d of %d", kind, proven, rounds)
		if proven < 48 && kind != "small" || proven < 24 {
			t.Errorf("%s: proved %d of %d", kind, proven, rounds)
		}
	}
}

// What no list of pairs solves is refused: costs that are no numbers, matrices without a full matching.
func TestSparseRefuses(t *testing.T) {
	inf := math.Inf(1)
	for name, costs := range map[string]func(k int) float64{
		"no number":      func(k int) float64 { return []float64{1, math.NaN()}[k/70/70] },
		"minus infinity": func(k int) float64 { return []float64{1, -inf}[k/70/70] },
		"no matching":    func(int) float64 { return inf },
		"a free column": func(k int) float64 { // all rows have the first two columns alone
			if k%71 < 2 {
				return float64(k % 7)
			}
			return inf
		},
		"a row of forbidden pairs": func(k int) float64 {
			if k < 71 {
				return inf
			}
			return 1
		},
		"too large": func(k int) float64 { return 1e300 + float64(k%100/99) },
	} {
		var s Matcher
		list := make([]float64, 71*71)
		for k := range list {
			list[k] = costs(k)
		}
		one, ok := usual(list)
		if !ok {
			t.Fatalf("%s: no cost is common", name)
		}
		if findSparse(&s, 71, 71, list, one, false, 0, make([]int32, 71)) {
			t.Errorf("%s: found a matching", name)
		}
	}
}

// wholeRows is solve by the kernels of whole rows.
func (s *Matcher) wholeRows(rows, cols int, costs any, maximize bool, column []int32) bool {
	s.Reading = AllPairs
	switch c := costs.(type) {
	case []int32:
		return byKernels(s, rows, cols, c, maximize, 0, column)
	case []int64:
		return byKernels(s, rows, cols, c, maximize, 0, column)
	case []float32:
		return byKernels(s, rows, cols, c, maximize, 0, column)
	}
	return byKernels(s, rows, cols, costs.([]float64), maximize, 0, column)
}

// Squares that forbid most pairs are solved by lists of the others, with duals of all of these.
func TestSomePairs(t *testing.T) {
	someOf(t, func(r *rand.Rand) int32 { return int32(r.IntN(2000) - 1000) })
	someOf(t, func(r *rand.Rand) int32 { return int32(r.IntN(5)) })
	someOf(t, func(r *rand.Rand) float32 { return float32(r.NormFloat64()) })
	someOf(t, func(r *rand.Rand) float64 { return r.Float64() })
	someOf(t, func(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 })
}

func someOf[T int32 | float32 | float64](t *testing.T, draw func(*rand.Rand) T) {
	r := rand.New(rand.NewPCG(7, 7))
	forbidden := problem.Forbidden[T](false)
	var some, whole Matcher
	for round := range 6 {
		n := fewestAllowed() + r.IntN(30)
		costs, column := make([]T, n*n), make([]int32, n)
		for k := range costs {
			costs[k] = forbidden
		}
		pairs := 8 * n
		if round == 5 { // most often without a matching
			pairs = 3 * n
		}
		for range pairs {
			costs[r.IntN(len(costs))] = draw(r)
		}
		if other := r.Perm(n); round < 5 {
			for i, j := range other {
				costs[i*n+j] = draw(r)
			}
		}
		scale := []float64{0, 0x1p30}[round%2]
		if T(1)/2 == 0 {
			scale = float64(round % 2)
		}
		if !forbidsMost(n, n, costs) {
			t.Fatalf("%T, round %d: not taken as forbidding most pairs", forbidden, round)
		}
		found := bySomePairs(&some, n, n, costs, scale, column)
		expected := whole.wholeRows(n, n, any(costs), false, make([]int32, n))
		if found != expected {
			t.Fatalf("%T, round %d: found %t, expected %t", forbidden, round, found, expected)
		}
		if !found {
			continue
		}
		own := make([]float64, n)
		for i, j := range column {
			own[i] = float64(costs[i*n+int(j)])
		}
		x, _ := sum(own)
		if best, _ := sum(whole.own); x != best {
			t.Fatalf("%T, round %d: found %v, expected %v", forbidden, round, x, best)
		}
		if scale == 0 {
			continue
		}
		for i, u := range some.u {
			for j, v := range some.v {
				c, _ := lapjv.Units(float64(costs[i*n+j]), scale)
				if at := costs[i*n+j]; at != forbidden && u+v > c || int32(j) == column[i] && u+v != c {
					t.Fatalf("%T, round %d: duals %d and %d of a cost of %d units", forbidden, round, u, v, c)
				}
			}
		}
	}
}
