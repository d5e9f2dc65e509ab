package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// maxLine is the longest line of a CSV file, in bytes.
const maxLine = 1 << 16

// A sheet is how the rows of a CSV file are written.
type sheet struct {
	*table
	between byte // the delimiter before a value; 0: not known yet
	header  bool
	index   bool // the first column numbers the rows: nothing stands above it
	rows    int
	commas  int // rows that a semicolon or a tab and a decimal comma tell as well, the first of them on a line
	line    int
}

// readCSV reads rows of a coalition and its value. Under a header whose last word heads values, cells
// stand between that header's delimiters, and the first column is passed over where nothing stands
// above it. Without a header values stand after the last comma, or after the last semicolon or tab
// where the first row has no comma; rows that all have a decimal comma behind a semicolon or a tab could
// be read in two ways, and are an error. Delimiters in quotes do not count. Empty lines and those that
// begin with # are passed over.
func readCSV(r io.Reader, name string, opts ReadOptions) (*problem.Instance, error) {
	t := &sheet{table: newTable(name, opts)}
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, err
		}
	}
	in, err := text.New(r, name, text.Options{Line: maxLine, Budget: t.memory})
	if err != nil {
		return nil, err
	}
	for first := true; ; {
		row, err := in.Line()
		if errors.Is(err, io.EOF) {
			return t.end()
		}
		if err != nil {
			return nil, err
		}
		row = bytes.TrimLeft(bytes.TrimRight(row, " \t\r"), " ") // nothing may stand before a first tab
		if len(row) == 0 || row[0] == '#' {
			continue
		}
		if first {
			first = false
			if is, err := t.head(row, in.Number()); err != nil {
				return nil, err
			} else if is {
				continue
			}
		}
		if err := t.row(row, in.Number()); err != nil {
			return nil, err
		}
	}
}

// head reports whether a row is a header, and keeps what it tells.
func (t *sheet) head(row []byte, line int) (bool, error) {
	for _, between := range []byte(",;\t") {
		at := lastOutside(row, between)
		if at < 0 || !heading(strings.Trim(string(row[at+1:]), "\" \t")) {
			continue
		}
		t.between, t.header = between, true
		if before := lastOutside(row[:at], between); before >= 0 {
			corner := strings.Trim(string(row[:before]), "\" \t")
			if t.index = corner == ""; !t.index {
				return false, t.errorf(line, "found the column %s, expected the columns coalition and value", formats.Quote(corner))
			}
		}
		return true, nil
	}
	return false, nil
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
	at := lastOutside(row, t.between)
	if other := max(lastOutside(row, ';'), lastOutside(row, '\t')); !t.header && t.between == ',' && other >= 0 && text.DecimalComma(bytes.TrimSpace(row[other+1:])) {
		if t.commas++; t.commas == 1 {
			t.line = line
		}
	}
	if at < 0 {
		return t.errorf(line, "found %s, expected a coalition, a comma and a value", formats.Quote(string(row)))
	}
	coalition, value := row[:at], bytes.Trim(row[at+1:], "\" \t")
	if t.index {
		first := bytes.IndexByte(coalition, t.between)
		if first < 0 {
			return t.errorf(line, "found 2 cells, expected 3 as in the header")
		}
		coalition = coalition[first+1:]
	}
	if t.header && lastOutside(coalition, t.between) >= 0 && !bytes.ContainsAny(coalition, "{[(") {
		return t.errorf(line, "found more cells than in the header, expected a coalition's agents between blanks")
	}
	err := t.add(string(coalition), string(value), line)
	if errors.Is(err, problem.ErrValue) {
		err = text.PointFor(value, err)
	}
	return err
}

