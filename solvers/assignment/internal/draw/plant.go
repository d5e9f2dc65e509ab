package draw

import (
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// A Planted problem is made round its solution: costs are u + v, and more off
// the matching.
type Planted struct {
	*problem.Normal
	Solution *engine.Solution
	Wrong    bool // the solution was spoiled
}

// Size is the longer side.
func (p *Planted) Size() int { return p.Cols }

// DrawPlanted draws duals, a matching and costs for which they are optimal. A fifth
// of the pairs off the matching is forbidden. With a limit, every third row is
// unmatched.
func DrawPlanted(value problem.Value, rows, cols int, maximize, limited bool, seed uint64) *Planted {
	const limit, grain = 600, 8
	d := &Drawing{Rows: rows, Cols: cols, Seed: seed}
	perm := d.permutation(1, cols, true)
	draw := func(stream, number, n int) int64 {
		return int64(d.streamHash(uint64(stream), uint64(number)) % uint64(n))
	}
	p := &Planted{Solution: &engine.Solution{Column: make([]int32, rows), Prices: problem.Prices{U: make([]int64, rows), V: make([]int64, cols)}}}
	for i := range rows {
		p.Solution.U[i] = draw(2, i, 1000) - 500
		p.Solution.Column[i] = int32(perm[i])
		if limited && i%3 == 2 {
			p.Solution.U[i], p.Solution.Column[i] = limit, -1
			continue
		}
		v := -draw(3, i, 300)
		if rows == cols && !limited {
			v += 150
		}
		p.Solution.V[perm[i]] = v
	}
	p.Normal = &problem.Normal{Rows: rows, Cols: cols, Exact: true, Limit: problem.Infinity, Scale: 1, Instance: &problem.Instance{Rows: rows, Cols: cols, Type: value, Maximize: maximize, Source: "planted"}}
	if limited {
		p.Limit = limit
	}
	if !value.Integer() {
		p.Scale = grain
	}
	if maximize {
		p.Scale = -p.Scale
	}
	switch value {
	case problem.Int32:
		problem.SetCosts(p.Instance, plantCosts[int32](p, seed))
	case problem.Int64:
		problem.SetCosts(p.Instance, plantCosts[int64](p, seed))
	case problem.Float32:
		problem.SetCosts(p.Instance, plantCosts[float32](p, seed))
	case problem.Float64:
		problem.SetCosts(p.Instance, plantCosts[float64](p, seed))
	}
	return p
}

func plantCosts[T problem.Number](p *Planted, seed uint64) []T {
	costs := make([]T, p.Rows*p.Cols)
	cores.Split(p.Rows, max(1, 1<<12/max(1, p.Cols)), func(low, high int) {
		for k := low * p.Cols; k < high*p.Cols; k++ {
			i, j, h := k/p.Cols, k%p.Cols, SplitMix64(seed^uint64(k+1))
			c := p.Solution.U[i] + p.Solution.V[j]
			switch {
			case p.Solution.Column[i] == int32(j):
			case h%5 == 0:
				costs[k] = problem.Forbidden[T](p.Instance.Maximize)
				continue
			default:
				c += int64(h >> 62)
			}
			costs[k] = T(float64(c) / p.Scale)
		}
	})
	return costs
}

// FreeColumn is the first column without a row, -1 where every column has one.
func (p *Planted) FreeColumn() int {
	taken := map[int32]bool{}
	for _, j := range p.Solution.Column {
		taken[j] = true
	}
	for j := range p.Cols {
		if !taken[int32(j)] {
			return j
		}
	}
	return -1
}
