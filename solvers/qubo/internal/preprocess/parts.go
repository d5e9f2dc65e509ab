package preprocess

import (
	"cmp"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// splitIntoParts makes a part of each component of the remaining problem, or one part of all of it where
// whole is set. It is false where stop has ended it.
func (r *reducer) splitIntoParts(whole bool, stop func() bool) bool {
	n := r.p.N
	untouched := func(list []int32) bool { return whole || r.p.Over == 0 || r.held[list[0]] }
	if !slices.Contains(r.gone, true) && (whole || r.connected(stop)) {
		r.Parts = []Part{{Problem: r.p, Bound: r.bound, True: untouched([]int32{0}), Exact: r.exact[0]}}
		return true
	}
	lists := r.components(stop)
	if lists == nil {
		return false
	}
	if whole && len(lists) > 1 {
		all := slices.Concat(lists...)
		slices.Sort(all)
		lists = [][]int32{all}
	}
	slices.SortStableFunc(lists, func(a, b []int32) int { return cmp.Compare(len(b), len(a)) })
	place := make([]int32, n)
	for _, list := range lists {
		for v, i := range list {
			place[i] = int32(v)
		}
		q := r.part(list, place, stop)
		if q == nil {
			return false
		}
		found := q.Measure()
		q.Known = found.Spans()
		r.Parts = append(r.Parts, Part{q, list, found.Bound(), untouched(list), r.exact[list[0]]})
	}
	return true
}

// components are the components of the variables that are left, each ascending; nil where stop
// has ended it.
func (r *reducer) components(stop func() bool) [][]int32 {
	met, lists := make([]bool, r.p.N), [][]int32{}
	for i := range int32(r.p.N) {
		if r.gone[i] || met[i] {
			continue
		}
		list := []int32{i}
		met[i] = true
		for k := 0; k < len(list); k++ {
			if k&1023 == 0 && stop() {
				return nil
			}
			r.eachPair(list[k], func(j int32, _ int64) {
				if !met[j] {
					met[j] = true
					list = append(list, j)
				}
			})
		}
		slices.Sort(list)
		lists = append(lists, list)
	}
	return lists
}

// connected reports whether all variables are connected, none being gone, or
// stop has ended it.
func (r *reducer) connected(stop func() bool) bool {
	if r.p.N == 0 {
		return false
	}
	seen := make([]bool, r.p.N)
	seen[0] = true
	stack, met := []int32{0}, 1
	for steps := 0; len(stack) > 0 && met < r.p.N; steps++ {
		if steps&1023 == 0 && stop() {
			return true
		}
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.eachPair(i, func(j int32, _ int64) {
			if !seen[j] {
				seen[j] = true
				met++
				stack = append(stack, j)
			}
		})
	}
	return met == r.p.N
}

// part is the problem of some variables, ascending, which place numbers; nil
// where stop has ended it.
func (r *reducer) part(list, place []int32, stop func() bool) *problem.Normal {
	q := &problem.Normal{N: len(list), Sense: r.p.Sense, Exact: r.p.Exact, Apart: r.p.Apart}
	q.Start, q.Diag = make([]int64, 1, q.N+1), make([]int64, q.N)
	total := 0
	for _, i := range list {
		total += int(r.degree[i])
	}
	row := make([]edge, 0, 64)
	q.Col, q.Weight = make([]int32, 0, total), make([]int64, 0, total)
	for v, i := range list {
		if v&1023 == 0 && stop() {
			return nil
		}
		q.Diag[v] = r.diag[i]
		row = row[:0]
		r.eachPair(i, func(j int32, w int64) { row = append(row, edge{place[j], w}) })
		if r.adj != nil {
			slices.SortFunc(row, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
		}
		for _, e := range row {
			q.Col, q.Weight = append(q.Col, e.to), append(q.Weight, e.weight)
		}
		q.Start = append(q.Start, int64(len(q.Col)))
	}
	return q
}
