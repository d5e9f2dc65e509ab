// Package ranked lists the matchings of a problem from the best on (Murty 1968): after each answer
// the other matchings fall into subspaces. The duals of the parent space lead to a subspace's best
// matching (Miller, Stone and Cox 1997).
package ranked

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A Matching is one of a ranking.
type Matching struct {
	Column []int32 // of each row, -1: left unmatched
	Value  int64   // sum of the scaled costs, with the limit for each row left unmatched
}

// A Ranking are the best matchings of a problem, the best first. No matching is missing
// between two of them; those of equal value stand in any order.
type Ranking struct {
	Matchings []Matching
	Complete  bool // the problem has no others
	Open      bool // a further one may cost at most within units more than the k-th
	Subspaces int  // cut
	Searches  int  // for the best matching of a subspace, each of which was checked
}

// KBest lists the k best matchings of a problem, fewer where it has no more, from an
// optimal solution. ctx ends it between searches: what it has found by then is the
// beginning of the ranking, beside ctx's error. Errors of subspaces whose duals do not
// prove their best matching wrap problem.ErrCheck.
//
// Where rounding decides the order, within is the most units by which two matchings' values may be
// out of order: those that cost at most so much more than the k-th follow it, at most k of them.
//
// A search takes time in rows times columns, an answer as many searches as there are
// rows at the most, and memory 8 bytes times rows and columns.
func KBest(ctx context.Context, p *problem.Normal, first *engine.Solution, k int, within int64) (*Ranking, error) {
	r := &ranker{p: p, width: p.Cols}
	if p.Limit != problem.Infinity {
		r.width += p.Rows
	}
	root := &subspace{row: -1, best: r.extended(first)}
	fixed := r.pairsKept(root)
	if err := r.checkOptimal(root, root.best, fixed); err != nil {
		return nil, err
	}
	root.bound = r.scaledCost(root.best)
	r.left = queue{root}
	for len(r.left) > 0 {
		if n := len(r.found.Matchings); n >= k {
			beyond := r.left[0].bound - r.found.Matchings[k-1].Value
			if r.found.Open = beyond <= within && within > 0; !r.found.Open || n >= 2*k {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return &r.found, err
		}
		s := heap.Pop(&r.left).(*subspace)
		if s.best == nil {
			if err := r.solveSpace(s); err != nil {
				return nil, err
			}
			continue
		}
		r.found.Matchings = append(r.found.Matchings, Matching{r.columns(s.best), s.bound})
		if len(r.found.Matchings) < k || within > 0 {
			r.cut(s)
		}
	}
	r.found.Complete = len(r.left) == 0 && len(r.found.Matchings) < k
	r.found.Open = r.found.Open && len(r.left) > 0
	return &r.found, nil
}

// A subspace is a set of matchings: they keep the pairs of the parent space, and the pairs of the
// parent's best matching in the first rows of its order; and that give one row none of some
// columns.
type subspace struct {
	from   *subspace // nil: all matchings
	first  int       // rows of from's order whose pairs are kept
	row    int32     // the row that may take none of the barred columns; -1: no such row
	barred []int32
	bound  int64   // lower bound on the values of the space's matchings; the value of best, where best is known
	best   *answer // nil: not searched for yet
	order  []int32 // rows that the space leaves free, as it is cut; nil: it was not cut
	number int     // of spaces made before
}

// An answer is the best matching of a space and duals that prove it. A row's column
// past the problem's own stands for the row being left unmatched: row i's is Cols+i.
// Columns that no row takes have the dual 0.
type answer struct {
	column []int32 // of each row
	u, v   []int64 // of rows and columns that the space leaves free
}

// queue is a heap of spaces, the least bound first; of equal ones those whose best
// matching is known, then the oldest.
type queue []*subspace

func (q queue) Len() int { return len(q) }

func (q queue) Less(a, b int) bool {
	switch s, t := q[a], q[b]; {
	case s.bound != t.bound:
		return s.bound < t.bound
	case (s.best == nil) != (t.best == nil):
		return s.best != nil
	default:
		return s.number < t.number
	}
}

func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push is for package heap.
func (q *queue) Push(s any) { *q = append(*q, s.(*subspace)) }

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return s
}

// ranker is a ranking on its way.
type ranker struct {
	p     *problem.Normal
	width int // columns, those that stand for unmatched rows among them
	left  queue
	found Ranking
}

// extended is an optimal solution as an answer.
func (r *ranker) extended(s *engine.Solution) *answer {
	a := &answer{column: slices.Clone(s.Column), u: slices.Clone(s.U), v: make([]int64, r.width)}
	copy(a.v, s.V)
	for i, j := range a.column {
		if j < 0 {
			a.column[i] = int32(r.p.Cols + i)
		}
	}
	return a
}

// columns are an answer's as callers know them.
func (r *ranker) columns(a *answer) []int32 {
	out := slices.Clone(a.column)
	for i, j := range out {
		if int(j) >= r.p.Cols {
			out[i] = -1
		}
	}
	return out
}

// scaledCost adds the scaled costs of an answer up: MaxScaled keeps the sum within 2^60.
func (r *ranker) scaledCost(a *answer) int64 {
	var sum int64
	for i, j := range a.column {
		if int(j) >= r.p.Cols {
			sum += r.p.Limit
		} else {
			sum += r.p.Cost(i, int(j))
		}
	}
	return sum
}

