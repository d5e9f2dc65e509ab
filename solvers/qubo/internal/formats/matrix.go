package formats

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"coalesce/solvers/cores"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/qubo/problem"
)

// squareShape wants a matrix of n x n, n as many variables as there may be.
func squareShape(rows, cols uint64) error {
	if rows != cols {
		return fmt.Errorf("found a matrix of %d x %d, expected a square", rows, cols)
	}
	if rows > problem.MaxVariables {
		return fmt.Errorf("found %d variables, expected at most %d", rows, problem.MaxVariables)
	}
	return nil
}

// readNPY reads a square matrix from a file of size bytes, unknown when negative.
func readNPY(r io.Reader, size int64, name string, o Options) (*problem.Instance, error) {
	h, err := npy.ReadHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	if len(h.Shape) != 2 {
		return nil, fmt.Errorf("%s: found an array of %d dimensions, expected two", name, len(h.Shape))
	}
	n := h.Shape[0]
	if err := squareShape(n, h.Shape[1]); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	kind, err := h.Kind()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if need := float64(n) * float64(n) * float64(kind.Held+12); need > float64(o.memory()) {
		return nil, fmt.Errorf("%s: %d x %d coefficients take up to %.0f bytes, more than the limit of %d", name, n, n, need, o.memory())
	}
	if err := h.Fill(size, kind, n*n, fmt.Sprintf("%d x %d coefficients", n, n)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	values, err := kind.Read(r, n*n, size >= 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %d x %d coefficients: %w", name, n, n, err)
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return nil, fmt.Errorf("%s: found bytes after the last of %d x %d coefficients, expected the end of the file", name, n, n)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var inst *problem.Instance
	switch v := values.(type) {
	case []int32:
		inst, err = fromMatrix[int32, int64](int(n), v, o.Form)
	case []int64:
		inst, err = fromMatrix[int64, int64](int(n), v, o.Form)
	case []float32:
		inst, err = fromMatrix[float32, float64](int(n), v, o.Form)
	case []float64:
		inst, err = fromMatrix[float64, float64](int(n), v, o.Form)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// fromMatrix makes an instance of n x n values, row by row.
func fromMatrix[S int32 | int64 | float32 | float64, T problem.Number](n int, q []S, form problem.Form) (*problem.Instance, error) {
	sum, err := checkMatrix(n, q, form)
	if err != nil {
		return nil, err
	}
	var zero T
	if _, whole := any(zero).(int64); whole && sum > problem.SumLimit/16 {
		return nil, fmt.Errorf("%w: absolute values add up to %.3g, expected at most 2^58", problem.ErrCoefficient, sum)
	}
	if sum > math.MaxFloat64/16 {
		return nil, fmt.Errorf("%w: absolute values add up to more than float64 holds", problem.ErrCoefficient)
	}
	inst := problem.FromPairs(n, func(i, j int) T {
		if i == j || form == problem.MaxCut {
			return T(q[i*n+j])
		}
		return T(q[i*n+j]) + T(q[j*n+i])
	})
	if inst.Real != nil {
		inst.PreferIntegers()
	}
	if form != "" {
		inst.Form = form
	}
	return inst, nil
}

// checkMatrix adds up absolute values, and wants numbers: of a graph the same ones
// on both sides of a diagonal of zeros. An error is that of the first entry.
func checkMatrix[S int32 | int64 | float32 | float64](n int, q []S, form problem.Form) (sum float64, err error) {
	var mu sync.Mutex
	first := n
	cores.Split(n, 64, func(from, to int) {
		part, at, wrong := 0.0, n, error(nil)
	rows:
		for i := from; i < to; i++ {
			for j, v := range q[i*n : (i+1)*n] {
				f := math.Abs(float64(v))
				part += f
				switch {
				case !(f <= math.MaxFloat64):
					wrong = fmt.Errorf("%w: row %d, column %d: found %v, expected a number", problem.ErrCoefficient, i, j, v)
				case form == problem.MaxCut && (i == j && v != 0 || q[j*n+i] != v):
					wrong = fmt.Errorf("row %d, column %d: found %v, expected a symmetric matrix without a diagonal for %s", i, j, v, problem.MaxCut)
				default:
					continue
				}
				at = i
				break rows
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if sum += part; at < first {
			first, err = at, wrong
		}
	})
	return sum, err
}

// readMarket reads coordinates in Matrix Market's exchange format (Boisvert,
// Pozo and Remington, NISTIR 5935, 1996): real, integer or pattern (all 1);
// general or symmetric. Entries of a symmetric file stand for two where they
// are off the diagonal; repeated entries are added up.
func readMarket(in *lines, o Options) (*problem.Instance, error) {
	first, err := in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head := strings.Fields(strings.ToLower(string(first)))
	if len(head) != 5 || head[0] != "%%matrixmarket" || head[1] != "matrix" || head[2] != "coordinate" {
		return nil, in.errorf("found %q, expected %%%%MatrixMarket matrix coordinate and two words", brief(first))
	}
	pattern := head[3] == "pattern"
	switch head[3] {
	case "real", "integer", "double", "pattern":
	default:
		return nil, in.errorf("found %s entries, expected real or integer ones", head[3])
	}
	if head[4] != "general" && head[4] != "symmetric" {
		return nil, in.errorf("found a %s matrix, expected a general or symmetric one", head[4])
	}
	in.comment = "%"
	f, err := in.want(3, "rows, columns and entries")
	if err != nil {
		return nil, err
	}
	n, m, err := in.size([][]byte{f[0], f[2]})
	if err != nil {
		return nil, err
	}
	if string(f[0]) != string(f[1]) {
		return nil, in.errorf("found a matrix of %s x %s, expected a square", brief(f[0]), brief(f[1]))
	}
	d := problem.NewEntries(o.memory())
	d.Twice = head[4] == "symmetric" && o.Form != problem.MaxCut
	if err := d.Expect(m); err != nil {
		return nil, in.errorf("%w", err)
	}
	upper := head[4] == "symmetric" || o.Form != problem.MaxCut
	for range m {
		count := 3
		if pattern {
			count = 2
		}
		f, err := in.want(count, "row, column and coefficient")
		if err != nil {
			return nil, err
		}
		if pattern {
			f = append(f, []byte("1"))
		}
		if err := in.entry(d, f, n, list{from: 1, loops: o.Form != problem.MaxCut}); err != nil {
			return nil, err
		}
	}
	if !upper { // a general adjacency matrix lists each edge from both ends
		if err := d.KeepUpper(); err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
	}
	inst, err := d.Instance(n, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	if o.Form != "" {
		inst.Form = o.Form
	}
	return inst, in.end("the last entry")
}
