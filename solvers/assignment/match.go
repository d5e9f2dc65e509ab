package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/assignment/internal/crouse"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Matching is the answer to a matrix whose columns of rows the caller has.
type Matching struct {
	Value   float64 // sum of the matched costs without rounding, rounded once
	Gap     float64 // most that a matching may be better, in the costs
	Matched int     // pairs: as many as the shorter side, or 0 where no full matching exists
	Proven  bool    // the check passed, and Gap is at most 2^-50 of the value
}

// A Shape is the size of a matrix.
type Shape struct{ Rows, Cols int }

// Match finds a matching of the least sum, or of the largest, of a dense matrix, row after row, on
// the calling goroutine, and checks it. It sets column[i] to the column of row i, -1 for rows that stay
// unmatched, and takes no memory beyond what q keeps. Costs forbid pairs as those of an Instance do.
// With q.Ties = SciPyTies it gives SciPy's columns where several matchings are best. Errors are those of Solve: of costs that are no
// numbers (ErrCost), and an InfeasibleError with its proof where no full matching exists.
func Match[T problem.Number](q *QuickSolver, s Shape, costs []T, maximize bool, column []int32) (Matching, error) {
	if err := s.check(len(costs), len(column)); err != nil {
		return Matching{}, err
	}
	if q.Ties == SciPyTies {
		return matchAsSciPy(q, s, costs, maximize, column)
	}
	return matchAny(q, s, costs, maximize, column)
}

// matchAsSciPy is Match for SciPyTies: SciPy's own algorithm is asked where another matching may be as good.
func matchAsSciPy[T problem.Number](q *QuickSolver, s Shape, costs []T, maximize bool, column []int32) (m Matching, err error) {
	q.matcher.Reading = q.reading(s.Rows, s.Cols, problem.ValueOf[T]())
	value, alone, ok := paths.MatchAlone(&q.matcher, s.Rows, s.Cols, costs, maximize, column)
	if ok {
		m = Matching{Value: value, Matched: min(s.Rows, s.Cols), Proven: true}
	} else {
		m, err = matchAny(q, s, costs, maximize, column)
	}
	if err == nil && m.Matched > 0 && !(ok && alone) {
		q.column = q.room(s.Rows)
		if crouse.Match(&q.scipy, s.Rows, s.Cols, costs, maximize, q.column) {
			takeEqual(q, s, costs, maximize, column)
		}
	}
	return m, err
}

// takeEqual takes the matching of q.column in place of column's where its exact sum is as good: rounded sums may have found a worse one.
func takeEqual[T problem.Number](q *QuickSolver, s Shape, costs []T, maximize bool, column []int32) {
	if slices.Equal(q.column, column) {
		return
	}
	var loss accumulator
	for i := range column {
		if j := q.column[i]; j >= 0 {
			addCost(&loss, costs[i*s.Cols+int(j)], maximize)
		}
		if j := column[i]; j >= 0 {
			addCost(&loss, costs[i*s.Cols+int(j)], !maximize)
		}
	}
	if loss.float().Sign() <= 0 {
		copy(column, q.column)
	}
}

// addCost adds a cost, or takes it away.
func addCost[T problem.Number](to *accumulator, c T, minus bool) {
	switch i := int64(c); {
	case !problem.ValueOf[T]().Integer() && minus:
		to.addFloat(-float64(c))
	case !problem.ValueOf[T]().Integer():
		to.addFloat(float64(c))
	case i < 0:
		to.add(!minus, -uint64(i), 0)
	default:
		to.add(minus, uint64(i), 0)
	}
}

// matchAny is Match whatever the ties.
func matchAny[T problem.Number](q *QuickSolver, s Shape, costs []T, maximize bool, column []int32) (Matching, error) {
	q.matcher.Reading = q.reading(s.Rows, s.Cols, problem.ValueOf[T]())
	if !seemTwo(costs, s.Cols) {
		if value, ok := paths.Match(&q.matcher, s.Rows, s.Cols, costs, maximize, column); ok {
			return Matching{Value: value, Matched: min(s.Rows, s.Cols), Proven: true}, nil
		}
	}
	q.instance.Rows, q.instance.Cols, q.instance.Maximize, q.instance.Source = s.Rows, s.Cols, maximize, "costs"
	problem.SetCosts(&q.instance, costs)
	defer problem.SetCosts[T](&q.instance, nil)
	return q.match(column)
}

// Forbids reports whether one of some integers is the largest of its type, which forbids a pair.
func Forbids[T int32 | int64](costs []T) bool { return paths.HasLargest(costs) }

func (s Shape) check(costs, column int) error {
	switch {
	case s.Rows < 0 || s.Cols < 0 || s.Rows > problem.MaxSide || s.Cols > problem.MaxSide:
		return solve.InvalidInput("shape", "found %d x %d pairs, expected 0 to %d rows and columns", s.Rows, s.Cols, problem.MaxSide)
	case costs != s.Rows*s.Cols:
		return solve.InvalidInput("costs", "found %d, expected %d x %d", costs, s.Rows, s.Cols)
	case column != s.Rows:
		return solve.InvalidInput("column", "found room for %d rows, expected %d", column, s.Rows)
	}
	return nil
}

