// Package bottleneck matches all rows so that the worst of the matched costs is as good
// as can be (Gross 1959; Burkard, Dell'Amico and Martello 2009, section 6.2). Costs are
// compared alone, never added, so that floats are exact.
package bottleneck

import (
	"context"
	"math"
	"slices"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// forbidden is the key of a pair that may not be matched.
const forbidden = math.MaxInt64

// A Solution matches all rows, to different columns.
type Solution struct {
	Column []int32 // of each row; nil: no full matching exists
	// Rows prove that no matching is better (Hall 1935): the columns that cost any of them less
	// than the worst matched pair are fewer than they are. Where no full matching exists, so are
	// the columns that any of them is allowed.
	Rows []int32
}

// Solve solves an instance of at most as many rows as columns, without a limit. ctx ends
// it between searches.
func Solve(ctx context.Context, inst *problem.Instance) (*Solution, error) {
	inst = ranked(inst)
	s := &solver{inst: inst, rows: inst.Rows, cols: inst.Cols, column: slices.Repeat([]int32{-1}, inst.Rows), row: slices.Repeat([]int32{-1}, inst.Cols)}
	if s.begin(); s.proof != nil && s.level == forbidden {
		return &Solution{Rows: s.proof}, nil
	}
	for {
		s.match()
		if s.unmatched() < 0 {
			return &Solution{Column: s.column, Rows: s.proof}, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !s.raise() {
			return &Solution{Rows: s.proof}, nil
		}
	}
}

// ranked is an instance with the ranks of its costs in their place, where every number is a cost and the key of one is that of
// a forbidden pair. Other instances stay.
func ranked(inst *problem.Instance) *problem.Instance {
	if !inst.Every || inst.Points != nil || !slices.Contains(inst.I64, math.MaxInt64) && !slices.Contains(inst.I64, math.MinInt64) {
		return inst
	}
	costs := slices.Clone(inst.I64)
	order := slices.Clone(costs)
	slices.Sort(order)
	order = slices.Compact(order)
	for k, c := range costs {
		rank, _ := slices.BinarySearch(order, c)
		costs[k] = int64(rank)
	}
	return &problem.Instance{Rows: inst.Rows, Cols: inst.Cols, Maximize: inst.Maximize, Sparse: inst.Sparse, Type: problem.Int64, I64: costs}
}

// A solver raises the level, the worst key that pairs may have, from a bound on: as long
// as a set of rows has too few columns up to the level, the level goes up to the best
// key that leads out of those.
type solver struct {
	inst       *problem.Instance
	rows, cols int
	column     []int32 // of each row, -1: none
	row        []int32 // of each column
	level      int64
	proof      []int32 // rows with too few columns whose keys are below the level
}

// keys are those of the costs of row i: integers in the order of the costs, the best
// first, forbidden ones last.
func (s *solver) keys(i int, buf []int64) []int64 {
	buf = buf[:s.cols]
	inst, sparse := s.inst, s.inst.Sparse
	if inst.Points != nil {
		for j := range buf {
			buf[j] = key(inst.Points.Cost(i, j), inst.Maximize)
		}
		return buf
	}
	low, high := i*s.cols, (i+1)*s.cols
	var cols []int32
	if sparse != nil {
		low, high = int(sparse.Start[i]), int(sparse.Start[i+1])
		cols = sparse.Col[low:high]
		for j := range buf {
			buf[j] = forbidden
		}
	}
	switch inst.Type {
	case problem.Int32:
		fill(buf, cols, inst.I32[low:high], inst.Maximize)
	case problem.Int64:
		fill(buf, cols, inst.I64[low:high], inst.Maximize)
	case problem.Float32:
		fill(buf, cols, inst.F32[low:high], inst.Maximize)
	default:
		fill(buf, cols, inst.F64[low:high], inst.Maximize)
	}
	return buf
}

// fill writes keys at columns, nil for all.
func fill[T problem.Number](buf []int64, cols []int32, costs []T, maximize bool) {
	bar := problem.Forbidden[T](maximize)
	for k, c := range costs {
		x := int64(forbidden)
		if c != bar {
			x = key(c, maximize)
		}
		if cols == nil {
			buf[k] = x
		} else {
			buf[cols[k]] = x
		}
	}
}

// key is an integer in the order of costs, or against it to maximise; 0 and -0 are one.
func key[T problem.Number](c T, maximize bool) int64 {
	var x int64
	switch c := any(c).(type) {
	case int32:
		x = int64(c)
	case int64:
		x = c
	case float32:
		x = floatKey(float64(c))
	case float64:
		x = floatKey(c)
	}
	if maximize {
		return ^x
	}
	return x
}

func floatKey(x float64) int64 {
	b := int64(math.Float64bits(x))
	if b < 0 {
		return math.MinInt64 - b
	}
	return b
}

// begin sets the level to the largest of all rows' smallest keys and, where all columns are
// matched, of all columns' smallest keys. Then it matches greedily.
func (s *solver) begin() {
	s.level = math.MinInt64
	best := slices.Repeat([]int64{forbidden}, s.cols)
	buf := make([]int64, s.cols)
	for i := range s.rows {
		least, at := int64(forbidden), -1
		for j, x := range s.keys(i, buf) {
			best[j] = min(best[j], x)
			if x < least || x == least && at >= 0 && s.row[at] >= 0 && s.row[j] < 0 {
				least, at = x, j
			}
		}
		if least > s.level || s.proof == nil {
			s.level, s.proof = max(least, s.level), []int32{int32(i)}
		}
		if at >= 0 && s.row[at] < 0 {
			s.column[i], s.row[at] = int32(at), int32(i)
		}
	}
	if s.rows < s.cols {
		return
	}
	for _, x := range best {
		if x > s.level { // all rows, and all columns but this one
			s.level, s.proof = x, make([]int32, s.rows)
			for i := range s.proof {
				s.proof[i] = int32(i)
			}
		}
	}
}

// unmatched is a row without a column, -1 where all have one.
func (s *solver) unmatched() int {
	for i, j := range s.column {
		if j < 0 {
			return i
		}
	}
	return -1
}

// match matches as many rows as pairs up to the level allow, by phases of depth-first searches;
// the searches of a phase visit no column twice.
func (s *solver) match() {
	list := make([][]int32, s.rows)
	cores.Split(s.rows, max(1, 1<<14/max(1, s.cols)), func(low, high int) {
		buf := make([]int64, s.cols)
		for i := low; i < high; i++ {
			for j, x := range s.keys(i, buf) {
				if x <= s.level && x != forbidden {
					list[i] = append(list[i], int32(j))
				}
			}
		}
	})
	seen, phase := make([]int, s.cols), 0
	next := make([]int, s.rows) // where a row's search goes on in this phase
	for grown := true; grown; {
		grown = false
		phase++
		clear(next)
		for i := range s.rows {
			if s.column[i] < 0 && s.path(int32(i), list, seen, phase, next) {
				grown = true
			}
		}
	}
}

// path looks for an augmenting path from a row in depth, and takes it.
func (s *solver) path(root int32, list [][]int32, seen []int, phase int, next []int) bool {
	stack := []int32{root}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if next[i] == len(list[i]) {
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				next[stack[len(stack)-1]]++
			}
			continue
		}
		j := list[i][next[i]]
		if seen[j] == phase {
			next[i]++
			continue
		}
		seen[j] = phase
		if s.row[j] >= 0 {
			stack = append(stack, s.row[j])
			continue
		}
		for _, i := range stack {
			j := list[i][next[i]]
			s.column[i], s.row[j] = j, i
		}
		return true
	}
	return false
}

