package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/npy"
)

// readNPY reads a .npy file of size bytes, unknown when negative. Memory for
// the values is taken at once only when size proves that they are there.
func readNPY(r *bufio.Reader, size int64, name string, opts ReadOptions) (*problem.Instance, error) {
	var memory *formats.Budget
	if size < 0 || opts.Limit > 0 {
		memory = formats.NewBudget(opts.limit())
	}
	inst := &problem.Instance{}
	a, err := npy.ReadArray(r, size, memory, func(h npy.Header) (count uint64, what string, err error) {
		if len(h.Shape) != 1 {
			return 0, "", fmt.Errorf("found an array of %s, expected one of length 2^n", formats.Count(len(h.Shape), "dimension"))
		}
		if inst.N, err = problem.AgentsOf(h.Shape[0]); err != nil {
			return 0, "", fmt.Errorf("found %w", err)
		}
		return h.Shape[0], fmt.Sprintf("2^%d", inst.N), nil
	})
	var outside *npy.RangeError
	if errors.As(err, &outside) {
		err = &problem.EntryError{Mask: outside.Index, Name: inst.Coalition(outside.Index), Found: "a value outside its type's range or beyond 2^63-1", Want: "a smaller one"}
	}
	if err != nil {
		return nil, formats.Errorf(name, 0, "%w", err)
	}
	blocks, err := readSizes(r)
	if err != nil {
		return nil, formats.Errorf(name, 0, "%w", err)
	}
	store(inst, a.Values, opts.CoverOf != nil)
	if err := opts.setNames(inst, name); err != nil {
		return nil, err
	}
	check := inst.Promote
	if of := opts.CoverOf; of != nil {
		check = func() error { return checkCover(inst, of, blocks) }
	} else if blocks != 0 {
		check = func() error { return inst.RestrictCover(blocks) }
	}
	if err := check(); err != nil {
		var entry *problem.EntryError
		if errors.As(err, &entry) {
			return nil, fmt.Errorf("%s: byte %d: %w", name, a.Length+int64(entry.Mask)*int64(a.Size), err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// store keeps the values read: 64-bit integers in the narrowest type that holds their sums, except
// those of a table of best partitions, which are sums already.
func store(inst *problem.Instance, values any, sums bool) {
	switch v := values.(type) {
	case []int16:
		problem.SetValues(inst, v)
	case []int32:
		problem.SetValues(inst, v)
	case []int64:
		if sums {
			problem.SetValues(inst, v)
		} else {
			setIntegers(inst, v)
		}
	case []float32:
		problem.SetValues(inst, v)
	case []float64:
		problem.SetValues(inst, v)
	}
}

var descr = map[problem.Value]string{problem.Int16: "<i2", problem.Int32: "<i4", problem.Int64: "<i8", problem.Float32: "<f4", problem.Float64: "<f8"}

// WriteNPY writes an instance as a version 1 .npy file, little-endian.
func WriteNPY(w io.Writer, inst *problem.Instance) error {
	return npy.Write(w, descr[inst.Type], []int{int(inst.Len())}, inst.Bytes())
}
