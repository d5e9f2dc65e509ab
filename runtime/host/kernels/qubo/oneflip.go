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

import "math/bits"

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

// pickPlain finds the answer of the vector kernels: of each of the 64 places
// within a turn the first of the largest counts, and rotate chooses a place.
func pickPlain[S Sum](field []S, x, free []uint64, rotate int) Best {
	var first [Turn]int // of each place the first turn with the largest gain
	low := -largest[S]() - 1
	top, any := low, low
	var places uint64
	for turn := range len(field) / Turn {
		ones, frees := x[turn], free[turn]
		for place, gain := range (*[Turn]S)(field[turn*Turn:]) {
			if ones>>place&1 != 0 {
				gain = -gain
			}
			any = max(any, gain)
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
	place := (bits.TrailingZeros64(bits.RotateLeft64(places, -rotate)) + rotate) & (Turn - 1)
	return Best{int(top), first[place]*Turn + place, int(any)}
}
