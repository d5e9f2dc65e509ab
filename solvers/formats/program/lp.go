package program

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// An lpReader reads LP format: a sense, an objective with a quadratic part in brackets, and sections of constraints, bounds and kinds.
type lpReader struct {
	*builder
	objective bool // it has come
	bounded   map[int]bool
	whole     map[int]bool // in a section of integers
}

// A token is a word, a number or a sign.
type token struct {
	text string
	line int
}

// sections are the sections, by the words that open them.
var sections = map[string]string{
	"minimize": "minimize", "minimise": "minimize", "minimum": "minimize", "min": "minimize",
	"maximize": "maximize", "maximise": "maximize", "maximum": "maximize", "max": "maximize",
	"st": "constraints", "s.t.": "constraints", "st.": "constraints", "subject": "constraints", "such": "constraints",
	"bounds": "bounds", "bound": "bounds",
	"binary": "binaries", "binaries": "binaries", "bin": "binaries",
	"general": "integers", "generals": "integers", "gen": "integers", "integer": "integers", "integers": "integers", "int": "integers",
	"semi-continuous": "semicontinuous", "semis": "semicontinuous", "semi": "semicontinuous",
	"end": "end", "sos": "other", "sos1": "other", "sos2": "other", "pwlobj": "other", "general-constraint": "other",
}

// OpensSection reports whether a word opens a section of LP format, so that no variable can have it for a name.
func OpensSection(word string) bool { return sections[strings.ToLower(word)] != "" }

