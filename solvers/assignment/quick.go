package assignment

import (
	"context"
	"math"
	"strconv"
	"time"

	"coalesce/solvers/assignment/internal/crouse"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
)

// A QuickSolver solves small dense instances one after the other, on the calling goroutine and in memory
// that it keeps, as the other work of Solve takes longer than a small solve. It belongs to one
// goroutine at a time; the zero value is ready.
type QuickSolver struct {
	Ties Ties // of Match

	scipy    crouse.Matcher
	space    paths.Workspace
	column   []int32
	matcher  paths.Matcher
	chosen   chosenReading
	instance problem.Instance // of Match, where the matcher does not decide
}

// Solve returns a matching of the least cost, its duals and the certificate of both, in q's
// memory, which the next solve overwrites. ok is false for instances that q does not take, which
// the package's Solve does: sparse ones, points, a limit, no full matching, many costs that these kernels do not decide. Errors
// of costs wrap ErrCost.
func (q *QuickSolver) Solve(inst *problem.Instance) (column []int32, d problem.Duals, c problem.Certificate, ok bool, err error) {
	if column, d, c, ok = q.prove(inst, paths.ByShape); ok {
		return column, d, c, true, nil
	}
	if inst != nil && inst.Dense() && inst.Len() > integerCosts {
		return nil, d, c, false, inst.Check()
	}
	return q.solve(inst)
}

// prove is Solve by kernels on the costs as they are, which check their answers; false where these do not decide. With ByShape the
// binary's winners say how they read rows.
func (q *QuickSolver) prove(inst *problem.Instance, reading paths.Reading) ([]int32, problem.Duals, problem.Certificate, bool) {
	if !takesPaths(inst) {
		return nil, problem.Duals{}, problem.Certificate{}, false
	}
	if q.matcher.Reading = reading; reading == paths.ByShape {
		q.matcher.Reading = q.reading(inst.Rows, inst.Cols, inst.Type)
	}
	switch inst.Type {
	case problem.Int32:
		return proveAs(q, inst, inst.I32)
	case problem.Int64:
		return proveAs(q, inst, inst.I64)
	case problem.Float32:
		return proveAs(q, inst, inst.F32)
	}
	return proveAs(q, inst, inst.F64)
}

// takesPaths reports whether prove takes an instance.
func takesPaths(inst *problem.Instance) bool {
	return inst != nil && inst.Dense() && inst.Limit == nil && !inst.Transports() && !inst.Every && !inst.Unsigned && inst.Check() == nil
}

func proveAs[T problem.Number](q *QuickSolver, inst *problem.Instance, costs []T) ([]int32, problem.Duals, problem.Certificate, bool) {
	if seemTwo(costs, inst.Cols) {
		return nil, problem.Duals{}, problem.Certificate{}, false
	}
	column := q.room(inst.Rows)
	p, ok := paths.Prove(&q.matcher, inst.Rows, inst.Cols, costs, inst.Maximize, 0, column)
	if !ok {
		return nil, problem.Duals{}, problem.Certificate{}, false
	}
	sum := strconv.FormatInt(p.Units, 10)
	return column, p.Duals, problem.Certificate{By: "host", Pairs: p.Pairs, Primal: sum, Dual: sum, Scale: p.Scale, Rounded: p.Rounded, Exact: p.Rounded == 0}, true
}

// seemTwo reports whether many costs have at most two values in two rows, as matrices of 0 and 1 do: the host's method matches pairs of the lower cost sooner
// than paths do.
func seemTwo[T problem.Number](costs []T, cols int) bool {
	if len(costs) < integerCosts || len(costs) < 2*cols {
		return false
	}
	first, other := costs[0], costs[0]
	for _, c := range costs[1 : 2*cols] {
		if c != first && c != other {
			if first != other {
				return false
			}
			other = c
		}
	}
	return true
}

// room is the list of the columns of so many rows.
func (q *QuickSolver) room(rows int) []int32 {
	if cap(q.column) < rows {
		q.column = make([]int32, rows)
	}
	return q.column[:rows]
}

