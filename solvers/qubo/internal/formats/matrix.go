package formats

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/market"
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

// readNPY reads a square matrix.
func readNPY(in source, o Options) (*problem.Instance, error) {
	r, size, name := in.Reader, in.Size, in.name
	h, err := npy.ReadHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	if len(h.Shape) != 2 {
		return nil, fmt.Errorf("%s: found an array of %s, expected two", name, formats.Count(len(h.Shape), "dimension"))
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
		return nil, fmt.Errorf("%s: %d x %d coefficients take up to %w", name, n, n, formats.Short(need, o.memory()))
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

// readMarket reads coordinates in Matrix Market's exchange format: real, integer
// or pattern (all 1); general or symmetric. Entries of a symmetric file stand for
// two where they are off the diagonal; repeated entries are added up.
func readMarket(in source, o Options) (*problem.Instance, error) {
	f, err := in.text("%", o)
	if err != nil {
		return nil, err
	}
	h, err := market.ReadHead(f.File, problem.MaxVariables)
	switch {
	case err != nil:
		return nil, err
	case h.Array:
		return nil, formats.Errorf(in.name, 1, "found an array, expected coordinates (a file of NumPy holds a dense matrix)")
	case h.Symmetry == market.Skew:
		return nil, formats.Errorf(in.name, 1, "found a %s matrix, expected a general or symmetric one", h.Symmetry)
	case h.Rows != h.Columns:
		return nil, f.Errorf("found a matrix of %d x %d, expected a square", h.Rows, h.Columns)
	}
	e, err := f.entries(h.Entries)
	if err != nil {
		return nil, err
	}
	graph, symmetric := o.Form == problem.MaxCut, h.Symmetry == market.Symmetric
	e.Twice = symmetric && !graph
	err = market.ReadEntries(context.Background(), f.File, h, market.Body[*part]{
		New: e.empty,
		Entry: func(p *part, x market.Entry) error {
			if graph && x.Row == x.Column {
				return fmt.Errorf("found an edge from %d to itself, expected two different nodes", x.Row+1)
			}
			if x.Word == nil {
				return p.add(x.Line, x.Row, x.Column, []byte("1"))
			}
			return p.add(x.Line, x.Row, x.Column, x.Word)
		},
		Keep: e.keep,
	})
	if err != nil {
		return nil, err
	}
	if graph && !symmetric { // a general adjacency matrix lists each edge from both ends
		if err := e.KeepUpper(); err != nil {
			return nil, formats.Errorf(in.name, 0, "%w", err)
		}
	}
	inst, err := e.instance(h.Rows, true)
	if err == nil && o.Form != "" {
		inst.Form = o.Form
	}
	return inst, err
}
