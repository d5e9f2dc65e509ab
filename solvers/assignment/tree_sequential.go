package assignment

import (
	"context"
	"fmt"
	"math"
)

// sequentialTree is the alternating tree method of the type tree in plain Go
// on one processor: what the paper's speed-ups are held against. It takes the
// same steps in the same order, without a limit.
func sequentialTree(ctx context.Context, p *normal, start *duals) (*solution, error) {
	if p.limit != far || p.rows > p.cols {
		return nil, fmt.Errorf("sequential tree: %d x %d pairs with limit %d: expected no more rows than columns, without a limit", p.rows, p.cols, p.limit)
	}
	f := &forest{
		p:      p,
		sol:    &solution{column: make([]int32, p.rows), duals: duals{make([]int64, p.rows), make([]int64, p.cols)}},
		row:    make([]int32, p.cols),
		slack:  make([]int64, p.cols),
		parent: make([]int32, p.cols),
		state:  make([]int8, p.cols),
		root:   make([]int32, p.rows),
		won:    make([]int32, p.rows),
		joined: make([]int64, p.rows),
		costs:  make([]int64, p.cols),
	}
	if start != nil && p.rows == p.cols {
		copy(f.sol.v, start.v)
	}
	f.reduce()
	free := f.match()
	for len(free) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.grow(free); err != nil {
			return nil, err
		}
		free = f.augment(free)
	}
	f.sol.counts.Passes /= math.Max(1, float64(p.rows))
	return f.sol, nil
}

// A forest is a search from all free rows. Slacks are relative to sum, the
// dual updates of the phase.
type forest struct {
	p      *normal
	sol    *solution
	row    []int32 // of a column, -1: free
	slack  []int64 // of a column, plus the dual updates of the phase so far
	parent []int32 // row that gave it
	state  []int8  // of a column: outside, inside or an end
	root   []int32 // of a row
	won    []int32 // column that the tree of a free row reached, -1: none
	joined []int64 // dual updates made when a row joined
	sum    int64
	inside []int32 // columns
	costs  []int64 // one row
}

const (
	stateOutside = iota
	stateInside
	stateEnd
)

const noSlack = math.MaxInt64

// scan returns the costs of a row and counts it.
func (f *forest) scan(i int32) []int64 {
	f.sol.counts.Passes++
	return f.p.row(int(i), f.costs)
}

// reduce takes the row minima, then, where all columns get matched, the column
// minima.
func (f *forest) reduce() {
	u, v := f.sol.u, f.sol.v
	for i := range u {
		u[i] = noSlack
		for j, c := range f.scan(int32(i)) {
			if c != far {
				u[i] = min(u[i], c-v[j])
			}
		}
		if u[i] == noSlack {
			u[i] = 0
		}
	}
	if f.p.rows < f.p.cols {
		return
	}
	least := f.slack
	for j := range least {
		least[j] = noSlack
	}
	for i := range u {
		for j, c := range f.scan(int32(i)) {
			if c != far {
				least[j] = min(least[j], c-u[i])
			}
		}
	}
	for j, x := range least {
		if x != noSlack {
			v[j] = x
		}
	}
}

// match takes zeros greedily and returns the rows still free.
func (f *forest) match() (free []int32) {
	for j := range f.row {
		f.row[j] = -1
	}
	for i := range f.sol.column {
		f.sol.column[i] = -1
		for j, c := range f.scan(int32(i)) {
			if c != far && c == f.sol.u[i]+f.sol.v[j] && f.row[j] < 0 {
				f.sol.column[i], f.row[j] = int32(j), int32(i)
				break
			}
		}
		if f.sol.column[i] < 0 {
			free = append(free, int32(i))
		}
	}
	return free
}

// grow searches from the free rows, breadth first, with a dual update whenever
// it comes to an end, until columns are reached that are free.
func (f *forest) grow(free []int32) error {
	for j := range f.slack {
		f.slack[j], f.state[j] = noSlack, stateOutside
	}
	f.sum, f.inside = 0, f.inside[:0]
	for _, i := range free {
		f.root[i], f.won[i], f.joined[i] = i, -1, 0
	}
	f.sol.counts.Phases++
	frontier, paths := free, 0
	for {
		f.sol.counts.Steps++
		for _, i := range frontier {
			key := f.joined[i] - f.sol.u[i]
			for j, c := range f.scan(i) {
				if c != far && c+key-f.sol.v[j] < f.slack[j] {
					f.slack[j], f.parent[j] = c+key-f.sol.v[j], i
				}
			}
		}
		frontier = nil
		least := int64(noSlack)
		for j, x := range f.slack {
			switch {
			case f.state[j] != stateOutside:
			case x > f.sum:
				least = min(least, x)
			case f.row[j] < 0:
				f.state[j] = stateEnd
				if root := f.root[f.parent[j]]; f.won[root] < 0 {
					f.won[root] = int32(j)
					paths++
				}
			default:
				f.state[j] = stateInside
				f.inside = append(f.inside, int32(j))
				i := f.row[j]
				f.root[i], f.joined[i] = f.root[f.parent[j]], f.sum
				if f.won[f.root[i]] < 0 {
					frontier = append(frontier, i)
				}
			}
		}
		switch {
		case len(frontier) > 0:
		case paths > 0:
			f.sol.counts.Paths += int64(paths)
			return nil
		case least == noSlack:
			e := &infeasible{rows: free}
			for _, j := range f.inside {
				e.rows = append(e.rows, f.row[j])
			}
			return e
		default:
			f.sum = least
			f.sol.counts.Updates++
		}
	}
}

// augment applies the dual updates of the phase and the paths that won, and
// returns the rows still free.
func (f *forest) augment(free []int32) (left []int32) {
	for _, j := range f.inside {
		i := f.row[j]
		f.sol.v[j] -= f.sum - f.joined[i]
		f.sol.u[i] += f.sum - f.joined[i]
	}
	for _, i := range free {
		f.sol.u[i] += f.sum
		if f.won[i] < 0 {
			left = append(left, i)
			continue
		}
		for j := f.won[i]; j >= 0; {
			row := f.parent[j]
			before := f.sol.column[row]
			f.sol.column[row], f.row[j] = j, row
			j = before
		}
	}
	return left
}
