// Package program reads mathematical programs: variables with names, an objective, and constraints, of degree two at most. The formats
// are LP (CPLEX, Gurobi, SCIP, dimod), MPS in its fixed and free forms with the sections of QPS for quadratic terms, and QPLIB.
//
// What must not enter: which programs a solver takes.
package program

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A Program is an objective and constraints over variables.
type Program struct {
	Maximize    bool // else minimize
	Variables   []Variable
	Objective   []Term
	Constraints []Constraint
	Notes       []string // what was assumed
}

// A Kind is the values that a variable takes between its bounds.
type Kind int

// The kinds of variables.
const (
	Continuous Kind = iota
	Integer
	Binary
	SemiContinuous // 0, or a value between the bounds
)

// A Variable has bounds; an empty bound stands for infinity.
type Variable struct {
	Name      string
	Line      int // that names it first, or gives its last bound
	Kind      Kind
	Low, High Decimal
}

// IsBinary reports whether a variable takes the values 0 and 1.
func (v *Variable) IsBinary() bool {
	return (v.Kind == Binary || v.Kind == Integer) && v.Low.isWhole("0") && v.High.isWhole("1")
}

// Bounds are the bounds in words.
func (v *Variable) Bounds() string {
	low, high := string(v.Low), string(v.High)
	if low == "" {
		low = "-infinity"
	}
	if high == "" {
		high = "infinity"
	}
	return low + " to " + high
}

// A Term is a coefficient times the product of variables, by number; -1 stands for none.
type Term struct {
	Line        int
	I, J        int
	Coefficient Decimal
}

// A Constraint bounds the sum of terms; an empty bound stands for infinity.
type Constraint struct {
	Name      string // empty: it has none
	Line      int
	Terms     []Term
	Low, High Decimal
}

// A Decimal is a number as a file writes it, all digits kept.
type Decimal string

// isWhole reports whether a decimal is a number of one digit, with or without a fraction of zeros.
func (d Decimal) isWhole(digit string) bool {
	if string(d) == digit {
		return true
	}
	v, ok := text.ParseFloat([]byte(d))
	return ok && strconv.FormatFloat(v, 'g', -1, 64) == digit
}

// Negative is the decimal with the other sign.
func (d Decimal) Negative() Decimal {
	if d[0] == '-' {
		return d[1:]
	}
	return "-" + Decimal(strings.TrimPrefix(string(d), "+"))
}

// Half is half of the decimal, exactly; of infinities and of texts that are no numbers it is themselves.
func (d Decimal) Half() Decimal {
	if v, err := strconv.ParseInt(string(d), 10, 64); err == nil && v%2 == 0 {
		return Decimal(strconv.FormatInt(v/2, 10))
	}
	mantissa, exponent := string(d), 0
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(mantissa[at+1:]); err != nil {
			return d
		}
		mantissa = mantissa[:at]
	}
	if whole, fraction, ok := strings.Cut(mantissa, "."); ok {
		mantissa, exponent = whole+fraction, exponent-len(fraction)
	}
	v, ok := new(big.Int).SetString(mantissa, 10)
	if !ok {
		return d
	}
	return Decimal(v.Mul(v, big.NewInt(5)).String() + "e" + strconv.Itoa(exponent-1))
}

// A builder collects a program while a file is read.
type builder struct {
	*Program
	file   *text.File
	budget *formats.Budget
	index  map[string]int
}

func newBuilder(f *text.File, budget *formats.Budget) *builder {
	return &builder{Program: &Program{}, file: f, budget: budget, index: map[string]int{}}
}

// bytesPerVariable is the memory of a variable without its name, with room for its entry in a map; bytesPerTerm that of a term.
const (
	bytesPerVariable = 200
	bytesPerTerm     = 80
)

// variable is the number of the variable of a name, which is new or not.
func (b *builder) variable(name string, line int) (int, error) {
	if i, ok := b.index[name]; ok {
		return i, nil
	}
	if !utf8.ValidString(name) { // results could not give it
		return 0, formats.Errorf(b.file.Name(), line, "found the name %s, expected UTF-8", formats.Quote(name))
	}
	if err := b.budget.Reserve(int64(len(name)) + bytesPerVariable); err != nil {
		return 0, formats.Errorf(b.file.Name(), line, "%d variables and more take %w", len(b.Variables), err)
	}
	i := len(b.Variables)
	b.index[name] = i
	b.Variables = append(b.Variables, Variable{Name: name, Line: line, Low: "0"})
	return i, nil
}

// reserveTerm takes the memory of a term from the budget.
func (b *builder) reserveTerm(line int) error {
	if err := b.budget.Reserve(bytesPerTerm); err != nil {
		return formats.Errorf(b.file.Name(), line, "the terms of this program take %w", err)
	}
	return nil
}

// number checks a word that has to be a number.
func (b *builder) number(word string, line int) (Decimal, error) {
	if !text.IsNumber([]byte(word)) {
		return "", formats.Errorf(b.file.Name(), line, "found %s, expected a number", formats.Quote(word))
	}
	return Decimal(word), nil
}

// infinite returns 1 or -1 for a word that stands for an infinity, with a sign or not, and for numbers from 1e20 on, as the field has
// it; 0 for others.
func infinite(word string) int {
	switch sign, rest := 1, strings.ToLower(word); {
	case strings.HasPrefix(rest, "-"):
		sign, rest = -1, rest[1:]
		fallthrough
	default:
		if rest = strings.TrimPrefix(rest, "+"); rest == "inf" || rest == "infinity" {
			return sign
		}
	}
	if v, ok := text.ParseFloat([]byte(word)); ok && (v >= 1e20 || v <= -1e20) {
		return map[bool]int{true: 1, false: -1}[v > 0]
	}
	return 0
}

// bound reads a lower bound (sign -1) or an upper one; the infinity on its side is the empty bound.
func (b *builder) bound(word string, sign, line int) (Decimal, error) {
	switch infinite(word) {
	case sign:
		return "", nil
	case -sign:
		return "", formats.Errorf(b.file.Name(), line, "found the bound %s, which nothing attains", formats.Quote(word))
	}
	return b.number(word, line)
}

// maxExponent is the largest exponent of ten, with either sign, of decimals that are added: float64 has none beyond 400.
const maxExponent = 400

// plus is the exact sum of decimals; false for an exponent beyond maxExponent.
func (d Decimal) plus(e Decimal) (Decimal, bool) {
	var sum big.Rat
	for _, v := range []Decimal{d, e} {
		if at := strings.IndexAny(string(v), "eE"); at >= 0 {
			if exponent, err := strconv.Atoi(string(v[at+1:])); err != nil || exponent > maxExponent || exponent < -maxExponent {
				return "", false
			}
		}
		var x big.Rat
		if _, ok := x.SetString(string(v)); !ok {
			return "", false
		}
		sum.Add(&sum, &x)
	}
	places, _ := sum.FloatPrec()
	return Decimal(sum.FloatString(places)), true
}
