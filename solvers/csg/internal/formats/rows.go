package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/text"
)

// maxLine is the longest line of a CSV file, in bytes.
const maxLine = 1 << 16

// A form says what stands before the values of a CSV file.
type form int

const (
	lists   form = iota // agents
	masks               // coalition numbers
	members             // a column an agent: 1 where it is a member, else 0
	nothing             // values alone, by coalition number from 0
)

// A sheet is how the rows of a CSV file are written.
type sheet struct {
	*table
	form    form
	between byte // the delimiter before a value; 0: not known yet
	header  bool
	index   bool // the first column numbers the rows: nothing stands above it
	width   int  // cells of the header
	rows    int
	commas  int // rows that a semicolon or a tab and a decimal comma tell as well, the first of them on a line
	line    int
	aside   string // the first comment above the table that has no blank behind its #
	cells   []string
}

// readCSV reads rows of a coalition and its value. If a header's last word names the values, its delimiters separate the
// cells, and a first column without a heading is skipped. The header also says how coalitions are written: as agents, as
// numbers (mask), or with a column for each agent. Without a header values stand after the last comma, or after the last
// semicolon or tab where the first row has no comma; rows that all have a decimal comma behind a semicolon or a tab could
// be read in two ways, and are an error. Rows of a value alone are all 2^n of them. Delimiters in quotes do not count.
func readCSV(r io.Reader, name string, opts ReadOptions) (*problem.Instance, *problem.Listing, error) {
	t := &sheet{table: newTable(name, opts)}
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, nil, err
		}
	}
	in, err := text.New(r, name, text.Options{Line: maxLine, Budget: t.memory})
	if err != nil {
		return nil, nil, err
	}
	rows := csv.NewRows(in, "#")
	for first := true; ; {
		row, err := rows.Next(first)
		if errors.Is(err, io.EOF) {
			t.aside = rows.Aside
			return t.end()
		}
		if err != nil {
			return nil, nil, err
		}
		if first {
			t.between = rows.Delimiter
		}
		row = bytes.TrimLeft(bytes.TrimRight(row, " \t\r"), " ") // nothing may stand before a first tab
		is := false
		if first {
			if is, err = t.head(row, in.LineNumber()); err != nil {
				return nil, nil, err
			}
			first = false
		}
		if !is {
			err = t.row(row, in.LineNumber())
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// head reports whether a row is a header, and keeps what it tells.
func (t *sheet) head(row []byte, line int) (bool, error) {
	delimiters := []byte(",;\t")
	if t.between != 0 {
		delimiters = []byte{t.between}
	}
	for _, between := range delimiters {
		cells, err := csv.SplitCells(nil, row, between)
		if err != nil || !headsValues(cells[len(cells)-1]) {
			continue
		}
		t.header, t.width = true, len(cells)
		if len(cells) == 1 {
			t.form, t.masked = nothing, true
			return true, nil
		}
		t.between = between
		return true, t.columns(cells[:len(cells)-1], line)
	}
	if _, ok := parseNumber(row); ok {
		t.form, t.masked = nothing, true
	}
	return false, nil
}

// parseNumber reads a row that is a value alone.
func parseNumber(row []byte) (entry, bool) {
	e, err := parseValue(strings.Trim(string(row), "\" \t"))
	return e, err == nil
}

// columns tells by the names of columns before the values what stands in them.
func (t *sheet) columns(heads []string, line int) error {
	if t.index = len(heads) > 1 && heads[0] == ""; t.index {
		heads = heads[1:]
	}
	own := func(head string) bool { // of a column that stands for whole coalitions
		return headsMasks(head) || headsCoalitions(head) && len(head) > 1
	}
	switch alone := len(heads) == 1; {
	case alone && headsMasks(heads[0]):
		t.form, t.masked = masks, true
	case alone && headsCoalitions(heads[0]):
		t.said = true
	case alone && heads[0] == "": // a series of pandas
	case alone || slices.ContainsFunc(heads, own):
		found := heads[max(0, slices.IndexFunc(heads, func(head string) bool { return !own(head) }))]
		return t.errorf(line, "found the column %s, expected the columns coalition and value, mask and value (coalition numbers), or one for each agent and value", formats.Quote(found))
	default:
		t.form = members
		if t.opts.Names == nil {
			return t.declare(heads, line)
		}
		if !slices.Equal(heads, t.opts.Names) {
			return t.errorf(line, "found the columns %s, expected the agents' names in their order", formats.Quote(strings.Join(heads, ", ")))
		}
	}
	return nil
}

// row reads a coalition and its value.
func (t *sheet) row(row []byte, line int) error {
	t.rows++
	if t.between == 0 {
		t.between = ','
		if at := max(lastOutside(row, ';'), lastOutside(row, '\t')); at >= 0 && lastOutside(row, ',') < 0 {
			t.between = row[at]
		}
	}
	cells, err := csv.SplitCells(t.cells[:0], row, t.between)
	if err != nil {
		return t.errorf(line, "%w", err)
	}
	t.cells = cells
	value := cells[len(cells)-1]
	if t.form == nothing {
		if len(cells) > 1 || strings.ContainsAny(value, " \t") && !text.DecimalComma([]byte(value)) {
			return t.errorf(line, "found %s below values alone, expected a value a line, all 2^n by coalition number, as ODP-IP has them; CFSS writes graphs so: --format cfss reads them", formats.Quote(string(row)))
		}
		return t.pointFor(value, t.enter(coalition{mask: uint64(t.rows - 1)}, value, line))
	}
	if !t.header && t.between == ',' {
		if other := max(lastOutside(row, ';'), lastOutside(row, '\t')); other >= 0 && text.DecimalComma(bytes.TrimSpace(row[other+1:])) {
			if t.commas++; t.commas == 1 {
				t.line = line
			}
		}
	}
	at := lastOutside(row, t.between)
	if at < 0 {
		hint := ""
		if row[0] == '*' {
			hint = "; CFSS writes graphs so: --format cfss reads them"
		}
		return t.errorf(line, "found %s, expected a coalition, a comma and a value%s", formats.Quote(string(row)), hint)
	}
	cells, before := cells[:len(cells)-1], row[:at]
	if t.index {
		if len(cells) == 1 {
			return t.errorf(line, "found 2 cells, expected 3 as in the header")
		}
		cells, before = cells[1:], before[bytes.IndexByte(before, t.between)+1:]
	}
	switch {
	case t.form == members:
		err = t.memberRow(cells, value, line)
	case t.form == masks:
		err = t.maskRow(cells, value, line)
	case len(cells) == 1:
		err = t.add(cells[0], value, line)
	case t.header && !bytes.ContainsAny(before, "{[("):
		return t.errorf(line, "found more cells than in the header, expected a coalition's agents between blanks")
	default:
		err = t.add(string(before), value, line)
	}
	if err != nil && t.commas == t.rows {
		return t.twoReadings()
	}
	return t.pointFor(value, err)
}

// twoReadings is the error of rows that all have a decimal comma behind a semicolon or a tab.
func (t *sheet) twoReadings() error {
	return t.errorf(t.line, "found decimal commas, or agents between semicolons or tabs: write a point in values, agents between blanks, or a header such as coalition,value")
}

// pointFor is the error of a value, with a hint where it has a decimal comma.
func (t *sheet) pointFor(value string, err error) error {
	if errors.Is(err, problem.ErrValue) {
		return text.PointFor([]byte(value), err)
	}
	return err
}

// maskRow reads a coalition number and its value.
func (t *sheet) maskRow(cells []string, value string, line int) error {
	if len(cells) != 1 {
		return t.errorf(line, "found %s, expected %d as in the header", formats.Count(len(t.cells), "cell"), t.width)
	}
	word, base := names.Clean(cells[0]), 10
	if strings.HasPrefix(word, "0b") || strings.HasPrefix(word, "0x") {
		base = 0
	}
	mask, err := strconv.ParseUint(word, base, 64)
	if err != nil || mask >= 1<<problem.MaxAgents {
		return t.errorf(line, "found the coalition number %s, expected one from 0 to 2^%d - 1", formats.Quote(cells[0]), problem.MaxAgents)
	}
	return t.enter(coalition{mask: mask}, value, line)
}

// memberRow reads a cell for each agent, and the value.
func (t *sheet) memberRow(cells []string, value string, line int) error {
	if len(t.cells) != t.width {
		return t.errorf(line, "found %s, expected %d as in the header", formats.Count(len(t.cells), "cell"), t.width)
	}
	var members coalition
	for k, cell := range cells {
		switch strings.ToLower(names.Clean(cell)) {
		case "1", "true":
			if _, err := t.include(&members, k); err != nil {
				return t.errorf(line, "coalitions take %w", err)
			}
		case "0", "false":
		default:
			return t.errorf(line, "column %d: found %s, expected 1 where agent %s is a member, else 0", t.width-len(cells)+k, formats.Quote(cell), t.agents[k])
		}
	}
	return t.enter(members, value, line)
}

// end makes the instance, and tells how rows were read.
func (t *sheet) end() (*problem.Instance, *problem.Listing, error) {
	if t.rows > 0 && t.commas == t.rows {
		return nil, nil, t.twoReadings()
	}
	bySize := t.opts.Order == "size"
	switch {
	case bySize && t.form != nothing:
		return nil, nil, t.errorf(t.entries[0].line, "found coalitions and values, expected values alone, which --order size is for")
	case bySize:
		if err := t.orderBySize(); err != nil {
			return nil, nil, err
		}
	case t.form == nothing && t.rows&(t.rows-1) != 0:
		return nil, nil, t.errorf(t.entries[len(t.entries)-1].line, "found %s alone, expected 2^n, a value a line by coalition number from 0, or a coalition, a comma and a value", formats.Count(t.rows, "value"))
	}
	inst, list, err := t.game()
	if err != nil {
		return nil, nil, err
	}
	how := ""
	if t.form != nothing {
		how = map[byte]string{',': " between commas", ';': " between semicolons", '\t': " between tabs"}[t.between]
	}
	if t.header {
		how += ", with header"
	}
	if t.index {
		how += ", with index"
	}
	if t.aside != "" {
		how += ", the comment " + formats.Quote(t.aside) + " left out"
	}
	order := "by coalition number"
	if bySize {
		order = "by size and agents"
	}
	what := map[form]string{lists: "a coalition and its value", masks: "a coalition number and its value", members: "a cell for each agent and the value", nothing: "a value, " + order}[t.form]
	note := fmt.Sprintf("read as CSV: %s of %s%s", formats.Count(t.rows, "row"), what, how)
	if list != nil {
		list.Notes = append([]string{note}, list.Notes...)
	} else {
		inst.Notes = append([]string{note}, inst.Notes...)
	}
	return inst, list, nil
}

// orderBySize gives values alone their coalitions: those of fewer agents first, then those whose first agents come first.
func (t *sheet) orderBySize() error {
	n := bits.Len(uint(t.rows))
	if t.rows > 1 && t.rows&(t.rows-1) == 0 { // one value is that of one agent
		n--
	}
	if t.rows != 1<<n && t.rows != 1<<n-1 {
		line := 1
		if t.rows > 0 {
			line = t.entries[t.rows-1].line
		}
		return t.errorf(line, "found %s, expected 2^n, or 2^n - 1 without the empty coalition", formats.Count(t.rows, "value"))
	}
	at := t.rows - 1<<n + 1 // 1: there is one of the empty coalition, whose mask is 0
	var list func(mask uint64, from, more int)
	list = func(mask uint64, from, more int) {
		if more == 0 {
			t.entries[at].mask = mask
			at++
			return
		}
		for i := from; i <= n-more; i++ {
			list(mask|1<<i, i+1, more-1)
		}
	}
	for size := 1; size <= n; size++ {
		list(0, 0, size)
	}
	return nil
}

// lastOutside is where a byte stands last outside quotes, -1: nowhere.
func lastOutside(row []byte, b byte) int {
	if bytes.IndexByte(row, '"') < 0 {
		return bytes.LastIndexByte(row, b)
	}
	at, quoted := -1, false
	for k, c := range row {
		if c == '"' {
			quoted = !quoted
		} else if c == b && !quoted {
			at = k
		}
	}
	return at
}

// headsValues reports the names of a column of values.
func headsValues(head string) bool {
	switch strings.ToLower(head) {
	case "value", "values", "v", "v(c)", "v(s)", "worth", "utility":
		return true
	}
	return false
}

// headsCoalitions reports the names of a column of coalitions' agents.
func headsCoalitions(head string) bool {
	switch strings.ToLower(head) {
	case "coalition", "coalitions", "set", "sets", "subset", "group", "team", "block", "members", "agents", "players", "c", "s":
		return true
	}
	return false
}

// headsMasks reports the names of a column of coalition numbers.
func headsMasks(head string) bool {
	switch strings.ToLower(head) {
	case "mask", "masks", "bitmask", "coalition number", "coalition_number":
		return true
	}
	return false
}
