package qubo

import (
	"slices"

	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/problem"
)

// bestSolutions are the best solutions of the parts that preprocessing left.
type bestSolutions struct {
	red    *preprocess.Reduction
	part   []partBest
	missed bool // a bound of red is that of a part's equations
}

// A partBest is the best solution of a part, all zeros at first.
type partBest struct {
	value   int64 // its objective
	x       []uint64
	proven  bool // no solution of the part is better
	visited bool // every solution of the part was visited, or shown to be no better
	exact   bool // proven in exact arithmetic: also where coefficients were rounded
}

// newBests begins with all zeros, or with the parts of a solution to begin with that are better.
func newBests(red *preprocess.Reduction, start []uint64) *bestSolutions {
	b := &bestSolutions{red: red, part: make([]partBest, len(red.Parts))}
	for k, c := range red.Parts {
		p := &b.part[k]
		p.x = make([]uint64, problem.Words(c.Problem.N))
		if start != nil {
			x := red.Project(k, start)
			if v := c.Problem.Value(x); v > 0 {
				p.value = v
				copy(p.x, x)
			}
		}
		p.proven = c.Problem.N == 0 || c.Bound == p.value
	}
	return b
}

// finished reports whether the best solutions of all parts are proven: nothing is left to search.
func (b *bestSolutions) finished() bool {
	return !slices.ContainsFunc(b.part, func(p partBest) bool { return !p.proven })
}

// openVariables is the number of variables of those of the parts 0 to k that are not proven, at least 1.
func (b *bestSolutions) openVariables(k int) (n int) {
	for l, c := range b.red.Parts[:k+1] {
		if !b.part[l].proven {
			n += c.Problem.N
		}
	}
	return max(n, 1)
}

// total is the objective of the whole.
func (b *bestSolutions) total() int64 {
	sum := b.red.Constant
	for _, p := range b.part {
		sum += p.value
	}
	return sum
}

// solution joins the best solutions of all parts. Where x is not nil, it takes the place of the
// best of part k.
func (b *bestSolutions) solution(k int, x []uint64) []uint64 {
	parts := make([][]uint64, len(b.part))
	for l, p := range b.part {
		parts[l] = p.x
	}
	if x != nil {
		parts[k] = x
	}
	return b.red.Restore(parts)
}

// isExact reports whether the best solution of the whole is proven without rounding.
func (b *bestSolutions) isExact() bool {
	return b.red.True && !slices.ContainsFunc(b.part, func(p partBest) bool { return !p.exact })
}

// bound is an upper bound on the objective of the whole. visited reports whether every solution of
// every proven part was visited.
func (b *bestSolutions) bound() (bound int64, visited bool) {
	bound, visited = b.red.Constant, true
	for k, c := range b.red.Parts {
		if p := b.part[k]; p.proven {
			bound += p.value
			visited = visited && p.visited
			continue
		}
		bound += c.Bound
	}
	return bound, visited
}
