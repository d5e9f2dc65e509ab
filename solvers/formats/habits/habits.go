// Package habits lists the ways in which programs and people write tables. Tests hold every reader of every problem to
// these lists: a reader may read a table correctly, or refuse it with file and line, but never misread it.
package habits

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A Kind is the kind of values in a column.
type Kind int

const (
	Number Kind = iota
	Name
	List // names between blanks
)

// A Table is a table in its plainest form: commas between cells, no quotes.
type Table struct {
	Header []string // nil: none
	Rows   [][]string
	Kinds  []Kind // of columns
	Index  bool   // pandas and R may write a column of numbers under nothing before it
}

// An outcome is one permitted reading of a text.
type outcome int

const (
	same    outcome = iota // what the plain table is
	refused                // an error at the line
	either                 // one of both
	kept                   // an error, or a table that still has the row of the line
)

// A text is a table as someone writes it.
type text struct {
	habit string
	data  string
	want  outcome
	line  int // of the error, from 1; 0: any
}

// Check reads a table in all ways of writing it, and fails where Faults finds one.
func Check(t *testing.T, table Table, read func(data string) (string, error)) {
	t.Helper()
	faults, err := Faults(table, read)
	failOnFaults(t, faults, err)
}

// failOnFaults fails a test for what Faults or FaultsJSON returned.
func failOnFaults(t *testing.T, faults []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// Faults reads a table in all habits of writing it, and returns a text for each fault. read returns all that an
// instance holds, as text; errors begin with the file, and its line unless they are about the whole. err is that of the table
// in its plainest form.
func Faults(table Table, read func(data string) (string, error)) (list []string, err error) {
	plain, err := read(table.csv(","))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", table.csv(","), err)
	}
	for _, x := range slices.Concat(table.files(), table.lines(), table.cells(), table.items()) {
		found, err := read(x.data)
		if fault := x.compareReading(plain, found, err); fault != "" {
			list = append(list, fault)
		}
		if x.want == kept && err == nil {
			short := table
			short.Rows = slices.Delete(slices.Clone(table.Rows), x.line-1-table.linesAbove(), x.line-table.linesAbove())
			if without, err := read(short.csv(",")); err == nil && without == found {
				list = append(list, fmt.Sprintf("%s: %q: a row is dropped in silence", x.habit, x.data))
			}
		}
	}
	return list, nil
}

// position is the beginning of an error; one about a whole file has no line.
var position = regexp.MustCompile(`^[^:\n]+:(?:(\d+):)? `)

// compareReading compares the reading of a text with the permitted ones, and returns what is wrong.
func (x text) compareReading(plain, found string, err error) string {
	if err == nil {
		switch {
		case x.want == refused:
			return fmt.Sprintf("%s: %q is read as\n%s\nexpected an error in line %d", x.habit, x.data, found, x.line)
		case x.want != kept && found != plain:
			return fmt.Sprintf("%s: %q is read as\n%s\nexpected\n%s", x.habit, x.data, found, plain)
		}
		return ""
	}
	at := position.FindStringSubmatch(err.Error())
	switch {
	case x.want == same:
		return fmt.Sprintf("%s: %q: %v", x.habit, x.data, err)
	case at == nil:
		return fmt.Sprintf("%s: %q: no file: %v", x.habit, x.data, err)
	case x.want == refused && x.line > 0 && at[1] != fmt.Sprint(x.line):
		return fmt.Sprintf("%s: %q: %v, expected line %d", x.habit, x.data, err, x.line)
	}
	return ""
}

// linesAbove is the number of lines above the rows.
func (t Table) linesAbove() int {
	if t.Header != nil {
		return 1
	}
	return 0
}

// all are the header, if there is one, and the rows, copied.
func (t Table) all() [][]string {
	var list [][]string
	if t.Header != nil {
		list = append(list, slices.Clone(t.Header))
	}
	for _, row := range t.Rows {
		list = append(list, slices.Clone(row))
	}
	return list
}

// csv writes the table with a delimiter.
func (t Table) csv(delimiter string) string { return joined(t.all(), delimiter) }

