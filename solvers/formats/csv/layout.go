package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A head is the first two lines of a table.
type head struct {
	text   [][]byte
	line   []int
	aside  string // the first line above the table that was taken for a comment, and has no blank behind its #
	name   string // the file's
	titled bool   // that line has as many cells as the table: the header that o said there is
}

// readHead reads the first two lines that hold cells, and finds the delimiter by them, unless a line sep= names it.
func readHead(f *text.File, o *Options) (head, error) {
	h := head{name: f.Name()}
	rows := NewRows(f, "#")
	for len(h.text) < 2 {
		line, err := rows.Next(len(h.text) == 0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h, err
		}
		h.text = append(h.text, bytes.Clone(line))
		h.line = append(h.line, f.LineNumber())
	}
	h.aside = rows.Aside
	if o.Delimiter == 0 {
		o.Delimiter = rows.Delimiter
	}
	if len(h.text) == 0 {
		return h, f.Errorf("found no numbers, expected a row a line")
	}
	if o.Delimiter == 0 {
		o.Delimiter = h.delimiter()
	}
	if o.Header == Yes && rows.lastLine != nil {
		above, err := splitCells(nil, rows.lastLine, o.Delimiter)
		first, err2 := splitCells(nil, h.text[0], o.Delimiter)
		if err == nil && err2 == nil && len(above) == len(first) {
			h.text, h.line = append([][]byte{rows.lastLine}, h.text...), append([]int{rows.lastAt}, h.line...)
			h.titled = true
		}
	}
	return h, nil
}

// delimiter is the first of tab, semicolon and comma that both lines have, or
// one of them: the second below a first of one cell, else the first.
func (h head) delimiter() byte {
	has := func(line []byte, d byte) bool {
		cells, err := splitCells(nil, line, d)
		return err == nil && len(cells) > 1
	}
	last := h.text[len(h.text)-1]
	for _, d := range []byte("\t;,") {
		if has(h.text[0], d) && has(last, d) {
			return d
		}
	}
	first, _ := splitCells(nil, h.text[0], ' ') // a quote without an end is an error where cells are read
	second, _ := splitCells(nil, last, ' ')
	for _, line := range [][]byte{h.text[0], last} {
		for _, d := range []byte("\t;,") {
			switch {
			case !has(line, d):
			case d == '\t' && len(first) == len(second) && len(first) > 1: // a tab in place of a space
				return ' '
			default:
				return d
			}
		}
	}
	// "unit cost" above one column of numbers is one name.
	if len(second) == 1 && countCells(first, cell.isNumber) == 0 {
		return ','
	}
	return ' '
}

// A plan is the reading of a layout that the first two lines give. Where the first column is
// not yet known to be an index, the rest of the column decides: words must stay
// words, and numbers must not turn out to look like an index.
type plan struct {
	Layout
	certain bool // Index is known
	ranged  bool // the first line is 0 to n-1 behind an empty cell: a header where the first column is 0 to m-1
	shorter bool // the first line is words, a cell shorter than the others: a header where the first column is 0 to m-1 or 1 to m
	cells   int  // in a line of data
	from    int  // line whose number of cells is that of all
}

// ambiguityError is the error of a table that can be read in two ways.
func ambiguityError(format string, args ...any) error {
	return fmt.Errorf("%w, expected to be told: --header yes or no (the first line is names), --index yes or no (the first column is names)", fmt.Errorf(format, args...))
}

