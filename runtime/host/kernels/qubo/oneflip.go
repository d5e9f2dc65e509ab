// Package qubo holds the inner loops of one-flip local search over x in
// {0,1}^n: in one pass over n fields it adds the row of the variable that
// flipped and finds the largest gain among the variables that are free to
// flip next. AVX-512 assembly does it where the processor has it.
//
// The field of variable j is diag(j) + Σ weight(j,k) x(k). The gain of
// flipping j is its field where x(j) is 0 and the negated field where x(j) is
// 1. x and free are bit maps, bit j%64 of word j/64. n is a multiple of 64;
// variables that only fill it up keep x and free 0 and the field FillerField.
package qubo

import (
	"math/bits"
	"unsafe"
)

// Turn is the number of variables looked at together; n is a multiple of it.
const Turn = 64

// Row is a type of weights.
type Row interface{ int8 | int16 | int32 | int64 }

// Sum is a type of fields. No field may reach the least number of the type,
// nor a gain what does not fit in it.
type Sum interface{ int16 | int32 | int64 }

// FillerField is the field of the variables that fill up the last turn: the least
// number but one, below every gain.
func FillerField[S Sum]() S { return -largest[S]() }

// largest number of a type of fields.
func largest[S Sum]() S {
	low := S(1)
	for low<<1 > 0 {
		low <<= 1
	}
	return low - 1 + low
}

// A Best is what a pass found: the largest gain of a free variable, that
// variable, and the largest gain of any variable. Where no variable is free At
// means nothing.
type Best struct{ Gain, At, Any int }

// AddRowPickFlip adds row, its weights shifted to the left by shift bits, to the fields,
// or subtracts it, and finds the largest gain. Among equals rotate, 0 to 63,
// chooses.
func AddRowPickFlip[R Row, S Sum](row []R, shift int, negate bool, field []S, x, free []uint64, rotate int) Best {
	if len(field)%Turn != 0 || len(row) < len(field) || 64*len(x) < len(field) || 64*len(free) < len(field) {
		panic("qubo: slices of different lengths")
	}
	if len(field) == 0 {
		return Best{}
	}
	if b, ok := stepVector(row, shift, negate, field, x, free, rotate); ok {
		return b
	}
	addPlain(row, shift, negate, field)
	return pickPlain(field, x, free, rotate)
}

// PickFlip finds the largest gain. Among equals rotate, 0 to 63, chooses.
func PickFlip[S Sum](field []S, x, free []uint64, rotate int) Best {
	if len(field)%Turn != 0 || 64*len(x) < len(field) || 64*len(free) < len(field) {
		panic("qubo: slices of different lengths")
	}
	if len(field) == 0 {
		return Best{}
	}
	if b, ok := pickVector(field, x, free, rotate); ok {
		return b
	}
	return pickPlain(field, x, free, rotate)
}

// AddRow adds row, its weights shifted to the left by shift bits, to the fields, or
// subtracts it.
func AddRow[R Row, S Sum](row []R, shift int, negate bool, field []S) {
	if len(field)%Turn != 0 || len(row) < len(field) {
		panic("qubo: slices of different lengths")
	}
	if len(field) > 0 && !addVector(row, shift, negate, field) {
		addPlain(row, shift, negate, field)
	}
}

func addPlain[R Row, S Sum](row []R, shift int, negate bool, field []S) {
	if r, ok := any(row).([]int16); ok {
		if f, ok := any(field).([]int16); ok {
			addLanes(r[:len(f)], shift, negate, f)
			return
		}
	}
	for len(field) >= 8 && len(row) >= 8 {
		r, f := (*[8]R)(row), (*[8]S)(field)
		if negate {
			for i := range f {
				f[i] -= S(r[i]) << shift
			}
		} else {
			for i := range f {
				f[i] += S(r[i]) << shift
			}
		}
		row, field = row[8:], field[8:]
	}
}

// addLanes is addPlain of four fields at a time, in the lanes of a word: the sign bits of lanes are added without their carries.
func addLanes(row []int16, shift int, negate bool, field []int16) {
	const signs = 0x8000800080008000
	r, f := words(row), words(field)
	r = r[:len(f)]
	kept := uint64(0xffff) << shift & 0xffff * 0x0001000100010001 // bits that a shift leaves in their lane
	for k, b := range r {
		a := f[k]
		b = b << (shift & 15) & kept
		if negate {
			f[k] = (a | signs) - (b &^ signs) ^ (a^^b)&signs
		} else {
			f[k] = (a &^ signs) + (b &^ signs) ^ (a^b)&signs
		}
	}
}

// words are the numbers, a multiple of four, four in a word.
func words(x []int16) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/4)
}

// gain is a field, negated where the lowest bit is set.
func gain[S Sum](field S, bit uint64) S {
	sign := -S(bit & 1)
	return (field ^ sign) - sign
}

// pickPlain finds the answer of the vector kernels: of each of the 64 places
// within a turn the first of the largest counts, and rotate chooses a place.
func pickPlain[S Sum](field []S, x, free []uint64, rotate int) Best {
	var first [Turn]int // of each place the first turn with the largest gain
	low := -largest[S]() - 1
	top, any := low, low
	var places uint64
	for turn := range len(field) / Turn {
		f, ones, frees := (*[Turn]S)(field[turn*Turn:]), x[turn], free[turn]
		for four := 0; four < Turn; four += 4 {
			gains := [4]S{gain(f[four], ones>>four), gain(f[four+1], ones>>four>>1), gain(f[four+2], ones>>four>>2), gain(f[four+3], ones>>four>>3)}
			most := max(max(gains[0], gains[1]), max(gains[2], gains[3]))
			any = max(any, most)
			if most < top {
				continue
			}
			for k, gain := range gains {
				place := four + k
				if gain < top || frees>>place&1 == 0 {
					continue
				}
				if gain > top {
					top, places = gain, 0
				}
				if places>>place&1 == 0 {
					places |= 1 << place
					first[place] = turn
				}
			}
		}
	}
	place := (bits.TrailingZeros64(bits.RotateLeft64(places, -rotate)) + rotate) & (Turn - 1)
	return Best{int(top), first[place]*Turn + place, int(any)}
}