// end makes the instance, and tells how rows were read.
func (t *sheet) end() (*problem.Instance, error) {
	if t.rows > 0 && t.commas == t.rows {
		return nil, t.errorf(t.line, "found decimal commas, or agents between semicolons or tabs: write a point in values, agents between blanks, or a header such as coalition,value")
	}
	inst, err := t.instance()
	if err != nil {
		return nil, err
	}
	how := map[byte]string{',': " between commas", ';': " between semicolons", '\t': " between tabs"}[t.between]
	if t.header {
		how += ", with header"
	}
	if t.index {
		how += ", with index"
	}
	count := strconv.Itoa(t.rows) + " rows"
	if t.rows == 1 {
		count = "1 row"
	}
	inst.Notes = append([]string{fmt.Sprintf("read as CSV: %s of a coalition and its value%s", count, how)}, inst.Notes...)
	return inst, nil
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

// heading reports whether a value is the name of a column.
func heading(value string) bool {
	switch strings.ToLower(value) {
	case "value", "values", "v", "v(c)", "v(s)", "worth", "utility":
		return true
	}
	return false
}

// maxWord is the longest key or value of a JSON file, and the most blanks
// between two, in bytes: the decoder holds as much.
const maxWord = 1 << 20

// lineReader remembers where the lines begin that the decoder has not passed.
type lineReader struct {
	r      io.Reader
	at     int64
	passed int          // line ends before the decoder's place, which are no longer kept
	ends   []int64      // byte offsets of the line ends that are kept
	offset func() int64 // of the decoder
}

// Read is io.Reader.
func (l *lineReader) Read(p []byte) (int, error) {
	if l.at-l.offset() > maxWord {
		return 0, fmt.Errorf("found a word, or blanks, of more than %d bytes, expected shorter ones", maxWord)
	}
	k, err := l.r.Read(p)
	for i, b := range p[:k] {
		if b == '\n' {
			l.ends = append(l.ends, l.at+int64(i))
		}
	}
	l.at += int64(k)
	return k, err
}

// line is the line of a byte that the decoder has not passed, from 1.
func (l *lineReader) line(offset int64) int {
	k := sort.Search(len(l.ends), func(i int) bool { return l.ends[i] >= offset })
	if offset <= l.offset() && k > 0 {
		l.passed += k
		l.ends = append(l.ends[:0], l.ends[k:]...)
		k = 0
	}
	return 1 + l.passed + k
}

// jsonTable reads a table from JSON, token by token.
type jsonTable struct {
	*table
	dec   *json.Decoder
	lines *lineReader
	// entries of the outer object, until it is known whether they are
	// coalitions
	loose []looseEntry
	named bool // an "agents" list was read
	inner bool // a "values" object was read
}

type looseEntry struct {
	key, value string
	line       int
}

func readJSON(r io.Reader, name string, opts ReadOptions) (*problem.Instance, error) {
	t := &jsonTable{table: newTable(name, opts), lines: &lineReader{r: r}}
	t.dec = json.NewDecoder(t.lines)
	t.lines.offset = t.dec.InputOffset
	t.dec.UseNumber()
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, err
		}
	}
	if err := t.open('{', "an object of coalitions and values"); err != nil {
		return nil, err
	}
	for t.dec.More() {
		key, err := t.key()
		if err != nil {
			return nil, err
		}
		if err := t.outer(key); err != nil {
			return nil, err
		}
	}
	if err := t.close(); err != nil {
		return nil, err
	}
	var syntax *json.SyntaxError
	switch _, err := t.dec.Token(); {
	case err == nil || errors.As(err, &syntax):
		return nil, t.errorf(t.here(), "found something after the object, expected the end of the file")
	case err != io.EOF:
		return nil, t.fail(err)
	}
	for _, e := range t.loose {
		if t.inner {
			if e.key == "n" {
				continue
			}
			return nil, t.errorf(e.line, "found %s, expected agents, n and values only", formats.Quote(e.key))
		}
		if err := t.add(e.key, e.value, e.line); err != nil {
			return nil, err
		}
	}
	return t.instance()
}

func (t *jsonTable) here() int { return t.lines.line(t.dec.InputOffset()) }

