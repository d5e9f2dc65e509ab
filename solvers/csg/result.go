package csg

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"coalesce/solvers/csg/internal/attempt"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Prices prove a structure optimal, and count the work of the proof.
type Prices struct {
	price.Proof
	price.Work
	// price of each block, at which the structure is the best of all
	Blocks *problem.BlockPrice `json:"blocks,omitempty" none:"their number does not count"`
}

// A Result is the answer to an instance, and how it came about. Its Algorithm is
// a Method.
type Result struct {
	solve.Report
	// blocks as lists of agents from 1
	Structure problem.Structure `json:"solution" none:"every structure has a forbidden block"`
	// names of the agents
	Names []string `json:"agents,omitempty" none:"they have none"`
	// type of the values
	Type problem.Value `json:"type"`
	// type of the integers that were added in place of the values
	Solved problem.Value `json:"solved,omitempty" none:"values were added as they are"`
	// the structure of the smallest value is the best
	Minimize bool `json:"minimize,omitempty" none:"that of the largest value is"`
	// numbers of members that blocks may have, such as 1-3,5
	Sizes problem.Sizes `json:"sizes,omitzero" none:"there is no restriction"`
	// constraints of the structures, minimize and sizes among them
	Constraints *problem.Constraints `json:"constraints,omitempty" none:"minimize and sizes are all"`
	// splittings of coalitions that were evaluated
	Splittings float64 `json:"splittings"`
	// data that the devices of this process, or its rank, sent to others
	Sent int64 `json:"sent,omitempty" unit:"bytes"`
	// prices of the agents that prove the structure optimal, and the work of the proof
	Prices *Prices `json:"prices,omitempty" none:"another algorithm solved the instance"`
	// what each agent receives of the blocks' values
	Payoff *payoff.Payoff `json:"payoff,omitempty" none:"it was not asked for"`
	// findings of the check of the answer
	Certificate problem.Certificate `json:"certificate"`
}

// NewResult is a result with the facts of its instance and no answer.
func NewResult(inst *problem.Instance) *Result {
	return &Result{Report: solve.Report{Problem: "csg", Instance: inst.Source, Size: map[string]int{"agents": inst.N}, Notes: slices.Clip(inst.Notes)},
		Names: inst.Names, Type: inst.Type, Minimize: inst.IsMinimized(), Sizes: inst.Sizes, Constraints: inst.Constraints()}
}

// Certify checks the result's structure against the total its solver claims,
// in decimals, and keeps the certificate: Value is the recomputed sum. Every method
// of this package evaluates all that an optimum needs, so that a total which checks
// is proven; of floats whose sums may be rounded, within the gap of Bound
// (problem.Ceiling, or that of the prices).
// Its errors wrap ErrCheck, or solve.ErrInfeasible where every structure has a
// forbidden block.
func (r *Result) Certify(inst *problem.Instance, claimed string) error {
	r.Structure.Sort()
	c, err := problem.Check(inst, r.Structure, claimed)
	r.Certificate = c.Signed(inst)
	if err != nil {
		return err
	}
	if c.Sum == "-inf" {
		return r.certifyInfeasible(inst)
	}
	r.Value = solve.Number(c.Sum)
	bound := r.Value
	switch {
	case r.Solved != "":
	case r.Prices != nil && inst.Places > 0:
		bound = inst.DecimalCeiling(new(big.Rat).SetFloat64(r.Prices.Ceiling()))
	default:
		if bound, err = problem.Ceiling(inst, claimed, c.Sum); err != nil {
			return err
		}
	}
	if r.Prices != nil && inst.Places == 0 && bound != r.Value {
		bound = solve.NumberOf(r.Prices.Ceiling())
	}
	r.SetProvenBound(bound)
	r.Value, r.Bound = inst.Signed(r.Value), inst.Signed(r.Bound)
	return nil
}

// takeOutcome keeps what an algorithm found, and how.
func (r *Result) takeOutcome(inst *problem.Instance, out *attempt.Outcome) {
	r.Algorithm, r.Variant, r.Reason = string(out.Algorithm), out.Variant, out.Reason
	r.Structure, r.Solved, r.Splittings, r.Sent = out.Structure, out.Solved, out.Splittings, out.Sent
	r.Seconds.Prepare = out.Prepare
	r.Notes = append(slices.Clip(inst.Notes), out.Notes...)
	if out.Prices != nil {
		r.Prices = &Prices{out.Prices.Proof, out.Prices.Work, out.BlockPrice}
	}
}

// certifyInfeasible makes the result say that every structure has a forbidden block. It is proven where a search for
// one without is short enough to be made again by Verify.
func (r *Result) certifyInfeasible(inst *problem.Instance) error {
	r.Structure = nil
	r.ProveInfeasible()
	switch found, known := inst.FindFeasible(); {
	case found != nil:
		return fmt.Errorf("%w: every structure was said to have a forbidden block, found %v", problem.ErrCheck, found.Lists())
	case !known:
		r.Proven = false
		r.Notes = append(r.Notes, "that every structure has a forbidden block is not proven: to look at all of them takes too long")
	}
	if least := inst.Blocks().Least; least > inst.N {
		return fmt.Errorf("%s are fewer than %d blocks need: %w", formats.Count(inst.N, "agent"), least, solve.ErrInfeasible)
	}
	if inst.Constraints() != nil {
		return fmt.Errorf("the constraints allow no structure of %s: %w", formats.Count(inst.N, "agent"), solve.ErrInfeasible)
	}
	if !inst.Sizes.CanDivide(inst.N) {
		return fmt.Errorf("the number of agents, %d, is no sum of the sizes %s: %w", inst.N, inst.Sizes, solve.ErrInfeasible)
	}
	return fmt.Errorf("every structure of %s has a forbidden block: %w", formats.Count(inst.N, "agent"), solve.ErrInfeasible)
}

// BlockValues are the values of the structure's blocks, in decimals.
func (r *Result) BlockValues() []string {
	values := make([]string, len(r.Certificate.Blocks))
	for i, b := range r.Certificate.Blocks {
		values[i] = b.Value
	}
	return values
}

// String is the structure with its values, one block a line, and the total.
func (r *Result) String() string {
	var b strings.Builder
	for _, block := range r.Certificate.Blocks {
		fmt.Fprintf(&b, "{%s}\t%s\n", strings.Join(block.Agents, ", "), block.Value)
	}
	fmt.Fprintf(&b, "total\t%s\n", r.Value)
	return b.String()
}
