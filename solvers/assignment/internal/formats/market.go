package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"coalesce/solvers/assignment/problem"
)

// readMarket reads Matrix Market's exchange format (Boisvert, Pozo and
// Remington, NISTIR 5935, 1996): coordinate or array; real, integer or double;
// general, symmetric or skew-symmetric.
func readMarket(in *lines, o ReadOptions) (*problem.Instance, error) {
	f, err := in.fields()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	words := make([]string, len(f))
	for k := range f {
		words[k] = strings.ToLower(string(f[k]))
	}
	if len(words) != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix" {
		return nil, in.errorf("found %q, expected %%%%MatrixMarket matrix and three words", brief([]byte(strings.Join(words, " "))))
	}
	m := market{lines: in, o: o, costs: newCosts(o), symmetry: words[4]}
	switch words[3] {
	case "real", "integer", "double":
	default:
		return nil, in.errorf("found %s entries, expected real or integer ones", words[3])
	}
	switch m.symmetry {
	case "general", "symmetric", "skew-symmetric":
	default:
		return nil, in.errorf("found a %s matrix, expected a general, symmetric or skew-symmetric one", m.symmetry)
	}
	switch words[2] {
	case "coordinate":
		return m.coordinates()
	case "array":
		if m.symmetry != "general" {
			return nil, in.errorf("found a %s array, expected a general one", m.symmetry)
		}
		return m.array()
	}
	return nil, in.errorf("found the layout %q, expected coordinate or array", words[2])
}

type market struct {
	*lines
	o        ReadOptions
	costs    *costs
	symmetry string
}

// words are the next line's that is no comment, so many of them.
func (m *market) words(count int, what string) ([][]byte, error) {
	for {
		f, err := m.fields()
		switch {
		case errors.Is(err, io.EOF):
			return nil, m.errorf("found the end of the file, expected %s", what)
		case err != nil:
			return nil, err
		case f[0][0] == '%':
			continue
		case len(f) != count:
			return nil, m.errorf("found %d words, expected %s", len(f), what)
		}
		return f, nil
	}
}

// end wants nothing but comments after so many entries.
func (m *market) end(count int) error {
	for {
		f, err := m.fields()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case f[0][0] != '%':
			return m.errorf("found %q after %d entries, expected the end of the file", brief(f[0]), count)
		}
	}
}

// size is the line of the matrix's size.
func (m *market) size(count int) (list [3]int, err error) {
	f, err := m.words(count, "the matrix's size")
	if err != nil {
		return list, err
	}
	for k, word := range f {
		most := int64(problem.MaxSide)
		if k == 2 {
			most = 1 << 53
		}
		if list[k], err = number(word, "size", most); err != nil {
			return list, m.errorf("%w", err)
		}
	}
	if m.symmetry != "general" && list[0] != list[1] {
		return list, m.errorf("found a %s matrix of %d x %d, expected a square", m.symmetry, list[0], list[1])
	}
	return list, nil
}

func (m *market) coordinates() (*problem.Instance, error) {
	size, err := m.size(3)
	if err != nil {
		return nil, err
	}
	if err := m.o.roomSparse(size[0], size[1]); err != nil {
		return nil, m.errorf("%w", err)
	}
	var pairs []coordinate
	for range size[2] {
		f, err := m.words(3, "row, column and cost")
		if err != nil {
			return nil, err
		}
		i, err := number(f[0], "row", int64(size[0]))
		if err != nil {
			return nil, m.errorf("%w", err)
		}
		j, err := number(f[1], "column", int64(size[1]))
		if err != nil {
			return nil, m.errorf("%w", err)
		}
		if i == 0 || j == 0 {
			return nil, m.errorf("found row %d and column %d, expected both from 1", i, j)
		}
		if m.symmetry == "skew-symmetric" && i == j {
			return nil, m.errorf("found the entry (%d,%d) of a skew-symmetric matrix, expected none on the diagonal", i, j)
		}
		if err := m.costs.add(f[2]); err != nil {
			return nil, m.errorf("%w", err)
		}
		pairs = append(pairs, coordinate{int32(i - 1), int32(j - 1), m.line})
		if m.symmetry != "general" && i != j {
			if err := m.costs.repeat(m.symmetry == "skew-symmetric"); err != nil {
				return nil, m.errorf("%w", err)
			}
			pairs = append(pairs, coordinate{int32(j - 1), int32(i - 1), m.line})
		}
	}
	if err := m.end(size[2]); err != nil {
		return nil, err
	}
	return sparseOf(size[0], size[1], pairs, m.costs, m.name)
}

// array reads all entries, column by column.
func (m *market) array() (*problem.Instance, error) {
	size, err := m.size(2)
	if err != nil {
		return nil, err
	}
	rows, cols := size[0], size[1]
	if err := m.o.room(uint64(rows), uint64(cols), 8); err != nil {
		return nil, m.errorf("%w", err)
	}
	for range rows * cols {
		f, err := m.words(1, "one cost a line")
		if err != nil {
			return nil, err
		}
		if err := m.costs.add(f[0]); err != nil {
			return nil, m.errorf("%w", err)
		}
	}
	if err := m.end(rows * cols); err != nil {
		return nil, err
	}
	inst := &problem.Instance{Rows: cols, Cols: rows}
	m.costs.set(inst, nil)
	return inst.Transpose(), nil
}

// WriteMarket writes a sparse instance as Matrix Market coordinates.
func WriteMarket(w io.Writer, inst *problem.Instance) error {
	if inst.Sparse == nil {
		return errors.New("write matrix market: found no sparse instance")
	}
	field := "real"
	if inst.Type.Integer() {
		field = "integer"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", field, inst.Rows, inst.Cols, len(inst.Sparse.Col))
	for i := range inst.Rows {
		for k := inst.Sparse.Start[i]; k < inst.Sparse.Start[i+1]; k++ {
			cost := inst.Exact(i, int(inst.Sparse.Col[k]))
			switch {
			case cost == "forbidden":
				cost = fmt.Sprint(problem.Forbidden[float64](inst.Maximize))
			case inst.Type == problem.Float32: // read as float64
				cost = problem.FormatFloat(float64(inst.F32[k]), 64)
			}
			fmt.Fprintf(out, "%d %d %s\n", i+1, inst.Sparse.Col[k]+1, cost)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write matrix market: %w", err)
	}
	return nil
}
