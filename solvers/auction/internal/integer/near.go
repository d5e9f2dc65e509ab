package integer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	share     = 3   // one part in so many of the work goes into solutions near the best
	nearNodes = 200 // of a search near the best solution
	dives     = 400 // variables that a dive fixes, at most
)

// dive rounds the relaxation of the node at hand: the variable that is nearest to 1, or the largest of those below, becomes 1, the
// relaxation is solved again, and so on. It offers what it comes to, and leaves the node as it was.
func (w *worker) dive(ctx context.Context) {
	is, least := slices.Clone(w.is), slices.Clone(w.least)
	defer func() {
		w.drain()
		copy(w.is, is)
		copy(w.least, least)
	}()
	end := optimal
	for count := 0; end == optimal && count < dives && ctx.Err() == nil; count++ {
		w.round()
		at, most := int32(-1), 0.0
		for j, v := range w.is {
			if x := w.lp.Value(j); v == free && x > most && x < 1-1e-6 {
				at, most = int32(j), x
			}
		}
		if at < 0 {
			return
		}
		before, sums := slices.Clone(w.is), slices.Clone(w.least)
		if !w.assign(at, 1) || !w.propagate() {
			w.drain()
			copy(w.is, before)
			copy(w.least, sums)
			if !w.assign(at, 0) || !w.propagate() {
				return
			}
		}
		end = w.solve(ctx)
	}
}

// A neighbourhood is how a worker searches near the best solution: large neighbourhood search (Shaw, CP 1998). The variables of some rows are
// free, others stay as they are.
type neighbourhood struct {
	rand *rand.Rand
	size int // free variables
}

// searchNear searches near the best solution, among more variables where that ended soon.
func (w *worker) searchNear(ctx context.Context) {
	w.mu.Lock()
	var best Solution
	if len(w.pool) > 0 {
		best = w.pool[0]
	}
	w.mu.Unlock()
	n := len(w.is)
	if best.Ones == nil || n < 2 || len(w.p.Rows) == 0 {
		return
	}
	h := &w.near
	if h.rand == nil {
		h.rand, h.size = rand.New(rand.NewPCG(uint64(w.number), 1)), max(20, n/4)
	}
	some := w.freeVariables(h)
	inner := w.p.around(best.Ones, some)
	set := Settings{Best: 1, Workers: 1, mostNodes: nearNodes}
	for k, j := range some {
		if _, one := slices.BinarySearch(best.Ones, j); one {
			set.Start = append(set.Start, int32(k))
		}
	}
	if set.Start == nil {
		set.Start = []int32{}
	}
	t := newTree(inner, set)
	t.offer(set.Start)
	t.run(ctx)
	w.spent[1] += int(t.pivots.Load())
	found, before := t.pool[0], inner.Value(set.Start)
	if found.Value > before {
		ones := slices.DeleteFunc(slices.Clone(best.Ones), func(j int32) bool {
			_, free := slices.BinarySearch(some, j)
			return free
		})
		for _, k := range found.Ones {
			ones = append(ones, some[k])
		}
		slices.Sort(ones)
		w.offerIfFeasible(ones)
		return
	}
	if t.stopped {
		h.size = max(20, h.size*7/8)
	} else {
		h.size = min(n, h.size+h.size/8+1)
	}
}

// freeVariables are those of random rows that share variables, ascending.
func (w *worker) freeVariables(h *neighbourhood) (some []int32) {
	is := make([]bool, len(w.is))
	seen := make([]bool, len(w.p.Rows))
	next := []int{h.rand.IntN(len(w.p.Rows))}
	for len(some) < h.size && len(next) > 0 {
		at := h.rand.IntN(len(next))
		i := next[at]
		next[at] = next[len(next)-1]
		next = next[:len(next)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		for _, k := range h.rand.Perm(len(w.p.Rows[i].Columns)) {
			j := w.p.Rows[i].Columns[k]
			if is[j] || len(some) == h.size {
				continue
			}
			is[j] = true
			some = append(some, j)
			for _, at := range w.of[j] {
				if i := int(at >> 32); i < len(seen) && !seen[i] {
					next = append(next, i)
				}
			}
		}
	}
	slices.Sort(some)
	return some
}

// around is the problem of some variables, ascending, where the others stay as they are in a solution.
func (p *Problem) around(ones, some []int32) *Problem {
	inner := &Problem{Prices: make([]int64, len(some))}
	number := slices.Repeat([]int32{-1}, len(p.Prices))
	for k, j := range some {
		number[j], inner.Prices[k] = int32(k), p.Prices[j]
	}
	one := make([]bool, len(p.Prices))
	for _, j := range ones {
		one[j] = number[j] < 0
	}
	within := func(rows []Row) (list []Row) {
		for i := range rows {
			r, made, most := &rows[i], Row{Most: rows[i].Most, Equal: rows[i].Equal}, int64(0)
			for k, j := range r.Columns {
				switch {
				case number[j] >= 0:
					made.Columns, made.Entries = append(made.Columns, number[j]), append(made.Entries, r.Entries[k])
					most += max(0, r.Entries[k])
				case one[j]:
					made.Most -= r.Entries[k]
				}
			}
			if len(made.Columns) > 0 && (made.Equal || most > made.Most) {
				list = append(list, made)
			}
		}
		return list
	}
	inner.Rows, inner.Extra = within(p.Rows), within(p.Extra)
	return inner
}

// cutoff is the objective from which on a node is of no use.
func (w *worker) cutoff() float64 {
	threshold := w.threshold.Load()
	if threshold == math.MinInt64 {
		return math.Inf(-1)
	}
	return (float64(threshold) + 0.5) / w.unit
}
