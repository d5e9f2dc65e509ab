package paths

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/runtime/host/kernels/assignment/lapjv"
)

// drawCosts are costs of the kinds of bench/assignment/small.py.
func drawCosts(r *rand.Rand, kind string, rows, cols int) []float64 {
	costs := make([]float64, rows*cols)
	switch kind {
	case "uniform":
		for k := range costs {
			costs[k] = r.Float64()
		}
		return costs
	case "plane":
		var at [2][][2]float64
		for side, n := range []int{rows, cols} {
			for range n {
				at[side] = append(at[side], [2]float64{r.Float64(), r.Float64()})
			}
		}
		for k := range costs {
			a, b := at[0][k/cols], at[1][k%cols]
			costs[k] = math.Hypot(a[0]-b[0], a[1]-b[1])
		}
		return costs
	}
	most, pairs := math.Inf(1), 8
	if kind == "tracker" {
		most, pairs = 1, 3
	}
	for k := range costs {
		costs[k] = most
	}
	for range pairs * rows {
		costs[r.IntN(len(costs))] = r.Float64()
	}
	other := r.Perm(cols)
	for i, row := range r.Perm(rows)[:min(rows, cols)] {
		costs[row*cols+other[i]] = 0.3 * r.Float64()
	}
	return costs
}

// The share of Match's time that the check takes, with all that decides; where the kernel for few columns solves, which checks as it goes,
// the time of the check otherwise as a share of its time. scripts/assignment-small runs it.
func BenchmarkCertificate(b *testing.B) {
	squares := []int{2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000}
	var shapes [][2]int
	for _, n := range squares {
		shapes = append(shapes, [2]int{n, n})
	}
	wide := [][2]int{{20, 30}, {30, 120}, {30, 300}, {10, 1000}, {50, 200}, {100, 400}, {200, 2000}, {100, 10000}}
	for _, s := range wide {
		wide = append(wide, [2]int{s[1], s[0]})
	}
	for _, kind := range []string{"uniform", "plane", "tracker", "forbidden"} {
		for _, s := range slices.Concat(shapes, wide) {
			if kind != "uniform" && s[0] != s[1] {
				continue
			}
			costs := drawCosts(rand.New(rand.NewPCG(1, uint64(s[0]*s[1]))), kind, s[0], s[1])
			single, whole := make([]float32, len(costs)), make([]int32, len(costs))
			for k, c := range costs {
				if single[k] = float32(c); !math.IsInf(c, 0) {
					whole[k] = int32(c * 1e6)
				}
			}
			b.Run(fmt.Sprintf("%s/float64/%dx%d", kind, s[0], s[1]), func(b *testing.B) { shareOfCheck(b, s, costs) })
			if kind == "uniform" {
				b.Run(fmt.Sprintf("%s/float32/%dx%d", kind, s[0], s[1]), func(b *testing.B) { shareOfCheck(b, s, single) })
			}
			if (kind == "uniform" || kind == "tracker") && s[0] == s[1] {
				b.Run(fmt.Sprintf("%s/int32/%dx%d", kind, s[0], s[1]), func(b *testing.B) { shareOfCheck(b, s, whole) })
			}
		}
	}
}

// shareOfCheck reports the share by the least times of rounds by turns.
func shareOfCheck[T lapjv.Cost](b *testing.B, shape [2]int, costs []T) {
	const whole, others, unchecked = 0, 1, 2 // Match, it without the kernel for few columns, and that without the check
	var matchers [3]Matcher
	matchers[unchecked].unchecked = true
	column := make([]int32, shape[0])
	least := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for b.Loop() {
		for k := range matchers {
			s, times := &matchers[k], max(1, 20000/len(costs))
			began := time.Now()
			for range times {
				ok := false
				if k == whole {
					_, ok = Match(s, shape[0], shape[1], costs, false, column)
				} else {
					ok = solve(s, shape[0], shape[1], costs, false, 0, column)
					s.search.Close()
				}
				if !ok {
					b.Skip("these costs need another solver")
				}
			}
			least[k] = min(least[k], time.Since(began).Seconds())
		}
	}
	b.ReportMetric(min(1, max(0, (least[others]-least[unchecked])/least[whole])), "share")
}
