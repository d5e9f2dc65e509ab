package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"coalesce/solvers/csg/problem"
)

// DecodeWord is the number that eight bytes of a device hold.
func DecodeWord(b [8]byte) uint64 { return binary.NativeEndian.Uint64(b[:]) }

// Decode reads the bits of a value of a type as a float64 and as decimals.
func Decode(t problem.Value, word uint64) (float64, string) {
	switch t {
	case problem.Int16:
		return float64(int16(word)), fmt.Sprint(int16(word))
	case problem.Int32:
		return float64(int32(word)), fmt.Sprint(int32(word))
	case problem.Int64:
		return float64(int64(word)), fmt.Sprint(int64(word))
	case problem.Float32:
		x := math.Float32frombits(uint32(word))
		return float64(x), problem.FormatFloat(float64(x), 32)
	}
	x := math.Float64frombits(word)
	return x, problem.FormatFloat(x, 64)
}

// Deposit maps the members of an index to the members of c (initialSplit of GPU-CSG).
func Deposit(index, c uint64) uint64 {
	var s uint64
	for ; index != 0; index >>= 1 {
		low := c & -c
		if index&1 != 0 {
			s |= low
		}
		c ^= low
	}
	return s
}
