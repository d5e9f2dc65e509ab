package qubo

import "golang.org/x/sys/cpu"

func hasVectors() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI1
}

func sign(negate bool) int {
	if negate {
		return 1
	}
	return 0
}

func stepVector[R Row, S Sum](row []R, shift int, negate bool, field []S, x, free []uint64, rotate int) (b Best, ok bool) {
	if !hasVectors() {
		return b, false
	}
	minus, n := sign(negate), len(field)
	switch f := any(&field[0]).(type) {
	case *int16:
		switch r := any(&row[0]).(type) {
		case *int8:
			b.Gain, b.At, b.Any = step8x16(r, f, &x[0], &free[0], n, rotate, minus, shift)
			return b, true
		case *int16:
			b.Gain, b.At, b.Any = step16x16(r, f, &x[0], &free[0], n, rotate, minus, shift)
			return b, true
		}
	case *int32:
		switch r := any(&row[0]).(type) {
		case *int8:
			b.Gain, b.At, b.Any = step8x32(r, f, &x[0], &free[0], n, rotate, minus, shift)
			return b, true
		case *int16:
			b.Gain, b.At, b.Any = step16x32(r, f, &x[0], &free[0], n, rotate, minus, shift)
			return b, true
		case *int32:
			b.Gain, b.At, b.Any = step32x32(r, f, &x[0], &free[0], n, rotate, minus, shift)
			return b, true
		}
	}
	return b, false
}

func pickVector[S Sum](field []S, x, free []uint64, rotate int) (b Best, ok bool) {
	if !hasVectors() {
		return b, false
	}
	switch f := any(&field[0]).(type) {
	case *int16:
		b.Gain, b.At, b.Any = pick16(f, &x[0], &free[0], len(field), rotate)
		return b, true
	case *int32:
		b.Gain, b.At, b.Any = pick32(f, &x[0], &free[0], len(field), rotate)
		return b, true
	}
	return b, false
}

func addVector[R Row, S Sum](row []R, shift int, negate bool, field []S) bool {
	if !hasVectors() {
		return false
	}
	minus, n := sign(negate), len(field)
	switch f := any(&field[0]).(type) {
	case *int16:
		switch r := any(&row[0]).(type) {
		case *int8:
			add8x16(r, f, n, minus, shift)
			return true
		case *int16:
			add16x16(r, f, n, minus, shift)
			return true
		}
	case *int32:
		switch r := any(&row[0]).(type) {
		case *int8:
			add8x32(r, f, n, minus, shift)
			return true
		case *int16:
			add16x32(r, f, n, minus, shift)
			return true
		case *int32:
			add32x32(r, f, n, minus, shift)
			return true
		}
	}
	return false
}
