package csv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/text"
)

// A cell is the text between two delimiters, without blanks and quotes round it.
type cell struct {
	word   []byte
	quoted bool
}

// errQuote is the error of a quote that ends elsewhere than its cell.
var errQuote = errors.New("found a quote that does not end where its cell does, expected its end on the same line")

// isSkipped reports lines below the first one that hold no data: those without text, and comments, which begin with # and a
// blank.
func isSkipped(line []byte) bool { return IsBlankOrComment(line, "#", false) }

// IsBlankOrComment reports lines that hold no data: those without text, and comments. A comment begins with one of the marks, and a
// blank or nothing stands behind it: #N/A and #1 are data. Above the first line of a table another character may stand
// there too, but neither a delimiter nor, on the whole line, a number or a spreadsheet's error value.
func IsBlankOrComment(line []byte, marks string, above bool) bool {
	line = bytes.TrimSpace(line)
	if len(line) > 2 && line[0] == '"' && line[2] == ' ' { // a comment that a spreadsheet put in quotes
		line = line[1:]
	}
	switch {
	case len(line) == 0:
		return true
	case strings.IndexByte(marks, line[0]) < 0:
		return false
	case len(line) == 1 || line[1] == ' ':
		return true
	case !above || strings.IndexByte(",;\t", line[1]) >= 0:
		return false
	}
	return !holdsData(line)
}

// holdsData reports whether a number, or a spreadsheet's error value, stands on a line that begins with a mark.
func holdsData(line []byte) bool {
	cut := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;\"", r) }
	for k, word := range bytes.FieldsFunc(line, cut) {
		if names.ErrorValue(string(word)) {
			return true
		}
		if k == 0 {
			word = word[1:]
		}
		if text.IsNumber(word) {
			return true
		}
	}
	return false
}

// ReadSeparator reads the line that spreadsheets write, or look for, before a table: sep= and its delimiter. is tells whether
// the line is one; an error says that its delimiter is none of a comma, a semicolon and a tab.
func ReadSeparator(line []byte) (delimiter byte, is bool, err error) {
	line = bytes.TrimLeft(line, " \"")
	if len(line) < 4 || !strings.EqualFold(string(line[:4]), "sep=") {
		return 0, false, nil
	}
	switch rest := strings.TrimRight(string(line[4:]), "\" "); rest {
	case ",", ";", "\t":
		return rest[0], true, nil
	case `\t`:
		return '\t', true, nil
	}
	return 0, true, fmt.Errorf("found %s, expected sep= and a comma, a semicolon or a tab", formats.Quote(line))
}

// DetectDelimiter is the first of a comma, a semicolon and a tab in a line, outside quotes; a comma where there is none.
func DetectDelimiter(line []byte) byte {
	quoted := false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ';' || c == '\t'):
			return c
		}
	}
	return ','
}

// SplitCells appends the cells of a line, without the blanks round them and inside their quotes. A quote that does not end where
// its cell does is an error.
func SplitCells(list []string, line []byte, delimiter byte) ([]string, error) {
	cells, err := splitCells(nil, line, delimiter)
	for _, c := range cells {
		list = append(list, string(c.word))
	}
	return list, err
}

// splitCells appends the cells of a line.
func splitCells(cells []cell, line []byte, delimiter byte) ([]cell, error) {
	switch quotes := bytes.IndexByte(line, '"') >= 0; {
	case quotes:
		return splitQuoted(cells, line, delimiter)
	case delimiter == ' ':
		return splitBlanks(cells, line), nil
	}
	for from := 0; ; {
		end := cellEnd(line, from, delimiter)
		word := line[from:end]
		if end > from && (word[0] <= ' ' || word[len(word)-1] <= ' ') {
			word = trim(word)
		}
		cells = append(cells, cell{word, false})
		if end == len(line) {
			return cells, nil
		}
		from = end + 1
	}
}

// cellEnd is where the next delimiter stands from a place on, or the line's end. Cells are short, so that 8 bytes at a time
// are faster than bytes.IndexByte, which begins anew for each.
func cellEnd(line []byte, at int, delimiter byte) int {
	const ones = 0x0101010101010101
	for ; at+8 <= len(line); at += 8 {
		x := binary.LittleEndian.Uint64(line[at:]) ^ ones*uint64(delimiter)
		if zero := (x - ones) &^ x & (0x80 * ones); zero != 0 {
			return at + bits.TrailingZeros64(zero)>>3
		}
	}
	for at < len(line) && line[at] != delimiter {
		at++
	}
	return at
}

