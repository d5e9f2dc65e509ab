package anytime

import (
	"math/big"

	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// checkPayoff returns an error if a search does not divide values by a concept.
func (inst *Instance) checkPayoff(concept string) error {
	switch {
	case concept == "":
		return nil
	case concept != payoff.Shapley && concept != payoff.Banzhaf:
		return solve.InvalidInput("Payoff", "found %.40q of a search, expected %s or %s; tables of all coalitions have the others", concept, payoff.Shapley, payoff.Banzhaf)
	case inst.law != nil:
		return solve.InvalidInput("Payoff", "found %s of a distribution, expected a graph", concept)
	}
	return nil
}

// shares are what agents receive of a structure by the Shapley values of its blocks' games, exactly: what they are worth alone, and half of the edges to members of their blocks (Deng and
// Papadimitriou, 1994). Each edge is a game of two agents, so that the Banzhaf values are the same.
func (inst *Instance) shares(label []int32) []*big.Rat {
	n := inst.N
	out := make([]*big.Rat, n)
	for i := range n {
		col, weight := inst.graph.Row(i)
		if inst.exact {
			twice := 2 * inst.own[i]
			for k, j := range col {
				if label[j] == label[i] {
					twice += weight[k]
				}
			}
			out[i] = inst.unit.toRat(twice)
		} else {
			real, sum, term := inst.terms.Real, problem.NewExact(), problem.NewExact()
			sum.SetFloat64(real.Linear[i])
			sum.Add(sum, sum)
			for k := inst.terms.Start[i]; k < inst.terms.Start[i+1]; k++ {
				if label[inst.terms.Col[k]] == label[i] {
					sum.Add(sum, term.SetFloat64(real.Pair[k]))
				}
			}
			out[i], _ = sum.Rat(nil)
		}
		out[i].Quo(out[i], big.NewRat(2, 1))
	}
	return out
}
