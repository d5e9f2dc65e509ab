package csg

import (
	"errors"
	"fmt"
	"io"

	"coalesce/solvers/npy"
)

// readNPY reads a .npy file of size bytes, unknown when negative. Memory for
// the values is taken at once only when size proves that they are there.
func readNPY(r io.Reader, size int64, name string, opts ReadOptions) (*Instance, error) {
	h, err := npy.ReadHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	if len(h.Shape) != 1 {
		return nil, fmt.Errorf("%s: found an array of %d dimensions, expected one of length 2^n", name, len(h.Shape))
	}
	count := h.Shape[0]
	n, err := agents(count)
	if err != nil {
		return nil, fmt.Errorf("%s: found %w", name, err)
	}
	kind, err := h.Kind()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := h.Fill(size, kind, count, fmt.Sprintf("2^%d values", n)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	held := int64(count) * int64(kind.Held)
	if size < 0 || opts.Limit > 0 {
		if held > opts.limit() {
			return nil, fmt.Errorf("%s: 2^%d values of type %s take %d bytes, more than the limit of %d", name, n, h.Descr, held, opts.limit())
		}
	}
	inst := &Instance{N: n}
	values, err := kind.Read(r, count, size >= 0)
	var short *npy.ShortError
	var outside *npy.RangeError
	switch {
	case errors.As(err, &short):
		return nil, fmt.Errorf("%s: found %d values, expected 2^%d: the file is truncated: %w", name, short.Got, n, short.Err)
	case errors.As(err, &outside):
		return nil, fmt.Errorf("%s: %w", name, &EntryError{outside.Index, inst.Coalition(outside.Index), "a value outside its type's range or beyond 2^63-1", "a smaller one"})
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	store(inst, values)
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return nil, fmt.Errorf("%s: found bytes after the last of 2^%d values, expected the end of the file", name, n)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := opts.named(inst, name); err != nil {
		return nil, err
	}
	if err := inst.Promote(); err != nil {
		var entry *EntryError
		if errors.As(err, &entry) {
			return nil, fmt.Errorf("%s: byte %d: %w", name, h.Length+int64(entry.Mask)*int64(kind.Size), err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// store keeps what was read, 64-bit integers in the narrowest type that holds
// them.
func store(inst *Instance, values any) {
	switch v := values.(type) {
	case []int32:
		setValues(inst, v)
	case []int64:
		setIntegers(inst, v)
	case []float32:
		setValues(inst, v)
	case []float64:
		setValues(inst, v)
	}
}

// WriteNPY writes an instance as a version 1 .npy file, little-endian.
func WriteNPY(w io.Writer, inst *Instance) error {
	descr := map[Value]string{Int32: "<i4", Int64: "<i8", Float32: "<f4", Float64: "<f8"}[inst.Type]
	return npy.Write(w, descr, []int{int(inst.Len())}, inst.Bytes())
}
