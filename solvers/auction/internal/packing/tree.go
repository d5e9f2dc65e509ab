package packing

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A node is the packings that hold all of its bids taken and otherwise live ones, which
// conflict with none taken.
type node struct {
	live  set
	taken []int32
	fixed int64 // price of those taken
	bound int64 // no packing of the node is worth more
	step  *Step // of the proof; nil: there is none
}

// openNodes nodes, the best bound first.
type openNodes []*node

func (o openNodes) Len() int           { return len(o) }
func (o openNodes) Less(a, b int) bool { return o[a].bound > o[b].bound }
func (o openNodes) Swap(a, b int)      { o[a], o[b] = o[b], o[a] }
func (o *openNodes) Push(x any)        { *o = append(*o, x.(*node)) }
func (o *openNodes) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}

// A gain is the mean fall of the objective for each unit that x moves when the tree branches on a bid,
// in two directions: out (x = 0) and in (x = 1).
type gain struct {
	sum   [2]float64
	count [2]int
}

type pseudoCostSums struct {
	gains   []gain // by bid
	overall gain
}

// An afterRoot is what the root leaves to the tree.
type afterRoot struct {
	rows  []row // of its last program
	rest  *node // the root's bids when the tree is begun
	equal bool  // its relaxation had to perturb costs, and there are few prices
}

// A tree is a search, shared by its workers.
type tree struct {
	priceScale
	g          *graph
	prices     []int64
	set        Settings
	cover      cover        // cliques of which one has to win
	key        []float64    // prices of the bids: cliques grow by the largest
	log        *proofLog    // of the proof; nil: there is none
	idle       atomic.Int64 // workers that wait for nodes
	team       *team        // that searches together; nil: this process alone
	wanted     atomic.Int64 // other ranks that wait for nodes
	nodes      atomic.Int64
	top        atomic.Int64 // no packing is worth more
	elsewhere  atomic.Int64 // the bound of all ranks at the last meeting, 0 without others
	reportedAt atomic.Int64 // when the bound was last reported, in nanoseconds of Unix time

	mu     sync.Mutex
	best   int64
	chosen []int32
	open   openNodes
	work   []int64 // bound of each worker's node, -1: nothing
	wake   *sync.Cond
	stop   bool
	enough int64 // a packing worth more ends the search
	pseudoCostSums
	afterRoot
}

// accept puts a live bid into a node's packings.
func (t *tree) accept(n *node, j int) {
	n.live.remove(j)
	n.live.subtract(t.g.conflict[j])
	n.taken = append(n.taken, int32(j))
	n.fixed += t.prices[j]
}

// offer keeps a packing if it is the best so far, and reports it to Progress.
func (t *tree) offer(chosen []int32, value int64) {
	if t.keepIfBest(chosen, value) {
		t.report()
	}
}

func (t *tree) keepIfBest(chosen []int32, value int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if value <= t.best {
		return false
	}
	t.best, t.chosen = value, slices.Clone(chosen)
	return true
}

func (t *tree) incumbent() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.useful()
}

// useful is the most that a packing is worth which is of no use. The caller has locked the tree.
func (t *tree) useful() int64 {
	if t.cover.cliques != nil && t.log == nil {
		return max(t.best, t.cover.floor)
	}
	return t.best
}

// report passes the best packing and the bound to Progress.
func (t *tree) report() {
	if t.set.Progress != nil {
		t.mu.Lock()
		best := t.best
		t.mu.Unlock()
		t.set.Progress(best, max(best, t.top.Load()), t.nodes.Load())
	}
}

// reportDue reports whether the time to report the bound again has come.
func (t *tree) reportDue() bool {
	now, before := time.Now().UnixNano(), t.reportedAt.Load()
	return t.set.Progress != nil && now-before > int64(reportInterval) && t.reportedAt.CompareAndSwap(before, now)
}

// search works on nodes until none is open or ctx ends, and sets the result's bound.
func (t *tree) search(ctx context.Context, top *node, res *Result) error {
	workers := max(1, min(t.set.Workers, maxMemory/(64*len(t.rows)*len(t.rows)+1)))
	t.wake = sync.NewCond(&t.mu)
	if t.gains == nil {
		t.gains = make([]gain, t.g.n)
	}
	t.rest = &node{live: slices.Clone(top.live), taken: slices.Clone(top.taken), fixed: top.fixed, bound: top.bound}
	t.work = make([]int64, workers)
	for k := range t.work {
		t.work[k] = -1
	}
	if t.team == nil || t.team.Rank() == 0 {
		t.open = openNodes{top}
	}
	release := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stop = true
		t.wake.Broadcast()
	})
	defer release()
	var all sync.WaitGroup
	var failed error
	if t.team != nil {
		t.elsewhere.Store(top.bound)
		all.Go(func() { failed = t.meetRanks() })
	}
	for k := range workers {
		all.Go(func() {
			newWorker(t, k).run(ctx)
		})
	}
	all.Wait()
	bound := t.incumbent()
	for _, n := range t.open {
		bound = max(bound, n.bound)
	}
	if t.team != nil && failed == nil {
		bound, failed = t.gatherResults(bound)
	}
	res.Bound = min(res.Bound, bound)
	return failed
}

// nextNode waits for an open node; nil when none will come.
func (t *tree) nextNode(worker int) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.work[worker] = -1
	for {
		if t.stop = t.stop || t.best > t.enough; t.stop {
			t.wake.Broadcast()
			return nil
		}
		if t.log == nil && len(t.open) > 0 && t.open[0].bound <= t.useful() {
			t.open = t.open[:0]
		}
		if len(t.open) > 0 {
			n := heap.Pop(&t.open).(*node)
			t.work[worker] = n.bound
			return n
		}
		if slices.Max(t.work) < 0 && t.team == nil {
			t.stop = true
			continue
		}
		t.idle.Add(1)
		t.wake.Wait()
		t.idle.Add(-1)
	}
}

// pushNode opens a node.
func (t *tree) pushNode(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	heap.Push(&t.open, n)
	t.wake.Signal()
}

// reportInterval is the least time between two reports of the bound.
const reportInterval = 100 * time.Millisecond

// bound is the bound of all nodes that are open or being explored, also by other ranks.
func (t *tree) bound() int64 { return max(t.ownBound(), t.elsewhere.Load()) }

// ownBound is the bound of the nodes of this process.
func (t *tree) ownBound() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := max(t.useful(), slices.Max(t.work))
	if len(t.open) > 0 {
		most = max(most, t.open[0].bound)
	}
	return most
}

// learnPseudoCost records the fall of the objective by a branch.
func (t *tree) learnPseudoCost(j int, side int, fall, moved float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range []*gain{&t.gains[j], &t.overall} {
		g.sum[side] += fall / math.Max(moved, 1e-6)
		g.count[side]++
	}
}

// pseudoCosts returns the mean gains of a bid's branches, and the number of trials behind them.
func (t *tree) pseudoCosts(j int) (out, in float64, trials int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mean := func(side int) float64 {
		for _, g := range []*gain{&t.gains[j], &t.overall} {
			if g.count[side] > 0 {
				return g.sum[side] / float64(g.count[side])
			}
		}
		return 1
	}
	return mean(0), mean(1), min(t.gains[j].count[0], t.gains[j].count[1])
}
