package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A head is the first two lines of a table.
type head struct {
	text [][]byte
	line []int
}

// readHead reads the first two lines that hold cells, and tells the delimiter
// by them.
func readHead(f *text.File, o *Options) (head, error) {
	var h head
	for len(h.text) < 2 {
		line, err := f.Line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h, err
		}
		if !skipped(line) {
			h.text = append(h.text, bytes.Clone(line))
			h.line = append(h.line, f.Number())
		}
	}
	if len(h.text) == 0 {
		return h, f.Errorf("found no numbers, expected a row a line")
	}
	if o.Delimiter == 0 {
		o.Delimiter = h.delimiter()
	}
	return h, nil
}

// delimiter is the first of tab, semicolon and comma that both lines have, or
// one of them: the second below a first of one cell, else the first.
func (h head) delimiter() byte {
	has := func(line []byte, d byte) bool { return closing(line, d) < len(line) }
	last := h.text[len(h.text)-1]
	for _, d := range []byte("\t;,") {
		if has(h.text[0], d) && has(last, d) {
			return d
		}
	}
	first, second := len(splitBlanks(nil, h.text[0])), len(splitBlanks(nil, last))
	for _, line := range [][]byte{h.text[0], last} {
		for _, d := range []byte("\t;,") {
			switch {
			case !has(line, d):
			case d == '\t' && first == second && first > 1: // a tab in place of a space
				return ' '
			default:
				return d
			}
		}
	}
	// "unit cost" above one column of numbers is one name.
	if len(splitBlanks(nil, last)) == 1 && count(splitBlanks(nil, h.text[0]), cell.number) == 0 {
		return ','
	}
	return ' '
}

// A plan is what the first two lines say of a layout. Where the first column is
// not yet known to be an index, the rest of the column decides: words must stay
// words, and numbers must not turn out to look like an index.
type plan struct {
	Layout
	certain bool // Index is known
	cells   int  // in a line of data
	from    int  // line whose number of cells is that of all
}

// tell is the error of a table that can be read in two ways.
func tell(format string, args ...any) error {
	return fmt.Errorf("%w, expected to be told: --header yes or no (the first line is names), --index yes or no (the first column is names)", fmt.Errorf(format, args...))
}

// decide tells header and index by the first two lines and o. Of Index it may
// leave to the rest of the file whether it is right.
func (h head) decide(o Options) (plan, error) {
	p := plan{Layout: Layout{Delimiter: o.Delimiter}}
	first := split(nil, h.text[0], o.Delimiter)
	var second []cell
	if len(h.text) > 1 {
		second = split(nil, h.text[1], o.Delimiter)
	}
	header, err := isHeader(first, second, o)
	if err != nil {
		return p, err
	}
	p.Header = header
	row := first
	p.from = h.line[0]
	if header {
		if second == nil {
			return p, fmt.Errorf("found names and no numbers below them, expected a row a line")
		}
		row = second
		p.from = h.line[1]
	}
	p.cells = len(row)
	switch {
	case o.Index != Ask:
		p.Index, p.certain = o.Index == Yes, true
	case header && len(row) > 1 && (len(first[0].word) == 0 || len(row) == len(first)+1):
		p.Index, p.certain = true, true
	case row[0].number():
	case header:
		p.Index = len(row) > 1 && !row[0].missing()
	case len(row) > 1 && second != nil && len(second) > 0 && !second[0].number():
		p.Index = true
	default:
		return p, tell("found %s before numbers in the first line", formats.Quote(first[0].word))
	}
	p.Width = p.cells
	if p.Index {
		p.Width--
	}
	if p.Width == 0 {
		return p, errors.New("found one column, expected numbers beside the names of rows")
	}
	if header {
		p.Columns = names(first)
		if p.Index && len(first) == p.cells {
			p.Corner, p.Columns = p.Columns[0], p.Columns[1:]
		} else if !p.Index {
			p.Corner = p.Columns[0]
		}
		if len(p.Columns) != p.Width {
			return p, fmt.Errorf("found %s, expected %d, one a column", formats.Count(len(p.Columns), "name"), p.Width)
		}
	}
	return p, nil
}

// isHeader tells whether the first line is names.
func isHeader(first, second []cell, o Options) (bool, error) {
	if o.Header != Ask {
		return o.Header == Yes, nil
	}
	shorter := len(second) == len(first)+1 && o.Index != No
	rest := first // the cells that are numbers where there is no header
	if o.Index == Yes && !shorter {
		rest = first[1:]
	}
	numbers := count(rest, cell.number)
	quoted := func(c cell) bool { return c.quoted }
	switch {
	case len(first[0].word) == 0 && len(first) > 1:
		return true, nil
	case shorter && (numbers == 0 || counted(first)):
		return true, nil
	case numbers == len(rest) && counted(rest):
		return false, tell("found the numbers 0 to %d in the first line", len(rest)-1)
	case numbers == len(rest) && len(rest) > 0 && count(rest, quoted) == len(rest) && count(second, quoted) < len(second):
		return false, tell("found numbers in quotes in the first line, and without quotes below")
	case numbers == len(rest):
		return false, nil
	case count(rest, cell.missing) == len(rest):
		return false, tell("found a first line without any number, of %s", formats.Quote(rest[0].word))
	case numbers == 0:
		return true, nil
	case rest[0].number() || o.Index == Yes && count(rest, func(c cell) bool { return c.number() || c.missing() }) == len(rest):
		return false, nil // Body.Cell returns the error of a wrong cell
	case o.Index == Ask && count(first[1:], func(c cell) bool { return c.number() || c.missing() }) == len(first)-1 && !counted(first[1:]) &&
		len(second) > 0 && !second[0].number():
		return false, nil // rows that begin with names
	}
	return false, tell("found %s and numbers in the first line", formats.Quote(first[wordAmong(first)].word))
}
