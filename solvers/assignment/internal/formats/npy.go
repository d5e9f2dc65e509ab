package formats

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"unsafe"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/npy"
)

// shapeNPY is the size of a matrix and how it is stored.
func shapeNPY(h npy.Header) (rows, cols uint64, k npy.Kind, offset bool, err error) {
	if len(h.Shape) != 2 {
		return 0, 0, k, false, fmt.Errorf("found an array of %s, expected two, rows and columns", formats.Count(len(h.Shape), "dimension"))
	}
	rows, cols = h.Shape[0], h.Shape[1]
	if rows > problem.MaxSide || cols > problem.MaxSide {
		return 0, 0, k, false, fmt.Errorf("found %d rows and %d columns, expected at most %d", rows, cols, problem.MaxSide)
	}
	if k, offset, err = h.KindOffset(); err == nil && float64(rows)*float64(cols)*float64(k.Held) > 1<<62 {
		err = fmt.Errorf("found %d x %d values, expected at most 2^62 bytes of them", rows, cols)
	}
	return rows, cols, k, offset, err
}

// readNPY reads a .npy file of size bytes, unknown when negative.
func readNPY(r io.Reader, size int64, name string, o ReadOptions) (*problem.Instance, error) {
	h, err := npy.ReadHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	rows, cols, kind, offset, err := shapeNPY(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := h.CheckSize(size, kind, rows*cols, fmt.Sprintf("%d x %d values", rows, cols)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if size < 0 || o.Memory > 0 {
		if err := o.checkMemory(rows, cols, kind.Held); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	values, err := kind.Read(r, rows*cols, size >= 0)
	var short *npy.ShortError
	var outside *npy.RangeError
	switch {
	case errors.As(err, &short):
		return nil, fmt.Errorf("%s: found %d values, expected %d x %d: the file is truncated: %w", name, short.Got, rows, cols, short.Err)
	case errors.As(err, &outside):
		i, j := outside.Index/cols, outside.Index%cols
		if h.Fortran {
			j, i = outside.Index/rows, outside.Index%rows
		}
		return nil, fmt.Errorf("%s: %w", name, &problem.EntryError{Row: int(i), Col: int(j), Found: "a value outside its type's range", Want: "one within it"})
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return nil, fmt.Errorf("%s: found bytes after the last of %d x %d values, expected the end of the file", name, rows, cols)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	inst := &problem.Instance{Rows: int(rows), Cols: int(cols)}
	switch v := values.(type) {
	case []int32:
		problem.SetCosts(inst, v)
	case []int64:
		inst.Unsigned = offset && !signed(v)
		problem.SetCosts(inst, v)
	case []float32:
		problem.SetCosts(inst, v)
	case []float64:
		problem.SetCosts(inst, v)
	}
	if h.Fortran {
		inst.Rows, inst.Cols = inst.Cols, inst.Rows
		inst = inst.Transpose()
	}
	return inst, nil
}

// signed adds 2^63 to integers, where all fit, and reports whether they did.
func signed(list []int64) bool {
	if slices.ContainsFunc(list, func(x int64) bool { return x >= 0 }) {
		return false
	}
	for k := range list {
		list[k] ^= math.MinInt64
	}
	return true
}

// mapNPY maps a .npy file whose values are stored as memory holds them. It returns
// neither an instance nor an error for every other file, which is to be read.
func mapNPY(path string, o ReadOptions) (*problem.Instance, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || o.Format != "" && o.Format != "npy" || csv.NamesOption(o.Header, o.Index) != "" {
		return nil, nil // reading says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	size := info.Size()
	h, err := npy.ReadHeader(io.NewSectionReader(f, 0, size))
	if err != nil || h.Fortran {
		return nil, nil
	}
	rows, cols, kind, _, err := shapeNPY(h)
	length := int64(rows*cols) * int64(kind.Size)
	if err != nil || !kind.Native || length == 0 || size-h.Length != length || h.Length%int64(kind.Size) != 0 {
		return nil, nil
	}
	memory, unmap, err := mapFile(f, size)
	if err != nil {
		return nil, nil
	}
	inst := &problem.Instance{Rows: int(rows), Cols: int(cols), Unmap: unmap}
	switch h.Descr[len(h.Descr)-2:] {
	case "i4":
		problem.SetCosts(inst, mapped[int32](memory[h.Length:]))
	case "i8":
		problem.SetCosts(inst, mapped[int64](memory[h.Length:]))
	case "f4":
		problem.SetCosts(inst, mapped[float32](memory[h.Length:]))
	case "f8":
		problem.SetCosts(inst, mapped[float64](memory[h.Length:]))
	}
	return finishInstance(inst, path, o)
}

// mapped is memory as numbers; its length is a multiple of theirs.
func mapped[T problem.Number](memory []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&memory[0])), len(memory)/int(unsafe.Sizeof(T(0))))
}

// WriteNPY writes a dense instance as a version 1 .npy file, little-endian.
func WriteNPY(w io.Writer, inst *problem.Instance) error {
	if !inst.Dense() {
		return errors.New("write npy: found a sparse instance or points, expected a matrix")
	}
	if inst.Every && slices.Contains(inst.I64, math.MaxInt64) {
		return errors.New("write npy: found the largest number of its type as a cost, which forbids a pair in a .npy file")
	}
	descr, costs := map[problem.Value]string{problem.Int32: "<i4", problem.Int64: "<i8", problem.Float32: "<f4", problem.Float64: "<f8"}[inst.Type], inst.Bytes()
	if inst.Unsigned {
		descr, costs = "<u8", slices.Clone(costs)
		for k := 7; k < len(costs); k += 8 {
			costs[k] ^= 1 << 7
		}
	}
	return npy.Write(w, descr, []int{inst.Rows, inst.Cols}, costs)
}
