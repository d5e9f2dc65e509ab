package ui

import (
	"coalesce/solvers/formats"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is rows of text whose columns line up.
type Table struct {
	rows  [][]string
	right map[int]bool
}

// AlignRight aligns columns (counted from 0) to the right, as numbers want.
func (t *Table) AlignRight(columns ...int) {
	if t.right == nil {
		t.right = map[int]bool{}
	}
	for _, c := range columns {
		t.right[c] = true
	}
}

// Row adds a row. Rows may differ in length. Control characters of cells are escaped (EscapeControl).
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for k, cell := range cells {
		row[k] = EscapeControl(cell)
	}
	t.rows = append(t.rows, row)
}

// Write prints the table with two spaces between columns and none at the end
// of a line.
func (t *Table) Write(w io.Writer) error {
	var width []int
	for _, row := range t.rows {
		for c, cell := range row {
			if c == len(width) {
				width = append(width, 0)
			}
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for c, cell := range row {
			if c > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if t.right[c] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Duration writes a time with three significant digits: 12.3µs, 4.56ms, 1.2s;
// from a minute on, minutes and seconds.
func Duration(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	unit, name := time.Second, "s"
	switch {
	case d == 0:
	case d < time.Microsecond:
		unit, name = time.Nanosecond, "ns"
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	return digits(float64(d)/float64(unit)) + name
}

// Seconds is Duration of a number of seconds.
func Seconds(s float64) string { return Duration(time.Duration(s * float64(time.Second))) }

// Count is "1 block", "2 blocks", "2 entries".
func Count(n int, what string) string { return formats.Count(n, what) }

// Rate writes a number of things a second with an SI prefix: 3.6e11 is
// "360 G".
func Rate(x float64) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T", "P"} {
		if x < 1000 {
			break
		}
		x, prefix = x/1000, p
	}
	return strings.TrimSpace(digits(x) + " " + prefix)
}

// digits writes 0 <= x < 1000 with three significant digits at most.
func digits(x float64) string {
	places := 2
	switch {
	case x >= 99.95:
		places = 0
	case x >= 9.995:
		places = 1
	}
	s := strconv.FormatFloat(x, 'f', places, 64)
	if places > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Wrap breaks a text between words into lines of at most width columns.
func Wrap(text string, width int, newline string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString(newline)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