// spare reports whether some columns stay without a row.
func (r *ranker) spare() bool { return r.width > r.p.Rows }

// keptPairs are the rows and columns whose pairs a space keeps.
type keptPairs struct{ rows, cols []bool }

func (r *ranker) pairsKept(s *subspace) keptPairs {
	h := keptPairs{make([]bool, r.p.Rows), make([]bool, r.width)}
	for ; s.from != nil; s = s.from {
		for _, i := range s.from.order[:s.first] {
			h.rows[i], h.cols[s.from.best.column[i]] = true, true
		}
	}
	return h
}

// rowCosts are those of row i in a space: barred pairs are forbidden.
func (r *ranker) rowCosts(s *subspace, i int, buf []int64) []int64 {
	buf = r.p.Row(i, buf[:0:r.width])[:r.width]
	for j := r.p.Cols; j < r.width; j++ {
		buf[j] = problem.Infinity
	}
	if r.p.Limit != problem.Infinity {
		buf[r.p.Cols+i] = r.p.Limit
	}
	if int(s.row) == i {
		for _, j := range s.barred {
			buf[j] = problem.Infinity
		}
	}
	return buf
}

// cut parts the matchings of a space but for its best: those that keep the best's
// pairs in the rows of an order before one, and take another column in that one. The
// row with barred columns comes first, so that no space bars columns to two rows; then
// those whose other columns cost the most, since spaces that keep few pairs take the
// longest to search and should not be worth it.
func (r *ranker) cut(s *subspace) {
	fixed, best := r.pairsKept(s), s.best
	dearer := r.dearer(s, fixed)
	for i := range int32(r.p.Rows) {
		if !fixed.rows[i] {
			s.order = append(s.order, i)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int32) int {
		switch {
		case a == s.row || b != s.row && dearer[a] > dearer[b]:
			return -1
		case b == s.row || dearer[a] < dearer[b]:
			return 1
		}
		return 0
	})
	for at, i := range s.order {
		if dearer[i] == problem.Infinity {
			continue // the row has no other column
		}
		t := &subspace{from: s, first: at, row: i, barred: []int32{best.column[i]}, bound: s.bound + dearer[i], number: r.found.Subspaces}
		if i == s.row {
			t.barred = append(t.barred, s.barred...)
		}
		r.found.Subspaces++
		heap.Push(&r.left, t)
	}
}

// dearer is a lower bound, for each row, on how much more than the best a matching of the space
// costs in which that row leaves its pair: the row takes another column, and its column takes
// another row or, where some columns stay unmatched, none. Reduced costs are at least 0, and a
// matching costs their sum more than the best. It is Infinity for a row without another column.
func (r *ranker) dearer(s *subspace, fixed keptPairs) []int64 {
	a := s.best
	byRow, byCol := make([]int64, r.p.Rows), make([]int64, r.width)
	for j := range byCol {
		byCol[j] = problem.Infinity
		if r.spare() {
			byCol[j] = -a.v[j]
		}
	}
	buf := make([]int64, r.width)
	for i := range r.p.Rows {
		if fixed.rows[i] {
			continue
		}
		buf = r.rowCosts(s, i, buf)
		least, own := problem.Infinity, int(a.column[i])
		for j, c := range buf {
			if c == problem.Infinity || j == own || fixed.cols[j] {
				continue
			}
			reduced := c - a.u[i] - a.v[j]
			least = min(least, reduced)
			byCol[j] = min(byCol[j], reduced)
		}
		byRow[i] = least
	}
	for i, least := range byRow {
		if j := a.column[i]; !fixed.rows[i] && least < problem.Infinity {
			byRow[i] = max(least, min(byCol[j], problem.Infinity-1))
		}
	}
	return byRow
}

// fault is the error of a space whose duals prove nothing.
func fault(format string, args ...any) error {
	return fmt.Errorf("%w: ranking: %s", problem.ErrCheck, fmt.Sprintf(format, args...))
}

// checkOptimal holds the best matching of a space against the duals that prove it: pairs that
// the space leaves free cost at least the sum of their duals, matched ones exactly;
// columns have duals of at most 0 where some stay without a row, and those 0.
func (r *ranker) checkOptimal(s *subspace, a *answer, fixed keptPairs) error {
	taken := make([]bool, r.width)
	buf := make([]int64, r.width)
	for i, j := range a.column {
		if taken[j] {
			return fault("column %d has two rows", j)
		}
		taken[j] = true
		if fixed.rows[i] {
			continue
		}
		if buf = r.rowCosts(s, i, buf); buf[j] == problem.Infinity || buf[j] != a.u[i]+a.v[j] {
			return fault("row %d, column %d: found a cost of %d units, expected duals %d and %d to add up to it", i, j, buf[j], a.u[i], a.v[j])
		}
		for k, c := range buf {
			if c < a.u[i]+a.v[k] && !fixed.cols[k] {
				return fault("row %d, column %d: found a cost of %d units below the duals %d and %d", i, k, c, a.u[i], a.v[k])
			}
		}
	}
	for j, v := range a.v {
		if r.spare() && !fixed.cols[j] && (v > 0 || v < 0 && !taken[j]) {
			return fault("column %d: found the dual %d, expected none above 0, and 0 where it has no row", j, v)
		}
	}
	return nil
}
