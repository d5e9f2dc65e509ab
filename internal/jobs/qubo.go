package jobs

import (
	"context"
	"slices"

	"coalesce/solvers/option"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A QUBORequest is a quadratic program as arrays: the sum of coefficients[k] x[i[k]] x[j[k]], i and j of int32 and
// coefficients of int64 or float64. A pair of a variable with itself is a linear term, of spins too.
type QUBORequest struct {
	// number of variables, which i and j count from 0
	Variables int `option:"variables" flag:"-" min:"0" default:"0"`
	// find the largest value in place of the smallest
	Maximize bool `option:"maximize" flag:"-"`
	// variables are spins, -1 and +1
	Ising bool `option:"ising" flag:"-"`

	// begin with this solution: a digit 0 or 1 for each variable, a sign for each spin, or the JSON of an earlier result; the
	// flag names a file of it
	Start string `option:"start" default:"none"`

	solver qubo.Options
}

func quboProblem() problem {
	return problem{"qubo", qubo.Subjects, func() request { return new(QUBORequest) }}
}

func (q *QUBORequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *QUBORequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *QUBORequest) run(ctx context.Context, a arrays) (any, error) {
	inst, err := q.instance(a)
	if err != nil {
		return nil, err
	}
	if q.Start != "" {
		if q.solver.Start, err = qubo.ParseStart([]byte(q.Start), "start", inst.N); err != nil {
			return nil, err
		}
	}
	return resultOrNil(qubo.Solve(ctx, inst, q.solver))
}

func (q *QUBORequest) instance(a arrays) (*quboproblem.Instance, error) {
	if q.Variables > quboproblem.MaxVariables {
		return nil, solve.InvalidInput("variables", "found %d, expected at most %d", q.Variables, quboproblem.MaxVariables)
	}
	rows, err := typedArray[int32](a, "i")
	if err != nil {
		return nil, err
	}
	cols, err := typedArray[int32](a, "j")
	if err != nil {
		return nil, err
	}
	for k := range min(len(rows), len(cols)) {
		if i, j := int(rows[k]), int(cols[k]); i < 0 || j < 0 || i >= q.Variables || j >= q.Variables {
			return nil, solve.InvalidInput("i, j", "found the variables %d and %d in entry %d, expected 0 to %d", i, j, k, q.Variables-1)
		}
	}
	b := quboproblem.NewBuilder(q.Variables)
	if q.Ising {
		b.Form(quboproblem.Ising)
	}
	if q.Maximize {
		b.Maximize()
	} else {
		b.Minimize()
	}
	count := -1
	switch c := a["coefficients"].(type) {
	case []int64:
		if count = len(c); count == len(rows) && count == len(cols) {
			addTerms(rows, cols, c, b.LinearInt, b.PairInt)
		}
	case []float64:
		if count = len(c); count == len(rows) && count == len(cols) {
			addTerms(rows, cols, c, b.Linear, b.Pair)
		}
	default:
		return nil, unknownType("coefficients", c, "int64 and float64")
	}
	if count != len(rows) || count != len(cols) {
		return nil, solve.InvalidInput("i, j, coefficients", "found %d, %d and %d numbers, expected as many of each", len(rows), len(cols), count)
	}
	return b.Build()
}

// addTerms gives a builder coefficients, those of a variable with itself as linear terms.
func addTerms[T any](rows, cols []int32, coefficients []T, linear func(int, T), pair func(int, int, T)) {
	for k, c := range coefficients {
		if i, j := int(rows[k]), int(cols[k]); i == j {
			linear(i, c)
		} else {
			pair(i, j, c)
		}
	}
}
