package formats

import (
	"errors"
	"io"

	"coalesce/solvers/assignment/problem"
)

// readOrlib reads the number n and n*n costs, row by row, in lines of any
// length: the assignment problems of OR-Library (Beasley 1990).
func readOrlib(in *lines, o ReadOptions) (*problem.Instance, error) {
	n := -1
	c := newCosts(o)
	for {
		f, err := in.fields()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if n < 0 {
			if n, err = number(f[0], "number of rows", problem.MaxSide); err != nil {
				return nil, in.errorf("%w", err)
			}
			if err := o.room(uint64(n), uint64(n), 8); err != nil {
				return nil, in.errorf("%w", err)
			}
			f = f[1:]
		}
		for _, word := range f {
			if c.len() == n*n {
				return nil, in.errorf("found %q after %d x %d costs, expected the end of the file", brief(word), n, n)
			}
			if err := c.add(word); err != nil {
				return nil, in.errorf("row %d, column %d: %w", c.len()/n+1, c.len()%n+1, err)
			}
		}
	}
	if n < 0 || c.len() != n*n {
		return nil, in.errorf("found the end of the file after %d costs, expected the number of rows and %d costs", c.len(), max(0, n*n))
	}
	inst := &problem.Instance{Rows: n, Cols: n}
	c.set(inst, nil)
	return inst, nil
}
