// Package reference solves a problem in the plainest way that is right: shortest
// augmenting paths, one row after the other. Tests compare all other algorithms with it.
package reference

import (
	"context"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Solve solves p by shortest augmenting paths, row by row, in the plainest
// Go that is right (Jonker and Volgenant 1987 without their initialisation;
// Crouse 2016). start, where it is not nil, holds feasible duals to begin
// from. It takes time in the cube of the columns and memory in their square.
//
// A problem in which not every column gets matched is made square first: rows
// of zero cost stand for columns left unmatched and, with a limit, a column of
// its own for each row left unmatched.
func Solve(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
	return SolveUntil(context.Background(), p, start, engine.Telling{})
}

// SolveUntil is Solve that ctx ends between rows, without a matching, and that tells how many rows are matched.
func SolveUntil(ctx context.Context, p *problem.Normal, start *problem.Prices, tell engine.Telling) (*engine.Solution, error) {
	s := squareOf(p, start)
	for row := range s.n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tell.Matched(min(row, p.Rows))
		if tree := s.augment(row); tree != nil {
			return nil, &engine.Infeasible{Rows: tree}
		}
	}
	return s.solution(p), nil
}

// A square is a problem whose rows and columns all get matched.
type square struct {
	n        int
	cost     [][]int64 // n x n, problem.Infinity where forbidden
	u, v     []int64
	rowOf    []int // of a column, -1: free
	columnOf []int // of a row
	counts   engine.Counts
}

func squareOf(p *problem.Normal, start *problem.Prices) *square {
	n := p.Cols
	if p.Limit != problem.Infinity {
		n = p.Rows + p.Cols
	}
	s := &square{n: n, u: make([]int64, n), v: make([]int64, n), rowOf: make([]int, n), columnOf: make([]int, n)}
	s.cost = make([][]int64, n)
	for i := range n {
		s.rowOf[i], s.columnOf[i] = -1, -1
		s.cost[i] = make([]int64, n)
		if i >= p.Rows {
			continue
		}
		p.Row(i, s.cost[i][:p.Cols])
		for j := p.Cols; j < n; j++ {
			s.cost[i][j] = problem.Infinity
		}
		if p.Limit != problem.Infinity {
			s.cost[i][p.Cols+i] = p.Limit
		}
	}
	if start != nil {
		copy(s.u, start.U)
		copy(s.v, start.V)
	}
	for i := range n {
		if start == nil || i >= p.Rows {
			s.u[i] = problem.Infinity
			for j, c := range s.cost[i] {
				s.u[i] = min(s.u[i], c-s.v[j])
			}
		}
	}
	return s
}

// augment matches a free row along a shortest path of reduced costs to a free
// column. If there is none it returns the rows it reached: their allowed
// columns are the matched ones of all but the first of them.
func (s *square) augment(root int) []int32 {
	n := s.n
	dist := slices.Repeat([]int64{problem.Infinity}, n) // of columns: length of the shortest path found
	from := make([]int, n)                              // the row before the column on it
	done := make([]bool, n)
	rows := []int{root}
	depth := []int64{0} // of rows: length of the shortest path
	end := -1
	for end < 0 {
		i, d := rows[len(rows)-1], depth[len(rows)-1]
		best := -1
		for j, c := range s.cost[i] {
			if done[j] {
				continue
			}
			if c != problem.Infinity && d+c-s.u[i]-s.v[j] < dist[j] {
				dist[j], from[j] = d+c-s.u[i]-s.v[j], i
			}
			if dist[j] < problem.Infinity && (best < 0 || dist[j] < dist[best] || dist[j] == dist[best] && s.rowOf[j] < 0) {
				best = j
			}
		}
		s.counts.Steps++
		if best < 0 {
			tree := make([]int32, len(rows))
			for k, i := range rows {
				tree[k] = int32(i)
			}
			return tree
		}
		done[best] = true
		if s.rowOf[best] < 0 {
			end = best
			break
		}
		rows = append(rows, s.rowOf[best])
		depth = append(depth, dist[best])
	}
	length := dist[end]
	for k, i := range rows {
		s.u[i] += length - depth[k]
		if k > 0 {
			s.v[s.columnOf[i]] -= length - depth[k]
		}
	}
	for j, i := end, root+n; i != root; {
		i = from[j]
		s.rowOf[j] = i
		j, s.columnOf[i] = s.columnOf[i], j
	}
	s.counts.Phases++
	s.counts.Paths++
	if length > 0 {
		s.counts.Updates++
	}
	return nil
}

// solution leaves the added rows and columns out. The added rows are alike and
// so have one dual; it becomes zero.
func (s *square) solution(p *problem.Normal) *engine.Solution {
	shift := int64(0)
	if s.n > p.Rows {
		shift = s.u[p.Rows]
	}
	out := &engine.Solution{Column: make([]int32, p.Rows), Counts: s.counts}
	out.Counts.Passes = float64(s.counts.Steps) / float64(max(1, p.Rows))
	for i := range p.Rows {
		out.Column[i] = -1
		if j := s.columnOf[i]; j < p.Cols {
			out.Column[i] = int32(j)
		}
		out.U = append(out.U, s.u[i]-shift)
	}
	for j := range p.Cols {
		out.V = append(out.V, s.v[j]+shift)
	}
	return out
}
