// Package csv reads tables of numbers as spreadsheets, pandas, R and NumPy
// write them, without guessing in silence: where the first line may be names or
// numbers, or the first column names or numbers, and nothing in the file says
// which, reading ends with an error that names --header and --index.
//
// Cells stand between commas, semicolons, tabs or blanks; those in quotes may
// hold any of these. A line sep= above the table tells the delimiter. Lines without
// text are left out, and comments, which IsBlankOrComment describes. What is read how:
//
//   - An empty first cell stands above an index, where words follow it, numbers
//     above a first column of words, quoted numbers, or 0 to n-1 above 0 to m-1: the
//     first line is a header, the first column an index. Before other numbers it is
//     an error, and so are a first line of empty cells and a header with one.
//   - A first line one cell shorter than the second, of words or, between
//     blanks, of 0 to n-1, is a header without a name for the index, as R's
//     write.table and pandas' to_string write it.
//   - A first line of numbers is data. That of 0 to n-1, and quoted numbers
//     above numbers without quotes, are an error.
//   - A first line without a number is a header. One of words for what is
//     missing (NA, null) is an error.
//   - A first line that begins with a word and has numbers too is data when all
//     rows begin with words, which are an index then, and there are two rows at
//     least; it is an error otherwise, and where the numbers are 0 to n-2.
//   - A first column of words is an index. One of words and numbers is an error,
//     and one of words for what is missing.
//   - A first column of numbers is data, unless it looks like an index. Under a
//     header so do 0 to m-1, three rows or more of 1 to m, whole numbers below a
//     name such as id, and numbers that ascend and leave a square beside them;
//     without a header, three rows or more of 0 to m-1. Those are errors.
//
// Options answer what files leave open. Decimal commas are refused with a hint, and
// error values of spreadsheets (#N/A) wherever they stand.
package csv

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// An YesOrNo is a caller's yes or no to a question that a file may leave open.
type YesOrNo string

// Ask leaves the answer to the file.
const (
	Ask YesOrNo = ""
	Yes YesOrNo = "yes"
	No  YesOrNo = "no"
)

// NamesOption is the flag that was given of two that only tables have; empty where neither was.
func NamesOption(header, index YesOrNo) string {
	switch {
	case header != Ask:
		return "--header"
	case index != Ask:
		return "--index"
	}
	return ""
}

// Options answer for a file.
type Options struct {
	Header    YesOrNo         // the first line is names of columns
	Index     YesOrNo         // the first column is names of rows
	Delimiter byte            // ',', ';', '\t' or ' ', which is any run of blanks; 0: told by the first lines
	Budget    *formats.Budget // for the names of rows; nil: no limit
}

// A Layout is how a table was read.
type Layout struct {
	Line      int      // the first line of the table, from 1
	Delimiter byte     // ',', ';', '\t' or ' '
	Header    bool     // the first line was names
	Index     bool     // the first column was names
	Corner    string   // what stands above the index
	Aside     string   // the first line above the table that was left out: a # and no blank behind it
	Columns   []string // names of columns; nil without a header
	Rows      []string // names of rows; nil without an index
	Height    int      // rows of numbers
	Width     int      // numbers in a row
}

// String says in words how a table was read.
func (l Layout) String() string {
	with := func(is bool) string {
		if is {
			return "with"
		}
		return "without"
	}
	between := map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", ' ': "blanks"}[l.Delimiter]
	numbers := "numbers"
	if l.Height == 1 && l.Width == 1 {
		numbers = "number"
	}
	said := fmt.Sprintf("%d x %d %s between %s, %s header, %s index", l.Height, l.Width, numbers, between, with(l.Header), with(l.Index))
	if l.Aside != "" {
		said += ", the comment " + formats.Quote(l.Aside) + " left out"
	}
	return said
}

// A CellSink takes the cells of a table. A part holds the cells of a block of lines; New and Cell are
// called on all cores, Keep in the order of the file.
type CellSink[T any] struct {
	New  func() T                          // an empty part
	Cell func(part T, word []byte) error   // a cell of the table, row by row; errors get `file:line: column c:`
	Keep func(b *text.Block, part T) error // the next part
	Done func(part T)                      // after Keep; may be nil
}

// Read reads a table from the rest of a file. All rows have the same number of cells. Body.Cell
// decides which cells are numbers, also of empty cells, NA, NaN and infinities; the layout depends
// only on words that look like numbers.
func Read[T any](ctx context.Context, f *text.File, o Options, body CellSink[T]) (Layout, error) {
	h, err := readHead(f, &o)
	if err != nil {
		return Layout{}, err
	}
	p, err := h.decideLayout(o)
	if err != nil {
		return Layout{}, withLine(f, h.line[0], err)
	}
	t := &table[T]{plan: p, body: body, o: o, name: f.Name()}
	for k := range h.text {
		if k == 0 && p.Header {
			continue
		}
		b := text.NewBlock(f.Name(), h.line[k], h.text[k])
		part, err := t.parseBlock(b)
		if err == nil {
			b.Rewind()
			err = t.addBlock(b, part)
		}
		if err != nil {
			return Layout{}, withLine(f, h.line[k], err)
		}
	}
	if err := text.ParseBlocks(ctx, f, text.Lines, t.parseBlock, t.addBlock); err != nil {
		return Layout{}, err
	}
	if t.Height == 0 {
		return Layout{}, f.Errorf("found no numbers, expected a row a line")
	}
	if err := t.ambiguousIndex(f.Name(), h.line[0]); err != nil {
		return Layout{}, err
	}
	return t.Layout, nil
}

