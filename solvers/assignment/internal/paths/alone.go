package paths

import (
	"coalesce/runtime/host/kernels/assignment/lapjv"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/problem"
)

// MatchAlone is Match, and reports whether the matching is found to be the only best one: no other is as good, by the pairs with the least
// slack, or more of them than few a column would have to be looked at.
func MatchAlone[T problem.Number](s *Matcher, rows, cols int, costs []T, maximize bool, column []int32) (value float64, alone, ok bool) {
	defer s.search.Close()
	s.knownNearest = false
	if rows == 0 || cols == 0 || !byKernels(s, rows, cols, costs, maximize, 0, column) {
		return 0, false, false
	}
	if value, ok = sum(s.own); maximize && value != 0 {
		value = -value
	}
	if _, whole := any(costs).([]int64); whole || rows > cols || maximize { // they were turned
		return value, isAlone[float64](s), ok
	}
	switch any(costs).(type) {
	case []int32:
		alone = isAlone[int32](s)
	case []float32:
		alone = isAlone[float32](s)
	case []float64:
		alone = isAlone[float64](s)
	}
	return value, alone, ok
}

func isAlone[T lapjv.Cost](s *Matcher) bool {
	q := &s.search
	k := lapjv.FastestKernels[T]()
	if len(q.Owners()) <= plain {
		all := lapjv.All[T]()
		k = &all[len(all)-1]
	}
	slack, scale, rounded := q.Slack()
	width := int(slack)
	if rounded || s.lost || scale < 1 {
		width += len(q.Columns()) + 1
	}
	_, v := q.Duals()
	return s.close(k, width, 0, few) && refine.HasNoCycle(q.Columns(), v, s.near, int64(width))
}
