package formats

import (
	"context"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/text"
)

// readCSV reads a matrix, a row a line; package csv says which lines and columns are
// names. The instance's notes say how the file was read.
func readCSV(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("", o)
	if err != nil {
		return nil, err
	}
	n := o.costNumbers()
	layout, err := csv.ReadMatrix(context.Background(), f.File, f.tableOptions(), n, o.noCost)
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
	setCosts(inst, n, nil)
	inst.Note("read as %s", layout)
	return inst, nil
}

// readOrlib reads the number n and n*n costs, row by row, in lines of any
// length: the assignment problems of OR-Library (Beasley 1990).
func readOrlib(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("", o)
	if err != nil {
		return nil, err
	}
	word, err := f.Word()
	if err != nil {
		return nil, f.Errorf("found the end of the file, expected the number of rows: %w", err)
	}
	side, err := text.ParseWhole(word, "number of rows", 0, problem.MaxSide)
	if err != nil {
		return nil, f.Errorf("%w", err)
	}
	if err := o.checkMemory(uint64(side), uint64(side), 8); err != nil {
		return nil, f.Errorf("%w", err)
	}
	n := o.costNumbers()
	bad := func(word []byte) error { return o.noCost(word) }
	if err := text.CollectNumbers(context.Background(), f.File, n, int(side*side), bad); err != nil {
		return nil, err
	}
	if n.Len() != int(side*side) {
		return nil, f.Errorf("found the end of the file after %d costs, expected %d x %d", n.Len(), side, side)
	}
	inst := &problem.Instance{Rows: int(side), Cols: int(side)}
	setCosts(inst, n, nil)
	return inst, nil
}