// ReadMatrix reads a table of numbers into n, row by row; n.Infinite says which infinity is allowed. bad
// is the error of a cell that is no number.
func ReadMatrix(ctx context.Context, f *text.File, o Options, n *text.Numbers, bad func(word []byte) error) (Layout, error) {
	parts := text.Pool(n.Infinite)
	return Read(ctx, f, o, CellSink[*text.Numbers]{
		New: func() *text.Numbers { return parts.Get().(*text.Numbers) },
		Cell: func(part *text.Numbers, word []byte) error {
			if !part.Add(word) {
				return bad(word)
			}
			return nil
		},
		Keep: func(_ *text.Block, part *text.Numbers) error {
			count := n.Len() + part.Len()
			err := n.GrowAhead(o.Budget, part.Len(), f.EstimateRest(count))
			if err == nil {
				err = n.Append(o.Budget, part)
			}
			if err != nil {
				return fmt.Errorf("%d numbers and more take %w", count, err)
			}
			return nil
		},
		Done: func(part *text.Numbers) {
			part.Reset()
			parts.Put(part)
		},
	})
}

// A RecordSink takes the records of a list, as a CellSink takes cells. First gets the first of them, before all others.
type RecordSink[T any] struct {
	First func(cells [][]byte)
	New   func() T
	Line  func(part T, line int, cells [][]byte) error // line counts from 0 within the block: Keep adds the block's First
	Keep  func(b *text.Block, part T) error
	Reset func(part T) // empties a part that was kept
}

// ReadRecords reads lines of so many cells each, such as row, column and cost. o may say that the first line is a header,
// which is left out, or that it is none; where o says nothing, it is one if no cell of it is a number, or missing, and
// another line follows. An empty cell before it stands above an index, which is left out.
func ReadRecords[T any](ctx context.Context, f *text.File, o Options, cells int, what string, record RecordSink[T]) (Layout, error) {
	h, err := readHead(f, &o)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Line: h.line[0], Delimiter: o.Delimiter, Width: cells, Header: o.Header == Yes}
	if !h.titled {
		l.Aside = h.aside
	}
	rows := make([][]cell, len(h.text))
	for k := range rows {
		if rows[k], err = splitCells(nil, h.text[k], o.Delimiter); err != nil {
			return l, formats.Errorf(f.Name(), h.line[k], "%w", err)
		}
	}
	before := 0 // cells of an index
	if len(rows[0]) == cells+1 && rows[0][0].isEmpty() {
		before = 1
	}
	if first := rows[0][before:]; o.Header == Ask && len(rows) > 1 && len(first) == cells {
		l.Header = countCells(first, func(c cell) bool { return c.isNumber() || c.isMissing() }) == 0
	}
	if !l.Header {
		before = 0
	} else {
		l.Columns, rows = namesOf(rows[0][before:]), rows[1:]
	}
	l.Index = before > 0
	if len(rows) > 0 && len(rows[0]) == before+cells {
		record.First(wordsOf(nil, rows[0][before:]))
	}
	type part struct {
		of    T
		count int
	}
	free := sync.Pool{New: func() any { return record.New() }}
	keep := func(b *text.Block, p part) error {
		l.Height += p.count
		err := record.Keep(b, p.of)
		record.Reset(p.of)
		free.Put(p.of)
		return err
	}
	parse := func(b *text.Block) (part, error) {
		p := part{of: free.Get().(T)}
		var row []cell
		var list [][]byte
		for {
			line, ok := b.Line()
			if !ok {
				return p, nil
			}
			if isSkipped(line) {
				continue
			}
			if list = list[:0]; o.Delimiter == ' ' && bytes.IndexByte(line, '"') < 0 {
				list = text.SplitWords(list, line)
			} else {
				var err error
				if row, err = splitCells(row[:0], line, o.Delimiter); err != nil {
					return p, err
				}
				list = wordsOf(list, row)
			}
			if len(list) != before+cells {
				return p, fmt.Errorf("found %s, expected %d: %s", formats.Count(len(list), "cell"), before+cells, what)
			}
			if err := record.Line(p.of, b.LineNumber(), list[before:]); err != nil {
				return p, err
			}
			p.count++
		}
	}
	for k := range h.text {
		if k == 0 && l.Header {
			continue
		}
		b := text.NewBlock(f.Name(), 0, h.text[k])
		p, err := parse(b)
		if err == nil {
			b = text.NewBlock(f.Name(), h.line[k], h.text[k])
			err = keep(b, p)
		}
		if err != nil {
			return l, withLine(f, h.line[k], err)
		}
	}
	return l, text.ParseBlocks(ctx, f, text.Lines, parse, keep)
}
