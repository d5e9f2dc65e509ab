package model

import (
	"coalesce/solvers/model/internal/search"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// A Result is the best solution that was found for a model. Its value and the sums of its constraints were recomputed from the model's
// own decimals.
type Result struct {
	solve.Report
	// file format of the model
	Format string `json:"format"`
	// direction of the objective
	Sense problem.Sense `json:"sense"`
	// whether the solution keeps all constraints; value and bound are of feasible solutions alone
	Feasible bool `json:"feasible"`
	// value of each variable; where no feasible solution was found, of one that violates few constraints
	Solution []int64 `json:"solution"`
	// value of each variable by its name
	Assignment map[string]int64 `json:"assignment"`
	// constraints with the sums of the solution
	Constraints []Constraint `json:"constraints"`
	// most variables in a term of the objective
	Degree int `json:"degree"`
	// seed of the random numbers
	Seed uint64 `json:"seed"`
	// moves of the searches
	Moves int64 `json:"moves"`
	// moments at which the best value improved
	History []Improvement `json:"history"`
	// findings of the check of the answer
	Certificate Certificate `json:"certificate"`
}

// A Constraint is a constraint of the model as a solution has it.
type Constraint struct {
	// name, or c and the number from 1 of one without
	Name string `json:"name"`
	// sum of the solution
	Value solve.Number `json:"value"`
	// least sum that is allowed
	Low solve.Number `json:"low" none:"there is none"`
	// largest sum that is allowed
	High solve.Number `json:"high" none:"there is none"`
	// whether the sum is within the bounds
	Holds bool `json:"holds"`
}

// An Improvement is a moment at which the best value improved.
type Improvement struct {
	Seconds float64      `json:"seconds" unit:"s"` // time from the start of the solve
	Value   solve.Number `json:"value"`            // best value
}

// A Certificate has the findings of the check of a solution.
type Certificate struct {
	By     string `json:"by"`     // checker
	Reason string `json:"reason"` // reason why the solution is proven optimal, or why not, one sentence
	// factor of the objective in the sum of the multipliers' bound, 0 where the bound has another proof
	Scale int64 `json:"scale"`
	// Lagrangian multipliers of the constraints that have variables that are not fixed, in whole numbers; empty where the bound is that of the terms
	Multipliers []int64 `json:"multipliers"`
	// what the problem of the first bit has of each product of two bits, times the scale; empty where the bound does not divide products
	Shares []int64 `json:"shares"`
	// multipliers of constraints times bits, in threes: the number of the constraint, of the bit, and the multiplier
	Products []int64 `json:"products"`
	// whether a tree proved the answer, which the check visits again
	Tree bool `json:"tree"`
}

// multipliers are those of the bound that the certificate proves.
func (c *Certificate) multipliers() search.Multipliers {
	m := search.Multipliers{Scale: c.Scale, Rows: c.Multipliers}
	if len(c.Shares) == 0 {
		return m
	}
	m.Shares = c.Shares
	for k := 0; k+2 < len(c.Products); k += 3 {
		row, bit := c.Products[k], c.Products[k+1]
		if row != int64(int32(row)) || bit != int64(int32(bit)) {
			row = -1 // which is none
		}
		m.Products = append(m.Products, search.RowProduct{Row: int32(row), Bit: int32(bit), Value: c.Products[k+2]})
	}
	return m
}

// prove takes the multipliers of a bound.
func (c *Certificate) prove(m *search.Multipliers) {
	c.Scale, c.Multipliers, c.Shares = m.Scale, m.Rows, m.Shares
	for _, p := range m.Products {
		c.Products = append(c.Products, int64(p.Row), int64(p.Bit), p.Value)
	}
}

// constraintsOf are a model's constraints with the sums of values.
func constraintsOf(m *problem.Model, x problem.Values) []Constraint {
	out := make([]Constraint, len(m.Constraints))
	for k := range out {
		found, c := m.Find(k, x), &m.Constraints[k]
		out[k] = Constraint{Name: m.Label(k), Value: solve.Number(problem.RatText(found.Sum)), Holds: found.Violation.Sign() == 0}
		if c.Low != nil {
			out[k].Low = solve.Number(c.Low.String())
		}
		if c.High != nil {
			out[k].High = solve.Number(c.High.String())
		}
	}
	return out
}
