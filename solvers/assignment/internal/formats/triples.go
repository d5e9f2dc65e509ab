package formats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/text"
)

// An axis is the first or the second cell of all triples: numbers of rows or of columns, or their names, as the first
// triple says.
type axis struct {
	what  string // row or column
	named bool
	names []string         // in the order of the file
	place map[string]int32 // of a name, from 0
	low   int32            // the least number, where count is not 0
	count int              // the largest number and 1, or the number of names
}

// A triplePart is a part whose named rows and columns are numbered as its own names are.
type triplePart struct {
	*lines.Entries
	axes [2]axis
}

// readTriples reads lines of row, column and cost. Rows and columns are numbered from 0, or from 1 where none has the
// number 0, or have names, which are numbered in the order of the file.
func readTriples(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("", o)
	if err != nil {
		return nil, err
	}
	p := f.newPairs()
	axes := [2]axis{{what: "row"}, {what: "column"}}
	layout, err := csv.ReadRecords(context.Background(), f.File, f.tableOptions(), 3, "row, column and cost", csv.RecordSink[*triplePart]{
		First: func(cells [][]byte) {
			for k := range axes {
				axes[k].named = !text.IsNumber(cells[k])
			}
		},
		New: func() *triplePart { return &triplePart{p.newPart(), [2]axis{axes[0].empty(), axes[1].empty()}} },
		Line: func(part *triplePart, line int, cells [][]byte) error {
			i, err := part.axes[0].number(cells[0])
			if err != nil {
				return err
			}
			j, err := part.axes[1].number(cells[1])
			if err != nil {
				return err
			}
			return o.addPair(part.Entries, line, i, j, cells[2])
		},
		Keep: func(b *text.Block, part *triplePart) error {
			for k, numbers := range [][]int32{part.Row, part.Column} {
				place, err := axes[k].join(f.budget, &part.axes[k])
				if err != nil {
					return err
				}
				if place != nil {
					for x, v := range numbers {
						numbers[x] = place[v]
					}
				}
			}
			return p.addPart(b, part.Entries)
		},
		Reset: func(part *triplePart) {
			part.Entries.Reset()
			part.axes = [2]axis{axes[0].empty(), axes[1].empty()}
		},
	})
	if err != nil {
		return nil, err
	}
	for k := range axes {
		if _, ok := axes[k].place[headerOf(layout, k)]; ok && o.Header == csv.Ask {
			return nil, formats.Errorf(f.Name(), layout.Line, "found %s in the first line and as a %s below it, expected to be told: --header yes or no (the first line is names of cells)", formats.Quote(layout.Columns[k]), axes[k].what)
		}
	}
	fromOne := (axes[0].named || axes[0].low > 0) && (axes[1].named || axes[1].low > 0) && !(axes[0].named && axes[1].named)
	if fromOne {
		for k, numbers := range [][]int32{p.Row, p.Column} {
			if axes[k].named {
				continue
			}
			if err := axes[k].numberFromOne(f.budget); err != nil {
				return nil, formats.Errorf(f.Name(), 0, "%w", err)
			}
			for x := range numbers {
				numbers[x]--
			}
		}
	}
	inst, err := p.instance(axes[0].count, axes[1].count)
	if err != nil {
		return nil, err
	}
	inst.RowNames, inst.ColNames = axes[0].names, axes[1].names
	if layout.Header {
		inst.Note("the first line was left out: it is a header")
	}
	if layout.Aside != "" {
		inst.Note("the comment %s was left out", formats.Quote(layout.Aside))
	}
	if fromOne {
		inst.Note("numbers of rows and columns are from 1: none is 0")
	}
	return inst, nil
}

// headerOf is the name above a column, empty without a header.
func headerOf(l csv.Layout, k int) string {
	if !l.Header {
		return ""
	}
	return l.Columns[k]
}

// empty is the axis of a part.
func (a *axis) empty() axis {
	part := axis{what: a.what, named: a.named}
	if a.named {
		part.place = map[string]int32{}
	}
	return part
}

// number is the place of a number or of a name within the part.
func (a *axis) number(word []byte) (int32, error) {
	if !a.named {
		v, ok := text.ParseInt(word)
		if !ok { // NumPy writes whole numbers as 1.000000000000000000e+00
			if f, is := text.ParseFloat(word); is && f == float64(int64(f)) {
				v, ok = int64(f), true
			}
		}
		if !ok || v < 0 || v >= problem.MaxSide {
			return 0, fmt.Errorf("found the %s %s, expected a whole number from 0 to %d", a.what, formats.Quote(word), problem.MaxSide-1)
		}
		a.take(int32(v), int(v)+1)
		return int32(v), nil
	}
	if place, ok := a.place[string(word)]; ok {
		return place, nil
	}
	name := names.Clean(string(word))
	switch {
	case names.IsMissing(name):
		return 0, fmt.Errorf("found the %s %s, expected a name", a.what, formats.Quote(word))
	case text.IsNumber(word):
		return 0, fmt.Errorf("found the number %s of a %s, expected a name as in the first line of data", formats.Quote(word), a.what)
	}
	place, ok := a.place[name]
	if !ok {
		place = int32(len(a.names))
		a.names = append(a.names, strings.Clone(name))
		a.place[a.names[place]] = place
	}
	return place, nil
}

// bytesPerName is the memory of a name in an axis besides its bytes.
const bytesPerName = 100

// join adds the numbers or names of a part. It returns the place of each name in the axis; nil where there are numbers.
func (a *axis) join(budget *formats.Budget, part *axis) ([]int32, error) {
	if !a.named {
		if part.count > 0 {
			a.take(part.low, part.count)
		}
		return nil, nil
	}
	if a.place == nil {
		a.place = map[string]int32{}
	}
	place := make([]int32, len(part.names))
	for k, name := range part.names {
		at, ok := a.place[name]
		if !ok {
			if err := budget.Reserve(bytesPerName + int64(len(name))); err != nil {
				return nil, fmt.Errorf("the names of %ss take %w", a.what, err)
			}
			at = int32(len(a.names))
			a.place[name] = at
			a.names = append(a.names, name)
		}
		place[k] = at
	}
	a.count = len(a.names)
	return place, nil
}

// take counts numbers, of which low is the least and count the largest and 1.
func (a *axis) take(low int32, count int) {
	if a.count == 0 || low < a.low {
		a.low = low
	}
	a.count = max(a.count, count)
}

// numberFromOne counts from 1: the names are the numbers of the file.
func (a *axis) numberFromOne(budget *formats.Budget) error {
	a.count--
	if err := budget.Reserve(int64(a.count) * bytesPerName / 2); err != nil {
		return fmt.Errorf("the numbers of %d %ss take %w", a.count, a.what, err)
	}
	a.names = slices.Grow(a.names, a.count)
	for k := range a.count {
		a.names = append(a.names, strconv.Itoa(k+1))
	}
	return nil
}