// decideLayout finds header and index by the first two lines and o. Of Index it may
// leave to the rest of the file whether it is right.
func (h head) decideLayout(o Options) (plan, error) {
	p := plan{Layout: Layout{Line: h.line[0], Delimiter: o.Delimiter}}
	if !h.titled {
		p.Aside = h.aside
	}
	first, err := splitCells(nil, h.text[0], o.Delimiter)
	if err != nil {
		return p, err
	}
	var second []cell
	if len(h.text) > 1 {
		if second, err = splitCells(nil, h.text[1], o.Delimiter); err != nil {
			return p, formats.Errorf(h.name, h.line[1], "%w", err)
		}
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
	corner := first[0].isEmpty() && len(first) > 1
	switch {
	case o.Index != Ask:
		p.Index, p.certain = o.Index == Yes, true
	case header && len(row) > 1 && (corner || len(row) == len(first)+1):
		p.Index, p.certain = true, true
		switch {
		case o.Header != Ask:
		case !corner:
			p.shorter = row[0].isNumber() && !row[0].quoted
		case number(first[1:]):
			p.certain = row[0].isNumber()
			p.ranged = p.certain && isSequence(first[1:])
		}
	case row[0].isNumber():
	case header:
		p.Index = len(row) > 1 && !row[0].isMissing()
	case len(row) > 1 && second != nil && len(second) > 0 && !second[0].isNumber():
		p.Index = true
	case row[0].isMissing(): // Body.Cell returns the error of a cell without a number
	default:
		return p, ambiguityError("found %s before numbers in the first line", formats.Quote(first[0].word))
	}
	p.Width = p.cells
	if p.Index {
		p.Width--
	}
	if p.Width == 0 {
		return p, errors.New("found one column, expected numbers beside the names of rows")
	}
	if !header {
		return p, nil
	}
	p.Columns = namesOf(first)
	if p.Index && len(first) == p.cells {
		p.Corner, p.Columns = p.Columns[0], p.Columns[1:]
	} else if !p.Index {
		p.Corner = p.Columns[0]
	}
	if len(p.Columns) != p.Width {
		return p, fmt.Errorf("found %s, expected %d, one a column", formats.Count(len(p.Columns), "name"), p.Width)
	}
	if k := slices.Index(p.Columns, ""); k >= 0 && o.Header == Ask {
		return p, ambiguityError("column %d: found an empty cell in a first line of names", k+1+len(first)-p.Width)
	}
	return p, nil
}

// number reports whether all cells are numbers.
func number(cells []cell) bool { return countCells(cells, cell.isNumber) == len(cells) }

// isHeader reports whether the first line is names.
func isHeader(first, second []cell, o Options) (bool, error) {
	if o.Header != Ask {
		return o.Header == Yes, nil
	}
	if k := slices.IndexFunc(first, cell.errorValue); k >= 0 && !(k == 0 && o.Index == Yes) {
		return false, wrongValue(k, first[k])
	}
	shorter := len(second) == len(first)+1 && o.Index != No
	rest := first // the cells that are numbers where there is no header
	if o.Index == Yes && !shorter {
		rest = first[1:]
	}
	numbers := countCells(rest, cell.isNumber)
	quoted := func(c cell) bool { return c.quoted }
	numberLike := func(c cell) bool { return c.isNumber() || c.isMissing() }
	marked := func(c cell) bool { return bytes.HasPrefix(c.word, []byte("#")) }
	switch {
	case len(first[0].word) > 1 && marked(first[0]) && numbers == 0 && countCells(first, marked) < len(first) || shorter && marked(first[0]):
		return false, ambiguityError("found %s in the first line, which may be a comment (a # and a blank begin one) or names", formats.Quote(first[0].word))
	case countCells(first, cell.isEmpty) == len(first):
		return false, ambiguityError("found a first line of empty cells")
	case first[0].isEmpty() && len(first) > 1:
		return belowCorner(first[1:], second)
	case shorter && len(first) == 1 && !first[0].quoted && numbers == 0:
		return false, ambiguityError("found %s alone in the first line, which may be a title or the name of a column", formats.Quote(first[0].word))
	case shorter && (numbers == 0 || o.Delimiter == ' ' && isSequence(first)): // blanks leave no corner
		return true, nil
	case numbers == len(rest) && isSequence(rest):
		return false, ambiguityError("found the numbers 0 to %d in the first line", len(rest)-1)
	case numbers == len(rest) && len(rest) > 0 && countCells(rest, quoted) == len(rest) && countCells(second, quoted) < len(second):
		return false, ambiguityError("found numbers in quotes in the first line, and without quotes below")
	case numbers == len(rest):
		return false, nil
	case countCells(rest, cell.isMissing) == len(rest):
		return false, ambiguityError("found a first line without any number, of %s", formats.Quote(rest[0].word))
	case numbers == 0:
		return true, nil
	case rest[0].isNumber() || o.Index == Yes && countCells(rest, numberLike) == len(rest):
		return false, nil // Body.Cell returns the error of a wrong cell
	case countCells(first[1:], numberLike) == len(first)-1 && !isSequence(first[1:]) && (first[0].isMissing() || o.Index == Ask && len(second) > 0 && !second[0].isNumber()):
		return false, nil // rows that begin with names, or a number that is missing
	}
	k := wordAmong(first)
	return false, ambiguityError("column %d: found %s and numbers in the first line", k+1, formats.Quote(first[k].word))
}

// belowCorner reports whether a first line that begins with an empty cell is names: where words are behind it, or numbers
// above a first column of words, or 0 to n-1 above a first column that begins with 0, or numbers in quotes alone.
func belowCorner(rest, second []cell) (bool, error) {
	words := countCells(rest, func(c cell) bool { return !c.isNumber() && !c.isMissing() }) > 0
	quoted := func(c cell) bool { return c.quoted }
	switch {
	case words:
		return true, nil
	case len(second) < 2 || !number(rest):
	case !second[0].isNumber() && !second[0].isMissing():
		return true, nil
	case isSequence(rest) && string(second[0].word) == "0":
		return true, nil
	case countCells(rest, quoted) == len(rest) && countCells(second[1:], quoted) == 0:
		return true, nil
	}
	return false, ambiguityError("column 1: found an empty cell before numbers in the first line")
}

// wrongValue is the error of a spreadsheet's error value in a place, from 0, of a line.
func wrongValue(k int, c cell) error {
	return fmt.Errorf("column %d: found %s, an error value of a spreadsheet, expected a number or a name", k+1, formats.Quote(c.word))
}
