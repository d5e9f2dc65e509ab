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
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Kernels for matrices are kept, so that a call chooses and allocates nothing.
var matrices shelf[matricesKey, *assignment.Matrices]

// A matricesKey is what calls must have in common for one kept solver.
type matricesKey struct {
	device int
	layout assignment.Layout
	ties   assignment.Ties
	check  bool
}

//export goAssignMatrices
func goAssignMatrices(p *C.coalesce_matrices) C.int32_t {
	err := recoverPanic(func() error { return assignMatrices(p) })
	if p != nil {
		writeError(err, p.text, p.text_size)
	}
	return shapeCodeOf(err)
}

// writeError writes an error's line where a caller has room for it.
func writeError(err error, to *C.char, size C.int64_t) {
	if err == nil || to == nil || size <= 0 {
		return
	}
	text := append(errorLine(err), 0)
	text = text[:min(len(text), int(size))]
	text[len(text)-1] = 0
	copyText(text, to, size)
}

// shapeCodeOf is the code of an error of functions that have kernels for some shapes.
func shapeCodeOf(err error) C.int32_t {
	if errors.Is(err, assignment.ErrShape) {
		return C.COALESCE_SHAPE
	}
	return codeOf(err)
}

// lenderOf opens a device that works on the caller's memory, and sets its settings.
func lenderOf(number C.int32_t, o *assignment.Options) (lender device.Lender, err error) {
	if o.Settings, err = solveSettings(number, 0, nil); err != nil {
		return nil, err
	}
	lender, ok := o.Devices[0].(device.Lender)
	if !ok {
		return nil, argumentError("%s works on no memory of others", o.Devices[0].Facts())
	}
	return lender, nil
}

// assignMatrices solves matrices in the memory of a GPU into memory there.
func assignMatrices(p *C.coalesce_matrices) error {
	const flags = C.COALESCE_MAXIMIZE | C.COALESCE_UNCHECKED | C.COALESCE_ENQUEUE | C.COALESCE_SCIPY_TIES
	const limit = math.MaxInt32
	if p == nil {
		return argumentError("no struct")
	}
	if err := checkSize(p.size, unsafe.Sizeof(*p)); err != nil {
		return err
	}
	switch {
	case p.batch < 0 || p.batch > limit || p.rows < 0 || p.cols < 0 || p.rows > limit || p.cols > limit:
		return argumentError("%d of %d x %d costs on a GPU", p.batch, p.rows, p.cols)
	case p.device < 0 || p.flags&^flags != 0:
		return argumentError("matrices: expected a GPU, and flags of this function")
	case p.costs == nil && p.batch > 0 && p.rows > 0 && p.cols > 0:
		return argumentError("no costs")
	}
	l := assignment.Layout{Count: int(p.batch), Rows: int(p.rows), Cols: int(p.cols), Maximize: p.flags&C.COALESCE_MAXIMIZE != 0}
	var err error
	if l.Type, err = residentType(p._type); err != nil {
		return err
	}
	key := matricesKey{int(p.device), l, assignment.AnyTies, p.flags&C.COALESCE_UNCHECKED == 0}
	if p.flags&C.COALESCE_SCIPY_TIES != 0 {
		key.ties = assignment.SciPyTies
	}
	o := assignment.Options{Unchecked: !key.check}
	lender, err := lenderOf(p.device, &o)
	if err != nil {
		return err
	}
	m, found := matrices.takeSolver(key)
	if !found {
		if m, err = assignment.OpenMatrices(l, key.ties, o); err != nil {
			return err
		}
	}
	unmatched, err := onStream(lender, p, m, l)
	if err != nil && !errors.Is(err, problem.ErrCost) {
		return errors.Join(err, m.Close()) // its device may be lost
	}
	if err := errors.Join(err, matrices.keepSolver(key, m)); err != nil {
		return err
	}
	if len(unmatched) > 0 {
		return fmt.Errorf("matrix %d has no full matching: %w", unmatched[0], solve.ErrInfeasible)
	}
	return nil
}

// onStream solves by the caller's stream.
func onStream(lender device.Lender, p *C.coalesce_matrices, m *assignment.Matrices, l assignment.Layout) (unmatched []int, err error) {
	count, least := int64(l.Count), int64(min(l.Rows, l.Cols))
	var costs device.Buffer
	var to assignment.Placed
	for _, b := range []struct {
		to    *device.Buffer
		at    unsafe.Pointer
		bytes int64
	}{
		{&costs, p.costs, count * int64(l.Rows) * int64(l.Cols) * int64(l.Type.Size())},
		{&to.PairRows, unsafe.Pointer(p.row_ind), 8 * count * least}, {&to.PairColumns, unsafe.Pointer(p.col_ind), 8 * count * least},
		{&to.Columns, unsafe.Pointer(p.column), 8 * count * int64(l.Rows)}, {&to.Status, unsafe.Pointer(p.status), 4 * count},
	} {
		if b.at == nil {
			continue
		}
		if *b.to, err = lender.Lend(uintptr(b.at), b.bytes); err != nil {
			return nil, argumentError("%v", err)
		}
	}
	s, err := lender.LendStream(uintptr(p.stream))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if p.flags&C.COALESCE_ENQUEUE != 0 {
		return nil, m.Enqueue(s, costs, to)
	}
	return m.Solve(context.Background(), s, costs, to)
}
