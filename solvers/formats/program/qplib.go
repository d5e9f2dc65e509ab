package program

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A qplibReader reads values, a line each, in the order of the format. Comments follow !, % or #.
type qplibReader struct {
	*builder
	infinity float64
}

// ReadQPLIB reads a program in the format of QPLIB (Furini et al., Mathematical Programming Computation 11, 2019, appendix B). Errors begin with the
// file and the line.
func ReadQPLIB(f *text.File, budget *formats.Budget) (*Program, error) {
	q := &qplibReader{builder: newBuilder(f, budget)}
	if err := q.read(); err != nil {
		return nil, err
	}
	return q.Program, nil
}

// line is the words of the next line that has any besides a comment.
func (q *qplibReader) line(what string) ([]string, error) {
	for {
		line, err := q.file.Line()
		if errors.Is(err, io.EOF) {
			return nil, q.file.Errorf("found the end of the file, expected %s: the file is truncated", what)
		} else if err != nil {
			return nil, err
		}
		plain, _, _ := strings.Cut(string(line), "#")
		if words := strings.Fields(plain); len(words) > 0 && words[0][0] != '!' && words[0][0] != '%' {
			for k, word := range words {
				if word[0] == '!' || word[0] == '%' {
					return words[:k], nil
				}
			}
			return words, nil
		}
	}
}

// values are a line of so many words.
func (q *qplibReader) values(count int, what string) ([]string, error) {
	words, err := q.line(what)
	if err == nil && len(words) != count {
		err = q.file.Errorf("found %s, expected %s", formats.Count(len(words), "word"), what)
	}
	return words, err
}

// count reads a whole number from 0 to most.
func (q *qplibReader) count(what string, most int64) (int, error) {
	words, err := q.values(1, what)
	if err != nil {
		return 0, err
	}
	n, err := text.ParseWhole([]byte(words[0]), strings.TrimPrefix(what, "the "), 0, most)
	if err != nil {
		return 0, q.file.Errorf("%w", err)
	}
	return int(n), nil
}

// place is a number from 1 to count in a file; from 0 here.
func (q *qplibReader) place(word, what string, count int) (int, error) {
	n, err := text.ParseWhole([]byte(word), what, 1, int64(count))
	if err != nil {
		return 0, q.file.Errorf("%w", err)
	}
	return int(n) - 1, nil
}

// list reads a default and the entries that differ from it. set is called for all of n places, in any order, the last call counts.
func (q *qplibReader) list(what string, n int, set func(i int, word string) error) error {
	words, err := q.values(1, "the default of "+what)
	if err != nil {
		return err
	}
	for i := range n {
		if err := set(i, words[0]); err != nil {
			return err
		}
	}
	entries, err := q.count("the number of entries of "+what+" beside the default", int64(n))
	if err != nil {
		return err
	}
	for range entries {
		words, err := q.values(2, "a place and a value of "+what)
		if err != nil {
			return err
		}
		i, err := q.place(words[0], "place", n)
		if err != nil {
			return err
		}
		if err := set(i, words[1]); err != nil {
			return err
		}
	}
	return nil
}

// terms reads entries of places, of which the first is a constraint where there are constraints, and a coefficient.
func (q *qplibReader) terms(what string, places int, constrained bool, add func(row int, t Term)) error {
	entries, err := q.count("the number of "+what, 1<<31-1)
	if err != nil {
		return err
	}
	for range entries {
		words, err := q.values(places+1, "an entry of "+what)
		if err != nil {
			return err
		}
		row, at := 0, 0
		if constrained {
			if row, err = q.place(words[0], "constraint", len(q.Constraints)); err != nil {
				return err
			}
			at = 1
		}
		t := Term{Line: q.file.LineNumber(), J: -1}
		if t.I, err = q.place(words[at], "variable", len(q.Variables)); err != nil {
			return err
		}
		if places-at == 2 {
			if t.J, err = q.place(words[at+1], "variable", len(q.Variables)); err != nil {
				return err
			}
		}
		if t.Coefficient, err = q.number(words[places], t.Line); err != nil {
			return err
		}
		if t.I == t.J { // half of the matrix's diagonal; a pair stands in it twice and in the file once
			t.Coefficient = t.Coefficient.Half()
		}
		if err := q.reserveTerm(t.Line); err != nil {
			return err
		}
		add(row, t)
	}
	return nil
}

