package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// CheckOptimal checks everything that a solution promises and returns its cost.
func CheckOptimal(p *problem.Normal, s *engine.Solution) (int64, error) {
	if len(s.Column) != p.Rows || len(s.U) != p.Rows || len(s.V) != p.Cols {
		return 0, fmt.Errorf("%d columns, %d and %d duals for %d x %d", len(s.Column), len(s.U), len(s.V), p.Rows, p.Cols)
	}
	total, dual := int64(0), int64(0)
	matched := make([]bool, p.Cols)
	row := make([]int64, p.Cols)
	for i, j := range s.Column {
		dual += s.U[i]
		row = p.Row(i, row)
		for k, c := range row {
			if c != problem.Infinity && s.U[i]+s.V[k] > c {
				return 0, fmt.Errorf("(%d,%d): duals %d and %d exceed %d", i, k, s.U[i], s.V[k], c)
			}
		}
		switch {
		case p.Limit != problem.Infinity && s.U[i] > p.Limit:
			return 0, fmt.Errorf("row %d: dual %d exceeds the limit %d", i, s.U[i], p.Limit)
		case j < 0 && (p.Limit == problem.Infinity || s.U[i] != p.Limit):
			return 0, fmt.Errorf("row %d is unmatched, its dual is %d, the limit %d", i, s.U[i], p.Limit)
		case j < 0:
			total += p.Limit
		case matched[j]:
			return 0, fmt.Errorf("column %d is matched twice", j)
		case row[j] != s.U[i]+s.V[j]:
			return 0, fmt.Errorf("(%d,%d) is matched and costs %d, duals %d and %d", i, j, row[j], s.U[i], s.V[j])
		default:
			matched[j] = true
			total += row[j]
		}
	}
	for j, v := range s.V {
		dual += v
		if !matched[j] && v != 0 {
			return 0, fmt.Errorf("column %d is unmatched, its dual is %d", j, v)
		}
		if v > 0 && (p.Rows < p.Cols || p.Limit != problem.Infinity) {
			return 0, fmt.Errorf("column %d: dual %d", j, v)
		}
	}
	if total != dual {
		return 0, fmt.Errorf("primal %d, dual %d", total, dual)
	}
	return total, nil
}

// CheckViolator checks that rows have fewer neighbours than they are many.
func CheckViolator(p *problem.Normal, rows []int32) error {
	neighbours := map[int]bool{}
	seen := map[int32]bool{}
	for _, i := range rows {
		seen[i] = true
		for j, c := range p.Row(int(i), nil) {
			if c != problem.Infinity {
				neighbours[j] = true
			}
		}
	}
	if len(seen) != len(rows) || len(neighbours) >= len(rows) {
		return fmt.Errorf("%d rows (%d different) have %d neighbours", len(rows), len(seen), len(neighbours))
	}
	return nil
}

// RandomProblem makes a small problem: ties, negative costs, forbidden pairs, more rows
// or more columns, limits, maximisation, every type; sparse ones too.
func RandomProblem(r *rand.Rand, largest int) (*problem.Instance, error) {
	rows, cols := r.IntN(largest+1), r.IntN(largest+1)
	if r.IntN(2) == 0 {
		cols = rows
	}
	span := []int{1, 2, 5, 1000, 1 << 30}[r.IntN(5)]
	low := []int{0, -span / 2, -span}[r.IntN(3)]
	forbidden := []float64{0, 0, 0.1, 0.5}[r.IntN(4)]
	inst := &problem.Instance{Rows: rows, Cols: cols, Source: "test", Maximize: r.IntN(3) == 0}
	if r.IntN(3) == 0 {
		l := float64(low + r.IntN(span+1))
		inst.Limit = &l
	}
	switch r.IntN(4) {
	case 0:
		problem.SetCosts(inst, drawCosts[int32](r, inst, low, span, forbidden))
	case 1:
		problem.SetCosts(inst, drawCosts[int64](r, inst, low, span, forbidden))
	case 2:
		problem.SetCosts(inst, drawCosts[float32](r, inst, low, span, forbidden))
	default:
		problem.SetCosts(inst, drawCosts[float64](r, inst, low, span, forbidden))
	}
	return inst, inst.Check()
}

func drawCosts[T problem.Number](r *rand.Rand, inst *problem.Instance, low, span int, forbidden float64) []T {
	costs := []T{}
	if inst.Sparse = nil; r.IntN(4) == 0 {
		inst.Sparse = &problem.Sparse{Start: []int64{0}}
	}
	for range inst.Rows {
		for j := range inst.Cols {
			c := T(low + r.IntN(span))
			switch out := r.Float64() < forbidden; {
			case inst.Sparse != nil && !out:
				inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
				costs = append(costs, c)
			case inst.Sparse == nil && out:
				costs = append(costs, problem.Forbidden[T](inst.Maximize))
			case inst.Sparse == nil:
				costs = append(costs, c)
			}
		}
		if inst.Sparse != nil {
			inst.Sparse.Start = append(inst.Sparse.Start, int64(len(costs)))
		}
	}
	return costs
}

// FeasibleDuals makes feasible duals out of any v.
func FeasibleDuals(p *problem.Normal, r *rand.Rand) *problem.Prices {
	d := &problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}
	for j := range d.V {
		if span := p.Max - p.Min; span > 0 {
			d.V[j] = -r.Int64N(span + 1)
		}
		if p.Rows == p.Cols && p.Limit == problem.Infinity && r.IntN(2) == 0 {
			d.V[j] = -d.V[j]
		}
	}
	for i := range d.U {
		d.U[i] = min(p.Limit, math.MaxInt32)
		for j, c := range p.Row(i, nil) {
			if c != problem.Infinity {
				d.U[i] = min(d.U[i], c-d.V[j])
			}
		}
	}
	return d
}

// Solver is what reference and its rivals have in common.
type Solver func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error)

// CheckLeastCost solves p and compares with the least cost, problem.Infinity for infeasible.
func CheckLeastCost(p *problem.Normal, start *problem.Prices, solve Solver, want int64) error {
	s, err := solve(p, start)
	if hall := (*engine.Infeasible)(nil); errors.As(err, &hall) {
		if want != problem.Infinity {
			return fmt.Errorf("infeasible, want %d", want)
		}
		return CheckViolator(p, hall.Rows)
	}
	if err != nil {
		return err
	}
	total, err := CheckOptimal(p, s)
	if err == nil && total != want {
		err = fmt.Errorf("found %d, want %d", total, want)
	}
	return err
}
