package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/solve"
)

// A shape is the key of a kept solver: what an instance must have in common with the one that it
// was made for.
type shape struct {
	device, count, rows, cols int
	kind                      assignment.Value
	maximize, duals, checked  bool
	bare                      bool
	algorithm                 string
}

// Solvers of costs on devices are kept, so that a call allocates no device memory. A solver serves
// one call at a time; the last maxKept that were used stay.
var (
	keptMu sync.Mutex
	kept   []keptSolver // the one used last at the end
)

type keptSolver struct {
	shape
	*assignment.ResidentSolver
}

// maxKept is how many solvers are kept.
const maxKept = 8

// taken removes a solver of a shape from the list and returns it, nil where there is none.
func taken(s shape) *assignment.ResidentSolver {
	keptMu.Lock()
	defer keptMu.Unlock()
	for k := len(kept) - 1; k >= 0; k-- {
		if kept[k].shape == s {
			r := kept[k].ResidentSolver
			kept = append(kept[:k], kept[k+1:]...)
			return r
		}
	}
	return nil
}

// keep adds a solver to the list. Where the list is full it closes the solver that was unused for
// longest.
func keep(s shape, r *assignment.ResidentSolver) error {
	keptMu.Lock()
	defer keptMu.Unlock()
	kept = append(kept, keptSolver{s, r})
	if len(kept) <= maxKept {
		return nil
	}
	old := kept[0].ResidentSolver
	kept = append(kept[:0], kept[1:]...)
	return old.Close()
}

// layout describes the costs on a GPU that a struct names.
func layout(p *C.coalesce_assignment, bare bool) (l assignment.Layout, err error) {
	const limit = math.MaxInt32
	const others = C.COALESCE_LIMIT | C.COALESCE_BOTTLENECK | C.COALESCE_FLOOR
	l = assignment.Layout{Count: int(p.batch), Rows: int(p.rows), Cols: int(p.cols), Maximize: p.flags&C.COALESCE_MAXIMIZE != 0, Bare: bare}
	switch p._type {
	case C.COALESCE_INT32:
		l.Type = assignment.Int32
	case C.COALESCE_INT64:
		l.Type = assignment.Int64
	case C.COALESCE_FLOAT32:
		l.Type = assignment.Float32
	case C.COALESCE_FLOAT64:
		l.Type = assignment.Float64
	default:
		return l, argumentError("costs of type %d on a GPU: expected int32, int64, float32 or float64", p._type)
	}
	switch {
	case p.batch < 1 || p.batch > limit || p.rows < 0 || p.cols < 0 || p.rows > limit || p.cols > limit:
		return l, argumentError("%d of %d x %d costs on a GPU", p.batch, p.rows, p.cols)
	case p.device < 0 || p.start != nil || p.dimensions != 0 || p.k_best > 1 || p.start_scale != 0 || p.flags&others != 0:
		return l, argumentError("costs on a GPU: expected a GPU, and dense costs without a limit, ranks or duals to begin from")
	case p.costs == nil && p.rows > 0 && p.cols > 0:
		return l, argumentError("no costs")
	}
	return l, nil
}

// wantsColumnsOnly reports whether a struct asks only for the columns of matrices on a GPU, each small enough
// for one block: such a solve does not wait for goroutines.
func wantsColumnsOnly(p *C.coalesce_assignment) bool {
	if p == nil || p.flags&C.COALESCE_RESIDENT == 0 || p.column == nil || p.u != nil || p.v != nil || p.scale != nil || p.value != nil || p.gap != nil {
		return false
	}
	l, err := layout(p, true)
	return err == nil && !l.IsSingle() && p.flags&C.COALESCE_REPORT == 0
}

// solveResident solves matrices that are in the memory of a GPU.
func solveResident(ctx context.Context, p *C.coalesce_assignment, o assignment.Options, report *[]byte) error {
	l, err := layout(p, report == nil && wantsColumnsOnly(p))
	if err != nil {
		return err
	}
	d, err := o.LeadDevice()
	if err != nil {
		return err
	}
	lender, ok := d.(device.Lender)
	if !ok {
		return argumentError("%s works on no memory of others", d.Facts())
	}
	size := int64(l.Count) * int64(l.Rows) * int64(l.Cols) * int64(l.Type.Size())
	costs, err := lender.Lend(uintptr(p.costs), size)
	if err != nil {
		return argumentError("%v", err)
	}
	s := shape{int(p.device), l.Count, l.Rows, l.Cols, l.Type, l.Maximize, o.Duals, !o.Unchecked, l.Bare, o.Algorithm}
	r := taken(s)
	if r == nil {
		kept := o
		kept.TimeLimit = 0 // ctx has it
		if r, err = assignment.OpenResident(ctx, l, kept); err != nil {
			return err
		}
	}
	ctx, cancel := o.WithTimeLimit(ctx)
	defer cancel()
	none, err := solved(ctx, p, r, l, costs, report)
	if err != nil && !errors.Is(err, assignment.ErrCost) {
		return errors.Join(err, r.Close()) // its device may be lost
	}
	if err := errors.Join(err, keep(s, r)); err != nil {
		return err
	}
	if none && l.Count == 1 {
		return fmt.Errorf("no full matching exists: %w", solve.ErrInfeasible)
	}
	return nil
}

// solved has a solver solve, and writes the answers; none: some have no full matching.
func solved(ctx context.Context, p *C.coalesce_assignment, r *assignment.ResidentSolver, l assignment.Layout, costs device.Buffer, report *[]byte) (none bool, err error) {
	follow := func(s device.Stream) error {
		if f, ok := s.(device.Follower); ok {
			return f.Follow(uintptr(p.stream))
		}
		return nil
	}
	if l.Bare {
		full := make([]bool, l.Count)
		err := r.SolveColumns(ctx, costs, follow, unsafe.Slice((*int32)(unsafe.Pointer(p.column)), l.Count*l.Rows), full)
		for k, whole := range full {
			if setItem(p.code, k, C.COALESCE_OK); !whole {
				none = true
				setItem(p.code, k, C.COALESCE_INFEASIBLE)
			}
		}
		return none, err
	}
	results, err := r.Solve(ctx, costs, follow)
	if err != nil {
		return false, err
	}
	for k, one := range results {
		writeAnswer(p, k, one)
		none = none || one.Column == nil
	}
	if report != nil {
		return none, writeSummaries(results, report)
	}
	return none, nil
}
