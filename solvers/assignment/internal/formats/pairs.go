package formats

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
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
		return
	}
	problem.SetCosts(inst, reordered(n.Real, order))
	if n.Rounded > 0 {
		inst.Note("%d integers were rounded to float64, because there are fractions, or integers of 2^63-1 and more", n.Rounded)
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

// A pair is a row and a column, from 0.
type pair struct{ row, col int32 }

// pairs collect those of a sparse file, with their costs and lines, in the order of
// the file.
type pairs struct {
	file     *file
	list     []pair
	costs    *text.Numbers
	lines    text.Positions // of the pairs that the file lists
	mirrored int            // pairs behind those, which symmetry implies
	parts    sync.Pool
}

// A part is the pairs of a block.
type part struct {
	list  []pair
	costs text.Numbers
	lines text.Positions
}

func (f *file) newPairs() *pairs {
	n := f.o.costNumbers()
	return &pairs{file: f, costs: n, parts: sync.Pool{New: func() any { return &part{costs: text.Numbers{Infinite: n.Infinite}} }}}
}

// leastLine is the length of the shortest line of a pair, "1 1 1" and its end.
const leastLine = 6

// reserve allocates room for count pairs, but for no more than the file's size can hold.
func (p *pairs) reserve(count int64) (err error) {
	proven := int(max(0, min(count, p.file.size/leastLine)))
	if p.list, err = formats.Grow(p.file.budget, p.list, proven); err == nil {
		err = p.costs.Reserve(p.file.budget, proven)
	}
	if err != nil {
		return fmt.Errorf("%d pairs take %w", count, err)
	}
	return nil
}

// newPart is a part without pairs.
func (p *pairs) newPart() *part { return p.parts.Get().(*part) }

// add adds a pair, which stands on a line of the block.
func (p *part) add(line int, x pair, cost []byte, o ReadOptions) error {
	if !p.costs.Add(cost) {
		return o.noCost(cost)
	}
	p.list = append(p.list, x)
	p.lines.Add(line)
	return nil
}

// addPart adds the pairs of a block.
func (p *pairs) addPart(b *text.Block, part *part) (err error) {
	budget, count := p.file.budget, len(p.list)+len(part.list)
	follow := p.file.EstimateRest(count)
	if p.list, err = formats.GrowAhead(budget, p.list, len(part.list), follow); err == nil {
		p.list = append(p.list, part.list...)
		err = p.costs.GrowAhead(budget, part.costs.Len(), follow)
	}
	if err == nil {
		err = p.costs.Append(budget, &part.costs)
	}
	if err == nil {
		err = p.lines.Append(budget, &part.lines, b.FirstLine())
	}
	if err != nil {
		return fmt.Errorf("%d pairs and more take %w", count, err)
	}
	part.list = part.list[:0]
	part.costs.Reset()
	part.lines.Reset()
	p.parts.Put(part)
	return nil
}

// instance sorts the pairs into rows. One that comes twice is an error of its line.
func (p *pairs) instance(rows, cols int) (*problem.Instance, error) {
	name, count := p.file.Name(), len(p.list)
	if err := p.file.o.roomSparse(rows, cols); err != nil {
		return nil, formats.Errorf(name, 0, "%w", err)
	}
	sorted, held := p.sorted(), int64(4) // bytes a pair: its column
	if !sorted {
		held += 8 + 8 // its place, and its cost in another place
	}
	if err := p.file.budget.Take(int64(count) * held); err != nil {
		return nil, formats.Errorf(name, 0, "%d pairs take %w", count, err)
	}
	s := &problem.Sparse{Start: make([]int64, rows+1), Col: make([]int32, count)}
	for _, x := range p.list {
		s.Start[x.row+1]++
	}
	for i := range rows {
		s.Start[i+1] += s.Start[i]
	}
	var order []int
	if sorted {
		cores.Split(count, 1<<16, func(from, to int) {
			for k, x := range p.list[from:to] {
				s.Col[from+k] = x.col
			}
		})
	} else {
		order = p.order(s.Start)
	}
	for k, at := range order {
		// Implied pairs that come twice are listed ones that do, elsewhere.
		if k > 0 && at < count-p.mirrored && p.list[order[k-1]] == p.list[at] {
			return nil, formats.Errorf(name, p.lines.Line(at), "found the pair of line %d again, expected each once", p.lines.Line(order[k-1]))
		}
		s.Col[k] = p.list[at].col
	}
	inst := &problem.Instance{Rows: rows, Cols: cols, Sparse: s}
	setCosts(inst, p.costs, order)
	return inst, nil
}

// sorted reports whether the pairs stand row by row, columns ascending, each once.
func (p *pairs) sorted() bool {
	var falls atomic.Bool
	cores.Split(len(p.list), 1<<16, func(from, to int) {
		for k := max(1, from); k < to; k++ {
			if a, b := p.list[k-1], p.list[k]; a.row > b.row || a.row == b.row && a.col >= b.col {
				falls.Store(true)
				return
			}
		}
	})
	return !falls.Load()
}

// order is the pairs' order by row, by column, and by their places in the file.
func (p *pairs) order(start []int64) []int {
	order, at := make([]int, len(p.list)), slices.Clone(start)
	for k, x := range p.list {
		order[at[x.row]] = k
		at[x.row]++
	}
	cores.Split(len(start)-1, 1, func(from, to int) {
		for i := from; i < to; i++ {
			slices.SortFunc(order[start[i]:start[i+1]], func(a, b int) int {
				return cmp.Or(cmp.Compare(p.list[a].col, p.list[b].col), cmp.Compare(a, b))
			})
		}
	})
	return order
}
