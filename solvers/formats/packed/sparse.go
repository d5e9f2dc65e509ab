package packed

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/npy"
)

// maxSparse is the most bytes that the arrays of a sparse matrix may take.
const maxSparse = 1 << 34

// openSparse opens the file of scipy.sparse.save_npz, whose arrays are a matrix by rows, by columns or by entries, as the Matrix Market
// file of that matrix; nil for archives of other files.
func openSparse(files []*zip.File) (io.ReadCloser, error) {
	parts := map[string]*zip.File{}
	for _, f := range files {
		parts[strings.TrimSuffix(f.Name, ".npy")] = f
	}
	compressed := parts["indptr"] != nil && parts["indices"] != nil
	if len(files) < 5 || len(files) > 6 || parts["data"] == nil || parts["shape"] == nil || parts["format"] == nil || !compressed && (parts["row"] == nil || parts["col"] == nil) {
		return nil, nil
	}
	budget := formats.NewBudget(maxSparse)
	column := func(name string) (npy.Array, error) { // an array of one dimension
		r, err := parts[name].Open()
		if err != nil {
			return npy.Array{}, err
		}
		defer r.Close()
		a, err := npy.ReadArray(bufio.NewReader(r), -1, budget, func(h npy.Header) (uint64, string, error) {
			if len(h.Shape) != 1 {
				return 0, "", fmt.Errorf("found %d dimensions, expected one", len(h.Shape))
			}
			return h.Shape[0], strconv.FormatUint(h.Shape[0], 10), nil
		})
		if err != nil {
			err = fmt.Errorf("array %s: %w", name, err)
		}
		return a, err
	}
	whole := func(name string) (list []int64, err error) {
		a, err := column(name)
		switch v := a.Values.(type) {
		case []int32:
			for _, x := range v {
				list = append(list, int64(x))
			}
		case []int64:
			list = v
		default:
			if err == nil {
				err = fmt.Errorf("array %s: found the type %s, expected integers", name, a.Descr)
			}
		}
		return list, err
	}
	r, err := parts["format"].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, 1<<10))
	if err != nil {
		return nil, err
	}
	format := strings.ReplaceAll(string(text[max(0, len(text)-12):]), "\x00", "") // a text of bytes, or of UTF-32
	byColumns := strings.HasSuffix(format, "csc")
	if compressed && !byColumns && !strings.HasSuffix(format, "csr") || !compressed && !strings.HasSuffix(format, "coo") {
		return nil, fmt.Errorf("found a sparse matrix in another format than csr, csc and coo")
	}
	shape, err := whole("shape")
	if err != nil {
		return nil, err
	}
	data, err := column("data")
	if err != nil {
		return nil, err
	}
	var rows, cols, starts []int64
	if compressed {
		if starts, err = whole("indptr"); err == nil {
			cols, err = whole("indices")
		}
	} else if rows, err = whole("row"); err == nil {
		cols, err = whole("col")
	}
	if err != nil {
		return nil, err
	}
	count := len(cols)
	value := func(k int) string { return "" }
	kind, values := "integer", 0
	switch v := data.Values.(type) {
	case []int16:
		values, value = len(v), func(k int) string { return strconv.FormatInt(int64(v[k]), 10) }
	case []int32:
		values, value = len(v), func(k int) string { return strconv.FormatInt(int64(v[k]), 10) }
	case []int64:
		values, value = len(v), func(k int) string { return strconv.FormatInt(v[k], 10) }
	case []float32:
		kind, values, value = "real", len(v), func(k int) string { return strconv.FormatFloat(float64(v[k]), 'g', -1, 32) }
	case []float64:
		kind, values, value = "real", len(v), func(k int) string { return strconv.FormatFloat(v[k], 'g', -1, 64) }
	}
	if compressed {
		lines := 0
		if len(shape) == 2 {
			lines = int(shape[0])
			if byColumns {
				lines = int(shape[1])
			}
		}
		if len(starts) != lines+1 || starts[0] != 0 || starts[lines] != int64(count) {
			return nil, fmt.Errorf("found a sparse matrix whose indptr has not the bounds of %d lines of %d entries", lines, count)
		}
		rows = make([]int64, 0, count)
		for i := range lines {
			if starts[i+1] < starts[i] || starts[i+1] > int64(count) {
				return nil, fmt.Errorf("found a sparse matrix whose indptr falls")
			}
			for range starts[i+1] - starts[i] {
				rows = append(rows, int64(i))
			}
		}
		if byColumns {
			rows, cols = cols, rows
		}
	}
	if len(shape) != 2 || values != count || len(rows) != count || len(cols) != count {
		return nil, fmt.Errorf("found a sparse matrix of %d dimensions with %d values, %d rows and %d columns", len(shape), values, len(rows), len(cols))
	}
	in, out := io.Pipe()
	go func() { // ends where the reader closes
		w := bufio.NewWriter(out)
		fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", kind, shape[0], shape[1], count)
		for k := range count {
			w.WriteString(strconv.FormatInt(rows[k]+1, 10))
			w.WriteByte(' ')
			w.WriteString(strconv.FormatInt(cols[k]+1, 10))
			w.WriteByte(' ')
			w.WriteString(value(k))
			if err := w.WriteByte('\n'); err != nil {
				break
			}
		}
		out.CloseWithError(w.Flush())
	}()
	return in, nil
}
