package hungarian

import (
	"context"
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

const noSlack = math.MaxInt64

// A sequential is the state that both methods in plain Go share: the problem, the matching and the
// duals.
type sequential struct {
	p     *problem.Normal
	sol   *engine.Solution
	row   []int32 // of a column, -1: free
	costs []int64 // one row
	done  int     // rows matched before this search
	engine.Reporter
}

// newSequential begins with nothing matched and duals of zero.
func newSequential(name string, p *problem.Normal, tell engine.Reporter) (sequential, error) {
	if p.Limit != problem.Infinity || p.Rows > p.Cols {
		return sequential{}, fmt.Errorf("sequential %s: %d x %d pairs with limit %d: expected no more rows than columns, without a limit", name, p.Rows, p.Cols, p.Limit)
	}
	s := sequential{
		p:     p,
		sol:   &engine.Solution{Column: slices.Repeat([]int32{-1}, p.Rows), Prices: problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}},
		row:   slices.Repeat([]int32{-1}, p.Cols),
		costs: make([]int64, p.Cols),

		Reporter: tell,
	}
	return s, nil
}

// scanRow returns the costs of a row and counts it.
func (s *sequential) scanRow(i int32) []int64 {
	s.sol.Counts.Passes++
	return s.p.Row(int(i), s.costs)
}

// runPhases searches from the free rows and augments until no row is free. Searches tell, a step at a time, how
// many rows are matched before them.
func (s *sequential) runPhases(ctx context.Context, free []int32, search func([]int32) error, augment func([]int32) []int32) (*engine.Solution, error) {
	for len(free) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.done = s.p.Rows - len(free)
		if err := search(free); err != nil {
			return nil, err
		}
		free = augment(free)
	}
	s.sol.Counts.Passes /= float64(max(1, s.p.Rows))
	return s.sol, nil
}

// flipPath matches the columns of a path, from its end j to its root, each to the row that
// reached it.
func (s *sequential) flipPath(j int32, by []int32) {
	for j >= 0 {
		row := by[j]
		before := s.sol.Column[row]
		s.sol.Column[row], s.row[j] = j, row
		j = before
	}
}
