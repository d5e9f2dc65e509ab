package lapjv

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// at is the address that the assembly takes.
func (s *Search) at() *byte { return (*byte)(unsafe.Pointer(s)) }

// vectors are the kernels in assembly that this processor can run.
func vectors[T Cost]() (sets []Kernels) {
	if hasAVX512() {
		sets = append(sets, avx512[T]())
	}
	if hasAVX2() {
		sets = append(sets, avx2[T]())
	}
	return sets
}

func hasAVX512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && hasAVX2()
}

func hasAVX2() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasBMI1 && x.HasPOPCNT
}

// SmallColumns is the most columns that FindSmall takes on this processor.
var SmallColumns = smallColumns()

func smallColumns() int {
	switch {
	case hasAVX512():
		return smallOfAVX512
	case hasAVX2():
		return smallOfAVX2
	}
	return 0
}

// Entries returns the addresses of kernels for float64, float32 and int32, zeros on a processor without AVX2: of each type FindSmall's and those
// of Nearest, Path, Check and Close. Code of other languages can call them. They take their arguments on the stack, one a word, from 8(SP) on, and
// write the result after these. FindSmall's are (memory of a Small, costs, bytes from row to row, rows, columns, int32s of the rows' columns), and
// the result is 0 or 1, as FindSmall reports; the others take a Search before theirs. They change all registers but SP and BP, and take 256 bytes of the stack at most.
func Entries() (entries [3][5]uintptr) {
	switch SmallColumns {
	case smallOfAVX512:
		entriesAVX512(&entries[0][0])
	case smallOfAVX2:
		entriesAVX2(&entries[0][0])
	}
	return entries
}

// findSmall calls the kernel of AVX-512, or of AVX2.
func findSmall[T Cost](s unsafe.Pointer, costs []T, rows, cols int, column []int32, wide bool) int {
	at, stride, to := unsafe.Pointer(unsafe.SliceData(costs)), cols*int(unsafe.Sizeof(*new(T))), unsafe.SliceData(column)
	switch any(*new(T)).(type) {
	case int32:
		if !wide {
			return smallInt32AVX2((*byte)(s), (*int32)(at), stride, rows, cols, to)
		}
		return smallInt32AVX512((*byte)(s), (*int32)(at), stride, rows, cols, to)
	case float32:
		if !wide {
			return smallFloat32AVX2((*byte)(s), (*float32)(at), stride, rows, cols, to)
		}
		return smallFloat32AVX512((*byte)(s), (*float32)(at), stride, rows, cols, to)
	}
	if !wide {
		return smallFloat64AVX2((*byte)(s), (*float64)(at), stride, rows, cols, to)
	}
	return smallFloat64AVX512((*byte)(s), (*float64)(at), stride, rows, cols, to)
}

func avx512[T Cost]() Kernels {
	switch any(*new(T)).(type) {
	case int32:
		return Kernels{"avx512", func(s *Search) int { return minimaInt32AVX512(s.at()) }, func(s *Search) int { return transferInt32AVX512(s.at()) }, func(s *Search, n int) int { return bidInt32AVX512(s.at(), n) },
			func(s *Search, root int) int { return pathInt32AVX512(s.at(), root) }, func(s *Search) int { return nearestInt32AVX512(s.at()) },
			func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
				return belowInt32AVX512(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
			},
			func(s *Search, raise int) int { return checkInt32AVX512(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeInt32AVX512(s.at(), i, width, lost) },
			func(list []float64) int { return leastAVX512(unsafe.SliceData(list), len(list)) }, twoAVX512, nearerAVX512, 8, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
				turnInt32AVX512((*int32)(from), fromStride, cols, to, toStride, sign)
			}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
				return spanInt32AVX512((*int32)(costs), n, &ends[0])
			}, nil, mostAVX512, unlike32AVX512, false, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return nearestRowsInt32AVX512((*int32)(least), (*int32)(costs), stride, rows, cols, at)
			}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return rowsBelowInt32AVX512((*int32)(bars), (*int32)(costs), stride, rows, cols, at)
			}}
	case float32:
		return Kernels{"avx512", func(s *Search) int { return minimaFloat32AVX512(s.at()) }, func(s *Search) int { return transferFloat32AVX512(s.at()) }, func(s *Search, n int) int { return bidFloat32AVX512(s.at(), n) },
			func(s *Search, root int) int { return pathFloat32AVX512(s.at(), root) }, func(s *Search) int { return nearestFloat32AVX512(s.at()) },
			func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
				return belowFloat32AVX512(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
			},
			func(s *Search, raise int) int { return checkFloat32AVX512(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeFloat32AVX512(s.at(), i, width, lost) },
			func(list []float64) int { return leastAVX512(unsafe.SliceData(list), len(list)) }, twoAVX512, nearerAVX512, 8, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
				turnFloat32AVX512((*float32)(from), fromStride, cols, to, toStride, sign)
			}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
				return spanFloat32AVX512((*float32)(costs), n, &ends[0])
			}, func(costs unsafe.Pointer, n int, scale float64) int {
				return cutFloat32AVX512((*float32)(costs), n, int(math.Float64bits(scale)))
			}, nil, unlike32AVX512, true, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return nearestRowsFloat32AVX512((*float32)(least), (*float32)(costs), stride, rows, cols, at)
			}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return rowsBelowFloat32AVX512((*float32)(bars), (*float32)(costs), stride, rows, cols, at)
			}}
	}
	return Kernels{"avx512", func(s *Search) int { return minimaFloat64AVX512(s.at()) }, func(s *Search) int { return transferFloat64AVX512(s.at()) }, func(s *Search, n int) int { return bidFloat64AVX512(s.at(), n) },
		func(s *Search, root int) int { return pathFloat64AVX512(s.at(), root) }, func(s *Search) int { return nearestFloat64AVX512(s.at()) },
		func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
			return belowFloat64AVX512(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
		},
		func(s *Search, raise int) int { return checkFloat64AVX512(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeFloat64AVX512(s.at(), i, width, lost) },
		func(list []float64) int { return leastAVX512(unsafe.SliceData(list), len(list)) }, twoAVX512, nearerAVX512, 8, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
			turnFloat64AVX512((*float64)(from), fromStride, cols, to, toStride, sign)
		}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
			return spanFloat64AVX512((*float64)(costs), n, &ends[0])
		}, func(costs unsafe.Pointer, n int, scale float64) int {
			return cutFloat64AVX512((*float64)(costs), n, int(math.Float64bits(scale)))
		}, nil, unlike64AVX512, true, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
			return nearestRowsFloat64AVX512((*float64)(least), (*float64)(costs), stride, rows, cols, at)
		}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
			return rowsBelowFloat64AVX512((*float64)(bars), (*float64)(costs), stride, rows, cols, at)
		}}
}

