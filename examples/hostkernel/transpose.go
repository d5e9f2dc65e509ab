// Package main tunes a kernel for processors with Coalesce's compiler and tuner: the transpose of a matrix.
package main

import (
	"math/rand/v2"

	"coalesce/autotune/kernel"
	"coalesce/autotune/kernel/command"
	"coalesce/runtime/device"

	"example.org/transpose/generated/matrix"
)

//go:generate go tool gen

// A square has n x n numbers, row by row.
type square struct {
	n       int
	numbers []int64
}

// transposed is the family matrix/transpose.
var transposed = &kernel.Family[square, *matrix.TransposeKernels]{
	Kernels: &matrix.Transpose,
	Load:    matrix.LoadTranspose,
	Unit:    "rows",
	Most:    1 << 14,
	SizesOn: map[string][]int{device.Host: {500, 2000}},
	Size:    func(s square) int { return s.n },
	Draw: func(_ kernel.Workload, n int, r *rand.Rand) square {
		s := square{n, make([]int64, n*n)}
		for k := range s.numbers {
			s.numbers[k] = r.Int64N(1 << 20)
		}
		return s
	},
	CaseSizes: []int{1, 2, 15, 16, 17, 100, 129},
	Bind: func(b *kernel.Binder, k *matrix.TransposeKernels, s square) kernel.Launches {
		from := kernel.InputValues(b, "from", s.numbers)
		to := kernel.OutputValues(b, "to", len(s.numbers), kernel.Equal(s.transpose))
		grid := device.Grid{Blocks: int64(b.Facts().SMs), Threads: 1}
		return func(stream device.Stream) error { return k.Transpose(stream, grid, from, to, uint64(s.n)) }
	},
}

// transpose is the reference.
func (s square) transpose() []float64 {
	out := make([]float64, len(s.numbers))
	for k, x := range s.numbers {
		out[k%s.n*s.n+k/s.n] = float64(x)
	}
	return out
}

func main() { command.Main(transposed) }
