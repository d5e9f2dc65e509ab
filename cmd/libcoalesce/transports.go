package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Kernels for transport are kept, so that a call chooses and allocates nothing.
var transports shelf[transportsKey, *assignment.Transports]

// A transportsKey is what calls must have in common for one kept solver.
type transportsKey struct {
	device  int
	layout  assignment.Layout
	anySums bool
}

//export goSolveTransports
func goSolveTransports(p *C.coalesce_transports) C.int32_t {
	err := recoverPanic(func() error { return solveTransports(p) })
	if p != nil {
		writeError(err, p.text, p.text_size)
	}
	return shapeCodeOf(err)
}

// solveTransports solves problems in the memory of a GPU into memory there.
func solveTransports(p *C.coalesce_transports) (err error) {
	const limit = math.MaxInt32
	if p == nil {
		return argumentError("no struct")
	}
	if err := checkSize(p.size, unsafe.Sizeof(*p)); err != nil {
		return err
	}
	switch {
	case p.batch < 1 || p.batch > limit || p.rows < 1 || p.cols < 1 || p.rows > limit || p.cols > limit:
		return argumentError("%d of %d x %d costs on a GPU", p.batch, p.rows, p.cols)
	case p.device < 0 && p.device != C.COALESCE_HOST || p.flags&^C.COALESCE_ANY_SUMS != 0:
		return argumentError("transport: expected a GPU or the host, and flags of this function")
	case p.device == C.COALESCE_HOST:
		return shipOnHost(p)
	}
	l := assignment.Layout{Count: int(p.batch), Rows: int(p.rows), Cols: int(p.cols)}
	if l.Type, err = residentType(p._type); err != nil {
		return err
	}
	key := transportsKey{int(p.device), l, p.flags&C.COALESCE_ANY_SUMS != 0}
	var o assignment.Options
	lender, err := lenderOf(p.device, &o)
	if err != nil {
		return err
	}
	t, found := transports.takeSolver(key)
	if !found {
		if t, err = assignment.OpenTransports(l, key.anySums, o); err != nil {
			return err
		}
	}
	if err = transportOnStream(lender, p, t, l); err != nil && !errors.Is(err, problem.ErrCost) && !errors.Is(err, solve.ErrInput) {
		return errors.Join(err, t.Close()) // its device may be lost
	}
	return errors.Join(err, transports.keepSolver(key, t))
}

// shipOnHost solves one problem in the host's memory.
func shipOnHost(p *C.coalesce_transports) error {
	if p.batch != 1 || p.costs == nil || p.a == nil || p.b == nil || p.u == nil || p.v == nil || p.pair_row == nil || p.pair_col == nil || p.amount == nil || p.pairs == nil {
		return argumentError("transport on the host: expected one problem, with arrays for its pairs and duals")
	}
	n, m := int(p.rows), int(p.cols)
	inst := &problem.Instance{Rows: n, Cols: m, Source: "memory"}
	switch p._type {
	case C.COALESCE_INT32:
		problem.SetCosts(inst, unsafe.Slice((*int32)(p.costs), n*m))
	case C.COALESCE_INT64:
		problem.SetCosts(inst, unsafe.Slice((*int64)(p.costs), n*m))
		inst.Every = true
	case C.COALESCE_FLOAT32:
		problem.SetCosts(inst, unsafe.Slice((*float32)(p.costs), n*m))
	case C.COALESCE_FLOAT64:
		problem.SetCosts(inst, unsafe.Slice((*float64)(p.costs), n*m))
	default:
		return argumentError("transport: expected costs of int32, int64, float32 or float64")
	}
	plan, err := assignment.ShipMasses(context.Background(), inst, unsafe.Slice((*float64)(p.a), n), unsafe.Slice((*float64)(p.b), m), userWinners())
	if err != nil {
		return err
	}
	copy(unsafe.Slice((*int32)(p.pair_row), n+m), plan.Row)
	copy(unsafe.Slice((*int32)(p.pair_col), n+m), plan.Col)
	copy(unsafe.Slice((*float64)(p.amount), n+m), plan.Amount)
	copy(unsafe.Slice((*float64)(p.u), n), plan.U)
	copy(unsafe.Slice((*float64)(p.v), m), plan.V)
	*p.pairs = C.int64_t(len(plan.Row))
	return nil
}

// transportOnStream solves by the caller's stream.
func transportOnStream(lender device.Lender, p *C.coalesce_transports, t *assignment.Transports, l assignment.Layout) (err error) {
	count, rows, cols := int64(l.Count), int64(l.Rows), int64(l.Cols)
	shipped := int64(8)
	if l.Type == problem.Float32 {
		shipped = 4
	}
	var costs, a, b device.Buffer
	var to assignment.Shipped
	for _, x := range []struct {
		to    *device.Buffer
		at    unsafe.Pointer
		bytes int64
	}{
		{&costs, p.costs, count * rows * cols * int64(l.Type.Size())}, {&a, unsafe.Pointer(p.a), 8 * count * rows}, {&b, unsafe.Pointer(p.b), 8 * count * cols},
		{&to.Plan, p.plan, count * rows * cols * shipped}, {&to.U, unsafe.Pointer(p.u), 8 * count * rows}, {&to.V, unsafe.Pointer(p.v), 8 * count * cols},
		{&to.Cost, unsafe.Pointer(p.cost), 8 * count}, {&to.Status, unsafe.Pointer(p.status), 4 * count},
	} {
		if x.at == nil {
			return argumentError("transport: expected arrays for all arguments and answers")
		}
		if *x.to, err = lender.Lend(uintptr(x.at), x.bytes); err != nil {
			return argumentError("%v", err)
		}
	}
	s, err := lender.LendStream(uintptr(p.stream))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return t.Solve(context.Background(), s, costs, a, b, to)
}
