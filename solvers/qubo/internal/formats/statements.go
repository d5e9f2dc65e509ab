package formats

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A statement is a comment that says something of the coefficients: their form, an offset, or what all of them and the offset are
// multiplied by. dimod writes `# vartype=SPIN`, QUBOTools and bqpjson `c offset : 5` and `c scale : 2`, QOBLIB
// `# ObjectiveOffset 25`.
type statement struct {
	line int
	what string // of stated
	form problem.Form
	v    value
}

// What statements are about.
const (
	vartype = "vartype"
	offset  = "offset"
	scale   = "scale"
)

// statements are those of a file, by subject. A repeated statement has to be the same.
type statements map[string]statement

// vartypeMark finds what a type of variables follows. A text in lower case would have other lengths where bytes are no UTF-8.
var vartypeMark = regexp.MustCompile(`(?i)vartype[=:]`)

// parseStatement reads a comment, without the word that begins comments; false where it states nothing, as most do.
func parseStatement(line int, comment string) (s statement, ok bool, err error) {
	s.line = line
	comment = strings.NewReplacer(" =", "=", " :", ":").Replace(comment)
	end := strings.IndexFunc(comment, func(r rune) bool { return (r|0x20 < 'a' || r|0x20 > 'z') && r != '_' })
	if end < 0 {
		return s, false, nil
	}
	key, rest := strings.ToLower(comment[:end]), strings.TrimSpace(comment[end:])
	sign := strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":")
	if sign {
		rest = strings.TrimSpace(rest[1:])
	}
	if at := vartypeMark.FindStringIndex(comment); at != nil {
		word := strings.TrimLeft(comment[at[1]:], " \t")
		if fields := strings.Fields(word); len(fields) > 0 {
			word = fields[0]
		}
		switch strings.ToUpper(word) {
		case "SPIN":
			return statement{line: line, what: vartype, form: problem.Ising}, true, nil
		case "BINARY":
			return statement{line: line, what: vartype, form: problem.QUBO}, true, nil
		}
		return s, false, fmt.Errorf("found %s, expected vartype=BINARY or vartype=SPIN", formats.Quote(comment[at[0]:]))
	}
	switch key {
	case offset, scale:
		s.what = key
	case "objectiveoffset", "objective_offset":
		s.what = offset
	default:
		return s, false, nil
	}
	if !sign && !text.IsNumber([]byte(rest)) {
		return s, false, nil // a sentence that begins with the word
	}
	if s.v, err = parseCoefficient([]byte(rest)); err != nil {
		return s, false, fmt.Errorf("%s: %w", s.what, err)
	}
	if s.what == scale && !(s.v.float64() >= 0) {
		return s, false, fmt.Errorf("scale: found %s, expected 0 or more", formats.Quote(rest))
	}
	return s, true, nil
}

// commentText is the text of a comment: the words of a line without the mark of a comment.
func commentText(words [][]byte, begin string) string {
	return strings.TrimLeft(strings.TrimPrefix(string(bytes.Join(words, []byte(" "))), begin), begin+" \t")
}

// add takes a statement over, unless another was made before.
func (all statements) add(name string, s statement) error {
	first, again := all[s.what]
	if !again {
		all[s.what] = s
		return nil
	}
	if first.form != s.form || first.v != s.v {
		return formats.Errorf(name, s.line, "found another %s than on line %d, expected one", s.what, first.line)
	}
	return nil
}

// instance makes an instance of entries of n variables, with the offset, the scale and the form that comments state. A pair that
// comes twice is added up where sum says so; else it is an error of its line.
func (e *entries) instance(n int, sum bool) (*problem.Instance, error) {
	said, name := e.file.said, e.file.Name()
	constant, has := said[offset]
	if has { // an entry of its own variable, so that it is of the others' type
		if err := constant.v.addTo(e.Entries, n, n); err != nil {
			return nil, formats.Errorf(name, constant.line, "offset: %w", err)
		}
		n++
	}
	inst, err := e.newInstance(n, sum)
	if err != nil {
		return nil, err
	}
	if has {
		inst.LastAsOffset()
	}
	if s, ok := said[scale]; ok {
		if err := multiplyBy(inst, s.v); err != nil {
			return nil, formats.Errorf(name, s.line, "%w", err)
		}
		inst.Note("all coefficients and the offset were multiplied by the scale %s, as a comment says", s.v)
	}
	if s, ok := said[vartype]; ok {
		inst.Form = s.form
	}
	return inst, nil
}