func avx2[T Cost]() Kernels {
	switch any(*new(T)).(type) {
	case int32:
		return Kernels{"avx2", func(s *Search) int { return minimaInt32AVX2(s.at()) }, func(s *Search) int { return transferInt32AVX2(s.at()) }, func(s *Search, n int) int { return bidInt32AVX2(s.at(), n) },
			func(s *Search, root int) int { return pathInt32AVX2(s.at(), root) }, func(s *Search) int { return nearestInt32AVX2(s.at()) },
			func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
				return belowInt32AVX2(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
			},
			func(s *Search, raise int) int { return checkInt32AVX2(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeInt32AVX2(s.at(), i, width, lost) },
			func(list []float64) int { return leastAVX2(unsafe.SliceData(list), len(list)) }, twoAVX2, nearerAVX2, 4, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
				turnInt32AVX2((*int32)(from), fromStride, cols, to, toStride, sign)
			}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
				return spanInt32AVX2((*int32)(costs), n, &ends[0])
			}, nil, mostAVX2, unlike32AVX2, false, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return nearestRowsInt32AVX2((*int32)(least), (*int32)(costs), stride, rows, cols, at)
			}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return rowsBelowInt32AVX2((*int32)(bars), (*int32)(costs), stride, rows, cols, at)
			}}
	case float32:
		return Kernels{"avx2", func(s *Search) int { return minimaFloat32AVX2(s.at()) }, func(s *Search) int { return transferFloat32AVX2(s.at()) }, func(s *Search, n int) int { return bidFloat32AVX2(s.at(), n) },
			func(s *Search, root int) int { return pathFloat32AVX2(s.at(), root) }, func(s *Search) int { return nearestFloat32AVX2(s.at()) },
			func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
				return belowFloat32AVX2(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
			},
			func(s *Search, raise int) int { return checkFloat32AVX2(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeFloat32AVX2(s.at(), i, width, lost) },
			func(list []float64) int { return leastAVX2(unsafe.SliceData(list), len(list)) }, twoAVX2, nearerAVX2, 4, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
				turnFloat32AVX2((*float32)(from), fromStride, cols, to, toStride, sign)
			}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
				return spanFloat32AVX2((*float32)(costs), n, &ends[0])
			}, func(costs unsafe.Pointer, n int, scale float64) int {
				return cutFloat32AVX2((*float32)(costs), n, int(math.Float64bits(scale)))
			}, nil, unlike32AVX2, true, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return nearestRowsFloat32AVX2((*float32)(least), (*float32)(costs), stride, rows, cols, at)
			}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
				return rowsBelowFloat32AVX2((*float32)(bars), (*float32)(costs), stride, rows, cols, at)
			}}
	}
	return Kernels{"avx2", func(s *Search) int { return minimaFloat64AVX2(s.at()) }, func(s *Search) int { return transferFloat64AVX2(s.at()) }, func(s *Search, n int) int { return bidFloat64AVX2(s.at(), n) },
		func(s *Search, root int) int { return pathFloat64AVX2(s.at(), root) }, func(s *Search) int { return nearestFloat64AVX2(s.at()) },
		func(s *Search, row int, bar float64, columns []int32, costs []float64) int {
			return belowFloat64AVX2(s.at(), row, int(math.Float64bits(bar)), unsafe.SliceData(columns), unsafe.SliceData(costs))
		},
		func(s *Search, raise int) int { return checkFloat64AVX2(s.at(), raise) }, func(s *Search, i, width, lost int) int { return closeFloat64AVX2(s.at(), i, width, lost) },
		func(list []float64) int { return leastAVX2(unsafe.SliceData(list), len(list)) }, twoAVX2, nearerAVX2, 4, func(from unsafe.Pointer, fromStride, cols int, to *float64, toStride, sign int) {
			turnFloat64AVX2((*float64)(from), fromStride, cols, to, toStride, sign)
		}, func(costs unsafe.Pointer, n int, ends *[2]float64) int {
			return spanFloat64AVX2((*float64)(costs), n, &ends[0])
		}, func(costs unsafe.Pointer, n int, scale float64) int {
			return cutFloat64AVX2((*float64)(costs), n, int(math.Float64bits(scale)))
		}, nil, unlike64AVX2, true, func(least, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
			return nearestRowsFloat64AVX2((*float64)(least), (*float64)(costs), stride, rows, cols, at)
		}, func(bars, costs unsafe.Pointer, stride, rows, cols int, at *int32) int {
			return rowsBelowFloat64AVX2((*float64)(bars), (*float64)(costs), stride, rows, cols, at)
		}}
}
