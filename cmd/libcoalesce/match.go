package main

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
)

// A matcher is what a thread of C solves small matrices with, and no memory is made for a call.
type matcher struct {
	solver assignment.QuickSolver
	found  []assignment.Matching
}

var matchers = sync.Pool{New: func() any { return new(matcher) }}

// goKernels writes lapjv.Entries where there are some. shim.c calls those.
//
//export goKernels
func goKernels(to *C.uint64_t) {
	entries := unsafe.Slice(to, 15)
	for k, at := range lapjv.Entries() {
		for q, kernel := range at {
			if kernel != 0 {
				entries[5*k+q] = C.uint64_t(kernel)
			}
		}
	}
}

// The memory of a kernel that shim.c calls lies on its stack.
var _ [6400 - unsafe.Sizeof(lapjv.Small{})]byte

// matchable reports whether assignment.Match solves what a struct describes: dense matrices on the host, of which the
// columns, values and gaps alone are asked for, and no gaps with a limit.
func matchable(p *C.coalesce_assignment) bool {
	return p != nil && uintptr(p.size) >= unsafe.Sizeof(*p) && takesFlags(p.flags) && p.device == C.COALESCE_HOST && p.start == nil && p.dimensions == 0 &&
		p.k_best <= 1 && p.start_scale == 0 && p.time_limit == 0 && p.algorithm == nil && p.options == nil && p.u == nil && p.v == nil && p.scale == nil && (p.gap == nil || p.flags&C.COALESCE_LIMIT == 0) &&
		p.costs != nil && p.column != nil && p.batch > 0 && p.batch <= math.MaxInt32 && p.rows > 0 && p.cols > 0 && p.rows <= problem.MaxSide && p.cols <= problem.MaxSide &&
		(p.flags&C.COALESCE_SCIPY_TIES != 0 || few(int(min(p.rows, math.MaxInt32)), int(min(p.cols, math.MaxInt32))))
}

// takesFlags reports whether match has regard to all that is set.
func takesFlags(flags C.uint32_t) bool {
	return flags&^(C.COALESCE_MAXIMIZE|C.COALESCE_LIMIT) == 0 || flags&^(C.COALESCE_MAXIMIZE|C.COALESCE_SCIPY_TIES) == 0
}

// few is assignment.FewCosts for this process, without the lock of GOMAXPROCS where any number of cores will do.
func few(rows, cols int) bool {
	return rows*cols <= onThread && rows <= onThread || assignment.FewCosts(rows, cols, runtime.GOMAXPROCS(0))
}

// match solves one matrix, or few, on the calling thread, many on a goroutine that Go made, as goroutines share them.
// done is false where the costs are none of assignment.Match's types.
func match(p *C.coalesce_assignment) (done bool, err error) {
	if p.batch == 1 || p.batch*p.rows*p.cols <= onThread { // one matrix needs no other goroutine
		return matchHere(p)
	}
	return matchAside(p)
}

// matchAside is a function of its own, so that match's results are not on the heap.
func matchAside(p *C.coalesce_assignment) (done bool, err error) {
	err = <-runOnGoThread(func() error {
		done, err = matchHere(p)
		return err
	})
	return done, err
}

func matchHere(p *C.coalesce_assignment) (done bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if p.flags&C.COALESCE_LIMIT != 0 {
		switch p._type { // whose costs float64 holds
		case C.COALESCE_INT32:
			return true, matchWithin(p, stacked(p, converted[int32, float64]))
		case C.COALESCE_FLOAT32:
			return true, matchWithin(p, stacked(p, converted[float32, float64]))
		case C.COALESCE_FLOAT64:
			return true, matchWithin(p, stacked(p, viewSlice[float64]))
		}
		return false, nil
	}
	switch p._type {
	case C.COALESCE_INT8:
		return true, matchAll(p, stacked(p, converted[int8, int32]))
	case C.COALESCE_UINT8:
		return true, matchAll(p, stacked(p, converted[uint8, int32]))
	case C.COALESCE_INT16:
		return true, matchAll(p, stacked(p, converted[int16, int32]))
	case C.COALESCE_UINT16:
		return true, matchAll(p, stacked(p, converted[uint16, int32]))
	case C.COALESCE_UINT32:
		return true, matchAll(p, stacked(p, converted[uint32, int64]))
	case C.COALESCE_FLOAT32:
		return true, matchAll(p, stacked(p, viewSlice[float32]))
	case C.COALESCE_FLOAT64:
		return true, matchAll(p, stacked(p, viewSlice[float64]))
	case C.COALESCE_INT32:
		c := stacked(p, viewSlice[int32])
		if !assignment.Forbids(c) { // else it is a cost like others, as an int64
			return true, matchAll(p, c)
		}
		return true, matchAll(p, stacked(p, converted[int32, int64]))
	case C.COALESCE_INT64:
		c := stacked(p, viewSlice[int64])
		switch {
		case !assignment.Forbids(c):
			return true, matchAll(p, c)
		case p.flags&C.COALESCE_SCIPY_TIES != 0: // SciPy takes all integers for float64
			return true, matchAll(p, stacked(p, converted[int64, float64]))
		}
	case C.COALESCE_UINT64:
		if p.flags&C.COALESCE_SCIPY_TIES != 0 {
			return true, matchAll(p, stacked(p, converted[uint64, float64]))
		}
	}
	return false, nil
}

