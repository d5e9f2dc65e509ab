package csv

import (
	"errors"
	"fmt"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A table collects the cells of a file's blocks.
type table[T any] struct {
	plan
	body  CellSink[T]
	o     Options
	name  string
	first column
	named bool // a name of a row is a word for nothing missing
}

// A part has the cells of a block of lines.
type part[T any] struct {
	of    T
	names []string
	named bool
	first column
}

// A column describes the numbers of the first column.
type column struct {
	rows       int
	low, high  int64 // first and last number
	whole      bool  // all are whole numbers
	successive bool  // each is one more than the number above it
	ascending  bool  // each is more than the number above it
}

// add adds the cell of the next row.
func (c *column) add(word []byte) {
	v, ok := text.ParseInt(word)
	one := column{rows: 1, low: v, high: v, whole: ok, successive: ok, ascending: ok}
	c.join(one)
}

// join adds the rows of the next block.
func (c *column) join(next column) {
	switch {
	case next.rows == 0:
	case c.rows == 0:
		*c = next
	default:
		c.whole = c.whole && next.whole
		c.successive = c.successive && next.successive && next.low == c.high+1
		c.ascending = c.ascending && next.ascending && next.low > c.high
		c.high = next.high
		c.rows += next.rows
	}
}

// parseBlock parses the lines of a block.
func (t *table[T]) parseBlock(b *text.Block) (part[T], error) {
	p := part[T]{of: t.body.New()}
	var cells []cell
	for {
		line, ok := b.Line()
		if !ok {
			return p, nil
		}
		if isSkipped(line) {
			continue
		}
		var err error
		if cells, err = splitCells(cells[:0], line, t.Delimiter); err != nil {
			return p, err
		}
		if len(cells) != t.cells {
			return p, fmt.Errorf("found %s, expected %d as in line %d", formats.Count(len(cells), "cell"), t.cells, t.from)
		}
		if err := t.parseRow(&p, cells); err != nil {
			return p, err
		}
	}
}

func (t *table[T]) parseRow(p *part[T], cells []cell) error {
	p.first.add(cells[0].word)
	if t.Index {
		c := cells[0]
		switch {
		case c.errorValue() && t.o.Index != Yes:
			return wrongValue(0, c)
		case t.certain:
		case c.isNumber():
			return ambiguityError("found the number %s in a first column that begins with names", formats.Quote(c.word))
		case c.isEmpty():
			return ambiguityError("found an empty cell in a first column that begins with names")
		}
		p.named = p.named || !c.isMissing()
		p.names = append(p.names, c.name())
		cells = cells[1:]
	}
	for k, c := range cells {
		err := t.body.Cell(p.of, c.word)
		if err == nil {
			continue
		}
		if t.Delimiter != ',' {
			err = text.PointFor(c.word, err)
		}
		return fmt.Errorf("column %d: %w", k+1, err)
	}
	return nil
}

// addBlock adds the next block.
func (t *table[T]) addBlock(b *text.Block, p part[T]) error {
	t.Height += p.first.rows
	t.first.join(p.first)
	t.named = t.named || p.named
	if t.Index {
		size := int64(0)
		for _, name := range p.names {
			size += int64(len(name))
		}
		err := t.o.Budget.Reserve(size)
		if err == nil {
			t.Rows, err = formats.Append(t.o.Budget, t.Rows, p.names...)
		}
		if err != nil {
			return fmt.Errorf("the names of rows take %w", err)
		}
	}
	err := t.body.Keep(b, p.of)
	if err == nil && t.body.Done != nil {
		t.body.Done(p.of)
	}
	return err
}

// ambiguousIndex is an error where a first column of numbers, taken as data, looks
// like an index at the end of the file.
func (t *table[T]) ambiguousIndex(name string, line int) error {
	c := t.first
	switch {
	case t.shorter && !(c.successive && (c.low == 0 || c.low == 1)):
		return formats.Errorf(name, line, "%w", ambiguityError("found %s above %d columns, of which the first has numbers", formats.Count(t.Width, "word"), t.cells))
	case t.ranged && (!(c.successive && c.low == 0) || t.Width == 1 && c.rows == 1):
		return formats.Errorf(name, line, "%w", ambiguityError("column 1: found an empty cell before the numbers 0 to %d in the first line", t.Width-1))
	case t.Index && !t.certain && !t.named:
		return formats.Errorf(name, line, "%w", ambiguityError("found a first column without any number or name, of %s", formats.Quote(t.Rows[0])))
	}
	if t.certain || t.Index || t.Width < 2 || !c.whole {
		return nil
	}
	found := ""
	switch {
	case c.successive && c.low == 0 && (t.Header || c.rows >= 3):
		found = fmt.Sprintf("the numbers 0 to %d in the first column", c.rows-1)
	case !t.Header:
	case c.successive && c.low == 1 && c.rows >= 3:
		found = fmt.Sprintf("the numbers 1 to %d in the first column", c.rows)
	case cell{word: []byte(t.Corner)}.isName():
		found = fmt.Sprintf("whole numbers below %s in the first column", formats.Quote(t.Corner))
	case c.ascending && c.rows >= 2 && t.Width == c.rows+1:
		found = "ascending numbers in the first column, and as many columns as rows beside it"
	}
	if found == "" {
		return nil
	}
	return formats.Errorf(name, line, "%w", ambiguityError("found %s", found))
}

// withLine adds the line to an error of a line that was read with the head.
func withLine(f *text.File, line int, err error) error {
	var at *formats.Error
	if errors.As(err, &at) {
		return err
	}
	return formats.Errorf(f.Name(), line, "%w", err)
}
