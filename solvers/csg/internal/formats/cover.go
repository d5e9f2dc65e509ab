package formats

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/npy"
)

// A table of best partitions under sizes of blocks is a file of two arrays, as numpy.save appends one
// to an open file: the values by coalition number, and the sizes. The value of a coalition that cannot
// be divided into such blocks is the least number of the values' type, among floats minus infinity.

// WriteCover writes the table of an instance's best partitions, little-endian.
func WriteCover(w io.Writer, inst, cover *problem.Instance) error {
	if inst.Sizes == 0 {
		return WriteNPY(w, cover)
	}
	if err := npy.Write(w, descr[cover.Type], []int{int(cover.Len())}, nil); err != nil {
		return err
	}
	var err error
	switch cover.Type {
	case problem.Int16:
		err = writeMarked(w, cover.I16, cover.Sizes, math.MinInt16)
	case problem.Int32:
		err = writeMarked(w, cover.I32, cover.Sizes, math.MinInt32)
	case problem.Int64:
		err = writeMarked(w, cover.I64, cover.Sizes, math.MinInt64)
	default:
		_, err = w.Write(cover.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write npy: %w", err)
	}
	list := inst.Sizes.List()
	return npy.Write(w, "|u1", []int{len(list)}, list)
}

// writeMarked writes values, and a mark in place of each value that the sizes forbid.
func writeMarked[T problem.Number](w io.Writer, values []T, sizes problem.Sizes, mark T) error {
	piece := make([]T, min(len(values), 1<<16))
	var held problem.Instance
	problem.SetValues(&held, piece)
	for at := 0; at < len(values); at += len(piece) {
		copy(piece, values[at:])
		for k := range piece {
			if !sizes.Allows(uint64(at + k)) {
				piece[k] = mark
			}
		}
		if _, err := w.Write(held.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// readSizes reads a file's second array, the sizes of blocks; 0 where the file ends.
func readSizes(r *bufio.Reader) (problem.Sizes, error) {
	if head, _ := r.Peek(len(npy.Magic)); string(head) != npy.Magic {
		return 0, npy.ExpectEnd(r)
	}
	h, err := npy.ReadHeader(r)
	if err != nil {
		return 0, err
	}
	if h.Descr != "|u1" || len(h.Shape) != 1 || h.Shape[0] == 0 || h.Shape[0] > problem.MaxAgents {
		return 0, fmt.Errorf("found a second array of type %s and shape %d, expected one of |u1, the sizes of blocks", formats.Quote(h.Descr), h.Shape)
	}
	list := make([]byte, h.Shape[0])
	if _, err := io.ReadFull(r, list); err != nil {
		return 0, fmt.Errorf("found the end of the file, expected %d sizes of blocks: %w", len(list), err)
	}
	var sizes problem.Sizes
	for _, k := range list {
		if k < 1 || k > problem.MaxAgents {
			return 0, fmt.Errorf("found the size %d of blocks, expected one from 1 to %d", k, problem.MaxAgents)
		}
		sizes |= 1 << k
	}
	return sizes, npy.ExpectEnd(r)
}

// checkCover checks that the values read are the table of an instance's best partitions, and restricts
// the table to the sizes of blocks that the file names.
func checkCover(table, inst *problem.Instance, sizes problem.Sizes) error {
	if table.N != inst.N {
		return fmt.Errorf("%w: found a table of %d agents, the instance has %d", problem.ErrCheck, table.N, inst.N)
	}
	if inst.Sizes == 0 {
		if err := inst.Restrict(sizes); err != nil {
			return err
		}
	}
	if inst.Sizes != sizes {
		return fmt.Errorf("%w: found a table of blocks of sizes %q, expected %q", problem.ErrCheck, sizes, inst.Sizes)
	}
	table.SetCover(inst)
	return table.Check()
}
