package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A shape is the key of a kept solver: what an instance must have in common with the one that it
// was made for.
type shape struct {
	device, count, rows, cols int
	kind                      problem.Value
	maximize, duals, checked  bool
	bare                      bool
	algorithm                 string
}

// Solvers of costs on devices are kept, so that a call allocates no device memory.
var residents shelf[shape, *assignment.ResidentSolver]

// A shelf keeps solvers by their keys. A solver serves one call at a time; the last maxKept that were used stay.
type shelf[K comparable, S io.Closer] struct {
	mu   sync.Mutex
	kept []keptSolver[K, S] // the one used last at the end
}

type keptSolver[K comparable, S io.Closer] struct {
	key    K
	solver S
}

// maxKept is how many solvers are kept.
const maxKept = 8

// takeSolver removes a solver with a key from the shelf and returns it.
func (l *shelf[K, S]) takeSolver(key K) (s S, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := len(l.kept) - 1; k >= 0; k-- {
		if l.kept[k].key == key {
			s = l.kept[k].solver
			l.kept = slices.Delete(l.kept, k, k+1)
			return s, true
		}
	}
	return s, false
}

// keepSolver adds a solver. Where the shelf is full it closes the solver that was unused for longest.
func (l *shelf[K, S]) keepSolver(key K, s S) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, keptSolver[K, S]{key, s})
	if len(l.kept) <= maxKept {
		return nil
	}
	old := l.kept[0].solver
	l.kept = slices.Delete(l.kept, 0, 1)
	return old.Close()
}

// layout describes the costs on a GPU that a struct names.
func layout(p *C.coalesce_assignment, bare bool) (l assignment.Layout, err error) {
	const limit = math.MaxInt32
	const others = C.COALESCE_LIMIT | C.COALESCE_BOTTLENECK | C.COALESCE_FLOOR
	l = assignment.Layout{Count: int(p.batch), Rows: int(p.rows), Cols: int(p.cols), Maximize: p.flags&C.COALESCE_MAXIMIZE != 0, Bare: bare}
	if l.Type, err = residentType(p._type); err != nil {
		return l, err
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

// residentType is the type of costs on a GPU.
func residentType(kind C.int32_t) (problem.Value, error) {
	switch kind {
	case C.COALESCE_INT32:
		return problem.Int32, nil
	case C.COALESCE_INT64:
		return problem.Int64, nil
	case C.COALESCE_FLOAT32:
		return problem.Float32, nil
	case C.COALESCE_FLOAT64:
		return problem.Float64, nil
	}
	return "", argumentError("costs of type %d on a GPU: expected int32, int64, float32 or float64", kind)
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
	r, found := residents.takeSolver(s)
	if !found {
		kept := o
		kept.TimeLimit = 0 // ctx has it
		if r, err = assignment.OpenResident(ctx, l, kept); err != nil {
			return err
		}
	}
	ctx, cancel := o.WithTimeLimit(ctx)
	defer cancel()
	none, err := solved(ctx, p, r, l, costs, report)
	if err != nil && !errors.Is(err, problem.ErrCost) {
		return errors.Join(err, r.Close()) // its device may be lost
	}
	if err := errors.Join(err, residents.keepSolver(s, r)); err != nil {
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
