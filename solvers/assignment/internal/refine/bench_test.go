package refine

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/problem"
)

// Near pairs of ordinary costs, one a row, have no cycle: this is what every solve of floats pays.
func BenchmarkAcyclic(b *testing.B) {
	const n = 20000
	r := rand.New(rand.NewPCG(1, 2))
	column := make([]int32, n)
	for i, j := range r.Perm(n) {
		column[i] = int32(j)
	}
	order := r.Perm(n)
	var near []problem.Pair
	for k := 1; k < n; k++ {
		near = append(near, problem.Pair{Row: int32(order[k]), Col: column[order[r.IntN(k)]]})
	}
	r.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
	p := &problem.Normal{Rows: n, Cols: n, Limit: problem.Infinity}
	v := make([]int64, n)
	for b.Loop() {
		if !HasNoCycle(column, v, near, int64(p.Rows)) {
			b.Fatal("found a cycle")
		}
	}
}
