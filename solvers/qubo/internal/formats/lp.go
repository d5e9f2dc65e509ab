package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A model in LP format (CPLEX, Gurobi, dimod) is a sense, an objective with a quadratic part in brackets, and sections: here the
// only constraints are that all variables are binary.
type lpModel struct {
	name    string // of the file
	sense   problem.Sense
	entries *problem.Entries
	index   map[string]int // variables, in the order of the section of binaries
	names   []string
	binary  map[int]bool
	whole   map[int]bool // integers, whose bounds must be 0 and 1
	bounded map[int]bool
	terms   []lpTerm
}

// A term of the objective: up to two variables and a coefficient; a constant has none.
type lpTerm struct {
	line int
	i, j int // -1: none
	v    value
	half bool // in brackets before / 2
}

// A token is a word, a number or a sign of such a file.
type token struct {
	text string
	line int
}

// lpSections are the sections, by the words that open them.
var lpSections = map[string]string{
	"minimize": "minimize", "minimise": "minimize", "minimum": "minimize", "min": "minimize",
	"maximize": "maximize", "maximise": "maximize", "maximum": "maximize", "max": "maximize",
	"st": "constraints", "s.t.": "constraints", "st.": "constraints", "subject": "constraints", "such": "constraints",
	"bounds": "bounds", "bound": "bounds",
	"binary": "binaries", "binaries": "binaries", "bin": "binaries",
	"general": "integers", "generals": "integers", "gen": "integers", "integer": "integers", "integers": "integers", "int": "integers",
	"end": "end", "semi-continuous": "other", "semis": "other", "semi": "other", "sos": "other", "sos1": "other", "sos2": "other", "pwlobj": "other",
}

