package formats

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/tokens"
)

// jsonTable reads a table from JSON, token by token.
type jsonTable struct {
	*table
	*tokens.Reader
	// entries of the outer object, until it is known whether they are
	// coalitions
	loose []looseEntry
	named bool // an "agents" list was read
	inner bool // "values", or a list, was read
	alone int  // values alone, by coalition number from 0
}

type looseEntry struct {
	key, value string
	line       int
}

func readJSON(r io.Reader, name string, opts ReadOptions) (*problem.Instance, *problem.Listing, error) {
	t := &jsonTable{table: newTable(name, opts), Reader: tokens.New(r, name)}
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, nil, err
		}
	}
	const want = "an object of coalitions and values, or a list of records or of values alone"
	tok, err := t.Token(want)
	if err != nil {
		return nil, nil, err
	}
	switch tok {
	case json.Delim('{'):
		err = t.Fields("the object", t.outer)
	case json.Delim('['):
		err = t.records()
	default:
		err = t.TokenError(tok, want)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := t.ExpectEnd(); err != nil {
		return nil, nil, err
	}
	for _, e := range t.loose {
		if t.inner {
			if e.key == "n" || e.key == "agents" {
				continue
			}
			return nil, nil, t.errorf(e.line, "found %s, expected agents, n and values only", formats.Quote(e.key))
		}
		if err := t.add(e.key, e.value, e.line); err != nil {
			return nil, nil, err
		}
	}
	if t.alone == 1 || t.alone&(t.alone-1) != 0 {
		return nil, nil, t.Errorf("found %s alone, expected 2^n, by coalition number from 0", formats.Count(t.alone, "value"))
	}
	return t.game()
}

// enterAlone enters a token of a list of values alone, by coalition number from 0.
func (t *jsonTable) enterAlone(tok json.Token) error {
	value, ok := scalar(tok)
	if !ok || value == "" {
		return t.TokenError(tok, "a value, as the others of the list are")
	}
	t.masked = true
	t.alone++
	return t.enter(coalition{mask: uint64(t.alone - 1)}, value, t.Line())
}

// records reads a list of objects, each a coalition and its value, as pandas writes the rows of a table, or of values alone.
func (t *jsonTable) records() error {
	t.inner = true
	return t.Items("the list", func() error {
		const want = "an object of a coalition and its value"
		tok, err := t.Token(want)
		if err != nil {
			return err
		}
		if _, number := tok.(json.Number); number && len(t.entries) == t.alone || t.alone > 0 {
			return t.enterAlone(tok)
		}
		if tok != json.Delim('{') {
			return t.TokenError(tok, want)
		}
		line := t.Line()
		var c coalition
		value := ""
		listed, valued := false, false
		err = t.Fields("the record", func(key string) error {
			var err error
			switch {
			case headsCoalitions(key) && !listed:
				listed = true
				c, err = t.readMembers()
				return err
			case headsValues(key) && !valued:
				valued = true
				value, line, err = t.value("the value of a coalition")
				return err
			}
			return t.Errorf("found the key %s of a record, expected coalition and value, each once", formats.Quote(key))
		})
		switch {
		case err != nil:
			return err
		case !listed || !valued:
			return t.errorf(line, "found a record without a coalition or a value, expected both")
		case value == "": // null: a coalition that is missing
			return nil
		}
		return t.enter(c, value, line)
	})
}

// value reads a number or text, and its line; null is "".
func (t *jsonTable) value(want string) (string, int, error) {
	tok, err := t.Token(want)
	if err != nil {
		return "", 0, err
	}
	value, ok := scalar(tok)
	if !ok {
		return "", 0, t.TokenError(tok, want)
	}
	return value, t.Line(), nil
}

// readMembers reads a coalition: a list of agents, or text.
func (t *jsonTable) readMembers() (coalition, error) {
	const want = "the agents of a coalition"
	tok, err := t.Token(want)
	if err != nil {
		return coalition{}, err
	}
	if text, ok := scalar(tok); ok && text != "" {
		return t.coalition(text, t.Line())
	}
	if tok != json.Delim('[') {
		return coalition{}, t.TokenError(tok, want)
	}
	agents, err := t.list("an agent's name")
	if err != nil {
		return coalition{}, err
	}
	return t.coalitionOf(agents, fmt.Sprint(agents), t.Line())
}

// list reads names up to the end of a list whose bracket was read.
func (t *jsonTable) list(what string) (list []string, err error) {
	err = t.Items("the list", func() error {
		tok, err := t.Token(what)
		if err != nil {
			return err
		}
		word, ok := scalar(tok)
		if _, number := tok.(json.Number); number {
			word = names.Clean(word)
		}
		if word = strings.TrimSpace(word); !ok || word == "" {
			return t.TokenError(tok, what)
		}
		if list = append(list, word); len(list) > t.mostAgents() {
			return t.Errorf("found more than %d agents, expected at most that many", t.mostAgents())
		}
		return nil
	})
	return list, err
}

// outer reads what follows a key of the outer object.
func (t *jsonTable) outer(key string) error {
	tok, err := t.Token("a value")
	if err != nil {
		return err
	}
	line := t.Line()
	switch {
	case tok == json.Delim('[') && key == "agents":
		if t.named {
			return t.errorf(line, "found agents again, expected them once")
		}
		t.named = true
		return t.names()
	case (tok == json.Delim('{') || tok == json.Delim('[')) && key == "values":
		if t.inner {
			return t.errorf(line, "found values again, expected them once")
		}
		for _, e := range t.loose {
			if (e.key == "n" || e.key == "agents") && !t.given {
				n, err := strconv.Atoi(e.value)
				if err != nil {
					return t.errorf(e.line, "found %s, expected the number of agents", formats.Quote(e.value))
				}
				if err := t.numberAgents(n, e.line); err != nil {
					return err
				}
			}
		}
		t.inner = true
		if tok == json.Delim('{') {
			return t.values()
		}
		return t.Items("the values", func() error {
			tok, err := t.Token("a value")
			if err != nil {
				return err
			}
			return t.enterAlone(tok)
		})
	}
	value, ok := scalar(tok)
	if !ok {
		return t.errorf(line, "found %v after %s, expected a value", tok, formats.Quote(key))
	}
	if value == "" {
		return nil
	}
	if err := t.memory.Reserve(int64(len(key) + len(value))); err != nil {
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
	line := t.Line()
	list, err := t.list("an agent's name")
	if err != nil || t.opts.Names != nil {
		return err
	}
	return t.declare(list, line)
}

// values reads coalitions and their values.
func (t *jsonTable) values() error {
	return t.Fields("the values", func(key string) error {
		value, line, err := t.value("the value of " + formats.Quote(key))
		if err != nil || value == "" {
			return err
		}
		return t.add(key, value, line)
	})
}