// match is Match for q.instance.
func (q *QuickSolver) match(column []int32) (m Matching, err error) {
	var found []int32
	var c problem.Certificate
	ok := false
	if len(column)*q.instance.Cols <= integerCosts {
		if found, _, c, ok, err = q.solve(&q.instance); err != nil {
			return m, err
		}
	}
	if !ok {
		inst := q.instance
		r, err := solveByHost(context.Background(), &inst)
		if err != nil {
			return m, err
		}
		found, c = r.Column, *r.Certificate
	}
	copy(column, found)
	sum, matched := sumOf(&q.instance, column)
	m = Matching{Gap: c.Gap, Matched: matched}
	if m.Value, _ = sum.Float64(); math.IsInf(m.Value, 0) {
		return m, errTooLarge
	}
	m.Proven = c.Gap <= provenGap*math.Abs(m.Value)
	return m, nil
}

// integerCosts are the most costs that a QuickSolver solves by integers, on one core: uniform costs of 300 x 300 take 1.5 ms by these and 2.5 by the
// host's method, of 1000 x 1000 80 and 13 ms.
const integerCosts = 1 << 17

var errTooLarge = fmt.Errorf("%w: the best matching's add up to more than the largest float64", problem.ErrCost)

// solveByHost solves a dense instance by the host's first method and checks it.
func solveByHost(ctx context.Context, inst *problem.Instance) (*Result, error) {
	p, err := problem.Normalise(inst)
	if err != nil {
		return nil, err
	}
	method := families.HostMethods()[0]
	r := newResult(inst)
	r.solvedBy("host", method.Name, "costs that the small kernels do not take")
	sol := &engine.Solution{Prices: problem.Prices{U: []int64{}, V: make([]int64, p.Cols)}, Column: []int32{}}
	if p.Rows > 0 {
		sol, err = method.Solve(ctx, p, nil, engine.Host{})
	}
	var none *engine.Infeasible
	if errors.As(err, &none) {
		return nil, r.refute(inst, none)
	}
	if err != nil {
		return nil, err
	}
	d, err := r.setSolution(inst, p, sol)
	if err != nil {
		return nil, err
	}
	c, near, err := checkNear(inst, p, r.Column, *d)
	if err == nil {
		err = r.decideExactly(ctx, p, sol, &c, near, Options{})
	}
	if err == nil {
		_, err = r.setSolution(inst, p, sol)
	}
	if err != nil {
		return nil, err
	}
	r.setCertificate(&c)
	return r, nil
}

// MatchBatch is Match for many matrices that follow one another in costs, and whose rows' columns follow
// one another in column: as many as found has room for, of shapes[k] each, or all of shapes[0]. threads
// goroutines share them, 0: one a core, and ties is that of their QuickSolvers. A matrix without a full matching is no error: its Matched is 0, and its
// columns are -1. Other errors name the matrix.
func MatchBatch[T problem.Number](shapes []Shape, costs []T, maximize bool, ties Ties, threads int, column []int32, found []Matching) error {
	n := len(found)
	if len(shapes) != n && len(shapes) != 1 {
		return solve.InvalidInput("shapes", "found %d of %d matrices, expected 1 or %d", len(shapes), n, n)
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	same := len(shapes) == 1
	var starts []Shape // of each matrix: where its rows and its costs begin
	rows, total := 0, 0
	if same {
		if rows, total = n*shapes[0].Rows, n*shapes[0].Rows*shapes[0].Cols; n == 0 {
			return nil
		}
	} else {
		starts = make([]Shape, n)
		for k, s := range shapes {
			starts[k] = Shape{rows, total}
			rows, total = rows+s.Rows, total+s.Rows*s.Cols
		}
	}
	if err := (Shape{rows, 1}).check(rows, len(column)); err != nil {
		return err
	}
	if total != len(costs) {
		return solve.InvalidInput("costs", "found %d, expected %d", len(costs), total)
	}
	one := func(q *QuickSolver, k int) error {
		s, at := shapes[0], Shape{}
		if same {
			at = Shape{k * s.Rows, k * s.Rows * s.Cols}
		} else {
			s, at = shapes[k], starts[k]
		}
		own := column[at.Rows : at.Rows+s.Rows]
		m, err := Match(q, s, costs[at.Cols:at.Cols+s.Rows*s.Cols], maximize, own)
		if errors.Is(err, solve.ErrInfeasible) {
			m, err = Matching{}, nil
			for i := range own {
				own[i] = -1
			}
		}
		if err != nil {
			return fmt.Errorf("matrix %d: %w", k, err)
		}
		found[k] = m
		return nil
	}
	const part = 1 << 12 // costs that a goroutine takes at once
	grain := max(1, part*n/max(1, total))
	if threads = min(threads, (n+grain-1)/grain); threads <= 1 {
		q := quicks.Get().(*QuickSolver)
		defer quicks.Put(q)
		q.Ties = ties
		for k := range n {
			if err := one(q, k); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, threads)
	var next atomic.Int64
	var wg sync.WaitGroup
	for t := range threads {
		wg.Go(func() {
			q := quicks.Get().(*QuickSolver)
			defer quicks.Put(q)
			q.Ties = ties
			for low := int(next.Add(int64(grain))) - grain; low < n && errs[t] == nil; low = int(next.Add(int64(grain))) - grain {
				for k := low; k < min(n, low+grain) && errs[t] == nil; k++ {
					errs[t] = one(q, k)
				}
			}
		})
	}
	wg.Wait()
	if at := slices.IndexFunc(errs, func(err error) bool { return err != nil }); at >= 0 {
		return errs[at]
	}
	return nil
}

// quicks are solvers that batches use again.
var quicks = sync.Pool{New: func() any { return new(QuickSolver) }}
