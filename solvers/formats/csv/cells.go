package csv

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"

	"coalesce/solvers/formats/text"
)

// A cell is the text between two delimiters, without blanks and quotes round it.
type cell struct {
	word   []byte
	quoted bool
}

// skipped reports lines without text and comments: # with no delimiter behind.
func skipped(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#' && (len(line) == 1 || !strings.ContainsRune(",;\t", rune(line[1])))
}

// split appends the cells of a line.
func split(cells []cell, line []byte, delimiter byte) []cell {
	if delimiter == ' ' {
		return splitBlanks(cells, line)
	}
	quotes := bytes.IndexByte(line, '"') >= 0
	for from := 0; ; {
		if quotes {
			end := from + closing(line[from:], delimiter)
			cells = append(cells, unquote(trim(line[from:end])))
			if end == len(line) {
				return cells
			}
			from = end + 1
			continue
		}
		end := cellEnd(line, from, delimiter)
		word := line[from:end]
		if end > from && (word[0] <= ' ' || word[len(word)-1] <= ' ') {
			word = trim(word)
		}
		cells = append(cells, cell{word, false})
		if end == len(line) {
			return cells
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

// closing is the index of the first delimiter outside quotes, or the length of the text.
func closing(line []byte, delimiter byte) int {
	quoted := false
	for k, c := range line {
		if c == '"' {
			quoted = !quoted
		} else if c == delimiter && !quoted {
			return k
		}
	}
	return len(line)
}

// splitBlanks splits at runs of blanks outside quotes.
func splitBlanks(cells []cell, line []byte) []cell {
	if bytes.IndexByte(line, '"') < 0 {
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
	for at := 0; ; {
		for at < len(line) && isBlank(line[at]) {
			at++
		}
		if at == len(line) {
			return cells
		}
		from, quoted := at, false
		for ; at < len(line) && (quoted || !isBlank(line[at])); at++ {
			if line[at] == '"' {
				quoted = !quoted
			}
		}
		cells = append(cells, unquote(line[from:at]))
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

func unquote(word []byte) cell {
	k := len(word)
	if k < 2 || word[0] != '"' || word[k-1] != '"' {
		return cell{word, false}
	}
	word = word[1 : k-1]
	if bytes.IndexByte(word, '"') >= 0 {
		word = bytes.ReplaceAll(word, []byte(`""`), []byte(`"`))
	}
	return cell{word, true}
}

// number reports whether a cell looks like a number, one with a decimal comma
// included, which is refused later.
func (c cell) number() bool { return text.IsNumber(c.word) || text.DecimalComma(c.word) }

// missing reports words that stand for no number.
func (c cell) missing() bool {
	switch strings.ToLower(string(c.word)) {
	case "", "na", "n/a", "#n/a", "null", "none", "-", "?":
		return true
	}
	return false
}

// named reports names for a column of names.
func (c cell) named() bool {
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
		if !c.number() {
			return k
		}
	}
	return -1
}

// count is the number of cells for which `so` is true.
func count(cells []cell, so func(cell) bool) int {
	n := 0
	for _, c := range cells {
		if so(c) {
			n++
		}
	}
	return n
}

// counted reports cells that are exactly 0 to n-1.
func counted(cells []cell) bool {
	for k, c := range cells {
		if v, ok := text.Int(c.word); !ok || v != int64(k) {
			return false
		}
	}
	return len(cells) > 0
}

func names(cells []cell) []string {
	list := make([]string, len(cells))
	for k, c := range cells {
		list[k] = strings.ToValidUTF8(string(c.word), "�")
	}
	return list
}