// ReadLP reads a program in LP format. Variables of a section of binaries come first, in its order. Errors begin with the file and the line.
func ReadLP(f *text.File, budget *formats.Budget) (*Program, error) {
	m := &lpReader{builder: newBuilder(f, budget), bounded: map[int]bool{}, whole: map[int]bool{}}
	tokens, err := m.tokens()
	if err != nil {
		return nil, err
	}
	later := []func() error{}
	var head token
	for name := "start"; name != "end"; {
		next := m.nextSection(tokens, name == "start")
		body := tokens
		if next >= 0 {
			body = tokens[:next]
		}
		section, at := name, head
		read := func() error { return m.section(section, at, body) }
		if section == "binaries" || section == "integers" || section == "semicontinuous" {
			if err := read(); err != nil {
				return nil, err
			}
		} else {
			later = append(later, read)
		}
		if next < 0 {
			break
		}
		head = tokens[next]
		name, tokens = sections[strings.ToLower(head.text)], tokens[next+1:]
		if word := strings.ToLower(head.text); (word == "subject" || word == "such") && len(tokens) > 0 {
			tokens = tokens[1:] // to, that
		}
		if len(tokens) > 0 && tokens[0].text == ":" {
			tokens = tokens[1:]
		}
		if name == "other" {
			return nil, formats.Errorf(f.Name(), head.line, "found the section %s, expected an objective, constraints, bounds and kinds of variables", formats.Quote(head.text))
		}
	}
	for _, read := range later {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if !m.objective {
		return nil, formats.Errorf(f.Name(), 1, "found no objective, expected minimize or maximize")
	}
	for i := range m.Variables {
		switch v := &m.Variables[i]; {
		case v.Kind == Binary && !m.bounded[i]:
			v.Low, v.High = "0", "1"
		case v.Kind == SemiContinuous && m.whole[i] && v.Low.isWhole("0"): // 0 is between the bounds
			v.Kind = Integer
		}
	}
	return m.Program, nil
}

// nextSection is the place of the next word that opens a section, -1 if there is none. Before a colon such a word is the name of an
// objective or of a constraint, but for the first, which opens the objective.
func (m *lpReader) nextSection(tokens []token, first bool) int {
	for k, t := range tokens {
		if OpensSection(t.text) && (first || k+1 == len(tokens) || tokens[k+1].text != ":") {
			return k
		}
	}
	return -1
}

// tokens splits a file into words and signs. A backslash begins a comment.
func (m *lpReader) tokens() ([]token, error) {
	// Parts of so many do not leave the smaller arrays of one that grows.
	const part = 1 << 10
	var parts [][]token
	for {
		line, err := m.file.Line()
		if errors.Is(err, io.EOF) {
			return slices.Concat(parts...), nil
		}
		if err != nil {
			return nil, err
		}
		line, _, _ = bytes.Cut(line, []byte(`\`))
		for len(line) > 0 {
			if c := line[0]; c == ' ' || c == '\t' || c == '\r' {
				line = line[1:]
				continue
			}
			end := tokenEnd(line)
			if err := m.budget.Reserve(int64(end) + 64); err != nil { // in its part and in the whole
				return nil, m.file.Errorf("the words of this model take %w", err)
			}
			last := len(parts) - 1
			if last < 0 || len(parts[last]) == part {
				parts, last = append(parts, make([]token, 0, part)), last+1
			}
			parts[last] = append(parts[last], token{string(line[:end]), m.file.LineNumber()})
			line = line[end:]
		}
	}
}

// tokenEnd is the length of the first token of a line. A number ends where it is no number any more: 3x is two tokens.
func tokenEnd(line []byte) int {
	const signs = "+-*/^[]:<>="
	c := line[0]
	switch {
	case (c == '<' || c == '>' || c == '=') && len(line) > 1 && (line[1] == '=' || line[1] == '<' || line[1] == '>'):
		return 2
	case strings.IndexByte(signs, c) >= 0:
		return 1
	case c-'0' < 10 || c == '.':
		end := 0
		for end < len(line) && (line[end]-'0' < 10 || line[end] == '.') {
			end++
		}
		if rest := line[end:]; len(rest) > 1 && rest[0]|0x20 == 'e' {
			digits := 1
			if rest[1] == '+' || rest[1] == '-' {
				digits = 2
			}
			from := digits
			for digits < len(rest) && rest[digits]-'0' < 10 {
				digits++
			}
			if digits > from {
				end += digits
			}
		}
		return end
	}
	end := bytes.IndexAny(line, signs+" \t\r")
	for end > 0 && line[end] == '[' { // a name such as x[0,1], which Gurobi writes
		within := bytes.IndexAny(line[end+1:], "[] \t\r")
		if within < 0 || line[end+1+within] != ']' {
			return end
		}
		from := end + 2 + within
		if end = bytes.IndexAny(line[from:], signs+" \t\r"); end >= 0 {
			end += from
		}
	}
	if end < 0 {
		return len(line)
	}
	if word := strings.ToLower(string(line[:end])); word == "semi" && bytes.HasPrefix(bytes.ToLower(line[end:]), []byte("-continuous")) {
		return end + len("-continuous")
	}
	return end
}

// section reads the body of a section.
func (m *lpReader) section(name string, head token, body []token) error {
	if len(body) == 0 && name != "minimize" && name != "maximize" {
		return nil
	}
	switch name {
	case "start":
		return m.wrong(body[0], "minimize or maximize")
	case "minimize", "maximize":
		if m.objective {
			return m.wrong(head, "one objective")
		}
		m.objective, m.Maximize = true, name == "maximize"
		if len(body) > 1 && body[1].text == ":" {
			body = body[2:]
		}
		terms, rest, err := m.expression(body, "the objective")
		if err == nil && len(rest) > 0 {
			err = m.wrong(rest[0], "no relation in the objective")
		}
		m.Objective = terms
		return err
	case "constraints":
		return m.constraints(body)
	case "bounds":
		return m.bounds(body)
	}
	for _, t := range body {
		if !isName(t.text) {
			return m.wrong(t, "the name of a variable")
		}
		i, err := m.variable(t.text, t.line)
		if err != nil {
			return err
		}
		v := &m.Variables[i]
		switch name {
		case "binaries":
			v.Kind = Binary
		case "integers":
			m.whole[i] = true
			if v.Kind == Continuous {
				v.Kind = Integer
			}
		default:
			v.Kind = SemiContinuous
		}
	}
	return nil
}

func (m *lpReader) wrong(t token, want string) error {
	return formats.Errorf(m.file.Name(), t.line, "found %s, expected %s", formats.Quote(t.text), want)
}

// isName reports whether a word may name a variable.
func isName(word string) bool {
	return word != "" && strings.IndexByte("+-*/^[]:<>=.0123456789", word[0]) < 0
}

// IsName reports whether LP format can hold the name of a variable.
func IsName(name string) bool {
	return isName(name) && !strings.ContainsAny(name, "+-*/^:<>= \t\\") && !OpensSection(name)
}

// relation is -1 for a sign of at most, 1 for at least, 2 for equal, and 0 for any other word.
func relation(word string) int {
	switch word {
	case "<", "<=", "=<":
		return -1
	case ">", ">=", "=>":
		return 1
	case "=", "==":
		return 2
	}
	return 0
}

// expression reads terms up to a relation or the end; of is what errors call it.
func (m *lpReader) expression(body []token, of string) (terms []Term, rest []token, err error) {
	brackets := -1   // the first term of the open bracket
	outside := false // the sign before it is minus
	for len(body) > 0 && (relation(body[0].text) == 0 || brackets >= 0) {
		t := body[0]
		if t.text == "]" {
			if brackets < 0 {
				return nil, nil, m.wrong(t, "a bracket that was opened")
			}
			if len(body) > 2 && body[1].text == "/" {
				if body[2].text != "2" {
					return nil, nil, m.wrong(body[2], "/ 2 behind the bracket")
				}
				for k := range terms[brackets:] {
					terms[brackets+k].Coefficient = terms[brackets+k].Coefficient.Half()
				}
				body = body[2:]
			}
			brackets, outside, body = -1, false, body[1:]
			continue
		}
		minus, signed := false, false
		for len(body) > 0 && (body[0].text == "+" || body[0].text == "-") {
			minus = minus != (body[0].text == "-")
			signed, body = true, body[1:]
		}
		if len(body) == 0 {
			return nil, nil, m.wrong(t, "a term behind the sign")
		}
		t = body[0]
		number := text.IsNumber([]byte(t.text))
		v := Decimal("1")
		if number {
			v, body = Decimal(t.text), body[1:]
			if len(body) > 1 && body[0].text == "*" {
				body = body[1:]
			}
		}
		if len(body) > 0 && body[0].text == "[" {
			if brackets >= 0 {
				return nil, nil, m.wrong(body[0], "no bracket within a bracket")
			}
			if number && !v.isWhole("1") {
				return nil, nil, m.wrong(t, "no coefficient before the bracket")
			}
			brackets, outside, body = len(terms), minus, body[1:]
			continue
		}
		if minus != outside {
			v = v.Negative()
		}
		term := Term{Line: t.line, I: -1, J: -1, Coefficient: v}
		switch {
		case len(body) > 0 && isName(body[0].text):
			if term.I, err = m.variable(body[0].text, body[0].line); err != nil {
				return nil, nil, err
			}
			body = body[1:]
		case !number:
			return nil, nil, m.wrong(t, "a term")
		case brackets >= 0:
			return nil, nil, m.wrong(t, "terms of two variables between brackets")
		}
		if len(body) > 1 && term.I >= 0 && (body[0].text == "*" || body[0].text == "^") {
			switch by := body[1]; {
			case body[0].text == "^" && by.text == "2":
				term.J = term.I
			case body[0].text == "^":
				return nil, nil, m.wrong(by, "the exponent 2: terms of degree 3 and more have to be reduced first")
			case !isName(by.text):
				return nil, nil, m.wrong(by, "a variable")
			default:
				if term.J, err = m.variable(by.text, by.line); err != nil {
					return nil, nil, err
				}
			}
			body = body[2:]
			if len(body) > 0 && (body[0].text == "*" || body[0].text == "^") {
				return nil, nil, formats.Errorf(m.file.Name(), body[0].line, "found a term of degree 3 or more, expected at most two variables: such terms have to be reduced first")
			}
		}
		if len(terms) > 0 && !signed && brackets != len(terms) {
			return nil, nil, m.wrong(t, "a sign between terms")
		}
		if err := m.reserveTerm(t.line); err != nil {
			return nil, nil, err
		}
		terms = append(terms, term)
	}
	if brackets >= 0 {
		return nil, nil, formats.Errorf(m.file.Name(), 0, "found a bracket in %s that is not closed", of)
	}
	return terms, body, nil
}

// signedNumber reads a number or an infinity, with a sign or not; false where the tokens begin with neither.
func signedNumber(body []token) (t token, rest []token, ok bool) {
	k := 0
	for k < len(body) && (body[k].text == "+" || body[k].text == "-") {
		k++
	}
	if k == len(body) || k > 1 || !text.IsNumber([]byte(body[k].text)) && infinite(body[k].text) == 0 {
		return token{}, body, false
	}
	t = body[k]
	if k == 1 && body[0].text == "-" {
		t.text = "-" + t.text
	}
	return t, body[k+1:], true
}

// limit narrows bounds by a relation to a number, which stands on the right of it.
func (m *lpReader) limit(low, high *Decimal, relation int, t token) (err error) {
	if relation != -1 {
		if *low, err = m.bound(t.text, -1, t.line); err != nil {
			return err
		}
	}
	if relation != 1 {
		*high, err = m.bound(t.text, 1, t.line)
	}
	return err
}

// constraints reads a section of constraints, which have names or not.
func (m *lpReader) constraints(body []token) error {
	for len(body) > 0 {
		c := Constraint{Line: body[0].line}
		if len(body) > 1 && body[1].text == ":" {
			c.Name, body = body[0].text, body[2:]
		}
		first := 0 // the relation behind a number that comes first, as it is read from the terms
		if left, rest, ok := signedNumber(body); ok && len(rest) > 0 && relation(rest[0].text) != 0 {
			first, body = mirrored(relation(rest[0].text)), rest[1:]
			if err := m.limit(&c.Low, &c.High, first, left); err != nil {
				return err
			}
		}
		terms, rest, err := m.expression(body, "a constraint")
		if err != nil {
			return err
		}
		if k := slices.IndexFunc(terms, func(t Term) bool { return t.I < 0 }); k >= 0 {
			return formats.Errorf(m.file.Name(), terms[k].Line, "found the number %s among the terms of a constraint, expected it on the other side", terms[k].Coefficient)
		}
		c.Terms = terms
		switch {
		case len(rest) > 0:
			right, after, isNumber := signedNumber(rest[1:])
			if !isNumber {
				if len(rest) == 1 {
					return m.wrong(rest[0], "a number behind it")
				}
				return m.wrong(rest[1], "a number behind "+rest[0].text)
			}
			if second := relation(rest[0].text); first != 0 && first != -second {
				return m.wrong(rest[0], "the other bound of the constraint")
			}
			if err := m.limit(&c.Low, &c.High, relation(rest[0].text), right); err != nil {
				return err
			}
			rest = after
		case first == 0:
			return formats.Errorf(m.file.Name(), c.Line, "found a constraint without a relation, expected <=, >= or = and a number")
		}
		m.Constraints = append(m.Constraints, c)
		body = rest
	}
	return nil
}

// mirrored is a relation read from the right.
func mirrored(relation int) int {
	if relation == 2 {
		return 2
	}
	return -relation
}

// bounds reads a section of bounds: of a variable, a line each.
func (m *lpReader) bounds(body []token) error {
	for len(body) > 0 {
		line := body[0].line
		end := slices.IndexFunc(body, func(t token) bool { return t.line != line })
		if end < 0 {
			end = len(body)
		}
		if err := m.boundOf(body[:end]); err != nil {
			return err
		}
		body = body[end:]
	}
	return nil
}

// boundOf reads a line of bounds.
func (m *lpReader) boundOf(line []token) error {
	var words []string
	for _, t := range line {
		words = append(words, t.text)
	}
	wrong := formats.Errorf(m.file.Name(), line[0].line, "found %s, expected a bound of a variable", formats.Quote(strings.Join(words, " ")))
	left, rest, ok := signedNumber(line)
	sign := 0
	if ok {
		if len(rest) < 2 || relation(rest[0].text) == 0 {
			return wrong
		}
		sign, rest = mirrored(relation(rest[0].text)), rest[1:]
	}
	if len(rest) == 0 || !isName(rest[0].text) {
		return wrong
	}
	i, err := m.variable(rest[0].text, rest[0].line)
	if err != nil {
		return err
	}
	v := &m.Variables[i]
	if v.Kind == Binary && !m.bounded[i] {
		v.High = "1"
	}
	v.Line, m.bounded[i] = line[0].line, true
	if ok {
		if err := m.limit(&v.Low, &v.High, sign, left); err != nil {
			return err
		}
	}
	switch rest = rest[1:]; {
	case len(rest) == 0 && ok:
		return nil
	case len(rest) == 1 && !ok && strings.EqualFold(rest[0].text, "free"):
		v.Low, v.High = "", ""
		return nil
	case len(rest) < 2 || relation(rest[0].text) == 0:
		return wrong
	}
	right, after, isNumber := signedNumber(rest[1:])
	if !isNumber || len(after) > 0 {
		return wrong
	}
	return m.limit(&v.Low, &v.High, relation(rest[0].text), right)
}
