package assignment

import (
	"math"

	"golang.org/x/sys/cpu"
)

// hasVectors reports whether this processor has the registers that the kernels use.
func hasVectors() bool { return cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ }

// Vector is rest, but for whole turns of costs in vector registers; just rest
// where there are none.
func Vector[T Value](rest Filter[T]) Filter[T] {
	if !hasVectors() {
		return rest
	}
	return func(c []T, v []int64, scale float64, limit int64, from, to int, h *Hits) int {
		if n := (to - from) &^ (turn - 1); n > 0 {
			_ = v[from+n-1]
			hits, next := sift(&c[from], &v[from], n, factor[T](scale), limit, from, &h.Index[h.N], &h.Value[h.N], h.room+turn-h.N)
			h.N += hits
			if from += next; from+turn <= to {
				return from
			}
		}
		return rest(c, v, scale, limit, from, to, h)
	}
}

func sift[T Value](c *T, v *int64, n, scale int, limit int64, base int, index, value *int64, room int) (hits, next int) {
	switch c := any(c).(type) {
	case *int32:
		return siftInt32(c, v, n, scale, limit, base, index, value, room)
	case *int64:
		return siftInt64(c, v, n, scale, limit, base, index, value, room)
	case *float32:
		return siftFloat32(c, v, n, scale, limit, base, index, value, room)
	case *float64:
		return siftFloat64(c, v, n, scale, limit, base, index, value, room)
	}
	return 0, 0
}

// factor is the argument scale of the vector kernels.
func factor[T Value](scale float64) int {
	switch any(T(0)).(type) {
	case float32, float64:
		return int(math.Float64bits(scale))
	}
	if scale < 0 {
		return -1
	}
	return 0
}

// lowerVector does whole turns of LowerDuals and returns how many costs these are.
func lowerVector[T Value](c []T, v []int64, scale float64, u int64) int {
	n := len(c) &^ (turn - 1)
	if n == 0 || !hasVectors() {
		return 0
	}
	_ = v[n-1]
	f := factor[T](scale)
	switch c := any(&c[0]).(type) {
	case *int32:
		lowerInt32(c, &v[0], n, f, u, Infinity)
	case *int64:
		lowerInt64(c, &v[0], n, f, u, Infinity)
	case *float32:
		lowerFloat32(c, &v[0], n, f, u, Infinity)
	case *float64:
		lowerFloat64(c, &v[0], n, f, u, Infinity)
	}
	return n
}
