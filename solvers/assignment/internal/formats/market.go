package formats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/market"
)

// readMarket reads Matrix Market's exchange format: coordinates, or an array; real,
// integer or double; general, symmetric or skew-symmetric.
func readMarket(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.text("%", o)
	if err != nil {
		return nil, err
	}
	h, err := market.ReadHead(f.File, problem.MaxSide)
	switch {
	case err != nil:
		return nil, err
	case h.Field == market.Pattern:
		return nil, formats.Errorf(in.name, 1, "found pattern entries, expected real or integer ones")
	case h.Array:
		return f.array(h)
	}
	if err := o.roomSparse(h.Rows, h.Columns); err != nil {
		return nil, f.Errorf("%w", err)
	}
	p := f.pairs()
	if err := p.expect(h.Entries); err != nil {
		return nil, f.Errorf("%w", err)
	}
	err = market.ReadEntries(context.Background(), f.File, h, market.Body[*part]{
		New: p.empty,
		Entry: func(part *part, e market.Entry) error {
			if err := part.add(e.Line, pair{e.Row, e.Column}, e.Word, o); err != nil || h.Symmetry == market.General || e.Row == e.Column {
				return err
			}
			return part.mirror(e, h.Symmetry == market.Skew)
		},
		Keep: p.keep,
	})
	if err != nil {
		return nil, err
	}
	return p.instance(h.Rows, h.Columns)
}

// mirror adds the pair on the other side of the diagonal, of the last pair's cost or
// of its negative. A pair that is forbidden is so on both sides.
func (p *part) mirror(e market.Entry, negative bool) error {
	p.list = append(p.list, pair{e.Column, e.Row})
	p.lines.Add(e.Line)
	if p.costs.Floats {
		last := p.costs.Real[len(p.costs.Real)-1]
		if negative && !math.IsInf(last, 0) {
			last = -last
		}
		p.costs.AddFloat(last)
		return nil
	}
	last := p.costs.Whole[len(p.costs.Whole)-1]
	switch {
	case negative && last <= -math.MaxInt64:
		return fmt.Errorf("%w: found %d in a skew-symmetric matrix, expected more than -2^63+1, so that its negative fits too", problem.ErrCost, last)
	case negative && last != math.MaxInt64:
		last = -last
	}
	p.costs.AddInt(last)
	return nil
}

// array reads all entries, column by column.
func (f *file) array(h market.Head) (*problem.Instance, error) {
	if h.Symmetry != market.General {
		return nil, formats.Errorf(f.Name(), 1, "found a %s array, expected a general one", h.Symmetry)
	}
	n := f.o.numbers()
	if err := market.ReadArray(context.Background(), f.File, h, f.budget, n, f.o.noCost); err != nil {
		return nil, err
	}
	inst := &problem.Instance{Rows: h.Columns, Cols: h.Rows}
	set(inst, n, nil)
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
