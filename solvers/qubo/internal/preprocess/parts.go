package preprocess

import (
	"cmp"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// split makes a part of each component of the remaining problem, or one part of all of it where
// whole is set. It is false where stop has ended it.
func (r *reducer) split(whole bool, stop func() bool) bool {
	n := r.p.N
	if !slices.Contains(r.gone, true) && (whole || r.connected(stop)) {
		r.Parts = []Part{{Problem: r.p, Bound: r.bound}}
		return true
	}
	component, count := make([]int32, n), 0
	for i := range component {
		component[i] = -1
	}
	var lists [][]int32
	for i := range int32(n) {
		if r.gone[i] || component[i] >= 0 {
			continue
		}
		list := []int32{i}
		component[i] = int32(count)
		for k := 0; k < len(list); k++ {
			if k&1023 == 0 && stop() {
				return false
			}
			r.each(list[k], func(j int32, _ int64) {
				if component[j] < 0 {
					component[j] = int32(count)
					list = append(list, j)
				}
			})
		}
		count++
		slices.Sort(list)
		lists = append(lists, list)
	}
	if whole && count > 1 {
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
		r.Parts = append(r.Parts, Part{q, list, found.Bound()})
	}
	return true
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
		r.each(i, func(j int32, _ int64) {
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
	q := &problem.Normal{N: len(list), Scale: r.p.Scale, Sense: r.p.Sense, Exact: r.p.Exact}
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
		r.each(i, func(j int32, w int64) { row = append(row, edge{place[j], w}) })
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