func (t *jsonTable) fail(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	line := t.here()
	var syntax *json.SyntaxError
	var long *formats.LimitError
	switch {
	case errors.As(err, &syntax):
		line = max(line, t.lines.line(syntax.Offset-1))
	case errors.As(err, &long):
		return t.errorf(0, "%w", err)
	case err != io.ErrUnexpectedEOF: // an error of reading, not of the JSON
		return t.errorf(line, "%w", err)
	}
	return t.errorf(line, "found broken JSON, expected an object of coalitions and values: %w", err)
}

func (t *jsonTable) open(delim json.Delim, want string) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.fail(err)
	}
	if tok != delim {
		return t.errorf(t.here(), "found %v, expected %s", tok, want)
	}
	return nil
}

func (t *jsonTable) close() error {
	if _, err := t.dec.Token(); err != nil {
		return t.fail(err)
	}
	return nil
}

func (t *jsonTable) key() (string, error) {
	tok, err := t.dec.Token()
	if err != nil {
		return "", t.fail(err)
	}
	s, ok := tok.(string)
	if !ok {
		return "", t.errorf(t.here(), "found %v, expected a coalition in quotes", tok)
	}
	return s, nil
}

// outer reads what follows a key of the outer object.
func (t *jsonTable) outer(key string) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.fail(err)
	}
	line := t.here()
	switch {
	case tok == json.Delim('[') && key == "agents":
		if t.named {
			return t.errorf(line, "found agents again, expected them once")
		}
		t.named = true
		return t.names()
	case tok == json.Delim('{') && key == "values":
		if t.inner {
			return t.errorf(line, "found values again, expected them once")
		}
		for _, e := range t.loose {
			if e.key == "n" && !t.given {
				n, err := strconv.Atoi(e.value)
				if err != nil {
					return t.errorf(e.line, "found %s, expected the number of agents", formats.Quote(e.value))
				}
				if err := t.number(n, e.line); err != nil {
					return err
				}
			}
		}
		t.inner = true
		return t.values()
	}
	value, ok := scalar(tok)
	if !ok {
		return t.errorf(line, "found %v after %s, expected a value", tok, formats.Quote(key))
	}
	if value == "" {
		return nil
	}
	if err := t.memory.Take(int64(len(key) + len(value))); err != nil {
		return t.errorf(line, "coalitions take %w", err)
	}
	if t.loose, err = formats.Append(t.memory, t.loose, looseEntry{key, value, line}); err != nil {
		return t.errorf(line, "coalitions take %w", err)
	}
	return nil
}

// scalar is the text of a number or a string; null is "", a coalition that is
// missing.
func scalar(tok json.Token) (string, bool) {
	switch x := tok.(type) {
	case json.Number:
		return x.String(), true
	case string:
		return x, x != ""
	case nil:
		return "", true
	}
	return "", false
}

func (t *jsonTable) names() error {
	var names []string
	line := t.here()
	for t.dec.More() {
		tok, err := t.dec.Token()
		if err != nil {
			return t.fail(err)
		}
		s, ok := scalar(tok)
		if !ok || s == "" {
			return t.errorf(t.here(), "found %v, expected an agent's name", tok)
		}
		names = append(names, s)
		if len(names) > problem.MaxAgents {
			return t.errorf(t.here(), "found more than %d agents, expected at most that many", problem.MaxAgents)
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	if t.opts.Names != nil {
		return nil
	}
	return t.declare(names, line)
}

func (t *jsonTable) values() error {
	for t.dec.More() {
		key, err := t.key()
		if err != nil {
			return err
		}
		tok, err := t.dec.Token()
		if err != nil {
			return t.fail(err)
		}
		value, ok := scalar(tok)
		if !ok {
			return t.errorf(t.here(), "found %v, expected the value of %s", tok, formats.Quote(key))
		}
		if value == "" {
			continue
		}
		if err := t.add(key, value, t.here()); err != nil {
			return err
		}
	}
	return t.close()
}
