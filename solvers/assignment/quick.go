package assignment

import (
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
)

// A Quick solves small dense instances, one after the other, on the goroutine that asks
// and in memory that it keeps: what Solve does besides takes longer than a small solve.
// It belongs to one goroutine at a time; the zero value is ready.
type Quick struct {
	space  paths.Space
	column []int32
}

// Solve is a matching of the least cost, its duals and the certificate of both, in q's
// memory, which the next solve overwrites. ok is false where Solve has to look: there is
// no full matching, the instance is not dense or has a limit. Errors of costs wrap
// ErrCost.
func (q *Quick) Solve(inst *Instance) (column []int32, d Duals, c Certificate, ok bool, err error) {
	p, err := problem.Normalise(inst)
	if err != nil || !inst.Dense() || inst.Limit != nil || p.Rows == 0 {
		return nil, d, c, false, err
	}
	sol, full := q.space.Solve(p)
	if !full {
		return nil, d, c, false, nil
	}
	column, d = sol.Column, Duals{U: sol.U, V: sol.V, Scale: p.Scale}
	if p.Transposed {
		d.U, d.V = sol.V, sol.U
		if cap(q.column) < inst.Rows {
			q.column = make([]int32, inst.Rows)
		}
		column = q.column[:inst.Rows]
		for i := range column {
			column[i] = -1
		}
		for j, i := range sol.Column {
			column[i] = int32(j)
		}
	}
	// A refuted answer means costs near the end of what int64 holds: others solve them.
	if c, err = problem.Check(inst, column, d); err != nil {
		return nil, d, c, false, nil
	}
	return column, d, c, true, nil
}