// splitQuoted is splitCells of a line with quotes. One stands round a cell where it begins the cell; in it two quotes are one.
func splitQuoted(cells []cell, line []byte, delimiter byte) ([]cell, error) {
	blanks := delimiter == ' '
	ends := func(at int) bool {
		return at == len(line) || line[at] == delimiter || blanks && isBlank(line[at])
	}
	for at := 0; ; at++ {
		for at < len(line) && isBlank(line[at]) && (blanks || line[at] != delimiter) {
			at++
		}
		if blanks && at == len(line) {
			return cells, nil
		}
		from := at
		if at == len(line) || line[at] != '"' {
			for !ends(at) {
				at++
			}
			cells = append(cells, cell{trim(line[from:at]), false})
		} else {
			for at++; ; at += 2 {
				k := bytes.IndexByte(line[at:], '"')
				if k < 0 {
					return cells, errQuote
				}
				if at += k; at+1 == len(line) || line[at+1] != '"' {
					break
				}
			}
			word := line[from+1 : at]
			if bytes.IndexByte(word, '"') >= 0 {
				word = bytes.ReplaceAll(word, []byte(`""`), []byte(`"`))
			}
			cells = append(cells, cell{bytes.TrimSpace(word), true})
			for at++; at < len(line) && isBlank(line[at]) && !ends(at); at++ {
			}
			if !ends(at) {
				return cells, errQuote
			}
		}
		if at == len(line) {
			return cells, nil
		}
	}
}

// splitBlanks splits a line without quotes at runs of blanks.
func splitBlanks(cells []cell, line []byte) []cell {
	for at := 0; ; {
		for at < len(line) && isBlank(line[at]) {
			at++
		}
		if at == len(line) {
			return cells
		}
		from := at
		at = text.WordEnd(line, at)
		cells = append(cells, cell{line[from:at], false})
	}
}

func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 }

// trim is bytes.TrimSpace for ASCII.
func trim(word []byte) []byte {
	for len(word) > 0 && isBlank(word[0]) {
		word = word[1:]
	}
	for len(word) > 0 && isBlank(word[len(word)-1]) {
		word = word[:len(word)-1]
	}
	return word
}

// isNumber reports whether a cell looks like a number, one with a decimal comma
// included, which is refused later.
func (c cell) isNumber() bool { return text.IsNumber(c.word) || text.DecimalComma(c.word) }

// isMissing reports words that stand for no number.
func (c cell) isMissing() bool { return names.IsMissing(string(c.word)) }

// errorValue reports the error values of spreadsheets.
func (c cell) errorValue() bool {
	return len(c.word) > 0 && (c.word[0] == '#' || c.word[0] == 'E') && names.ErrorValue(string(c.word))
}

func (c cell) isEmpty() bool { return len(c.word) == 0 }

// isName reports names for a column of names.
func (c cell) isName() bool {
	name := string(c.word)
	for _, end := range []string{"_id", " id", "Id", "ID", ".id", "-id"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	switch strings.TrimSuffix(strings.ToLower(name), ".") {
	case "id", "ids", "index", "idx", "key", "name", "names", "no", "nr", "num", "number", "code", "#", "row", "rows", "rowname", "rownames", "row.names", "label", "labels", "unnamed: 0":
		return true
	}
	return false
}

// wordAmong is the first cell that is no number, -1 where all are.
func wordAmong(cells []cell) int {
	for k, c := range cells {
		if !c.isNumber() {
			return k
		}
	}
	return -1
}

// countCells is the number of cells for which `so` is true.
func countCells(cells []cell, so func(cell) bool) int {
	n := 0
	for _, c := range cells {
		if so(c) {
			n++
		}
	}
	return n
}

// isSequence reports cells that are exactly 0 to n-1.
func isSequence(cells []cell) bool {
	for k, c := range cells {
		if v, ok := text.ParseInt(c.word); !ok || v != int64(k) {
			return false
		}
	}
	return len(cells) > 0
}

func namesOf(cells []cell) []string {
	list := make([]string, len(cells))
	for k, c := range cells {
		list[k] = c.name()
	}
	return list
}

// wordsOf appends the texts of cells.
func wordsOf(list [][]byte, cells []cell) [][]byte {
	for _, c := range cells {
		list = append(list, c.word)
	}
	return list
}

// name is a cell as the name of a row or a column.
func (c cell) name() string { return strings.ToValidUTF8(string(c.word), "�") }
