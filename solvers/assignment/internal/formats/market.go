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
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/market"
)

// readMarket reads Matrix Market's exchange format: coordinates, or an array; real,
// integer, or a pattern, each of whose entries costs 1; general, symmetric or skew-symmetric.
func readMarket(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("%", o)
	if err != nil {
		return nil, err
	}
	h, err := market.ReadHead(f.File, problem.MaxSide)
	switch {
	case err != nil:
		return nil, err
	case h.Array:
		return f.array(h)
	}
	if err := o.roomSparse(h.Rows, h.Columns); err != nil {
		return nil, f.Errorf("%w", err)
	}
	p := f.newPairs()
	if err := p.reserve(h.Entries); err != nil {
		return nil, f.Errorf("%w", err)
	}
	err = market.ReadEntries(context.Background(), f.File, h, market.EntrySink[*lines.Entries]{
		New: p.newPart,
		Entry: func(part *lines.Entries, e market.Entry) error {
			if e.Word == nil {
				e.Word = []byte("1")
			}
			return o.addPair(part, e.Line, e.Row, e.Column, e.Word)
		},
		Keep:  p.addPart,
		Reset: (*lines.Entries).Reset,
	})
	if err == nil && h.Symmetry != market.General {
		err = p.mirror(h.Symmetry == market.Skew)
	}
	if err != nil {
		return nil, err
	}
	inst, err := p.instance(h.Rows, h.Columns)
	if err == nil && h.Field == market.Pattern {
		inst.Note("a pattern has no costs: every entry costs 1")
	}
	return inst, err
}

// mirror adds the pairs on the other side of the diagonal, with the same costs or their negatives.
// A pair that is forbidden on one side is forbidden on both.
func (p *pairs) mirror(negative bool) error {
	if negative {
		p.Numbers.MakeFloats()
	}
	listed := len(p.Row)
	for k, row := range p.Row {
		if row != p.Column[k] {
			p.mirrored++
		}
	}
	if err := p.Reserve(p.file.budget, p.mirrored); err != nil {
		return formats.Errorf(p.file.Name(), 0, "%d pairs take %w", listed+p.mirrored, err)
	}
	for k := range listed {
		row, col := p.Row[k], p.Column[k]
		if row == col {
			continue
		}
		p.Row, p.Column = append(p.Row, col), append(p.Column, row)
		if p.Numbers.Floats {
			cost := p.Numbers.Real[k]
			if negative && !math.IsInf(cost, 0) {
				cost = -cost
			}
			p.Numbers.AddFloat(cost)
			continue
		}
		cost := p.Numbers.Whole[k]
		switch {
		case negative && cost <= -math.MaxInt64:
			return formats.Errorf(p.file.Name(), p.Lines.Line(k), "%w: found %d in a skew-symmetric matrix, expected more than -2^63+1, so that its negative fits too", problem.ErrCost, cost)
		case negative && (cost != math.MaxInt64 || p.Numbers.Every):
			cost = -cost
		}
		p.Numbers.Whole = append(p.Numbers.Whole, cost)
	}
	return nil
}

// array reads all entries, column by column.
func (f *file) array(h market.Header) (*problem.Instance, error) {
	n := f.o.costNumbers()
	if err := market.ReadArray(context.Background(), f.File, h, f.budget, n, f.o.noCost); err != nil {
		return nil, err
	}
	n, err := market.ExpandSymmetric(h, f.budget, n)
	if err != nil {
		return nil, formats.Errorf(f.Name(), 0, "%w", err)
	}
	inst := &problem.Instance{Rows: h.Columns, Cols: h.Rows}
	setCosts(inst, n, nil)
	return inst.Transpose(), nil
}

// WriteMarket writes a sparse instance as Matrix Market coordinates.
func WriteMarket(w io.Writer, inst *problem.Instance) error {
	if inst.Sparse == nil {
		return errors.New("write matrix market: found no sparse instance")
	}
	field := "real"
	switch {
	case inst.Unsigned:
		field = "unsigned-integer"
	case inst.Type.Integer():
		field = "integer"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", field, inst.Rows, inst.Cols, len(inst.Sparse.Col))
	for i := range inst.Rows {
		for k := inst.Sparse.Start[i]; k < inst.Sparse.Start[i+1]; k++ {
			cost := inst.CostDecimals(i, int(inst.Sparse.Col[k]))
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
