package qubo

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"coalesce/solvers/qubo/internal/equations"
	"coalesce/solvers/qubo/problem"
)

// equationsPart is the name of the exact solve of few equations, whose squares the objective is.
const equationsPart = "equations"

// equationsShare is the share of the time left in which solutions of equations are looked for before the search begins.
const equationsShare = 0.8

// solveEquations finds a solution of the equations of part k, where its objective is a constant less the squares of what few equations
// miss, or shows that there is none, which bounds the objective. It reports whether the part is proven. It is left out where the user names
// an engine, limits the work or asks for several solutions, and where several ranks share a search.
func (r *run) solveEquations(k int) bool {
	o, c := &r.o, r.bests.red.Parts[k]
	switch {
	case c.Problem.N <= problem.FewVariables, c.Problem.N > equations.MaxVariables, r.bests.part[k].proven, r.p.Over > 0, o.Solutions > 1, o.Work > 0,
		o.Algorithm != "", o.Variant != "", o.RankCount() > 1, o.Unreduced, slices.Contains(o.Without, equationsPart):
		return false
	}
	m := equations.Find(c.Problem)
	if m == nil {
		return false
	}
	end := r.deadlineFor(equationsShare)
	x, found, complete := m.Solve(cmp.Or(o.Threads, runtime.GOMAXPROCS(0)), func() bool {
		return r.ctx.Err() != nil || !end.IsZero() && time.Now().After(end)
	})
	switch {
	case found:
		r.settle(k, []uint64{x})
		r.plan.reason = fmt.Sprintf("the objective is what %d equations miss, and they have a solution", m.Count)
		return true
	case complete:
		r.boundPart(k, m.Rest)
	default:
		r.boundPart(k, m.Bound)
	}
	return false
}

// boundPart takes a bound of the objective of part k.
func (r *run) boundPart(k int, bound int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := &r.bests.red.Parts[k]; bound < c.Bound {
		c.Bound, r.bests.missed = bound, true
	}
}
