package host

import (
	"cmp"
	"context"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// An Edge is an allowed pair of a row that was read: its column, its cost, and c - v at the
// time. Duals v of columns only fall, so that c - v has not become less than least since.
type Edge struct {
	Cost, least int64
	Col         int32
}

// candidates are the pairs of a row that were read, in the order of least. All other pairs of the
// row have c - v >= bound.
type candidates struct {
	edges []Edge
	bound int64
	width int64 // by which the bound rises when more of the row is read
}

// A core is the state of a solve on the host. It knows a few pairs of each row. Duals are feasible
// for all pairs, known or not: where a search would go past a row's bound, more of the row is
// read.
type core struct {
	rows, cols int
	limit      int64
	full       bool // every column gets matched
	source     PairSource
	reader     RowReader // of source, for this goroutine
	threads    int
	heavy      int // pairs of a row that are kept, at most; searches read rows of more pairs whole
	u, v       []int64
	column     []int32 // of a row: -1 not matched yet, -2 left unmatched
	row        []int32 // of a column, -1: none
	known      []candidates
	counts     engine.Counts
	scratch    search
	telling    *progressReport // nil: progress is not asked for
}

const unmatched = -2

func newCore(rows, cols int, limit int64, src PairSource, threads int) *core {
	h := &core{
		rows: rows, cols: cols, limit: limit, full: rows == cols && limit == problem.Infinity,
		source: src, reader: src.Reader(), threads: threads, heavy: heavyRow,
		u: make([]int64, rows), v: make([]int64, cols),
		column: slices.Repeat([]int32{-1}, rows), row: slices.Repeat([]int32{-1}, cols),
		known: make([]candidates, rows),
	}
	h.scratch.init(h)
	return h
}

// readCandidates fills the candidates of all rows with k pairs and sets u to the least
// c - v, on all cores.
func (h *core) readCandidates(ctx context.Context, k int) error {
	h.source.DualsChanged(h.v)
	store := make([]Edge, 2*h.rows*k)
	ParallelParts(h.threads, h.rows, func() func(low, high int) {
		r, guess, last := h.source.Reader(), problem.Infinity, problem.Infinity
		return func(low, high int) {
			for i := low; i < high && ctx.Err() == nil; i++ {
				edges, bound := sortByReducedCost(r.AppendLeast(i, h.v, k, k, guess, store[2*i*k:2*i*k:2*(i+1)*k]))
				h.known[i] = candidates{edges, bound, 1}
				if len(edges) > 0 {
					h.known[i].width = max(1, min(bound, problem.Infinity/8)-edges[0].least)
				}
				if guess = problem.Infinity; bound/2 < last && last/2 < bound { // rows are alike
					guess = bound + bound/8
				}
				last = bound
				h.u[i] = h.leastKnown(i)
			}
		}
	})
	h.counts.Passes++
	return ctx.Err()
}

// sortByReducedCost sorts edges by c - v, as a row keeps its candidates.
func sortByReducedCost(edges []Edge, bound int64) ([]Edge, int64) {
	slices.SortFunc(edges, func(a, b Edge) int { return cmp.Compare(a.least, b.least) })
	return edges, bound
}

// augmentingRowReduction matches free rows by augmenting row reduction (Jonker and Volgenant 1987). A row takes the
// column of its least c - v, whose v falls until the row's second column is as good; the row that
// had the column bids next. At most budget bids are made.
func (h *core) augmentingRowReduction(budget int) {
	for range 2 {
		for _, i := range h.freeRows() {
			for ; i >= 0 && budget > 0; budget-- {
				i = h.bidRow(i)
			}
		}
	}
	for i := range h.column {
		if h.column[i] == -1 {
			h.u[i] = h.leastKnown(i)
		}
	}
}

// bidRow makes one bid and returns the row that has to bid next, -1 where none has.
func (h *core) bidRow(i int32) int32 {
	h.counts.Bids++
	j, other, first, least := h.bestColumns(i, firstPairs)
	if first >= h.limit {
		h.u[i] = h.limit
		return -1
	}
	if j < 0 {
		return -1
	}
	second := min(least, h.known[i].bound, h.limit)
	if second >= problem.Infinity/2 {
		second = first
	}
	if second == first {
		if h.row[j] >= 0 && other >= 0 && least == first {
			j = other
		}
		if h.row[j] >= 0 {
			return -1
		}
	}
	h.u[i] = second
	h.v[j] -= second - first
	old := h.row[j]
	h.row[j], h.column[i] = i, j
	if old >= 0 {
		h.column[old] = -1
	}
	return old
}

// bestColumns finds the two columns of a row with the least c - v, j1 and j2, and their c - v, m1 and m2.
// The first is certain; the second only where m2 is at most the row's bound. Where the known pairs
// do not suffice for the first, best reads k pairs of the row.
func (h *core) bestColumns(i int32, k int) (j1, j2 int32, m1, m2 int64) {
	row := &h.known[i]
	j1, j2, m1, m2 = leastTwo(row.edges, h.v)
	if m1 > row.bound {
		h.countReread()
		guess := int64(-problem.Infinity)
		for _, e := range row.edges {
			guess = max(guess, e.Cost-h.v[e.Col]+1)
		}
		enough := min(k, len(row.edges)) // more pairs than those known may not lie below guess
		row.edges, row.bound = sortByReducedCost(h.reader.AppendLeast(int(i), h.v, k, enough, guess, row.edges[:0]))
		j1, j2, m1, m2 = leastTwo(row.edges, h.v)
	}
	return
}

// countReread counts a row that is read once more.
func (h *core) countReread() {
	h.counts.Passes += 1 / float64(h.rows)
	h.counts.Repairs++
	if h.counts.Repairs%int64(1+h.rows/8) == 0 {
		h.source.DualsChanged(h.v)
	}
}

// leastTwo finds the two least c - v of the edges.
func leastTwo(edges []Edge, v []int64) (j1, j2 int32, m1, m2 int64) {
	j1, j2, m1, m2 = -1, -1, problem.Infinity, problem.Infinity
	for k := range edges {
		e := &edges[k]
		if e.least >= m2 {
			break
		}
		if d := e.Cost - v[e.Col]; d < m1 {
			j2, m2 = j1, m1
			j1, m1 = e.Col, d
		} else if d < m2 {
			j2, m2 = e.Col, d
		}
	}
	return
}

// leastKnown is the largest feasible u of a row, as far as its known pairs and its bound tell.
func (h *core) leastKnown(i int) int64 {
	least := min(h.limit, h.known[i].bound)
	for _, e := range h.known[i].edges {
		if e.least >= least {
			break
		}
		least = min(least, e.Cost-h.v[e.Col])
	}
	return least
}

func (h *core) freeRows() []int32 {
	var free []int32
	for i, j := range h.column {
		if j == -1 {
			free = append(free, int32(i))
		}
	}
	return free
}

// augmentAll matches all free rows, exactly. Where all columns get matched, a search starts from all
// free rows and ends when it has reached half as many free columns; else one free row after the
// other is matched.
func (h *core) augmentAll(ctx context.Context) error {
	free := h.augmentTightPairs(h.freeRows())
	for len(free) > 0 {
		h.reportProgress()
		if err := ctx.Err(); err != nil {
			return err
		}
		roots, count := free, max(1, len(free)/2)
		if !h.full {
			roots, count = free[:1], 1
		}
		if tree := h.shortestPaths(roots, count); tree != nil {
			return &engine.Infeasible{Rows: tree}
		}
		if h.full {
			free = h.augmentTightPairs(h.freeRows())
		} else {
			free = free[1:]
		}
	}
	return nil
}
