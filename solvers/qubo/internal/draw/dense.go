package draw

import (
	"runtime"
	"slices"

	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// Dense draws a problem of n variables on all cores: pair is the weight between two variables, 0 for
// none, and depends on both alike, single is the weight of one. All cores call both at once.
func Dense(n int, pair func(i, j int) int64, single func(i int) int64) *problem.Normal {
	p := &problem.Normal{N: n, Start: make([]int64, n+1), Diag: make([]int64, n), Sense: 1, Exact: true}
	type rows struct {
		first, last int
		col         []int32
		weight      []int64
	}
	parts := make([]rows, max(1, min(runtime.GOMAXPROCS(0), n/problem.RowsPerCore(n))))
	cores.Pieces(len(parts), func(k int) {
		part := rows{first: n * k / len(parts), last: n * (k + 1) / len(parts)}
		for i := part.first; i < part.last; i++ {
			p.Diag[i] = single(i)
			for j := range n {
				if i == j {
					continue
				}
				if w := pair(i, j); w != 0 {
					part.col, part.weight = append(part.col, int32(j)), append(part.weight, w)
				}
			}
			p.Start[i+1] = int64(len(part.col)) // within the part
			if i == part.first {                // other rows have about as many weights
				room := (len(part.col) + len(part.col)/16 + 16) * (part.last - part.first)
				part.col, part.weight = slices.Grow(part.col, room), slices.Grow(part.weight, room)
			}
		}
		parts[k] = part
	})
	before := make([]int64, len(parts)+1)
	for k, part := range parts {
		before[k+1] = before[k] + int64(len(part.col))
	}
	p.Col, p.Weight = make([]int32, before[len(parts)]), make([]int64, before[len(parts)])
	cores.Pieces(len(parts), func(k int) {
		part := &parts[k]
		copy(p.Col[before[k]:], part.col)
		copy(p.Weight[before[k]:], part.weight)
		for i := part.first; i < part.last; i++ {
			p.Start[i+1] += before[k]
		}
	})
	spans := p.Spans()
	p.Known = &spans
	return p
}
