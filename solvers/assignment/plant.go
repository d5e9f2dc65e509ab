package assignment

import (
	"coalesce/solvers/cores"
)

// A planted problem is made round its solution: costs are u + v, and more off
// the matching.
type planted struct {
	*normal
	sol   *solution
	wrong bool // the solution was spoiled
}

func (p *planted) Size() int { return p.cols }

// plant draws duals, a matching and costs for which they are optimal. A fifth
// of the pairs off the matching is forbidden. With a limit, every third row is
// unmatched.
func plant(value Value, rows, cols int, maximize, limited bool, seed uint64) *planted {
	const limit, grain = 600, 8
	d := &Drawing{Rows: rows, Cols: cols, Seed: seed}
	perm := d.order(1, cols, true)
	draw := func(stream, number, n int) int64 { return int64(d.stream(uint64(stream), uint64(number)) % uint64(n)) }
	p := &planted{sol: &solution{column: make([]int32, rows), duals: duals{u: make([]int64, rows), v: make([]int64, cols)}}}
	for i := range rows {
		p.sol.u[i] = draw(2, i, 1000) - 500
		p.sol.column[i] = int32(perm[i])
		if limited && i%3 == 2 {
			p.sol.u[i], p.sol.column[i] = limit, -1
			continue
		}
		v := -draw(3, i, 300)
		if rows == cols && !limited {
			v += 150
		}
		p.sol.v[perm[i]] = v
	}
	p.normal = &normal{rows: rows, cols: cols, exact: true, limit: far, scale: 1, inst: &Instance{Rows: rows, Cols: cols, Type: value, Maximize: maximize, Source: "planted"}}
	if limited {
		p.limit = limit
	}
	if !value.Integer() {
		p.scale = grain
	}
	if maximize {
		p.scale = -p.scale
	}
	switch value {
	case Int32:
		setCosts(p.inst, plantCosts[int32](p, seed))
	case Int64:
		setCosts(p.inst, plantCosts[int64](p, seed))
	case Float32:
		setCosts(p.inst, plantCosts[float32](p, seed))
	case Float64:
		setCosts(p.inst, plantCosts[float64](p, seed))
	}
	return p
}

func plantCosts[T Number](p *planted, seed uint64) []T {
	costs := make([]T, p.rows*p.cols)
	cores.Split(p.rows, max(1, 1<<12/max(1, p.cols)), func(low, high int) {
		for k := low * p.cols; k < high*p.cols; k++ {
			i, j, h := k/p.cols, k%p.cols, splitmix64(seed^uint64(k+1))
			c := p.sol.u[i] + p.sol.v[j]
			switch {
			case p.sol.column[i] == int32(j):
			case h%5 == 0:
				costs[k] = Forbidden[T](p.inst.Maximize)
				continue
			default:
				c += int64(h >> 62)
			}
			costs[k] = T(float64(c) / p.scale)
		}
	})
	return costs
}

// free is the first column that no row has, -1 when there is none.
func (p *planted) free() int {
	taken := map[int32]bool{}
	for _, j := range p.sol.column {
		taken[j] = true
	}
	for j := range p.cols {
		if !taken[int32(j)] {
			return j
		}
	}
	return -1
}
