package assignment

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/problem"
)

// An exactRanking lists the best matchings of costs whose order rounding would change (Murty 1968):
// it solves every subspace anew, exactly. A row that a limit leaves unmatched has a column of its
// own instead, past the problem's.
type exactRanking struct {
	ctx  context.Context
	p    *problem.Normal
	inst *problem.Instance // p's, with all bits of its costs
	left subspaces
}

// A subspace is the matchings that keep some pairs and have none of some others, and the best of
// them.
type subspace struct {
	kept   []int32 // of each row, the column of a pair that is kept, -1: none
	barred []problem.Pair
	column []int32
	value  *big.Float // of column, least first
}

type subspaces []*subspace

func (q subspaces) Len() int           { return len(q) }
func (q subspaces) Less(a, b int) bool { return q[a].value.Cmp(q[b].value) < 0 }
func (q subspaces) Swap(a, b int)      { q[a], q[b] = q[b], q[a] }

// Push is for package heap.
func (q *subspaces) Push(s any) { *q = append(*q, s.(*subspace)) }

// Pop is for package heap.
func (q *subspaces) Pop() any {
	s := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return s
}

// best are the k best matchings, in the rows of the normal problem; with an error of the context,
// the first of them.
func (r *exactRanking) best(k int) (found [][]int32, err error) {
	if err := r.add(&subspace{kept: slices.Repeat([]int32{-1}, r.p.Rows)}); err != nil {
		return nil, err
	}
	for len(found) < k && len(r.left) > 0 {
		s := heap.Pop(&r.left).(*subspace)
		column := slices.Clone(s.column)
		for i, j := range column {
			if int(j) >= r.p.Cols {
				column[i] = -1
			}
		}
		if found = append(found, column); len(found) == k {
			break
		}
		kept := slices.Clone(s.kept)
		for i, j := range s.column {
			if kept[i] >= 0 {
				continue
			}
			t := &subspace{kept: slices.Clone(kept), barred: append(slices.Clone(s.barred), problem.Pair{Row: int32(i), Col: j})}
			if err := r.add(t); err != nil {
				return found, err
			}
			kept[i] = j
		}
	}
	return found, nil
}

// add solves a subspace and keeps it where it has a matching.
func (r *exactRanking) add(s *subspace) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	inst, err := r.restricted(s)
	if err != nil {
		return err
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
	sol, err := families.HostMethods()[0].Solve(r.ctx, p, nil, engine.Host{})
	var none *engine.Infeasible
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	cert, near, err := checkNear(inst, p, sol.Column, dualsOf(p, sol))
	if s.column = sol.Column; err == nil && cert.Rounded > 0 {
		s.column, err = decideExactly(r.ctx, p, sol, &cert, near, Options{})
	}
	if err != nil {
		return err
	}
	s.value, _ = sumOf(inst, s.column)
	if inst.Maximize {
		s.value.Neg(s.value)
	}
	heap.Push(&r.left, s)
	return nil
}

// restricted lists the pairs of a subspace, those that stand for unmatched rows among them.
func (r *exactRanking) restricted(s *subspace) (*problem.Instance, error) {
	whole := r.inst
	out := &problem.Instance{Rows: r.p.Rows, Cols: r.p.Cols, Type: whole.Type, Maximize: whole.Maximize,
		Sparse: &problem.Sparse{Start: make([]int64, 1, r.p.Rows+1)}}
	taken := make([]bool, r.p.Cols+r.p.Rows)
	for _, j := range s.kept {
		if j >= 0 {
			taken[j] = true
		}
	}
	limited := r.p.Limit != problem.Infinity
	if limited {
		out.Cols += r.p.Rows
	}
	allowed := func(i, j int32) bool {
		if s.kept[i] >= 0 {
			return s.kept[i] == j
		}
		return !taken[j] && !slices.Contains(s.barred, problem.Pair{Row: i, Col: j})
	}
	asFloats := limited || whole.Points != nil // a limit may have a fraction
	if asFloats {
		out.Type = problem.Float64
	} else {
		out.Unsigned, out.Every = whole.Unsigned, whole.Every
	}
	for i := range int32(r.p.Rows) {
		for j := range int32(r.p.Cols) {
			if !allowed(i, j) || !whole.Allowed(int(i), int(j)) {
				continue
			}
			out.Sparse.Col = append(out.Sparse.Col, j)
			k := whole.CostIndex(int(i), int(j))
			switch {
			case asFloats:
				c := whole.CostFloat(int(i), int(j))
				if whole.Type.Integer() && math.Abs(c) > 1<<53 {
					return nil, fmt.Errorf("%w: rank with a limit: found the integer %s, expected at most 2^53", problem.ErrCost, whole.CostDecimals(int(i), int(j)))
				}
				out.F64 = append(out.F64, c)
			case whole.Type == problem.Int32:
				out.I32 = append(out.I32, whole.I32[k])
			case whole.Type == problem.Int64:
				out.I64 = append(out.I64, whole.I64[k])
			case whole.Type == problem.Float32:
				out.F32 = append(out.F32, whole.F32[k])
			default:
				out.F64 = append(out.F64, whole.F64[k])
			}
		}
		if own := int32(r.p.Cols) + i; limited && allowed(i, own) {
			out.Sparse.Col = append(out.Sparse.Col, own)
			out.F64 = append(out.F64, r.p.LeftOut())
		}
		out.Sparse.Start = append(out.Sparse.Start, int64(len(out.Sparse.Col)))
	}
	return out, nil
}
