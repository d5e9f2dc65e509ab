package paths

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/host/kernels/assignment/lapjv"
)

// draws are kinds of costs.
var draws = map[string]func(r *rand.Rand, i, j int) float64{
	"uniform":  func(r *rand.Rand, _, _ int) float64 { return r.Float64() },
	"integers": func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(1000) - 500) },
	"few":      func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(4)) },
	"constant": func(r *rand.Rand, _, _ int) float64 {
		if r.IntN(8) == 0 {
			return r.Float64()
		}
		return 1
	},
	"forbidden": func(r *rand.Rand, i, j int) float64 {
		if i != j && r.IntN(3) > 0 {
			return math.Inf(1)
		}
		return r.Float64()
	},
	"near ties": func(r *rand.Rand, _, _ int) float64 { return 1/float64(1+r.IntN(3)) + float64(r.IntN(3))*0x1p-52 },
	"rank one":  func(r *rand.Rand, i, j int) float64 { return math.Sqrt(float64(i+1)) * math.Sqrt(float64(2*j+1)) },
}

// Lists of near pairs find what whole rows find.
func TestListsAgainstRows(t *testing.T) {
	t.Run("float64", testLists[float64])
	t.Run("float32", testLists[float32])
	t.Run("int32", testLists[int32])
}

func testLists[T lapjv.Cost](t *testing.T) {
	_, integer := any(T(0)).(int32)
	var lists, whole Matcher
	for kind, draw := range draws {
		if integer && (kind == "uniform" || kind == "forbidden" || kind == "constant") {
			continue
		}
		r := rand.New(rand.NewPCG(3, 3))
		undecided := 0
		for round := range 150 {
			rows := 2 + r.IntN(60)
			if round%50 == 0 {
				rows += 300
			}
			cols := rows
			if round%2 == 1 {
				cols += r.IntN(rows)
			}
			costs := make([]T, rows*cols)
			for k := range costs {
				costs[k] = T(draw(r, k/cols, k%cols))
			}
			found, ok := matched(&lists, rows, cols, costs, integer, true)
			want, decided := matched(&whole, rows, cols, costs, integer, false)
			if ok && decided && found != want {
				t.Fatalf("%s, round %d, %d x %d: found %v, expected %v", kind, round, rows, cols, found, want)
			}
			if !ok || !decided {
				undecided++
				continue
			}
			taken := make([]bool, cols)
			for i, j := range lists.search.Columns() {
				if taken[j] || float64(costs[i*cols+int(j)]) != lists.own[i] {
					t.Fatalf("%s, round %d: row %d has column %d", kind, round, i, j)
				}
				taken[j] = true
			}
			u, v := lists.search.Duals()
			_, scale, _ := lists.search.Slack()
			for k, c := range costs {
				if x, _ := lapjv.Units(float64(c), scale); u[k/cols]+v[k%cols] > x {
					t.Fatalf("%s, round %d: duals %d and %d of a cost of %d units", kind, round, u[k/cols], v[k%cols], x)
				}
			}
		}
		t.Logf("%s: %d undecided", kind, undecided)
		if undecided > 0 {
			t.Errorf("%s: %d undecided", kind, undecided)
		}
	}
}

// The kernel for few columns finds what the others find, and says so of most matrices that have one best matching.
func TestSmallAgainstRows(t *testing.T) {
	if lapjv.SmallColumns == 0 {
		t.Skip("needs AVX2")
	}
	t.Run("float64", testSmall[float64])
	t.Run("float32", testSmall[float32])
}

func testSmall[T float32 | float64](t *testing.T) {
	var small, whole Matcher
	for kind, draw := range draws {
		r := rand.New(rand.NewPCG(5, 6))
		proven := 0
		for round := range 600 {
			rows, cols := 1+r.IntN(lapjv.SmallColumns), 1+r.IntN(lapjv.SmallColumns)
			if round%2 == 0 || kind == "forbidden" {
				cols = rows
			}
			maximize := round%5 == 0 && kind != "forbidden"
			costs, column := make([]T, rows*cols), make([]int32, rows)
			for k := range costs {
				costs[k] = T(draw(r, k/cols, k%cols))
			}
			if !findSmall(&small, rows, cols, costs, maximize, column) {
				continue
			}
			proven++
			found, _ := sum(small.own)
			if !solve(&whole, rows, cols, costs, maximize, 0, column) {
				t.Fatalf("%s, round %d, %d x %d: the kernels of whole rows do not decide", kind, round, rows, cols)
			}
			if want, _ := sum(whole.own); found != want {
				t.Fatalf("%s, round %d, %d x %d: found %v, expected %v", kind, round, rows, cols, found, want)
			}
		}
		t.Logf("%s: proved %d of 600", kind, proven)
		if proven < 200 && kind != "rank one" && kind != "near ties" {
			t.Errorf("%s: proved %d of 600", kind, proven)
		}
	}
}

// matched is the sum of a match.
func matched[T lapjv.Cost](s *Matcher, rows, cols int, costs []T, integer, listed bool) (float64, bool) {
	if !match(s, rows, cols, costs, integer, listed, 0) {
		return 0, false
	}
	return sum(s.own)
}

// A sum is rounded once.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	decided := 0
	for range 3000 {
		list := make([]float64, 1+r.IntN(30))
		exact := new(big.Float).SetPrec(4096)
		for k := range list {
			list[k] = (r.Float64() - 0.4) * math.Ldexp(1, r.IntN(40)-20)
			if r.IntN(3) == 0 && k > 0 {
				list[k] = -list[k-1] * (1 + float64(r.IntN(3))*0x1p-52)
			}
			exact.Add(exact, new(big.Float).SetFloat64(list[k]))
		}
		want, _ := exact.Float64()
		found, ok := sum(list)
		if ok {
			decided++
		}
		if ok && found != want {
			t.Fatalf("%v: found %v, expected %v", list, found, want)
		}
	}
	if decided < 2900 {
		t.Errorf("%d of 3000 sums were decided", decided)
	}
	for _, list := range [][]float64{{1e300, 1}, {1, 0x1p-130}, {5e-324}, {1e308, 1e308}} {
		if found, ok := sum(list); ok && math.IsInf(found, 0) {
			t.Errorf("%v: found %v", list, found)
		}
	}
}