// readLP reads a model in LP format without constraints, whose variables are all binary.
func readLP(in source, o Options) (*problem.Instance, error) {
	f, err := in.openText(o, text.Options{})
	if err != nil {
		return nil, err
	}
	m := &lpModel{name: in.name, entries: problem.NewEntries(o.memoryLimit()), index: map[string]int{}, binary: map[int]bool{}, whole: map[int]bool{}, bounded: map[int]bool{}}
	tokens, err := f.tokens()
	if err != nil {
		return nil, err
	}
	// The sections of binaries come first: they number the variables.
	later := []func() error{}
	var head token
	for name := "start"; name != "end"; {
		next := slices.IndexFunc(tokens, func(t token) bool { return lpSections[strings.ToLower(t.text)] != "" })
		body := tokens
		if next >= 0 {
			body = tokens[:next]
		}
		section, at := name, head
		read := func() error { return m.section(section, at, body) }
		if section == "binaries" || section == "integers" {
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
		name, tokens = lpSections[strings.ToLower(head.text)], tokens[next+1:]
		if word := strings.ToLower(head.text); (word == "subject" || word == "such") && len(tokens) > 0 {
			tokens = tokens[1:] // to, that
		}
		if len(tokens) > 0 && tokens[0].text == ":" {
			tokens = tokens[1:]
		}
		if name == "other" {
			return nil, formats.Errorf(in.name, head.line, "found the section %s, expected an objective of binary variables alone", formats.Quote(head.text))
		}
	}
	for _, read := range later {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return m.instance()
}

// tokens splits a file into words and signs. A backslash begins a comment.
func (f *file) tokens() ([]token, error) {
	var list []token
	for {
		line, err := f.Line()
		if errors.Is(err, io.EOF) {
			return list, nil
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
			if err := f.budget.Reserve(int64(end) + 40); err != nil {
				return nil, f.Errorf("the words of this model take %w", err)
			}
			list = append(list, token{string(line[:end]), f.LineNumber()})
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
	return end
}

// section reads the body of a section.
func (m *lpModel) section(name string, head token, body []token) error {
	if len(body) == 0 && name != "minimize" && name != "maximize" {
		return nil
	}
	switch name {
	case "start":
		return m.wrong(body[0], "minimize or maximize")
	case "minimize", "maximize":
		if m.sense != "" {
			return m.wrong(head, "one objective")
		}
		m.sense = problem.Sense(name)
		return m.objective(body)
	case "constraints":
		return formats.Errorf(m.name, body[0].line, "found a constraint, expected none: a QUBO is an objective of binary variables alone")
	case "bounds":
		return m.bounds(body)
	}
	for _, t := range body {
		if !isName(t.text) {
			return m.wrong(t, "the name of a variable")
		}
		if i := m.variable(t.text); name == "binaries" {
			m.binary[i] = true
		} else {
			m.whole[i] = true
		}
	}
	return nil
}

func (m *lpModel) wrong(t token, want string) error {
	return formats.Errorf(m.name, t.line, "found %s, expected %s", formats.Quote(t.text), want)
}

func isName(word string) bool {
	return word != "" && strings.IndexByte("+-*/^[]:<>=.0123456789", word[0]) < 0
}

// variable is the number of a variable.
func (m *lpModel) variable(name string) int {
	i, ok := m.index[name]
	if !ok {
		i = len(m.names)
		m.index[name] = i
		m.names = append(m.names, name)
	}
	return i
}

// objective reads an objective, behind its name or not.
func (m *lpModel) objective(body []token) error {
	if len(body) > 1 && body[1].text == ":" {
		body = body[2:]
	}
	brackets := -1 // the first term of the open bracket
	outside := value{whole: 1}
	for len(body) > 0 {
		t := body[0]
		if t.text == "]" {
			if brackets < 0 {
				return m.wrong(t, "a bracket that was opened")
			}
			if len(body) > 2 && body[1].text == "/" {
				if body[2].text != "2" {
					return m.wrong(body[2], "/ 2 behind the bracket")
				}
				for k := range m.terms[brackets:] {
					m.terms[brackets+k].half = true
				}
				body = body[2:]
			}
			brackets, outside, body = -1, value{whole: 1}, body[1:]
			continue
		}
		v := value{whole: 1}
		signed := false
		for len(body) > 0 && (body[0].text == "+" || body[0].text == "-") {
			if body[0].text == "-" {
				v = v.negative()
			}
			signed, body = true, body[1:]
		}
		if len(body) == 0 {
			return m.wrong(t, "a term behind the sign")
		}
		t = body[0]
		number := text.IsNumber([]byte(t.text))
		if number {
			coefficient, err := parseCoefficient([]byte(t.text))
			if err != nil {
				return formats.Errorf(m.name, t.line, "%w", err)
			}
			if v.whole < 0 {
				coefficient = coefficient.negative()
			}
			v, body = coefficient, body[1:]
			if len(body) > 1 && body[0].text == "*" {
				body = body[1:]
			}
		}
		if len(body) > 0 && body[0].text == "[" {
			if brackets >= 0 {
				return m.wrong(body[0], "no bracket within a bracket")
			}
			if number && v.float64() != 1 {
				return m.wrong(t, "no coefficient before the bracket")
			}
			brackets, outside, body = len(m.terms), v, body[1:]
			continue
		}
		if outside.whole < 0 {
			v = v.negative()
		}
		term := lpTerm{line: t.line, i: -1, j: -1, v: v}
		switch {
		case len(body) > 0 && isName(body[0].text):
			term.i, body = m.variable(body[0].text), body[1:]
		case !number:
			return m.wrong(t, "a term")
		case brackets >= 0:
			return m.wrong(t, "terms of two variables between brackets")
		}
		if len(body) > 1 && term.i >= 0 && (body[0].text == "*" || body[0].text == "^") {
			switch by := body[1]; {
			case body[0].text == "^" && by.text == "2":
				term.j = term.i
			case body[0].text == "^":
				return m.wrong(by, "the exponent 2: terms of degree 3 and more have to be reduced first")
			case !isName(by.text):
				return m.wrong(by, "a variable")
			default:
				term.j = m.variable(by.text)
			}
			body = body[2:]
			if len(body) > 0 && (body[0].text == "*" || body[0].text == "^") {
				return formats.Errorf(m.name, body[0].line, "found a term of degree 3 or more, expected at most two variables: such terms have to be reduced first")
			}
		}
		if len(m.terms) > 0 && !signed && brackets != len(m.terms) {
			return m.wrong(t, "a sign between terms")
		}
		m.terms = append(m.terms, term)
	}
	if brackets >= 0 {
		return formats.Errorf(m.name, 0, "found a bracket in the objective that is not closed")
	}
	return nil
}

// bounds reads bounds, of which those of 0 and 1 alone are taken.
func (m *lpModel) bounds(body []token) error {
	for len(body) > 0 {
		line := body[0].line
		end := slices.IndexFunc(body, func(t token) bool { return t.line != line })
		if end < 0 {
			end = len(body)
		}
		var words []string
		for _, t := range body[:end] {
			words = append(words, t.text)
		}
		bound := strings.NewReplacer("=<", "<=", "=>", ">=").Replace(strings.Join(words, " "))
		fields := strings.Fields(bound)
		name := slices.IndexFunc(fields, isName)
		if name < 0 {
			return formats.Errorf(m.name, line, "found %s, expected a bound of a variable", formats.Quote(bound))
		}
		i := m.variable(fields[name])
		fields[name] = "x"
		switch strings.ReplaceAll(strings.Join(fields, " "), "<=", "<") {
		case "0 < x < 1":
			m.bounded[i] = true
		case "x < 1", "1 >= x", "1 > x":
			m.bounded[i] = true
		case "0 < x", "x >= 0", "x > 0":
		default:
			return formats.Errorf(m.name, line, "found the bound %s, expected 0 and 1 (--fix fixes variables)", formats.Quote(bound))
		}
		body = body[end:]
	}
	return nil
}

// instance makes the instance.
func (m *lpModel) instance() (*problem.Instance, error) {
	if m.sense == "" {
		return nil, formats.Errorf(m.name, 1, "found no objective, expected minimize or maximize")
	}
	n := len(m.names)
	for i, name := range m.names {
		if !m.binary[i] && !(m.whole[i] && m.bounded[i]) {
			return nil, formats.Errorf(m.name, 0, "found the variable %s, which is not binary, expected all of them in a section of binaries", formats.Quote(name))
		}
	}
	for _, t := range m.terms {
		i, j, v := t.i, t.j, t.v
		switch {
		case i < 0:
			i, j = n, n
		case j < 0:
			j = i
		}
		if t.half {
			v = v.half()
		}
		if err := v.addTo(m.entries, i, j); err != nil {
			return nil, formats.Errorf(m.name, t.line, "%w", err)
		}
	}
	inst, err := m.entries.Instance(n+1, true)
	if err != nil {
		return nil, formats.Errorf(m.name, 0, "%w", err)
	}
	inst.LastAsOffset()
	inst.Names, inst.Sense = m.names, m.sense
	return inst, nil
}

// writeLP writes an objective, and that all variables are binary.
func writeLP(w io.Writer, inst *problem.Instance) error {
	name := func(i int) string {
		if inst.Names != nil {
			return inst.Names[i]
		}
		return fmt.Sprintf("x%d", i)
	}
	for i := range inst.Names {
		if !isName(name(i)) || strings.ContainsAny(name(i), "+-*/^:<>= \t\\") || lpSections[strings.ToLower(name(i))] != "" {
			return fmt.Errorf("found the variable %s, expected names that LP format can hold", formats.Quote(name(i)))
		}
	}
	heads := map[problem.Sense]string{problem.Minimize: "Minimize", problem.Maximize: "Maximize"}
	if _, err := fmt.Fprintf(w, "%s\n obj:", heads[inst.Sense]); err != nil {
		return err
	}
	pairs, sign := false, func(text []byte) string {
		if text[0] == '-' {
			return " - " + string(text[1:])
		}
		return " + " + string(text)
	}
	eachEntry(inst, false, func(i, j int, text []byte) {
		if i == j {
			fmt.Fprintf(w, "%s %s\n", sign(text), name(i))
		}
		pairs = pairs || i != j
	})
	if offset := offsetText(inst); offset != "0" {
		fmt.Fprintf(w, "%s\n", sign([]byte(offset)))
	}
	if pairs {
		fmt.Fprint(w, " + [\n")
		eachEntry(inst, false, func(i, j int, text []byte) {
			if i != j {
				v, _ := parseCoefficient(text) // a coefficient of this instance
				fmt.Fprintf(w, "%s %s * %s\n", sign([]byte(v.timesTwo().String())), name(i), name(j))
			}
		})
		fmt.Fprint(w, " ] / 2\n")
	}
	fmt.Fprint(w, "\nSubject To\nBinaries\n")
	for i := range inst.N {
		fmt.Fprintf(w, " %s\n", name(i))
	}
	_, err := fmt.Fprintln(w, "End")
	return err
}
