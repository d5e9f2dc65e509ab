package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
)

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
	t := &jsonTable{table: newTable(name, opts), lines: &lineReader{r: formats.JSONLiterals(r)}}
	t.dec = json.NewDecoder(t.lines)
	t.lines.offset = t.dec.InputOffset
	t.dec.UseNumber()
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, err
		}
	}
	tok, err := t.dec.Token()
	if err != nil {
		return nil, t.fail(err)
	}
	switch tok {
	case json.Delim('{'):
		err = t.fields(t.outer)
	case json.Delim('['):
		err = t.records()
	default:
		err = t.errorf(t.here(), "found %v, expected an object of coalitions and values, or a list of records", tok)
	}
	if err != nil {
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

// fields calls field with each key of an object whose brace was read.
func (t *jsonTable) fields(field func(key string) error) error {
	for t.dec.More() {
		key, err := t.key()
		if err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
	}
	return t.close()
}

// records reads a list of objects, each a coalition and its value, as pandas writes the rows of a table.
func (t *jsonTable) records() error {
	for t.dec.More() {
		tok, err := t.dec.Token()
		if err != nil {
			return t.fail(err)
		}
		if tok != json.Delim('{') {
			return t.errorf(t.here(), "found %v, expected an object of a coalition and its value", tok)
		}
		line := t.here()
		mask, value := uint64(0), ""
		coalition, valued := false, false
		err = t.fields(func(key string) error {
			var err error
			switch {
			case headsCoalitions(key) && !coalition:
				coalition = true
				mask, err = t.members()
				return err
			case headsValues(key) && !valued:
				valued = true
				if tok, err = t.dec.Token(); err != nil {
					return t.fail(err)
				}
				line = t.here()
				if value, valued = scalar(tok); !valued {
					return t.errorf(t.here(), "found %v, expected the value of a coalition", tok)
				}
				return nil
			}
			return t.errorf(t.here(), "found the key %s of a record, expected coalition and value, each once", formats.Quote(key))
		})
		switch {
		case err != nil:
			return err
		case !coalition || !valued:
			return t.errorf(line, "found a record without a coalition or a value, expected both")
		case value == "": // null: a coalition that is missing
			continue
		}
		if err := t.enter(mask, value, line); err != nil {
			return err
		}
	}
	t.inner = true
	return t.close()
}

// members reads a coalition: a list of agents, or text.
func (t *jsonTable) members() (uint64, error) {
	tok, err := t.dec.Token()
	if err != nil {
		return 0, t.fail(err)
	}
	if text, ok := scalar(tok); ok && text != "" {
		return t.coalition(text, t.here())
	}
	if tok != json.Delim('[') {
		return 0, t.errorf(t.here(), "found %v, expected the agents of a coalition", tok)
	}
	agents, err := t.list("an agent's name")
	if err != nil {
		return 0, err
	}
	return t.mask(agents, fmt.Sprint(agents), t.here())
}

// list reads names up to the end of a list whose bracket was read.
func (t *jsonTable) list(what string) ([]string, error) {
	var list []string
	for t.dec.More() {
		tok, err := t.dec.Token()
		if err != nil {
			return nil, t.fail(err)
		}
		word, ok := scalar(tok)
		if _, number := tok.(json.Number); number {
			word = names.Name(word)
		}
		if word = strings.TrimSpace(word); !ok || word == "" {
			return nil, t.errorf(t.here(), "found %v, expected %s", tok, what)
		}
		list = append(list, word)
		if len(list) > problem.MaxAgents {
			return nil, t.errorf(t.here(), "found more than %d agents, expected at most that many", problem.MaxAgents)
		}
	}
	return list, t.close()
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

// names reads the agents' names.
func (t *jsonTable) names() error {
	line := t.here()
	list, err := t.list("an agent's name")
	if err != nil || t.opts.Names != nil {
		return err
	}
	return t.declare(list, line)
}

// values reads coalitions and their values.
func (t *jsonTable) values() error {
	return t.fields(func(key string) error {
		tok, err := t.dec.Token()
		if err != nil {
			return t.fail(err)
		}
		value, ok := scalar(tok)
		if !ok {
			return t.errorf(t.here(), "found %v, expected the value of %s", tok, formats.Quote(key))
		}
		if value == "" {
			return nil
		}
		return t.add(key, value, t.here())
	})
}
