package program

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// An mpsReader reads MPS in its fixed and free forms: words between blanks, or between the columns of the fixed form once a line of
// rows or columns has more words than it can, as names have blanks.
type mpsReader struct {
	*builder
	rows      map[string]int // by name: constraints; objective for the first free row, unused for the others
	kinds     []byte         // of the constraints: L, G or E
	fixed     bool           // names have blanks
	ranges    []span         // applied when all right sides are known
	entered   []int          // of each constraint, and of the objective first, the last column with a coefficient, -1: none
	integers  bool           // columns come between markers of integers
	bounded   map[int]bool
	unbounded []int          // integers of markers, which have no bounds as yet
	pairs     map[[2]int]int // lines of the pairs of a triangle, the smaller column first
}

// Rows that are no constraints.
const (
	objective = -1 - iota
	unused
)

// A record is a line of data.
type record []string

// A span is the range of a constraint.
type span struct {
	row, line int
	size      Decimal
}

// fields are where the six fields of the fixed form begin and end.
var fields = [...][2]int{{1, 3}, {4, 12}, {14, 22}, {24, 36}, {39, 47}, {49, 61}}

// cut cuts a line at the columns of the fixed form.
func cut(line string) (words record) {
	line = strings.TrimRight(line, "\r\n")
	for _, f := range fields {
		if word := strings.TrimSpace(line[min(f[0], len(line)):min(f[1], len(line))]); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// ReadMPS reads a program in MPS format, with the sections OBJSENSE, RANGES, BOUNDS, and QUADOBJ, QMATRIX and QCMATRIX of QPS. Errors begin with the
// file and the line.
func ReadMPS(f *text.File, budget *formats.Budget) (*Program, error) {
	m := &mpsReader{builder: newBuilder(f, budget), rows: map[string]int{}, entered: []int{-1}, bounded: map[int]bool{}, pairs: map[[2]int]int{}}
	section, seen, target := "", map[string]bool{}, 0
	for section != "ENDATA" {
		line, err := f.Line()
		if errors.Is(err, io.EOF) {
			return nil, f.Errorf("found the end of the file, expected the section ENDATA: the file is truncated")
		} else if err != nil {
			return nil, err
		}
		words := record(strings.Fields(string(line)))
		if len(words) == 0 || words[0][0] == '*' {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if m.fixed = m.fixed || section == "ROWS" && len(words) > 2 || section == "COLUMNS" && len(words)%2 == 0; m.fixed {
				words = cut(string(line))
			}
			if err := m.read(section, words, target); err != nil {
				return nil, err
			}
			continue
		}
		section = strings.ToUpper(words[0])
		switch section {
		case "NAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "QSECTION", "OBJSENSE", "ENDATA":
			if seen[section] {
				return nil, f.Errorf("found the section %s again, expected it once", section)
			}
			seen[section] = true
		case "QCMATRIX":
			if len(words) != 2 {
				return nil, f.Errorf("found %s, expected QCMATRIX and the name of a constraint", formats.Quote(string(line)))
			}
			row, err := m.row(words[1])
			if err != nil {
				return nil, err
			}
			if target = row; row < 0 {
				return nil, f.Errorf("found QCMATRIX of %s, expected a constraint", formats.Quote(words[1]))
			}
		default:
			return nil, f.Errorf("found the section %s, expected rows, columns, right sides, ranges, bounds and quadratic terms", formats.Quote(words[0]))
		}
		if section == "OBJSENSE" && len(words) > 1 {
			if err := m.sense(words[1]); err != nil {
				return nil, err
			}
		}
	}
	if !seen["ROWS"] || !seen["COLUMNS"] {
		return nil, f.Errorf("found the end of the program, expected the sections ROWS and COLUMNS")
	}
	for _, r := range m.ranges {
		if err := m.widen(r); err != nil {
			return nil, err
		}
	}
	binary := 0
	for _, i := range m.unbounded {
		if !m.bounded[i] {
			m.Variables[i].High, binary = "1", binary+1
		}
	}
	if binary > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("integer variables without bounds are 0 or 1, as MPS has it: %s", formats.Count(binary, "variable")))
	}
	return m.Program, nil
}

// read reads a line of data.
func (m *mpsReader) read(section string, words record, target int) error {
	switch section {
	case "OBJSENSE":
		return m.sense(words[0])
	case "ROWS":
		return m.addRow(words)
	case "COLUMNS":
		return m.column(words)
	case "RHS":
		return m.numbers(words, m.rightSide)
	case "RANGES":
		return m.numbers(words, func(row int, v Decimal) error {
			if row < 0 {
				return m.file.Errorf("found the range of a free row, expected one of a constraint")
			}
			m.ranges = append(m.ranges, span{row, m.file.LineNumber(), v})
			return nil
		})
	case "BOUNDS":
		return m.boundOf(words)
	case "QUADOBJ", "QSECTION":
		return m.quadratic(&m.Objective, words, true)
	case "QMATRIX":
		return m.quadratic(&m.Objective, words, false)
	case "QCMATRIX":
		return m.quadratic(&m.Constraints[target].Terms, words, false)
	}
	return m.file.Errorf("found %s, expected a section", formats.Quote(strings.Join(words, " ")))
}