// solve is Solve by integers.
func (q *QuickSolver) solve(inst *problem.Instance) (column []int32, d problem.Duals, c problem.Certificate, ok bool, err error) {
	p, err := quickly(inst)
	if err != nil || !inst.Dense() || inst.Limit != nil || inst.Transports() || p.Rows == 0 {
		return nil, d, c, false, err
	}
	sol, full := q.space.Solve(p)
	if !full {
		return nil, d, c, false, nil
	}
	column, d = q.columns(inst, p, sol.Column), dualsOf(p, sol)
	// The check may refuse an answer whose costs come near the end of int64: Solve can solve those.
	c, near, err := checkNear(inst, p, column, d)
	if err != nil {
		return nil, d, c, false, nil
	}
	if c.Rounded > 0 {
		found, err := decideExactly(context.Background(), p, sol, &c, near, Options{})
		if err != nil {
			return nil, d, c, false, nil
		}
		column = q.columns(inst, p, found)
	}
	return column, d, c, true, nil
}

// columns are those of an instance's rows, given those of the normal problem's.
func (q *QuickSolver) columns(inst *problem.Instance, p *problem.Normal, found []int32) []int32 {
	if !p.Transposed {
		return found
	}
	column := q.room(inst.Rows)
	for i := range column {
		column[i] = -1
	}
	for j, i := range found {
		column[i] = int32(j)
	}
	return column
}

// Result solves as q.Solve does, and returns the result that the package's Solve would return; nil
// without an error for instances that q does not take. Column and Duals are in q's memory.
func (q *QuickSolver) Result(inst *problem.Instance) (*Result, error) {
	clock := time.Now()
	column, d, c, ok, err := q.Solve(inst)
	if !ok {
		return nil, err
	}
	return q.result(inst, clock, column, d, c), nil
}

// result is the result of an answer that took since a time; nil where its value is too large.
func (q *QuickSolver) result(inst *problem.Instance, began time.Time, column []int32, d problem.Duals, c problem.Certificate) *Result {
	r := newResult(inst)
	r.solvedBy("host", "assignment/paths", pathsReason)
	r.Column, r.Duals = column, &d
	r.Seconds.Solve = time.Since(began).Seconds()
	if r.Value, r.Matched = totalCost(inst, column); math.IsInf(r.Value.Float(), 0) {
		return nil // Solve says so
	}
	r.setCertificate(&c)
	return r
}

const pathsReason = "few costs, for which no goroutine is started"

// quickly does what problem.Normalise does, for few costs that are mostly allowed. Floats are
// scaled by as many bits as there is room for, without a search for their lowest bit. The
// certificate counts the costs that are rounded even so.
func quickly(inst *problem.Instance) (*problem.Normal, error) {
	var least, largest float64
	var plain bool
	switch {
	case inst == nil:
	case !inst.Dense() || inst.Limit != nil || inst.Transports():
	case inst.Type == problem.Float64:
		least, largest, plain = bounds(inst.F64)
	case inst.Type == problem.Float32:
		least, largest, plain = bounds(inst.F32)
	}
	if !plain {
		return problem.Normalise(inst)
	}
	if err := inst.Check(); err != nil {
		return nil, err
	}
	p := &problem.Normal{Instance: inst, Rows: inst.Rows, Cols: inst.Cols, Limit: problem.Infinity}
	if p.Transposed = inst.Rows > inst.Cols; p.Transposed {
		p.Rows, p.Cols = inst.Cols, inst.Rows
	}
	if err := p.FitFloats(least, largest, math.MinInt32); err != nil {
		return nil, err
	}
	if p.Transposed {
		p.Instance = inst.Transpose()
	}
	return p, nil
}

// bounds are the least and the most of some floats, and whether all are numbers.
func bounds[T float32 | float64](list []T) (least, largest float64, plain bool) {
	if len(list) == 0 {
		return 0, 0, false
	}
	low, high := list[0], list[0]
	for _, x := range list {
		switch {
		case x < low:
			low = x
		case x > high:
			high = x
		case x != x:
			return 0, 0, false
		}
	}
	return float64(low), float64(high), low-low == 0 && high-high == 0
}