// bounds reads a list of bounds; sign is -1 for lower ones.
func (q *qplibReader) bounds(what string, n, sign int, bound func(i int) *Decimal) error {
	return q.list(what, n, func(i int, word string) error {
		v, ok := text.ParseFloat([]byte(word))
		if !ok {
			return q.file.Errorf("found %s, expected a number", formats.Quote(word))
		}
		if *bound(i) = Decimal(word); float64(sign)*v >= q.infinity {
			*bound(i) = ""
		}
		return nil
	})
}

// read reads the file.
func (q *qplibReader) read() error {
	if _, err := q.line("the name of the problem"); err != nil {
		return err
	}
	words, err := q.values(1, "the type of the problem, such as QBL")
	if err != nil {
		return err
	}
	kind := strings.ToUpper(words[0])
	if len(kind) != 3 || !strings.Contains("LDCQ", kind[:1]) || !strings.Contains("CBMIG", kind[1:2]) || !strings.Contains("NBLDCQ", kind[2:]) {
		return q.file.Errorf("found the type %s, expected three letters, such as QBL: objective, variables, constraints", formats.Quote(words[0]))
	}
	if words, err = q.values(1, "minimize or maximize"); err != nil {
		return err
	}
	switch strings.ToLower(words[0]) {
	case "minimize", "minimise":
	case "maximize", "maximise":
		q.Maximize = true
	default:
		return q.file.Errorf("found the sense %s, expected minimize or maximize", formats.Quote(words[0]))
	}
	n, err := q.count("the number of variables", 1<<31-1)
	if err != nil {
		return err
	}
	if err := q.budget.CheckFits(uint64(n), 1, bytesPerVariable); err != nil {
		return q.file.Errorf("%d variables take %w", n, err)
	}
	for i := range n {
		if _, err := q.variable("x"+strconv.Itoa(i+1), q.file.LineNumber()); err != nil {
			return err
		}
		v := &q.Variables[i]
		switch kind[1] {
		case 'B':
			v.Kind, v.High = Binary, "1"
		case 'I':
			v.Kind = Integer
		}
	}
	constrained := kind[2] != 'N' && kind[2] != 'B'
	if constrained {
		rows, err := q.count("the number of constraints", 1<<31-1)
		if err != nil {
			return err
		}
		if err := q.budget.Reserve(int64(rows) * bytesPerVariable); err != nil {
			return q.file.Errorf("%d constraints take %w", rows, err)
		}
		q.Constraints = make([]Constraint, rows)
		for i := range q.Constraints {
			q.Constraints[i] = Constraint{Name: "c" + strconv.Itoa(i+1), Line: q.file.LineNumber()}
		}
	}
	if err := q.functions(kind, constrained); err != nil {
		return err
	}
	return q.ranges(kind, constrained)
}

