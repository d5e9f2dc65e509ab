package assignment

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// prove checks everything that a solution promises and returns its cost.
func prove(p *normal, s *solution) (int64, error) {
	if len(s.column) != p.rows || len(s.u) != p.rows || len(s.v) != p.cols {
		return 0, fmt.Errorf("%d columns, %d and %d duals for %d x %d", len(s.column), len(s.u), len(s.v), p.rows, p.cols)
	}
	total, dual := int64(0), int64(0)
	matched := make([]bool, p.cols)
	row := make([]int64, p.cols)
	for i, j := range s.column {
		dual += s.u[i]
		row = p.row(i, row)
		for k, c := range row {
			if c != far && s.u[i]+s.v[k] > c {
				return 0, fmt.Errorf("(%d,%d): duals %d and %d exceed %d", i, k, s.u[i], s.v[k], c)
			}
		}
		switch {
		case p.limit != far && s.u[i] > p.limit:
			return 0, fmt.Errorf("row %d: dual %d exceeds the limit %d", i, s.u[i], p.limit)
		case j < 0 && (p.limit == far || s.u[i] != p.limit):
			return 0, fmt.Errorf("row %d is unmatched, its dual is %d, the limit %d", i, s.u[i], p.limit)
		case j < 0:
			total += p.limit
		case matched[j]:
			return 0, fmt.Errorf("column %d is matched twice", j)
		case row[j] != s.u[i]+s.v[j]:
			return 0, fmt.Errorf("(%d,%d) is matched and costs %d, duals %d and %d", i, j, row[j], s.u[i], s.v[j])
		default:
			matched[j] = true
			total += row[j]
		}
	}
	for j, v := range s.v {
		dual += v
		if !matched[j] && v != 0 {
			return 0, fmt.Errorf("column %d is unmatched, its dual is %d", j, v)
		}
		if v > 0 && (p.rows < p.cols || p.limit != far) {
			return 0, fmt.Errorf("column %d: dual %d", j, v)
		}
	}
	if total != dual {
		return 0, fmt.Errorf("primal %d, dual %d", total, dual)
	}
	return total, nil
}

// violates checks that rows have fewer neighbours than they are many.
func violates(p *normal, rows []int32) error {
	neighbours := map[int]bool{}
	seen := map[int32]bool{}
	for _, i := range rows {
		seen[i] = true
		for j, c := range p.row(int(i), nil) {
			if c != far {
				neighbours[j] = true
			}
		}
	}
	if len(seen) != len(rows) || len(neighbours) >= len(rows) {
		return fmt.Errorf("%d rows (%d different) have %d neighbours", len(rows), len(seen), len(neighbours))
	}
	return nil
}

// draw makes a small problem: ties, negative costs, forbidden pairs, more rows
// or more columns, limits, maximisation, every type; sparse ones too.
func draw(r *rand.Rand, largest int) (*Instance, error) {
	rows, cols := r.IntN(largest+1), r.IntN(largest+1)
	if r.IntN(2) == 0 {
		cols = rows
	}
	span := []int{1, 2, 5, 1000, 1 << 30}[r.IntN(5)]
	low := []int{0, -span / 2, -span}[r.IntN(3)]
	forbidden := []float64{0, 0, 0.1, 0.5}[r.IntN(4)]
	inst := &Instance{Rows: rows, Cols: cols, Source: "test", Maximize: r.IntN(3) == 0}
	if r.IntN(3) == 0 {
		l := float64(low + r.IntN(span+1))
		inst.Limit = &l
	}
	switch r.IntN(4) {
	case 0:
		setCosts(inst, drawCosts[int32](r, inst, low, span, forbidden))
	case 1:
		setCosts(inst, drawCosts[int64](r, inst, low, span, forbidden))
	case 2:
		setCosts(inst, drawCosts[float32](r, inst, low, span, forbidden))
	default:
		setCosts(inst, drawCosts[float64](r, inst, low, span, forbidden))
	}
	return inst, inst.Check()
}

func drawCosts[T Number](r *rand.Rand, inst *Instance, low, span int, forbidden float64) []T {
	costs := []T{}
	if inst.Sparse = nil; r.IntN(4) == 0 {
		inst.Sparse = &Sparse{Start: []int64{0}}
	}
	for range inst.Rows {
		for j := range inst.Cols {
			c := T(low + r.IntN(span))
			switch out := r.Float64() < forbidden; {
			case inst.Sparse != nil && !out:
				inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
				costs = append(costs, c)
			case inst.Sparse == nil && out:
				costs = append(costs, Forbidden[T](inst.Maximize))
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

// startOf makes feasible duals out of any v.
func startOf(p *normal, r *rand.Rand) *duals {
	d := &duals{u: make([]int64, p.rows), v: make([]int64, p.cols)}
	for j := range d.v {
		if span := p.most - p.least; span > 0 {
			d.v[j] = -r.Int64N(span + 1)
		}
		if p.rows == p.cols && p.limit == far && r.IntN(2) == 0 {
			d.v[j] = -d.v[j]
		}
	}
	for i := range d.u {
		d.u[i] = min(p.limit, math.MaxInt32)
		for j, c := range p.row(i, nil) {
			if c != far {
				d.u[i] = min(d.u[i], c-d.v[j])
			}
		}
	}
	return d
}

// solver is what reference and its rivals have in common.
type solver func(p *normal, start *duals) (*solution, error)

// agrees solves p and compares with the least cost, far for infeasible.
func agrees(p *normal, start *duals, solve solver, want int64) error {
	s, err := solve(p, start)
	if hall := (*infeasible)(nil); errors.As(err, &hall) {
		if want != far {
			return fmt.Errorf("infeasible, want %d", want)
		}
		return violates(p, hall.rows)
	}
	if err != nil {
		return err
	}
	total, err := prove(p, s)
	if err == nil && total != want {
		err = fmt.Errorf("found %d, want %d", total, want)
	}
	return err
}
