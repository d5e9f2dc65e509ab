package main

/*
#include "shim.h"
*/
import "C"

import (
	"math"
	"slices"
	"unsafe"

	"coalesce/solvers/assignment"
)

// A number is what arrays of C hold.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// A view is a matrix of C: memory and strides in bytes.
type view struct {
	data       unsafe.Pointer
	rows, cols int
	down, over int // bytes from a row to the next, and from a column to the next
}

// viewSlice returns a view's numbers row by row: the caller's memory itself where the numbers lie in
// this order, else a copy.
func viewSlice[T number](v view) []T {
	size := int(unsafe.Sizeof(T(0)))
	count := v.rows * v.cols
	if count == 0 {
		return []T{}
	}
	if aligned := uintptr(v.data)%uintptr(size) == 0; aligned && (v.cols == 1 || v.over == size) && (v.rows == 1 || v.down == v.cols*size) {
		return unsafe.Slice((*T)(v.data), count)
	}
	return converted[T, T](v)
}

// converted returns a copy of a view's numbers, of type S, as numbers of type T. They need not be
// aligned: x86 and arm64 read them all the same.
func converted[S, T number](v view) []T {
	out := make([]T, v.rows*v.cols)
	const tile = 32 // rows and columns: both memories stay in the cache
	for top := 0; top < v.rows; top += tile {
		for left := 0; left < v.cols; left += tile {
			for i := top; i < min(top+tile, v.rows); i++ {
				row := unsafe.Add(v.data, i*v.down)
				for j := left; j < min(left+tile, v.cols); j++ {
					out[i*v.cols+j] = T(*(*S)(unsafe.Add(row, j*v.over)))
				}
			}
		}
	}
	return out
}

// An offsetUnsigned is unsigned integers less 2^63.
type offsetUnsigned []int64

// narrowCosts returns a view's numbers in the narrowest of the solver's types that holds them all:
// int32, int64, an offset or a float.
func narrowCosts(v view, kind C.int32_t) (any, error) {
	switch kind {
	case C.COALESCE_INT8:
		return converted[int8, int32](v), nil
	case C.COALESCE_INT16:
		return converted[int16, int32](v), nil
	case C.COALESCE_UINT8:
		return converted[uint8, int32](v), nil
	case C.COALESCE_UINT16:
		return converted[uint16, int32](v), nil
	case C.COALESCE_INT32:
		if c := viewSlice[int32](v); !assignment.Forbids(c) {
			return c, nil
		}
		return converted[int32, int64](v), nil
	case C.COALESCE_UINT32:
		return converted[uint32, int64](v), nil
	case C.COALESCE_INT64:
		return viewSlice[int64](v), nil
	case C.COALESCE_UINT64:
		c := converted[uint64, int64](v)
		if !slices.ContainsFunc(c, func(x int64) bool { return x < 0 }) {
			return c, nil
		}
		for k := range c {
			c[k] ^= math.MinInt64
		}
		return offsetUnsigned(c), nil
	case C.COALESCE_FLOAT32:
		return viewSlice[float32](v), nil
	case C.COALESCE_FLOAT64:
		return viewSlice[float64](v), nil
	}
	return nil, argumentError("numbers of type %d", kind)
}
