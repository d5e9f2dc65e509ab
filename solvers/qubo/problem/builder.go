package problem

import (
	"math"

	"coalesce/solvers/solve"
)

// A Builder makes an instance of coefficients that come in any order. Several of
// the same variables are added up. Coefficients are kept as integers while all of
// them are whole numbers below 2^53, or were given as int64; then as floats.
//
// Methods remember the first error, which Build returns.
type Builder struct {
	n       int
	form    Form
	sense   Sense
	entries *Entries
	err     error
}

// NewBuilder begins an instance of n variables, 0 to n-1: a QUBO without
// coefficients. Maximize or Minimize must follow before Build.
func NewBuilder(n int) *Builder {
	b := &Builder{n: n, form: QUBO, entries: NewEntries(math.MaxInt64)}
	if n < 0 || n > MaxVariables {
		b.err = solve.InvalidInput("n", "found %d variables, expected 0 to %d", n, MaxVariables)
	}
	return b
}

// Linear adds c to the coefficient of variable i.
func (b *Builder) Linear(i int, c float64) { b.add(i, i, func() error { return b.real(i, i, c) }) }

// LinearInt is Linear with every digit of an integer.
func (b *Builder) LinearInt(i int, c int64) {
	b.add(i, i, func() error { return b.entries.Add(i, i, c) })
}

// Pair adds c to the coefficient of the product of variables i and j, which
// counts once: Pair(i, j, c) and Pair(j, i, c) are the same.
func (b *Builder) Pair(i, j int, c float64) {
	b.two(i, j)
	b.add(i, j, func() error { return b.real(i, j, c) })
}

// PairInt is Pair with every digit of an integer.
func (b *Builder) PairInt(i, j int, c int64) {
	b.two(i, j)
	b.add(i, j, func() error { return b.entries.Add(i, j, c) })
}

// Form sets the form of the instance, QUBO by default.
func (b *Builder) Form(form Form) { b.form = form }

// Maximize asks for the largest value.
func (b *Builder) Maximize() { b.sense = Maximize }

// Minimize asks for the smallest value.
func (b *Builder) Minimize() { b.sense = Minimize }

// Build makes the instance and checks it. Its error is the first of the methods', or says what
// is missing; errors of coefficients wrap ErrCoefficient. The builder may be used afterwards,
// and the instance does not change then.
func (b *Builder) Build() (*Instance, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.sense == "" {
		return nil, solve.InvalidInput("sense", "neither Maximize nor Minimize was called")
	}
	inst, err := b.entries.Instance(b.n, true)
	if err != nil {
		return nil, err
	}
	inst.Form, inst.Sense = b.form, b.sense
	return inst, inst.Check()
}

// add adds a coefficient where variables are in range and nothing was wrong yet.
func (b *Builder) add(i, j int, entry func() error) {
	for _, v := range []int{i, j} {
		if b.err == nil && (v < 0 || v >= b.n) {
			b.err = solve.InvalidInput("variable", "found variable %d, expected 0 to %d", v, b.n-1)
		}
	}
	if b.err == nil {
		b.err = entry()
	}
}

func (b *Builder) two(i, j int) {
	if b.err == nil && i == j {
		b.err = solve.InvalidInput("variable", "found a pair of variable %d with itself, expected two variables: Linear is for one", i)
	}
}

func (b *Builder) real(i, j int, c float64) error {
	if !isFinite(c) {
		return solve.InvalidInput("c", "%w: found %v for variables %d and %d, expected a number", ErrCoefficient, c, i, j)
	}
	return b.entries.AddReal(i, j, c)
}