// functions reads the objective and the constraints' terms.
func (q *qplibReader) functions(kind string, constrained bool) error {
	if kind[0] != 'L' {
		if err := q.terms("quadratic terms of the objective", 2, false, func(_ int, t Term) { q.Objective = append(q.Objective, t) }); err != nil {
			return err
		}
	}
	linear := make([]Term, len(q.Variables))
	if err := q.list("the linear coefficients", len(linear), func(i int, word string) (err error) {
		linear[i] = Term{Line: q.file.LineNumber(), I: i, J: -1}
		linear[i].Coefficient, err = q.number(word, linear[i].Line)
		return err
	}); err != nil {
		return err
	}
	for _, t := range linear {
		if !t.Coefficient.isWhole("0") {
			if err := q.reserveTerm(t.Line); err != nil {
				return err
			}
			q.Objective = append(q.Objective, t)
		}
	}
	words, err := q.values(1, "the constant of the objective")
	if err != nil {
		return err
	}
	constant := Term{Line: q.file.LineNumber(), I: -1, J: -1}
	if constant.Coefficient, err = q.number(words[0], constant.Line); err != nil {
		return err
	}
	if !constant.Coefficient.isWhole("0") {
		q.Objective = append(q.Objective, constant)
	}
	if !constrained {
		return nil
	}
	add := func(row int, t Term) { q.Constraints[row].Terms = append(q.Constraints[row].Terms, t) }
	if kind[2] != 'L' {
		if err := q.terms("quadratic terms of constraints", 3, true, add); err != nil {
			return err
		}
	}
	return q.terms("linear terms of constraints", 2, true, add)
}

// ranges reads the value that stands for infinity, bounds, kinds and names; starting points are passed over.
func (q *qplibReader) ranges(kind string, constrained bool) error {
	words, err := q.values(1, "the value that stands for infinity")
	if err != nil {
		return err
	}
	var ok bool
	if q.infinity, ok = text.ParseFloat([]byte(words[0])); !ok || q.infinity <= 0 {
		return q.file.Errorf("found %s, expected a positive number that stands for infinity", formats.Quote(words[0]))
	}
	rows, n := len(q.Constraints), len(q.Variables)
	if constrained {
		if err := q.bounds("the left sides", rows, -1, func(i int) *Decimal { return &q.Constraints[i].Low }); err != nil {
			return err
		}
		if err := q.bounds("the right sides", rows, 1, func(i int) *Decimal { return &q.Constraints[i].High }); err != nil {
			return err
		}
	}
	if kind[1] != 'B' {
		if err := q.bounds("the lower bounds", n, -1, func(i int) *Decimal { return &q.Variables[i].Low }); err != nil {
			return err
		}
		if err := q.bounds("the upper bounds", n, 1, func(i int) *Decimal { return &q.Variables[i].High }); err != nil {
			return err
		}
	}
	if kind[1] == 'M' || kind[1] == 'G' {
		kinds := map[string]Kind{"0": Continuous, "1": Integer, "2": Binary}
		if err := q.list("the kinds of variables", n, func(i int, word string) error {
			k, ok := kinds[word]
			if q.Variables[i].Kind = k; !ok {
				return q.file.Errorf("found the kind %s, expected 0, 1 or 2", formats.Quote(word))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	ignore := func(_ int, word string) error {
		_, err := q.number(word, q.file.LineNumber())
		return err
	}
	if err := q.list("the start", n, ignore); err != nil {
		return err
	}
	if constrained {
		if err := q.list("the multipliers of constraints", rows, ignore); err != nil {
			return err
		}
	}
	if err := q.list("the multipliers of bounds", n, ignore); err != nil {
		return err
	}
	if err := q.names("variables", n, func(i int, name string) error {
		delete(q.index, q.Variables[i].Name)
		if _, again := q.index[name]; again {
			return q.file.Errorf("found the name %s again, expected each once", formats.Quote(name))
		}
		q.index[name], q.Variables[i].Name = i, name
		return nil
	}); err != nil || !constrained {
		return err
	}
	return q.names("constraints", rows, func(i int, name string) error { q.Constraints[i].Name = name; return nil })
}

// names reads names that differ from the default.
func (q *qplibReader) names(what string, n int, set func(i int, name string) error) error {
	entries, err := q.count("the number of names of "+what, int64(n))
	if err != nil {
		return err
	}
	for range entries {
		words, err := q.line("a name of " + what)
		if err != nil {
			return err
		}
		if len(words) < 2 {
			return q.file.Errorf("found one word, expected a place and a name")
		}
		i, err := q.place(words[0], "place", n)
		if err != nil {
			return err
		}
		if err := set(i, strings.Join(words[1:], " ")); err != nil {
			return err
		}
	}
	return nil
}