func joined(lines [][]string, delimiter string) string {
	var b strings.Builder
	for _, cells := range lines {
		b.WriteString(strings.Join(cells, delimiter) + "\n")
	}
	return b.String()
}

// each changes all cells; column counts from 0, row from 0 with the header.
func (t Table) each(change func(row, column int, cell string) string) [][]string {
	lines := t.all()
	for i, cells := range lines {
		for k, cell := range cells {
			cells[k] = change(i, k, cell)
		}
	}
	return lines
}

func quote(cell string) string { return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"` }

// files are habits of whole files.
func (t Table) files() []text {
	plain := t.csv(",")
	list := []text{
		{"a byte order mark", "\ufeff" + plain, same, 0},
		{"line ends of Windows", strings.ReplaceAll(plain, "\n", "\r\n"), same, 0},
		{"no last line end", strings.TrimSuffix(plain, "\n"), same, 0},
		{"line ends of old Macs", strings.ReplaceAll(plain, "\n", "\r"), refused, 1},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split(plain, ""), "\x00") + "\x00", refused, 1},
		{"semicolons", t.csv(";"), same, 0},
		{"tabs", t.csv("\t"), same, 0},
		{"blanks round cells", t.csv(" , "), same, 0},
		{"lines without text", "\n" + strings.ReplaceAll(plain, "\n", "\n\n  \n"), same, 0},
		{"comments", "# by hand, 5 x 5\n" + strings.ReplaceAll(plain, "\n", "\n#\n  # 1,2\n"), same, 0},
		{"a comment without a blank", "#by hand\n" + plain, same, 0},
		{"a comment in quotes", "\"# by hand, in May\"\n" + plain, same, 0},
		{"sep= and a comma", "sep=,\r\n" + plain, same, 0},
		{"sep= and a semicolon", "\ufeffsep=;\r\n" + strings.ReplaceAll(t.csv(";"), "\n", "\r\n"), same, 0},
		{"sep= and a tab", "SEP=\t\n" + t.csv("\t"), same, 0},
		{"sep= in quotes", "\"sep=;\"\n" + t.csv(";"), same, 0},
		{"sep= and a bar", "sep=|\n" + t.csv("|"), refused, 1},
		{"sep= as a row", "sep=" + strings.Repeat(",", len(t.Kinds)) + "\n" + plain, either, 0},
		{"quotes round all cells", joined(t.each(func(_, _ int, cell string) string { return quote(cell) }), ","), same, 0},
		{"blanks in quotes", joined(t.each(func(_, _ int, cell string) string { return quote(" " + cell + " ") }), ","), same, 0},
		{"a delimiter at the end of lines", joined(t.each(func(_, k int, cell string) string {
			if k == len(t.Kinds)-1 {
				cell += ","
			}
			return cell
		}), ","), either, 0},
		{"a first line of empty cells", strings.Repeat(",", len(t.Kinds)-1) + "\n" + plain, either, 0},
		{"a title", "Costs of May" + strings.Repeat(",", len(t.Kinds)-1) + "\n" + plain, either, 0},
		{"a title alone", "Costs of May\n" + plain, either, 0},
	}
	if t.Index {
		indexed := t.all()
		for i := range indexed {
			name := fmt.Sprint(i - 1)
			if i == 0 {
				name = ""
			}
			indexed[i] = append([]string{name}, indexed[i]...)
		}
		list = append(list, text{"an index of pandas", joined(indexed, ","), same, 0})
		for i := range indexed {
			if indexed[i][0] = quote(fmt.Sprint(i)); i == 0 {
				indexed[i][0] = quote("")
			}
		}
		list = append(list, text{"an index of R", joined(indexed, ","), same, 0})
	}
	return list
}

