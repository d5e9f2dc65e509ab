// Package problem is a model of binary variables, spins and bounded integers: an objective of products of any degree, and linear
// constraints. A Model has the terms and the decimals in which it was given; its Form is the same model in bits and integers, which
// searches see.
package problem

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"coalesce/solvers/formats"
)

// ErrCheck is wrapped by errors of answers of a device that the host refutes.
var ErrCheck = errors.New("the answer of the device is wrong")

// A Kind is the values that a variable takes.
type Kind string

// The kinds of variables.
const (
	Binary  Kind = "binary"  // 0 or 1
	Spin    Kind = "spin"    // -1 or +1
	Integer Kind = "integer" // a whole number between its bounds
)

// A Sense says whether the largest or the smallest value is asked for.
type Sense string

// The senses.
const (
	Maximize Sense = "maximize"
	Minimize Sense = "minimize"
)

// A Variable has a name, which no other variable has, and takes the values of its kind from Low to High.
type Variable struct {
	Name      string
	Kind      Kind
	Low, High int64
	Line      int // in the file that names it; 0: none
}

// A Term is a coefficient times the product of variables, by number; a variable may come several times, and a term without any is a
// constant.
type Term struct {
	Coefficient Decimal
	Variables   []int32
}

// A Linear is a coefficient times a variable.
type Linear struct {
	Coefficient Decimal
	Variable    int32
}

// A Constraint bounds a sum; a bound that is nil is none.
type Constraint struct {
	Name      string
	Terms     []Linear
	Low, High *Decimal
	Line      int // in the file that has it; 0: none
}

// A Model is an objective over variables, and constraints. It is read only once it is made.
type Model struct {
	Sense       Sense
	Variables   []Variable
	Objective   []Term
	Constraints []Constraint
	Source      string   // the file
	Format      string   // its format
	Notes       []string // changes and assumptions of the reader, one sentence each

	numbers map[string]int  // of variables by name
	named   map[string]bool // names of constraints
}

// MaxVariables is the most variables of a model, and the most bits that they take.
const MaxVariables = 1 << 24

// maxRange is the largest difference of an integer's bounds.
const maxRange = 1 << 40

// New is an empty model.
func New(sense Sense) *Model {
	return &Model{Sense: sense, numbers: map[string]int{}, named: map[string]bool{}}
}

// AddBinary adds a variable of 0 and 1 and returns its number.
func (m *Model) AddBinary(name string) int {
	return m.AddVariable(Variable{Name: name, Kind: Binary, High: 1})
}

// AddSpin adds a variable of -1 and +1 and returns its number.
func (m *Model) AddSpin(name string) int {
	return m.AddVariable(Variable{Name: name, Kind: Spin, Low: -1, High: 1})
}

// AddInteger adds a variable of the whole numbers from low to high and returns its number.
func (m *Model) AddInteger(name string, low, high int64) int {
	return m.AddVariable(Variable{Name: name, Kind: Integer, Low: low, High: high})
}

// AddVariable adds a variable and returns its number. Check finds names that come twice.
func (m *Model) AddVariable(v Variable) int {
	if _, again := m.numbers[v.Name]; !again {
		m.numbers[v.Name] = len(m.Variables)
	}
	m.Variables = append(m.Variables, v)
	return len(m.Variables) - 1
}

// AddTerm adds a coefficient times the product of variables to the objective.
func (m *Model) AddTerm(coefficient Decimal, variables ...int32) {
	if coefficient.Digits != 0 {
		m.Objective = append(m.Objective, Term{coefficient, variables})
	}
}

// AddConstraint adds a constraint.
func (m *Model) AddConstraint(c Constraint) {
	m.Constraints = append(m.Constraints, c)
	if c.Name != "" {
		m.named[c.Name] = true
	}
}

// Number is the number of the variable of a name.
func (m *Model) Number(name string) (int, bool) {
	i, ok := m.numbers[name]
	return i, ok
}

// Note adds a sentence to Notes.
func (m *Model) Note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

// Degree is the most variables in a term of the objective.
func (m *Model) Degree() (degree int) {
	for k := range m.Objective {
		degree = max(degree, len(m.Objective[k].Variables))
	}
	return degree
}