func (m *mpsReader) sense(word string) error {
	switch strings.ToUpper(word) {
	case "MAX", "MAXIMIZE", "MAXIMISE":
		m.Maximize = true
	case "MIN", "MINIMIZE", "MINIMISE":
	default:
		return m.file.Errorf("found the sense %s, expected MIN or MAX", formats.Quote(word))
	}
	return nil
}

func (m *mpsReader) addRow(words record) error {
	if len(words) != 2 {
		return m.file.Errorf("found %s, expected N, L, G or E and a name", formats.Quote(strings.Join(words, " ")))
	}
	kind, name := strings.ToUpper(words[0]), words[1]
	if _, again := m.rows[name]; again {
		return m.file.Errorf("found the row %s again, expected each once", formats.Quote(name))
	}
	if err := m.budget.Reserve(bytesPerVariable + int64(len(name))); err != nil {
		return m.file.Errorf("%d rows and more take %w", len(m.rows), err)
	}
	c := Constraint{Name: name, Line: m.file.LineNumber()}
	switch kind {
	case "N":
		m.rows[name] = unused
		for _, row := range m.rows {
			if row == objective {
				return nil
			}
		}
		m.rows[name] = objective
		return nil
	case "L":
		c.High = "0"
	case "G":
		c.Low = "0"
	case "E":
		c.Low, c.High = "0", "0"
	default:
		return m.file.Errorf("found the kind of row %s, expected N, L, G or E", formats.Quote(words[0]))
	}
	m.rows[name] = len(m.Constraints)
	m.Constraints, m.kinds, m.entered = append(m.Constraints, c), append(m.kinds, kind[0]), append(m.entered, -1)
	return nil
}

// row is the row of a name.
func (m *mpsReader) row(name string) (int, error) {
	row, ok := m.rows[name]
	if !ok {
		return 0, m.file.Errorf("found the row %s, expected one of the section ROWS", formats.Quote(name))
	}
	return row, nil
}

// value checks that a word is a number.
func (m *mpsReader) value(word string) (Decimal, error) { return m.number(word, m.file.LineNumber()) }

// column reads one or two coefficients of a column, or a marker.
func (m *mpsReader) column(words record) error {
	if len(words) == 3 && strings.Trim(words[1], "'") == "MARKER" {
		switch strings.Trim(words[2], "'") {
		case "INTORG":
			m.integers = true
		case "INTEND":
			m.integers = false
		default:
			return m.file.Errorf("found the marker %s, expected INTORG or INTEND", words[2])
		}
		return nil
	}
	if len(words) != 3 && len(words) != 5 {
		return m.file.Errorf("found %s, expected a column and one or two rows with coefficients; names have no blanks", formats.Count(len(words), "word"))
	}
	known := len(m.Variables)
	i, err := m.variable(words[0], m.file.LineNumber())
	if err != nil {
		return err
	}
	if i == known && m.integers {
		m.Variables[i].Kind = Integer
		m.unbounded = append(m.unbounded, i)
	}
	for k := 1; k < len(words); k += 2 {
		row, err := m.row(words[k])
		if err != nil {
			return err
		}
		v, err := m.value(words[k+1])
		if err != nil {
			return err
		}
		t := Term{Line: m.file.LineNumber(), I: i, J: -1, Coefficient: v}
		if err := m.reserveTerm(t.Line); err != nil {
			return err
		}
		if row != unused {
			last := &m.entered[max(0, row+1)] // the objective is first
			if *last == i {
				return m.file.Errorf("found the row %s again in the column %s, expected each once", formats.Quote(words[k]), formats.Quote(words[0]))
			}
			*last = i
		}
		switch {
		case row == objective:
			m.Objective = append(m.Objective, t)
		case row >= 0:
			m.Constraints[row].Terms = append(m.Constraints[row].Terms, t)
		}
	}
	return nil
}

// numbers reads one or two rows with numbers, behind the name of their set, which may be left out.
func (m *mpsReader) numbers(words record, set func(row int, v Decimal) error) error {
	if len(words)%2 == 1 {
		words = words[1:]
	}
	if len(words) != 2 && len(words) != 4 {
		return m.file.Errorf("found %s, expected a set, and one or two rows with numbers; names have no blanks", formats.Count(len(words), "word"))
	}
	for k := 0; k < len(words); k += 2 {
		row, err := m.row(words[k])
		if err != nil {
			return err
		}
		v, err := m.value(words[k+1])
		if err != nil {
			return err
		}
		if err := set(row, v); err != nil {
			return err
		}
	}
	return nil
}

