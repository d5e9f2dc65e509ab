package model

import (
	"fmt"
	"math/big"

	"coalesce/solvers/model/problem"
)

// mostVisited is the most solutions that Reference visits.
const mostVisited = 1 << 22

// Reference is the best value of a model, by a visit of all solutions; nil: none is feasible. It is an error for a model of too many.
func Reference(m *problem.Model) (best *big.Rat, err error) {
	count := 1.0
	for i := range m.Variables {
		count *= float64(m.Variables[i].High-m.Variables[i].Low) + 1
	}
	if count > mostVisited {
		return nil, fmt.Errorf("the reference visits %d solutions at most, and the model has more", mostVisited)
	}
	x := make(problem.Values, len(m.Variables))
	var visit func(i int)
	visit = func(i int) {
		if i == len(x) {
			if !m.Feasible(x) {
				return
			}
			v := m.Value(x)
			if best == nil || m.Sense == problem.Minimize && v.Cmp(best) < 0 || m.Sense == problem.Maximize && v.Cmp(best) > 0 {
				best = v
			}
			return
		}
		v := &m.Variables[i]
		for x[i] = v.Low; x[i] <= v.High; x[i]++ {
			if v.Allows(x[i]) {
				visit(i + 1)
			}
		}
	}
	visit(0)
	return best, nil
}