// Label is the name of constraint k; those without one are called c and their number from 1, with underscores behind it where another has
// that name.
func (m *Model) Label(k int) string {
	if name := m.Constraints[k].Name; name != "" {
		return name
	}
	label := "c" + strconv.Itoa(k+1)
	for m.named[label] {
		label += "_"
	}
	return label
}

// Size counts what the model has.
func (m *Model) Size() map[string]int {
	return map[string]int{"variables": len(m.Variables), "terms": len(m.Objective), "constraints": len(m.Constraints)}
}

// String describes the model in a line.
func (m *Model) String() string {
	return fmt.Sprintf("%s, %s, %s of degree %d at most, %s", m.Sense, formats.Count(len(m.Variables), "variable"), formats.Count(len(m.Objective), "term"),
		m.Degree(), formats.Count(len(m.Constraints), "constraint"))
}

// Check returns the fault of a model, with the line of its file where there is one.
func (m *Model) Check() error {
	at := func(line int, format string, args ...any) error {
		if m.Source == "" {
			return fmt.Errorf(format, args...)
		}
		return formats.Errorf(m.Source, line, format, args...)
	}
	if m.Sense != Minimize && m.Sense != Maximize {
		return at(0, "found the sense %s, expected minimize or maximize", formats.Quote(string(m.Sense)))
	}
	if len(m.Variables) > MaxVariables {
		return at(0, "found %d variables, expected at most %d", len(m.Variables), MaxVariables)
	}
	for i := range m.Variables {
		v := &m.Variables[i]
		switch first, ok := m.numbers[v.Name]; {
		case !utf8.ValidString(v.Name):
			return at(v.Line, "found the variable %s, expected UTF-8", formats.Quote(v.Name))
		case !ok || first != i:
			return at(v.Line, "found the variable %s again, expected each name once", formats.Quote(v.Name))
		case v.Kind == Integer && (v.High-v.Low > maxRange || v.Low < -maxRange || v.High > maxRange):
			return at(v.Line, "found the variable %s from %d to %d, expected at most %d in size", formats.Quote(v.Name), v.Low, v.High, int64(maxRange))
		case v.Low > v.High, v.Kind == Binary && (v.Low < 0 || v.High > 1), v.Kind == Spin && (v.Low*v.Low != 1 || v.High*v.High != 1):
			return at(v.Line, "found the %s variable %s from %d to %d, expected a value between them", v.Kind, formats.Quote(v.Name), v.Low, v.High)
		case v.Kind != Binary && v.Kind != Spin && v.Kind != Integer:
			return at(v.Line, "found the kind %s of the variable %s, expected binary, spin or integer", formats.Quote(string(v.Kind)), formats.Quote(v.Name))
		}
	}
	unknown := func(i int32) bool { return i < 0 || int(i) >= len(m.Variables) }
	for k := range m.Objective {
		if i := slices.IndexFunc(m.Objective[k].Variables, unknown); i >= 0 {
			return at(0, "found the variable %d in a term, expected 0 to %d", m.Objective[k].Variables[i], len(m.Variables)-1)
		}
	}
	labels := make(map[string]bool, len(m.Constraints))
	for k := range m.Constraints {
		c := &m.Constraints[k]
		if label := m.Label(k); !utf8.ValidString(label) {
			return at(c.Line, "found the constraint %s, expected UTF-8", formats.Quote(label))
		} else if labels[label] {
			return at(c.Line, "found the constraint %s again, expected each name once", formats.Quote(label))
		} else {
			labels[label] = true
		}
		for _, t := range c.Terms {
			if unknown(t.Variable) {
				return at(c.Line, "found the variable %d in a constraint, expected 0 to %d", t.Variable, len(m.Variables)-1)
			}
		}
	}
	return nil
}

// Values are the value of each variable of a model, a solution to begin a solve with.
type Values []int64

// StartOf implements solve.Start.
func (Values) StartOf() string { return "model" }

// Allows reports whether variable i may have a value.
func (v *Variable) Allows(x int64) bool {
	return x >= v.Low && x <= v.High && (v.Kind != Spin || x != 0)
}