// lines are habits of single lines.
func (t Table) lines() []text {
	var list []text
	all := t.all()
	for at := t.linesAbove(); at < len(all); at++ {
		line := at + 1
		before, after := joined(all[:at], ","), joined(all[at:], ",")
		if at > t.linesAbove() {
			list = append(list, text{"a line that begins with #, among rows", before + "#end\n" + after, refused, line})
		}
		list = append(list,
			text{"# before the first cell", before + "#" + after, kept, line},
			text{"an empty row", before + strings.Repeat(",", len(t.Kinds)-1) + "\n" + after, either, 0},
			text{"a quote without an end", before + `"` + after, refused, line},
			text{"a cell more", before + "1," + after, either, 0},
			text{"a cell less", before + after[strings.IndexByte(after, ',')+1:], either, 0},
		)
	}
	missing := t.each(func(row, column int, cell string) string {
		if column == 0 && row >= t.linesAbove() {
			return "NA"
		}
		return cell
	})
	return append(list, text{"a first column of NA", joined(missing, ","), refused, 0})
}

// cells are habits of single cells.
func (t Table) cells() []text {
	var list []text
	for at := t.linesAbove(); at < t.linesAbove()+len(t.Rows); at++ {
		for column, kind := range t.Kinds {
			with := func(habit, cell string, want outcome) {
				lines := t.each(func(row, k int, old string) string {
					if row == at && k == column {
						return cell
					}
					return old
				})
				list = append(list, text{habit, joined(lines, ","), want, at + 1})
			}
			for _, value := range []string{"#N/A", "#DIV/0!", "#REF!", "#NAME?", "#WERT!", "Err:502"} {
				with("an error value of a spreadsheet", value, refused)
			}
			if kind == Number {
				for _, value := range []string{"NA", "nan", "NaN", "None", "null", "-", "?", `""`} {
					with("a word for what is missing", value, refused)
				}
				for _, value := range []string{"1.2.3", `"1,5"`, "0x1p3", "1_000", "5 7"} { // in a first row they could be names
					with("a word that is no number", value, refused)
					list[len(list)-1].line = 0
				}
			}
			if kind == List {
				for _, value := range []string{"nan", "None", "['a", `"[['a']]"`, `"a,,b"`, `"a b, c"`, `"<a, b>"`, "a & b", "a and b"} {
					with("a list that is none", value, refused)
				}
			}
		}
	}
	if comma := t.each(func(row, k int, cell string) string {
		if row >= t.linesAbove() && t.Kinds[k] == Number {
			cell += ",5"
		}
		return cell
	}); slices.Contains(t.Kinds, Number) {
		list = append(list, text{"decimal commas", joined(comma, ";"), refused, 0})
	}
	return list
}

// items are habits of lists of names in a cell.
func (t Table) items() []text {
	if !slices.Contains(t.Kinds, List) {
		return nil
	}
	var list []text
	quoted := func(mark, between string) func(names []string) string {
		return func(names []string) string {
			for k := range names {
				names[k] = mark + names[k] + mark
			}
			return strings.Join(names, between)
		}
	}
	round := func(open, shut string, inner func(names []string) string) func(names []string) string {
		return func(names []string) string { return open + inner(names) + shut }
	}
	for habit, write := range map[string]func(names []string) string{
		"commas": quoted("", ","), "commas and blanks": quoted("", ", "), "semicolons in a cell": quoted("", ";"), "bars": quoted("", "|"), "plus signs": quoted("", "+"),
		"slashes": quoted("", " / "), "two blanks": quoted("", "  "), "a list of Python": round("[", "]", quoted("'", ", ")), "a set of Python": round("{", "}", quoted("'", ", ")),
		"a tuple of Python": round("(", ",)", quoted("'", ", ")), "a frozenset": round("frozenset({", "})", quoted("'", ", ")), "a list of JSON": round("[", "]", quoted(`"`, ",")),
		"braces": round("{", "}", quoted("", ",")), "an array of NumPy": round("[", "]", quoted("'", " ")), "strings of NumPy": round("[np.str_('", "')]", quoted("", "'), np.str_('")),
		"blanks in the names' quotes": round("[' ", " ']", quoted("", " ', ' ")),
	} {
		lines := t.each(func(row, k int, cell string) string {
			if row < t.linesAbove() || t.Kinds[k] != List || cell == "" {
				return cell
			}
			return quote(write(strings.Fields(cell)))
		})
		list = append(list, text{habit, joined(lines, ","), same, 0})
	}
	return list
}
