package formats

import (
	"context"
	"fmt"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/text"
)

// open makes a stream text whose memory is held against the limit.
func (o ReadOptions) open(in *lines, comment string) (*text.File, csv.Options, error) {
	budget := formats.NewBudget(o.memory())
	f, err := text.New(in.r, in.name, text.Options{Comment: comment, Budget: budget})
	return f, csv.Options{Header: o.Header, Index: o.Index, Budget: budget}, err
}

// numbers are those that costs may be: one infinity forbids a pair.
func (o ReadOptions) numbers() *text.Numbers {
	return &text.Numbers{Infinite: problem.Forbidden[float64](o.Maximize)}
}

// noCost is the error of a word that is no cost. It unwraps to ErrCost.
func (o ReadOptions) noCost(word []byte) error {
	want := "inf"
	if o.Maximize {
		want = "-inf"
	}
	return fmt.Errorf("%w: found %s, expected a number, or %s to forbid the pair", problem.ErrCost, formats.Quote(word), want)
}

// costsOf takes over numbers that were read.
func costsOf(n *text.Numbers, o ReadOptions) *costs {
	return &costs{whole: n.Whole, real: n.Real, floats: n.Floats, rounded: n.Rounded, maximize: o.Maximize, most: o.memory()}
}

// readCSV reads a matrix, a row a line; package csv says which lines and columns are
// names. The instance's notes say how the file was read.
func readCSV(in *lines, o ReadOptions) (*problem.Instance, error) {
	f, how, err := o.open(in, "")
	if err != nil {
		return nil, err
	}
	n := o.numbers()
	layout, err := csv.Matrix(context.Background(), f, how, n, o.noCost)
	if err != nil {
		return nil, err
	}
	if layout.Height == 0 || layout.Width == 0 {
		return nil, f.Errorf("found no costs, expected a row a line")
	}
	if layout.Height > problem.MaxSide || layout.Width > problem.MaxSide {
		return nil, f.Errorf("found %d rows and %d columns, expected at most %d", layout.Height, layout.Width, problem.MaxSide)
	}
	inst := &problem.Instance{Rows: layout.Height, Cols: layout.Width, RowNames: layout.Rows, ColNames: layout.Columns}
	costsOf(n, o).set(inst, nil)
	inst.Note("read as %s", layout)
	return inst, nil
}

// triples are the records of a block: pairs with their lines within it, and costs.
type triples struct {
	pairs []coordinate
	costs text.Numbers
}

// readTriples reads lines of row, column and cost, numbered from 0.
func readTriples(in *lines, o ReadOptions) (*problem.Instance, error) {
	f, how, err := o.open(in, "")
	if err != nil {
		return nil, err
	}
	n := o.numbers()
	var pairs []coordinate
	rows, cols := 0, 0
	layout, err := csv.Records(context.Background(), f, how, 3, "row, column and cost", csv.Record[*triples]{
		New: func() *triples { return &triples{costs: text.Numbers{Infinite: n.Infinite}} },
		Line: func(part *triples, line int, cells [][]byte) error {
			i, err := text.Whole(cells[0], "row", 0, problem.MaxSide-1)
			if err != nil {
				return err
			}
			j, err := text.Whole(cells[1], "column", 0, problem.MaxSide-1)
			if err != nil {
				return err
			}
			if !part.costs.Add(cells[2]) {
				return o.noCost(cells[2])
			}
			part.pairs = append(part.pairs, coordinate{int32(i), int32(j), line})
			return nil
		},
		Keep: func(b *text.Block, part *triples) error {
			for k, x := range part.pairs {
				part.pairs[k].line += b.First()
				rows, cols = max(rows, int(x.row)+1), max(cols, int(x.col)+1)
			}
			if pairs, err = formats.Append(how.Budget, pairs, part.pairs...); err != nil {
				return fmt.Errorf("%d pairs and more take %w", len(pairs)+len(part.pairs), err)
			}
			if err := n.Append(how.Budget, &part.costs); err != nil {
				return fmt.Errorf("%d costs and more take %w", n.Len(), err)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if err := o.roomSparse(rows, cols); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	inst, err := sparseOf(rows, cols, pairs, costsOf(n, o), in.name)
	if err == nil && layout.Header {
		inst.Note("the first line was left out: it is a header")
	}
	return inst, err
}

// readOrlib reads the number n and n*n costs, row by row, in lines of any
// length: the assignment problems of OR-Library (Beasley 1990).
func readOrlib(in *lines, o ReadOptions) (*problem.Instance, error) {
	f, _, err := o.open(in, "")
	if err != nil {
		return nil, err
	}
	word, err := f.Word()
	if err != nil {
		return nil, f.Errorf("found the end of the file, expected the number of rows: %w", err)
	}
	side, err := text.Whole(word, "number of rows", 0, problem.MaxSide)
	if err != nil {
		return nil, f.Errorf("%w", err)
	}
	if err := o.room(uint64(side), uint64(side), 8); err != nil {
		return nil, f.Errorf("%w", err)
	}
	n := o.numbers()
	bad := func(word []byte) error { return o.noCost(word) }
	if err := text.Collect(context.Background(), f, n, int(side*side), bad); err != nil {
		return nil, err
	}
	if n.Len() != int(side*side) {
		return nil, f.Errorf("found the end of the file after %d costs, expected %d x %d", n.Len(), side, side)
	}
	inst := &problem.Instance{Rows: int(side), Cols: int(side)}
	costsOf(n, o).set(inst, nil)
	return inst, nil
}