// raise is called where the level allows no augmenting path. It searches from all unmatched rows
// at once for the path whose largest key is least, in the manner of Dijkstra, raises the level to
// that key and augments. It is false where the rows that the search reached have no other column,
// so that no full matching exists.
func (s *solver) raise() bool {
	reach, from := slices.Repeat([]int64{forbidden}, s.cols), make([]int32, s.cols)
	done := make([]bool, s.cols)
	var tree []int32
	for i, j := range s.column {
		if j < 0 {
			tree = append(tree, int32(i))
		}
	}
	buf := make([]int64, s.cols)
	for at := 0; ; {
		for ; at < len(tree); at++ {
			for j, x := range s.keys(int(tree[at]), buf) {
				if !done[j] && x < reach[j] {
					reach[j], from[j] = x, tree[at]
				}
			}
		}
		best := -1
		for j, x := range reach {
			if !done[j] && x < forbidden && (best < 0 || x < reach[best] || x == reach[best] && s.row[j] < 0) {
				best = j
			}
		}
		if best < 0 || reach[best] > s.level {
			s.proof = append(s.proof[:0:0], tree...)
		}
		if best < 0 {
			return false
		}
		s.level = max(s.level, reach[best])
		done[best] = true
		if s.row[best] >= 0 {
			tree = append(tree, s.row[best])
			continue
		}
		for j := int32(best); j >= 0; {
			i := from[j]
			s.row[j] = i
			j, s.column[i] = s.column[i], j
		}
		return true
	}
}