// stacked are the costs of all matrices of a struct, one matrix after the other.
func stacked[T number](p *C.coalesce_assignment, read func(view) []T) []T {
	v := view{p.costs, int(p.rows), int(p.cols), int(p.row_stride), int(p.col_stride)}
	if p.batch == 1 {
		return read(v)
	}
	if p.batch_stride == p.row_stride*p.rows || p.rows == 1 {
		if p.rows == 1 {
			v.down = int(p.batch_stride)
		}
		v.rows *= int(p.batch)
		return read(v)
	}
	var all []T
	for range p.batch {
		all = append(all, read(v)...)
		v.data = unsafe.Add(v.data, int(p.batch_stride))
	}
	return all
}

// matchWithin solves matrices with a limit. A row and a column that stay unmatched cost the limit together, so the best
// partial matching is that of all of the shorter side by costs of at most the limit, without its pairs that cost more.
func matchWithin(p *C.coalesce_assignment, costs []float64) error {
	limit, maximize := float64(p.limit), p.flags&C.COALESCE_MAXIMIZE != 0
	if math.IsNaN(limit) {
		return argumentError("limit: found NaN, expected a number")
	}
	beyond := func(c float64) bool { return c > limit && !maximize || c < limit && maximize }
	within := make([]float64, len(costs))
	for k, c := range costs {
		if within[k] = c; beyond(c) {
			within[k] = limit
		}
	}
	if err := matchAll(p, within); err != nil {
		return err
	}
	rows, cols := int(p.rows), int(p.cols)
	for k := range int(p.batch) {
		value := 0.0
		column := unsafe.Slice((*int32)(unsafe.Pointer(p.column)), (k+1)*rows)[k*rows:]
		for i, j := range column {
			if j < 0 {
				continue
			}
			if c := costs[(k*rows+i)*cols+int(j)]; beyond(c) {
				column[i] = -1
			} else {
				value += c
			}
		}
		setItem(p.value, k, C.double(value))
		setItem(p.code, k, C.COALESCE_OK)
	}
	return nil
}

// matchAll solves matrices that follow one another, and writes the answers where the struct asks for them.
func matchAll[T problem.Number](p *C.coalesce_assignment, costs []T) error {
	m := matchers.Get().(*matcher)
	defer matchers.Put(m)
	s := assignment.Shape{Rows: int(p.rows), Cols: int(p.cols)}
	n := int(p.batch)
	column := unsafe.Slice((*int32)(unsafe.Pointer(p.column)), n*s.Rows)
	maximize, ties := p.flags&C.COALESCE_MAXIMIZE != 0, assignment.AnyTies
	if p.flags&C.COALESCE_SCIPY_TIES != 0 {
		ties = assignment.SciPyTies
	}
	m.solver.Ties = ties
	if n == 1 {
		one, err := assignment.Match(&m.solver, s, costs, maximize, column)
		if err == nil {
			putMatching(p, 0, one)
		}
		return err
	}
	if cap(m.found) < n {
		m.found = make([]assignment.Matching, n)
	}
	m.found = m.found[:n]
	if err := assignment.MatchBatch([]assignment.Shape{s}, costs, maximize, ties, 0, column, m.found); err != nil {
		return err
	}
	for k, one := range m.found {
		putMatching(p, k, one)
	}
	return nil
}

func putMatching(p *C.coalesce_assignment, k int, m assignment.Matching) {
	value, gap, code := m.Value, m.Gap, C.int32_t(C.COALESCE_OK)
	switch {
	case m.Matched == 0:
		value, gap, code = math.NaN(), math.NaN(), C.COALESCE_INFEASIBLE
	case !m.Proven:
		gap = math.NaN()
	}
	setItem(p.value, k, C.double(value))
	setItem(p.gap, k, C.double(gap))
	setItem(p.code, k, code)
}
