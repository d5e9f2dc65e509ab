package qubo

import (
	"math/big"
	"math/bits"
	"time"

	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
)

// isFew reports whether few finds the best solutions of part k: a part of few variables, which is
// not proven, and whose coefficients are known without rounding, or one whose variables mostly follow.
func (r *run) isFew(k int) bool {
	c := r.bests.red.Parts[k]
	proven := r.bests.part[k].proven && r.p.Over == 0 && r.o.Solutions <= 1
	return c.Exact != nil || (c.Problem.N <= problem.FewVariables && (c.True || r.p.Over == 0) || r.isBranched(k)) && !proven
}

// isBranched reports whether part k, of more than a few variables, is tried by branch and bound before it is searched.
func (r *run) isBranched(k int) bool {
	c := r.bests.red.Parts[k]
	return c.Problem.N > problem.FewVariables && c.Problem.N <= problem.BranchedVariables && (c.True || r.p.Over == 0) && r.o.Solutions <= 1
}

// nodesFirst is how many nodes of branch and bound are tried before a visit of all solutions.
const nodesFirst = 1 << 19

// Parts of up to problem.BranchedVariables are tried with nodesBranched nodes of branch and bound, or in shareBranched of the time
// that is left, and then by a visit of all solutions if that is likely to end in time. Dense QUBOs of 30 random coefficients took 70,000 and
// 93,000 nodes; Ising models without fields need the visit.
const (
	nodesBranched = 1 << 18
	shareBranched = 0.1
)

// mostNear is the most solutions that are compared one by one.
const mostNear = 1 << 12

// solveExactly finds the best solutions of part k in exact arithmetic. It is false where there is no time
// to prove them.
func (r *run) solveExactly(k int) bool {
	c, f := r.bests.red.Parts[k], (*problem.SmallProblem)(nil)
	switch {
	case c.Exact != nil:
	case r.p.Over > 0:
		f = r.bests.red.PartObjective(k, r.inst)
	default:
		f = c.Problem.SmallProblem()
	}
	within := func(share float64) (stop func() bool) {
		if r.o.RankCount() > 1 { // all ranks decide alike
			return func() bool { return false }
		}
		end := r.deadlineFor(share)
		return func() bool { return r.ctx.Err() != nil || !end.IsZero() && time.Now().After(end) }
	}
	const share = 0.5
	stop := within(share)
	if r.isBranched(k) {
		stop = within(shareBranched)
	}
	if c.Exact != nil {
		x, complete := c.Exact.Solve(stop)
		if complete {
			r.settle(k, x)
		} else {
			r.improve(k, c.Problem.Value(x), x, r.elapsed())
		}
		return complete
	}
	if r.o.Solutions > 1 {
		return r.fewSeveral(k, f, stop)
	}
	nodes := nodesFirst
	if r.isBranched(k) {
		nodes = nodesBranched
	}
	checks := 0
	list, proven := reference.BestSolutions(f, 1, nil, func() bool {
		checks++
		return checks > nodes/reference.NodesPerCheck || stop()
	})
	if !proven && r.canExhaust(c.Problem) {
		near, all := reference.SolutionsWithin(c.Problem, r.p.RoundingWindow(), mostNear, within(share))
		if proven = all || len(near) > 0 && r.p.RoundingWindow() == 0; proven { // of equal ones any
			list = []uint64{bestOf(f, near)}
		}
	}
	if !proven && !r.isBranched(k) {
		list, proven = reference.BestSolutions(f, 1, nil, stop)
	}
	if !proven {
		for _, x := range list {
			y := []uint64{x}
			r.improve(k, c.Problem.Value(y), y, r.elapsed())
		}
		return false
	}
	r.settle(k, []uint64{list[0]}[:problem.Words(c.Problem.N)])
	return true
}

// settle makes x the proven best solution of part k. Where coefficients were rounded its objective may be
// less than that of another.
func (r *run) settle(k int, x []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bests.part[k] = partBest{value: r.bests.red.Parts[k].Problem.Value(x), x: x, proven: true, visited: true, exact: true}
	r.record(r.elapsed())
}

// bestOf is the best of solutions, the first of equals.
func bestOf(f *problem.SmallProblem, list []uint64) (best uint64) {
	var value *big.Int
	for _, x := range list {
		if v := f.Value(x); value == nil || v.Cmp(value) > 0 {
			value, best = v, x
		}
	}
	return best
}

// fewSeveral finds the best solutions of the only part, as many as asked for. Where they have to
// differ in more than one variable, each is the best of those unlike the ones before.
func (r *run) fewSeveral(k int, f *problem.SmallProblem, stop func() bool) (complete bool) {
	s := &r.several
	var list []uint64
	unlike := func(x uint64) bool {
		for _, y := range list {
			d := bits.OnesCount64(x ^ y)
			if s.mirror {
				d = min(d, s.n-d)
			}
			if d < s.apart {
				return false
			}
		}
		return true
	}
	switch mirrored := s.mirror && f.N == s.n; {
	case s.apart > 1:
		for complete = true; complete && len(list) < s.limit; {
			var next []uint64
			if next, complete = reference.BestSolutions(f, 1, unlike, stop); len(next) == 0 {
				break
			}
			list = append(list, next[0])
		}
	case mirrored: // one of each pair of mirror images
		list, complete = reference.BestSolutions(f, s.limit, func(x uint64) bool { return x&1 == 0 }, stop)
	default:
		list, complete = reference.BestSolutions(f, s.limit, nil, stop)
	}
	for at, x := range list {
		y := []uint64{x}[:problem.Words(f.N)]
		if at == 0 && complete {
			r.settle(k, y)
		}
		whole := r.bests.solution(k, y)
		s.add(r.p.Value(whole), whole, r.elapsed())
	}
	s.complete = complete
	return complete
}
