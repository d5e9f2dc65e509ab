package draw

import (
	"fmt"
	"math/rand/v2"

	"coalesce/solvers/assignment/problem"
)

// ScatterPoints draws points: coordinates from 0 to width, whole where floor is "on".
func ScatterPoints(metric, floor string, rows, cols, dim int, width float64, seed uint64) *problem.Instance {
	r := rand.New(rand.NewPCG(seed, 11))
	draw := func(n int) []float64 {
		list := make([]float64, n*dim)
		for k := range list {
			list[k] = width * r.Float64()
			if floor == "on" {
				list[k] = float64(int(list[k]))
			}
		}
		return list
	}
	q := &problem.Points{Dim: dim, Row: draw(rows), Col: draw(cols), Metric: problem.Metric(metric), Floor: floor == "on"}
	inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, Points: q, Source: fmt.Sprintf("points, seed %d", seed)}
	if q.Floor {
		inst.Type = problem.Int64
	}
	return inst
}
