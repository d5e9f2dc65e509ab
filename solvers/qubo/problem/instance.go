// Package problem is a binary quadratic program: its instance, in the terms in
// which it was given, and its normal form, which searches see: maximise, with
// integer coefficients.
package problem

import (
	"fmt"
	"math"
	"slices"
)

// MaxVariables is the most variables an instance may have: columns are int32.
const MaxVariables = math.MaxInt32

// A Form says whether coefficients are those of a QUBO, of an Ising model or of a graph to cut.
type Form string

// The forms. x is in {0,1}^n, s = 2x-1 in {-1,+1}^n.
const (
	QUBO   Form = "qubo"   // Σ linear(i) x(i) + Σ{i<j} pair(i,j) x(i) x(j)
	Ising  Form = "ising"  // Σ linear(i) s(i) + Σ{i<j} pair(i,j) s(i) s(j)
	MaxCut Form = "maxcut" // Σ{i<j} pair(i,j) [x(i) ≠ x(j)]; no linear terms
)

// A Sense says whether the largest or the smallest value is asked for.
type Sense string

// The senses.
const (
	Maximize Sense = "maximize"
	Minimize Sense = "minimize"
)

// A Number is the type of an instance's coefficients.
type Number interface{ int64 | float64 }

// Terms are the coefficients of an instance with n variables.
type Terms[T Number] struct {
	Offset T
	Linear []T // n
	Pair   []T // len(Instance.Col); of both (i,j) and (j,i): the coefficient of the product, once
}

// An Instance is a binary quadratic program. Its pairs are a symmetric sparse
// matrix without a diagonal: those of variable i are Col[Start[i]:Start[i+1]],
// ascending. An instance is read only once it is made.
type Instance struct {
	N     int
	Form  Form
	Sense Sense
	Start []int64 // N+1
	Col   []int32
	// Exactly one of the two is set.
	Int  *Terms[int64]
	Real *Terms[float64]

	Fixed  []int8   // nil, or of every variable: 0 or 1 where it is fixed, -1 where free
	Names  []string // nil where the variables are 0 ... N-1
	Source string   // the file, or the drawing
	Format string   // the name of the file format
	Notes  []string // changes and assumptions of the reader, one sentence each
}

// Pairs is the number of pairs with a coefficient.
func (inst *Instance) Pairs() int64 { return int64(len(inst.Col)) / 2 }

// String describes the instance in a line.
func (inst *Instance) String() string {
	kind := "integer"
	if inst.Real != nil {
		kind = "real"
	}
	density := 0.0
	if inst.N > 1 {
		density = float64(len(inst.Col)) / (float64(inst.N) * float64(inst.N-1))
	}
	return fmt.Sprintf("%s %s, %s, %s (density %.3g), %s coefficients",
		inst.Sense, inst.Form, count(int64(inst.N), "variable"), count(inst.Pairs(), "pair"), density, kind)
}

// count is "1 pair", "2 pairs".
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// DenseFrom is the density from which rows are stored with their zeros: adding
// a whole row then is faster than adding its pairs one by one.
const DenseFrom = 0.03

// Memory is how many bytes solving an instance on the host takes besides the
// instance, about.
func (inst *Instance) Memory() int64 {
	n, entries := int64(inst.N), int64(len(inst.Col))
	need := 64 * n
	if inst.Form != QUBO || inst.Sense == Minimize || inst.Real != nil {
		need += 8 * entries
	}
	if inst.Real != nil {
		need += 16 * entries
	}
	if n > 1 && float64(entries) >= DenseFrom*float64(n)*float64(n-1) {
		return need + 2*n*n
	}
	return need + 12*entries
}

// Note adds a sentence to Notes.
func (inst *Instance) Note(format string, args ...any) {
	inst.Notes = append(inst.Notes, fmt.Sprintf(format, args...))
}

// IsSymmetric reports whether flipping all variables changes no value.
func (inst *Instance) IsSymmetric() bool {
	switch {
	case inst.Form == MaxCut:
		return true
	case inst.Form != Ising:
		return false
	case inst.Int != nil:
		return !slices.ContainsFunc(inst.Int.Linear, func(h int64) bool { return h != 0 })
	}
	return !slices.ContainsFunc(inst.Real.Linear, func(h float64) bool { return h != 0 })
}