// rightSide is the right side of a row; that of the objective is its constant with the other sign.
func (m *mpsReader) rightSide(row int, v Decimal) error {
	switch {
	case row == objective:
		m.Objective = append(m.Objective, Term{Line: m.file.LineNumber(), I: -1, J: -1, Coefficient: v.Negative()})
	case row >= 0:
		c := &m.Constraints[row]
		if c.Low != "" {
			c.Low = v
		}
		if c.High != "" {
			c.High = v
		}
	}
	return nil
}

// widen makes a range of a constraint's one bound: R wide on the other side; of an equation above it if R is positive, else below.
func (m *mpsReader) widen(r span) error {
	c, size := &m.Constraints[r.row], r.size
	negative := size[0] == '-'
	if negative {
		size = size.Negative()
	}
	var ok bool
	switch kind := m.kinds[r.row]; {
	case kind == 'L' || kind == 'E' && negative:
		c.Low, ok = c.High.plus(size.Negative())
	default:
		c.High, ok = c.Low.plus(size)
	}
	if !ok {
		return formats.Errorf(m.file.Name(), r.line, "found the range %s, expected a number with an exponent of at most %d", r.size, maxExponent)
	}
	return nil
}

// boundOf reads a bound: its kind, the set, which may be left out, a column, and for most kinds a number.
func (m *mpsReader) boundOf(words record) error {
	kind := strings.ToUpper(words[0])
	numbers := 1
	switch kind {
	case "UP", "LO", "FX", "LI", "UI", "SC":
	case "FR", "MI", "PL", "BV":
		numbers = 0
	default:
		return m.file.Errorf("found the bound %s, expected UP, LO, FX, FR, MI, PL, BV, LI, UI or SC", formats.Quote(words[0]))
	}
	rest := words[1:]
	if numbers == 0 && len(rest) == 3 { // a number that counts for nothing
		rest = rest[:2]
	}
	if len(rest) == 2+numbers {
		rest = rest[1:]
	}
	if len(rest) != 1+numbers {
		return m.file.Errorf("found %s, expected the bound %s, a set and a column, and a number where the bound has one", formats.Count(len(words), "word"), kind)
	}
	i, ok := m.index[rest[0]]
	if !ok {
		return m.file.Errorf("found the column %s, expected one of the section COLUMNS", formats.Quote(rest[0]))
	}
	v := &m.Variables[i]
	v.Line, m.bounded[i] = m.file.LineNumber(), true
	var low, high Decimal
	if numbers == 1 {
		var err error
		if low, err = m.bound(rest[1], -1, v.Line); err != nil && kind != "UP" && kind != "UI" && kind != "SC" {
			return err
		}
		if high, err = m.bound(rest[1], 1, v.Line); err != nil && kind != "LO" && kind != "LI" {
			return err
		}
	}
	switch kind {
	case "UP", "UI":
		if v.High = high; high != "" && high[0] == '-' && v.Low == "0" {
			v.Low = ""
			m.Notes = append(m.Notes, fmt.Sprintf("the column %s has a negative upper bound and no lower one: it has none then, as MPS has it", formats.Quote(v.Name)))
		}
	case "LO", "LI":
		v.Low = low
	case "FX":
		v.Low, v.High = low, high
	case "FR":
		v.Low, v.High = "", ""
	case "MI":
		v.Low = ""
	case "PL":
		v.High = ""
	case "BV":
		v.Kind, v.Low, v.High = Binary, "0", "1"
	case "SC":
		v.Kind, v.High = SemiContinuous, high
	}
	if kind == "UI" || kind == "LI" {
		v.Kind = Integer
	}
	return nil
}

// quadratic reads an entry of a symmetric matrix Q, of which half of xᵀQx is added to the objective, and all of it to a constraint. The
// file lists one triangle, or all of it.
func (m *mpsReader) quadratic(terms *[]Term, words record, triangle bool) error {
	if len(words) != 3 && len(words) != 5 {
		return m.file.Errorf("found %s, expected two columns and a coefficient", formats.Count(len(words), "word"))
	}
	for k := 1; k < len(words); k += 2 {
		i, known := m.index[words[0]]
		j, other := m.index[words[k]]
		if !known || !other {
			return m.file.Errorf("found the columns %s and %s, expected two of the section COLUMNS", formats.Quote(words[0]), formats.Quote(words[k]))
		}
		v, err := m.value(words[k+1])
		if err != nil {
			return err
		}
		t := Term{Line: m.file.LineNumber(), I: i, J: j, Coefficient: v}
		if err := m.reserveTerm(t.Line); err != nil {
			return err
		}
		if triangle {
			pair := [2]int{min(i, j), max(i, j)}
			if line, again := m.pairs[pair]; again {
				return m.file.Errorf("found the columns of line %d again, expected one triangle of the matrix; QMATRIX lists all of it", line)
			}
			m.pairs[pair] = t.Line
		}
		if terms == &m.Objective && (!triangle || i == j) { // a pair stands twice in the whole matrix, once in a triangle
			t.Coefficient = v.Half()
		}
		*terms = append(*terms, t)
	}
	return nil
}