// Value is the objective of values, exactly.
func (m *Model) Value(x Values) *big.Rat {
	var s Sum
	var large *big.Rat
	for k := range m.Objective {
		t := &m.Objective[k]
		product, exact := int64(1), true
		for _, i := range t.Variables {
			next := product * x[i]
			exact = exact && (x[i] == 0 || next/x[i] == product)
			product = next
		}
		if exact || slices.ContainsFunc(t.Variables, func(i int32) bool { return x[i] == 0 }) {
			if exact {
				s.AddTimes(t.Coefficient, product)
			}
			continue
		}
		p := t.Coefficient.Rat()
		for _, i := range t.Variables {
			p.Mul(p, new(big.Rat).SetInt64(x[i]))
		}
		if large == nil {
			large = new(big.Rat)
		}
		large.Add(large, p)
	}
	if large == nil {
		return s.Rat()
	}
	return large.Add(large, s.Rat())
}

// A Finding is the value of a constraint's sum, and how far it is beyond its bounds.
type Finding struct {
	Sum, Violation *big.Rat
}

// Find is the sum of constraint k.
func (m *Model) Find(k int, x Values) Finding {
	c := &m.Constraints[k]
	var s Sum
	for _, t := range c.Terms {
		s.AddTimes(t.Coefficient, x[t.Variable])
	}
	f := Finding{s.Rat(), new(big.Rat)}
	if c.Low != nil && f.Sum.Cmp(c.Low.Rat()) < 0 {
		f.Violation.Sub(c.Low.Rat(), f.Sum)
	} else if c.High != nil && f.Sum.Cmp(c.High.Rat()) > 0 {
		f.Violation.Sub(f.Sum, c.High.Rat())
	}
	return f
}

// Feasible reports whether values keep all bounds and all constraints.
func (m *Model) Feasible(x Values) bool {
	for i := range m.Variables {
		if !m.Variables[i].Allows(x[i]) {
			return false
		}
	}
	for k := range m.Constraints {
		if m.Find(k, x).Violation.Sign() != 0 {
			return false
		}
	}
	return true
}

// Fixing returns the model with variables fixed, each by a text such as north=0.
func (m *Model) Fixing(pairs []string) (*Model, error) {
	if len(pairs) == 0 {
		return m, nil
	}
	out := *m
	out.Variables = slices.Clone(m.Variables)
	for _, pair := range pairs {
		i, value, err := m.pair(pair)
		if err != nil {
			return nil, err
		}
		v := &out.Variables[i]
		if !v.Allows(value) {
			return nil, fmt.Errorf("found %s, and the %s variable %s is from %d to %d", formats.Quote(pair), v.Kind, formats.Quote(v.Name), v.Low, v.High)
		}
		v.Low, v.High = value, value
	}
	return &out, nil
}

// pair reads a name, = and a value.
func (m *Model) pair(text string) (i int, value int64, err error) {
	at := strings.LastIndexByte(text, '=')
	i, ok := m.Number(text[:max(at, 0)])
	value, err = strconv.ParseInt(text[at+1:], 10, 64)
	if at < 0 || !ok || err != nil {
		return 0, 0, fmt.Errorf("found %s, expected the name of a variable, = and a whole number", formats.Quote(text))
	}
	return i, value, nil
}

// ParseStart reads values to begin with: pairs such as north=0 between blanks, in which variables that are left out have the value
// of their range that is nearest to 0, or the JSON object of a result. name is what errors call the text.
func (m *Model) ParseStart(text []byte, name string) (Values, error) {
	x := make(Values, len(m.Variables))
	for i := range x {
		v := &m.Variables[i]
		x[i] = max(v.Low, min(0, v.High))
		if v.Kind == Spin {
			x[i] = v.Low
		}
	}
	set := func(i int, value int64) error {
		if !m.Variables[i].Allows(value) {
			return fmt.Errorf("%s: found %s=%d, expected %d to %d", name, m.Variables[i].Name, value, m.Variables[i].Low, m.Variables[i].High)
		}
		x[i] = value
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		var result struct {
			Assignment map[string]int64 `json:"assignment"`
		}
		if err := formats.UnmarshalJSON(text, name, &result); err != nil {
			return nil, err
		}
		for label, value := range result.Assignment {
			i, ok := m.Number(label)
			if !ok {
				return nil, fmt.Errorf("%s: found the variable %s, expected one of the model", name, formats.Quote(label))
			}
			if err := set(i, value); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	for _, word := range strings.Fields(string(text)) {
		i, value, err := m.pair(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := set(i, value); err != nil {
			return nil, err
		}
	}
	return x, nil
}
