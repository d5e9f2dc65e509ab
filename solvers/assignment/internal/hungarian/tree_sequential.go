package hungarian

import (
	"context"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// SequentialTree is the alternating tree method of the type tree in plain Go on one processor, the
// baseline of the paper's speed-ups. It takes the same steps in the same order, without a limit.
func SequentialTree(ctx context.Context, p *problem.Normal, start *problem.Prices, tell engine.Reporter) (*engine.Solution, error) {
	s, err := newSequential("tree", p, tell)
	if err != nil {
		return nil, err
	}
	f := &forest{sequential: s, slack: make([]int64, p.Cols), parent: make([]int32, p.Cols), state: make([]int8, p.Cols),
		root: make([]int32, p.Rows), won: make([]int32, p.Rows), joined: make([]int64, p.Rows)}
	if start != nil && p.Rows == p.Cols {
		copy(f.sol.V, start.V)
	}
	f.reduce()
	return f.runPhases(ctx, f.match(), f.grow, f.augment)
}

// A forest is a search from all free rows. Slacks are relative to sum, the
// dual updates of the phase.
type forest struct {
	sequential
	slack  []int64 // of a column, plus the dual updates of the phase so far
	parent []int32 // row that gave it
	state  []int8  // of a column: outside, inside or an end
	root   []int32 // of a row
	won    []int32 // column that the tree of a free row reached, -1: none
	joined []int64 // dual updates made when a row joined
	sum    int64
	inside []int32 // columns
}

const (
	stateOutside = iota
	stateInside
	stateEnd
)

// reduce takes the row minima, then, where all columns get matched, the column
// minima.
func (f *forest) reduce() {
	u, v := f.sol.U, f.sol.V
	for i := range u {
		u[i] = noSlack
		for j, c := range f.scanRow(int32(i)) {
			if c != problem.Infinity {
				u[i] = min(u[i], c-v[j])
			}
		}
		if u[i] == noSlack {
			u[i] = 0
		}
	}
	if f.p.Rows < f.p.Cols {
		return
	}
	least := f.slack
	for j := range least {
		least[j] = noSlack
	}
	for i := range u {
		for j, c := range f.scanRow(int32(i)) {
			if c != problem.Infinity {
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
	for i := range f.sol.Column {
		for j, c := range f.scanRow(int32(i)) {
			if c != problem.Infinity && c == f.sol.U[i]+f.sol.V[j] && f.row[j] < 0 {
				f.sol.Column[i], f.row[j] = int32(j), int32(i)
				break
			}
		}
		if f.sol.Column[i] < 0 {
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
	f.sol.Counts.Phases++
	frontier, paths := free, 0
	for {
		f.ReportMatched(f.done)
		f.sol.Counts.Steps++
		for _, i := range frontier {
			key := f.joined[i] - f.sol.U[i]
			for j, c := range f.scanRow(i) {
				if c != problem.Infinity && c+key-f.sol.V[j] < f.slack[j] {
					f.slack[j], f.parent[j] = c+key-f.sol.V[j], i
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
			f.sol.Counts.Paths += int64(paths)
			return nil
		case least == noSlack:
			e := &engine.Infeasible{Rows: free}
			for _, j := range f.inside {
				e.Rows = append(e.Rows, f.row[j])
			}
			return e
		default:
			f.sum = least
			f.sol.Counts.Updates++
		}
	}
}

// augment applies the dual updates of the phase and the paths that won, and
// returns the rows still free.
func (f *forest) augment(free []int32) (left []int32) {
	for _, j := range f.inside {
		i := f.row[j]
		f.sol.V[j] -= f.sum - f.joined[i]
		f.sol.U[i] += f.sum - f.joined[i]
	}
	for _, i := range free {
		f.sol.U[i] += f.sum
		if f.won[i] < 0 {
			left = append(left, i)
			continue
		}
		f.flipPath(f.won[i], f.parent)
	}
	return left
}
