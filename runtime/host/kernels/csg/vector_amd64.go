package csg

import (
	"sync"

	"golang.org/x/sys/cpu"
)

var (
	unitInt32   = sync.OnceValue(func() *unit[int32] { return newUnit32(convInt32, dotInt32, expandInt32) })
	unitInt64   = sync.OnceValue(func() *unit[int64] { return newUnit64(convInt64, dotInt64, expandInt64) })
	unitFloat32 = sync.OnceValue(func() *unit[float32] { return newUnit32(convFloat32, dotFloat32, expandFloat32) })
	unitFloat64 = sync.OnceValue(func() *unit[float64] { return newUnit64(convFloat64, dotFloat64, expandFloat64) })
)

// vectorUnit is the unit of a value type; nil without AVX-512.
func vectorUnit[T Value]() *unit[T] {
	if !cpu.X86.HasAVX512F {
		return nil
	}
	var u any
	switch any(T(0)).(type) {
	case int32:
		u = unitInt32()
	case int64:
		u = unitInt64()
	case float32:
		u = unitFloat32()
	case float64:
		u = unitFloat64()
	}
	return u.(*unit[T])
}

// newUnit32 is the unit of a type of 4 bytes: 16 lanes, 6 planes.
func newUnit32[T Value](conv func(d, a, b *T, from, to, proper int), dot func(d, a, b *T, t int),
	expand func(dst, src *T, index *uint32, chunks int)) *unit[T] {
	u := newUnit(4, lowestOf[T]())
	u.conv, u.dot = conv, dot
	index := [2][]uint32{widen[uint32](u.left), widen[uint32](u.right)}
	u.expand = func(dst, src *T, side, plane, chunks int) {
		expand(dst, src, &index[side][plane<<4], chunks)
	}
	return u
}

// newUnit64 is the unit of a type of 8 bytes: 8 lanes, 4 planes.
func newUnit64[T Value](conv func(d, a, b *T, from, to, proper int), dot func(d, a, b *T, t int),
	expand func(dst, src *T, index *uint64, chunks int)) *unit[T] {
	u := newUnit(3, lowestOf[T]())
	u.conv, u.dot = conv, dot
	index := [2][]uint64{widen[uint64](u.left), widen[uint64](u.right)}
	u.expand = func(dst, src *T, side, plane, chunks int) {
		expand(dst, src, &index[side][plane<<3], chunks)
	}
	return u
}

func widen[I uint32 | uint64](lanes []uint8) []I {
	out := make([]I, len(lanes))
	for i, l := range lanes {
		out[i] = I(l)
	}
	return out
}
