package integer

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A tree is a search and what its workers share.
type tree struct {
	p         *Problem
	set       Settings
	rows      []Row    // of the problem, extra ones and cuts
	of        [][]uint // rows of each variable, as places in rows and in their columns: row<<32 | place
	covers    []Cover
	roundings []Rounding
	unit      float64
	bits      uint // prices of rows are in 2^-bits of a unit

	mu        sync.Mutex
	wake      *sync.Cond
	pool      []Solution
	known     map[string]bool
	open      nodes
	busy      []int64 // bound of the node that each worker has; the least int64: none
	stopped   bool
	order     int64
	threshold atomic.Int64 // solutions of this value and less are of no use
	nodes     atomic.Int64
	root      *RowStep
	lpBound   int64
	gains
	pivots atomic.Int64 // of all workers
}

// A node is what is fixed on the way to it.
type node struct {
	above *node
	fixed []int32 // variables, ^j where j is 0
	bound int64
	order int64 // of equal bounds the latest comes first
	step  *RowStep
	by    *RowStep // the prices of this step, of a node above, prove the bound; nil: no step's do
	from  branching
}

type nodes []*node

func (h nodes) Len() int { return len(h) }
func (h nodes) Less(i, j int) bool {
	return h[i].bound > h[j].bound || h[i].bound == h[j].bound && h[i].order > h[j].order
}
func (h nodes) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nodes) Push(x any)   { *h = append(*h, x.(*node)) }
func (h *nodes) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}

func newTree(p *Problem, set Settings) *tree {
	t := &tree{p: p, set: set, rows: slices.Concat(p.Rows, p.Extra), known: map[string]bool{}, lpBound: math.MaxInt64}
	t.wake = sync.NewCond(&t.mu)
	sum, most := uint64(0), uint64(1)
	for _, c := range p.Prices {
		sum += magnitude(c)
		most = max(most, magnitude(c))
	}
	t.unit, t.bits = float64(most), uint(min(40, max(0, 59-bits.Len64(sum))))
	t.threshold.Store(math.MinInt64)
	t.gains.of = make([]gain, len(p.Prices))
	t.busy = slices.Repeat([]int64{math.MinInt64}, max(1, set.Workers))
	t.busy[0] = t.sumBound()
	t.indexRows()
	return t
}

func (t *tree) indexRows() {
	t.of = make([][]uint, len(t.p.Prices))
	for i := range t.rows {
		if t.rows[i].cut {
			continue
		}
		for k, j := range t.rows[i].Columns {
			t.of[j] = append(t.of[j], uint(i)<<32|uint(k))
		}
	}
}

// offer keeps a solution if it is one of the best.
func (t *tree) offer(ones []int32) {
	s := Solution{slices.Clone(ones), t.p.Value(ones)}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := len(t.pool)
	if k == t.set.Best && Compare(t.pool[k-1], s) <= 0 {
		return
	}
	key := string(appendKey(nil, s.Ones))
	if t.known[key] {
		return
	}
	t.known[key] = true
	at, _ := slices.BinarySearchFunc(t.pool, s, Compare)
	t.pool = slices.Insert(t.pool, at, s)
	if len(t.pool) > t.set.Best {
		delete(t.known, string(appendKey(nil, t.pool[t.set.Best].Ones)))
		t.pool = t.pool[:t.set.Best]
	}
	if len(t.pool) == t.set.Best {
		t.threshold.Store(t.pool[t.set.Best-1].Value)
	}
	if at == 0 {
		t.report()
	}
}

// report reports the best value and the bound. The caller holds the lock.
func (t *tree) report() {
	if t.set.Progress == nil {
		return
	}
	value := int64(math.MinInt64)
	if len(t.pool) > 0 {
		value = t.pool[0].Value
	}
	t.set.Progress(value, max(value, t.bound()), t.nodes.Load())
}

// bound is that of all open nodes.
func (t *tree) bound() int64 {
	most := slices.Max(t.busy)
	for _, n := range t.open {
		most = max(most, n.bound)
	}
	return most
}

// run searches the tree until it is done or ctx ends.
func (t *tree) run(ctx context.Context) {
	top := &node{bound: t.sumBound()}
	if t.set.Log {
		top.step = &RowStep{}
		t.root = top.step
	}
	w := t.newWorker(0)
	w.greedy()
	if w.cutRoot(ctx, top) {
		w.dive(ctx)
	}
	t.lpBound = top.bound
	t.push(top)
	t.busy[0] = math.MinInt64
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		t.stopped = true
		t.wake.Broadcast()
		t.mu.Unlock()
	})
	defer stop()
	var all sync.WaitGroup
	for k := range t.set.Workers {
		all.Go(func() {
			if k > 0 {
				w := t.newWorker(k)
				w.work(ctx)
				return
			}
			w.work(ctx)
			t.pivots.Add(int64(w.lp.Pivots))
		})
	}
	all.Wait()
}

// sumBound is the sum of all prices above 0.
func (t *tree) sumBound() int64 {
	sum := int64(0)
	for _, c := range t.p.Prices {
		sum += max(0, c)
	}
	return sum
}

func (t *tree) push(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.order++
	n.order = t.order
	heap.Push(&t.open, n)
	t.wake.Signal()
}

// next is the open node of the best bound; nil: the search is over.
func (t *tree) next(worker int) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy[worker] = math.MinInt64
	for {
		if t.stopped = t.stopped || t.set.mostNodes > 0 && t.nodes.Load() >= t.set.mostNodes; t.stopped {
			t.wake.Broadcast()
			return nil
		}
		if len(t.open) > 0 {
			n := heap.Pop(&t.open).(*node)
			t.busy[worker] = n.bound
			return n
		}
		if !slices.ContainsFunc(t.busy, func(b int64) bool { return b != math.MinInt64 }) {
			t.wake.Broadcast()
			return nil
		}
		t.wake.Wait()
	}
}

// proof is the tree, with its rows beside those of the problem; nil: it was not kept.
func (t *tree) proof() *RowProof {
	if t.root == nil {
		return nil
	}
	x := &RowProof{Covers: t.covers, Roundings: t.roundings, Root: t.root}
	for _, r := range t.p.Extra {
		x.Cliques = append(x.Cliques, r.Columns)
	}
	return x
}

// result is the result at the end.
func (t *tree) result() *Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	res := &Result{Solutions: t.pool, Bound: t.bound(), LPBound: t.lpBound, Nodes: t.nodes.Load()}
	if res.Proven = len(t.open) == 0 && !t.stopped; !res.Proven && len(t.open) > 0 {
		res.Proven = len(t.pool) == t.set.Best && res.Bound <= t.threshold.Load()
	}
	if len(t.pool) > 0 {
		res.Bound = max(res.Bound, t.pool[0].Value)
	}
	if res.Proven {
		if len(t.pool) > 0 {
			res.Bound = t.pool[0].Value
		}
		if len(t.open) == 0 && !t.stopped {
			res.Proof = t.proof()
		}
	}
	return res
}
