package formats

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

// A file is text, and the memory that reading it may take.
type file struct {
	*text.File
	o      ReadOptions
	size   int64 // bytes; negative: unknown
	budget *formats.Budget
}

// maxLine is the longest line of formats whose lines have a few words, in bytes.
const maxLine = 1 << 20

// openText makes text of a source. Lines whose first word begins with comment are
// comments, and lines have a few words, unless it is empty.
func (in source) openText(comment string, o ReadOptions) (*file, error) {
	budget := formats.NewBudget(o.costMemory())
	how := text.Options{Comment: comment, Size: in.Size, Budget: budget}
	if comment != "" {
		how.Line = maxLine
	}
	f, err := text.New(in, in.name, how)
	return &file{f, o, in.Size, budget}, err
}

// tableOptions is how a file is read as a table.
func (f *file) tableOptions() csv.Options {
	return csv.Options{Header: f.o.Header, Index: f.o.Index, Budget: f.budget}
}

// costNumbers are those that costs may be: one infinity forbids a pair.
func (o ReadOptions) costNumbers() *text.Numbers {
	return &text.Numbers{Infinite: problem.Forbidden[float64](o.Maximize)}
}

// noCost is the error of a word that no cost is written as. It unwraps to ErrCost.
func (o ReadOptions) noCost(word []byte) error {
	want := "inf"
	if o.Maximize {
		want = "-inf"
	}
	return fmt.Errorf("%w: found %s, expected a number, or %s to forbid the pair", problem.ErrCost, formats.Quote(word), want)
}

// setCosts gives an instance costs in an order; nil: in their own.
func setCosts(inst *problem.Instance, n *text.Numbers, order []int) {
	if !n.Floats {
		problem.SetCosts(inst, reordered(n.Whole, order))
		inst.Unsigned, inst.Every = n.Unsigned, n.Every
		return
	}
	problem.SetCosts(inst, reordered(n.Real, order))
	if n.Rounded > 0 {
		inst.Note("%d integers were rounded to float64, because there are fractions, integers of 2^64 and more, or large and negative ones", n.Rounded)
	}
}

func reordered[T any](list []T, order []int) []T {
	if order == nil {
		return list
	}
	out := make([]T, len(order))
	cores.Split(len(order), 1<<16, func(from, to int) {
		for k, at := range order[from:to] {
			out[from+k] = list[at]
		}
	})
	return out
}

// pairs are those of a sparse file, with their costs and lines, in the order of the file.
type pairs struct {
	lines.Entries
	file     *file
	mirrored int // pairs behind those that the file lists, which symmetry implies
}

func (f *file) newPairs() *pairs {
	return &pairs{file: f, Entries: lines.Entries{Numbers: *f.o.costNumbers()}}
}

// reserve allocates room for count pairs, but for no more than the file's size can hold.
func (p *pairs) reserve(count int64) error {
	if err := p.Reserve(p.file.budget, int(lines.MaxEntries(count, p.file.size))); err != nil {
		return fmt.Errorf("%d pairs take %w", count, err)
	}
	return nil
}

// newPart are no pairs of a block.
func (p *pairs) newPart() *lines.Entries { return &lines.Entries{Numbers: *p.file.o.costNumbers()} }

// addPair adds a pair of a block, which stands on a line.
func (o *ReadOptions) addPair(part *lines.Entries, line int, row, col int32, cost []byte) error {
	if !part.Add(line, row, col, cost) {
		return lines.WordError(cost, o.noCost(cost))
	}
	return nil
}

// takePair adds the pair of a line of row, column and cost.
func (o *ReadOptions) takePair(part *lines.Entries, r *lines.Record) error {
	return o.addPair(part, r.Line, int32(r.Int(0)), int32(r.Int(1)), r.Words[2])
}

// addPart adds the pairs of a block.
func (p *pairs) addPart(b *text.Block, part *lines.Entries) error {
	count := len(p.Row) + len(part.Row)
	if err := p.Append(p.file.budget, part, b.FirstLine(), p.file.EstimateRest(count)); err != nil {
		return fmt.Errorf("%d pairs and more take %w", count, err)
	}
	return nil
}

// instance sorts the pairs into rows. One that comes twice is an error of its line.
func (p *pairs) instance(rows, cols int) (*problem.Instance, error) {
	name, count := p.file.Name(), len(p.Row)
	if err := p.file.o.roomSparse(rows, cols); err != nil {
		return nil, formats.Errorf(name, 0, "%w", err)
	}
	s := &problem.Sparse{Start: make([]int64, rows+1), Col: p.Column}
	for _, row := range p.Row {
		s.Start[row+1]++
	}
	for i := range rows {
		s.Start[i+1] += s.Start[i]
	}
	var order []int
	if !p.sorted() {
		if err := p.file.budget.Reserve(int64(count) * (4 + 8 + 8)); err != nil { // a pair's column, place and cost
			return nil, formats.Errorf(name, 0, "%d pairs take %w", count, err)
		}
		order, s.Col = p.order(s.Start), make([]int32, count)
	}
	for k, at := range order {
		// Implied pairs that come twice are listed ones that do, elsewhere.
		if k > 0 && at < count-p.mirrored && p.Row[order[k-1]] == p.Row[at] && p.Column[order[k-1]] == p.Column[at] {
			return nil, formats.Errorf(name, p.Lines.Line(at), "found the pair of line %d again, expected each once", p.Lines.Line(order[k-1]))
		}
		s.Col[k] = p.Column[at]
	}
	inst := &problem.Instance{Rows: rows, Cols: cols, Sparse: s}
	setCosts(inst, &p.Numbers, order)
	return inst, nil
}

// sorted reports whether the pairs stand row by row, columns ascending, each once.
func (p *pairs) sorted() bool {
	var falls atomic.Bool
	cores.Split(len(p.Row), 1<<16, func(from, to int) {
		for k := max(1, from); k < to; k++ {
			if a, b := p.Row[k-1], p.Row[k]; a > b || a == b && p.Column[k-1] >= p.Column[k] {
				falls.Store(true)
				return
			}
		}
	})
	return !falls.Load()
}

// order is the pairs' order by row, by column, and by their places in the file.
func (p *pairs) order(start []int64) []int {
	order, at := make([]int, len(p.Row)), slices.Clone(start)
	for k, row := range p.Row {
		order[at[row]] = k
		at[row]++
	}
	cores.Split(len(start)-1, 1, func(from, to int) {
		for i := from; i < to; i++ {
			slices.SortFunc(order[start[i]:start[i+1]], func(a, b int) int {
				return cmp.Or(cmp.Compare(p.Column[a], p.Column[b]), cmp.Compare(a, b))
			})
		}
	})
	return order
}
