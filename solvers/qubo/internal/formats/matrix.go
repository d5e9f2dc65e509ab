package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/market"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/formats/text"
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
	if need := float64(n) * float64(n) * float64(kind.Held+12); need > float64(o.memoryLimit()) {
		return nil, fmt.Errorf("%s: %d x %d coefficients take up to %w", name, n, n, formats.MemoryShortage(need, o.memoryLimit()))
	}
	if err := h.CheckSize(size, kind, n*n, fmt.Sprintf("%d x %d coefficients", n, n)); err != nil {
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
		inst, err = fromMatrix[int32, int64](int(n), v, o)
	case []int64:
		inst, err = fromMatrix[int64, int64](int(n), v, o)
	case []float32:
		inst, err = fromMatrix[float32, float64](int(n), v, o)
	case []float64:
		inst, err = fromMatrix[float64, float64](int(n), v, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// name names the variables, unless the names are their numbers; nil: they have none.
func name(inst *problem.Instance, list []string) error {
	seen, plain := make(map[string]int, len(list)), true
	for i, name := range list {
		if first, again := seen[name]; again {
			return fmt.Errorf("found the name %s of variables %d and %d, expected different ones", formats.Quote(name), first, i)
		}
		seen[name] = i
		plain = plain && name == strconv.Itoa(i)
	}
	if !plain {
		inst.Names = list
	}
	return nil
}

// fromNumbers makes an instance of n x n numbers, row by row or column by column.
func fromNumbers(n int, q *text.Numbers, o Options) (*problem.Instance, error) {
	if q.Floats {
		return fromMatrix[float64, float64](n, q.Real, o)
	}
	return fromMatrix[int64, int64](n, q.Whole, o)
}

// noNumber is the error of a word of a matrix that is no number.
func noNumber(word []byte) error {
	_, err := parseCoefficient(word)
	return err
}

// readCSV reads a dense matrix as a table, a row a line. Names of columns, or of rows, are those of the variables.
func readCSV(in source, o Options) (*problem.Instance, error) {
	budget := formats.NewBudget(o.memoryLimit())
	f, err := text.New(in, in.name, text.Options{Size: in.Size, Budget: budget})
	if err != nil {
		return nil, err
	}
	var q text.Numbers
	layout, err := csv.ReadMatrix(context.Background(), f, csv.Options{Header: o.Header, Index: o.Index, Budget: budget}, &q, noNumber)
	if err != nil {
		return nil, err
	}
	n := layout.Height
	if err := squareShape(uint64(n), uint64(layout.Width)); err != nil {
		return nil, formats.Errorf(in.name, 0, "%w", err)
	}
	list := layout.Columns
	if list == nil {
		list = layout.Rows
	} else if layout.Rows != nil && !slices.Equal(list, layout.Rows) {
		return nil, formats.Errorf(in.name, 0, "found other names of rows than of columns, expected the same, those of the variables")
	}
	inst, err := fromNumbers(n, &q, o)
	if err != nil {
		return nil, formats.Errorf(in.name, 0, "%w", err)
	}
	if err := name(inst, list); err != nil {
		return nil, formats.Errorf(in.name, 0, "%w", err)
	}
	inst.Note("read as %s", layout)
	return inst, nil
}

// fromMatrix makes an instance of n x n values, row by row.
func fromMatrix[S int32 | int64 | float32 | float64, T problem.Number](n int, q []S, o Options) (*problem.Instance, error) {
	form := o.Form
	if o.noFormatAsked() && graph(n, q) {
		if !o.cut {
			return nil, errGraph
		}
		form = problem.MaxCut
	}
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

// noFormatAsked reports whether neither a format nor a form was asked for.
func (o Options) noFormatAsked() bool { return o.Format == "" && o.Form == "" }

// errGraph is the error of a symmetric matrix without a diagonal, which may be a graph, an Ising model or a QUBO.
var errGraph = errors.New("found a symmetric matrix without a diagonal: a graph's weights, an Ising model's couplings or a QUBO, expected to be told: --form maxcut, ising or qubo")

// graph reports whether a matrix is the same on both sides of a diagonal of zeros, and not all zeros.
func graph[S int32 | int64 | float32 | float64](n int, q []S) bool {
	var some, other atomic.Bool
	cores.Split(n, 64, func(from, to int) {
		for i := from; i < to && !other.Load(); i++ {
			for j := range i {
				if q[i*n+j] != 0 {
					some.Store(true)
				}
				if q[i*n+j] != q[j*n+i] {
					other.Store(true)
					return
				}
			}
			if q[i*n+i] != 0 {
				other.Store(true)
			}
		}
	})
	return some.Load() && !other.Load()
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

// readMarket reads Matrix Market's exchange format, coordinates or an array: real, integer
// or pattern (all 1); general, symmetric or skew-symmetric. Entries of a symmetric file stand for
// two where they are off the diagonal; repeated entries are added up.
func readMarket(in source, o Options) (*problem.Instance, error) {
	f, err := in.openText(o, text.Options{Comment: "%"})
	if err != nil {
		return nil, err
	}
	h, err := market.ReadHead(f.File, problem.MaxVariables)
	switch {
	case err != nil:
		return nil, err
	case h.Rows != h.Columns:
		return nil, f.Errorf("found a matrix of %d x %d, expected a square", h.Rows, h.Columns)
	case h.Array:
		return f.array(h)
	}
	e, err := f.newEntries(h.Entries)
	if err != nil {
		return nil, err
	}
	cut, symmetric := o.Form == problem.MaxCut, h.Symmetry == market.Symmetric
	e.Twice = symmetric && !cut
	err = market.ReadEntries(context.Background(), f.File, h, market.EntrySink[*part]{
		New: newPart,
		Entry: func(p *part, x market.Entry) error {
			if cut && x.Row == x.Column {
				return fmt.Errorf("found an edge from %d to itself, expected two different nodes", x.Row+1)
			}
			if x.Word == nil {
				x.Word = one
			}
			err := p.add(x.Line, x.Row, x.Column, x.Word)
			if err == nil && h.Symmetry == market.Skew {
				err = p.addNegative(x.Line, x.Column, x.Row, x.Word)
			}
			return err
		},
		Keep:  e.addPart,
		Reset: (*part).reset,
	})
	if err != nil {
		return nil, err
	}
	if o.noFormatAsked() && symmetric && e.loops == 0 && e.count > 0 {
		if !o.cut {
			return nil, formats.Errorf(in.name, 0, "%w", errGraph)
		}
		e.Twice, o.Form = false, problem.MaxCut
	}
	if cut && !symmetric { // a general adjacency matrix lists each edge from both ends
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

// array reads all entries, column by column.
func (f *file) array(h market.Header) (*problem.Instance, error) {
	q, o := &text.Numbers{}, f.o
	if err := market.ReadArray(context.Background(), f.File, h, f.budget, q, noNumber); err != nil {
		return nil, err
	}
	q, err := market.ExpandSymmetric(h, f.budget, q)
	if err != nil {
		return nil, formats.Errorf(f.Name(), 0, "%w", err)
	}
	inst, err := fromNumbers(h.Rows, q, o)
	if err != nil {
		return nil, formats.Errorf(f.Name(), 0, "%w", err)
	}
	return inst, nil
}

func writeCSV(w io.Writer, inst *problem.Instance) error {
	if inst.N > 1<<14 {
		return fmt.Errorf("%d variables: a table is written of at most %d", inst.N, 1<<14)
	}
	row := make([]string, inst.N)
	number := func(t *problem.Terms[int64], r *problem.Terms[float64], k int64, linear bool) string {
		switch {
		case t != nil && linear:
			return strconv.FormatInt(t.Linear[k], 10)
		case t != nil:
			return strconv.FormatInt(t.Pair[k], 10)
		case linear:
			return shortestText(r.Linear[k])
		}
		return shortestText(r.Pair[k])
	}
	for i := range inst.N {
		for j := range row {
			row[j] = "0"
		}
		row[i] = number(inst.Int, inst.Real, int64(i), true)
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			if j := int(inst.Col[k]); j > i {
				row[j] = number(inst.Int, inst.Real, k, false)
			}
		}
		if _, err := fmt.Fprintln(w, strings.Join(row, ",")); err != nil {
			return err
		}
	}
	return nil
}
