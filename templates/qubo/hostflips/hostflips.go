// Package hostflips is the body of the kernels qubo/hostflips: what a one-flip search on a processor does for each flip. Its
// constants and aliases are the parameters of go.generate.
package hostflips

import "coalesce/runtime/host/kernels/qubo"

const (
	least = "int8"
	rows  = "all"
)

type (
	weight = int8
	sum    = int16
)

// Step adds a row of weights, shifted to the left by shift bits, to the fields, or subtracts it, and finds the largest gain, as
// qubo.AddRowPickFlip does. at are the columns of the weights where rows leave zeros out. Searches call it for each flip.
func Step(row []weight, at []int32, shift int, negate bool, fields []sum, x, free []uint64, rotate int) qubo.Best {
	if rows == "all" {
		return qubo.AddRowPickFlip(row, shift, negate, fields, x, free, rotate)
	}
	Add(row, at, shift, negate, fields)
	return qubo.PickFlip(fields, x, free, rotate)
}

// Add is the first half of Step.
func Add(row []weight, at []int32, shift int, negate bool, fields []sum) {
	if rows == "all" {
		qubo.AddRow(row, shift, negate, fields)
		return
	}
	row, shift = row[:len(at)], shift&7
	if negate {
		for k, j := range at {
			fields[j] -= sum(row[k]) << shift
		}
		return
	}
	for k, j := range at {
		fields[j] += sum(row[k]) << shift
	}
}

// Flips makes flips of the best free variable; a variable that was flipped is free again after tenure flips. A block has its own
// fields, of which there are stride, bits of x and of what is free, and room for the variables that it flips, in order. Row i of
// the weights begins at start[i] and ends at start[i+1]; columns are empty where rows have all weights.
func Flips(block, blocks int64, weights []weight, columns []int32, start []int64, fields []sum, x, free []uint64, made []int32, stride, shift, flips, tenure uint64) {
	words := int64(stride / qubo.Turn)
	f := fields[block*int64(stride):][:stride]
	ones, frees := x[block*words:][:words], free[block*words:][:words]
	list := made[block*int64(flips):][:flips]
	b := qubo.PickFlip(f, ones, frees, int(block)&(qubo.Turn-1))
	for k := range list {
		i := b.At
		list[k] = int32(i)
		negate := ones[i/qubo.Turn]>>(i%qubo.Turn)&1 != 0
		ones[i/qubo.Turn] ^= 1 << (i % qubo.Turn)
		frees[i/qubo.Turn] &^= 1 << (i % qubo.Turn)
		if uint64(k) >= tenure {
			old := list[uint64(k)-tenure]
			frees[old/qubo.Turn] |= 1 << (old % qubo.Turn)
		}
		var at []int32
		if rows != "all" {
			at = columns[start[i]:start[i+1]]
		}
		b = Step(weights[start[i]:start[i+1]], at, int(shift), negate, f, ones, frees, (int(block)+7*k)&(qubo.Turn-1))
	}
}
