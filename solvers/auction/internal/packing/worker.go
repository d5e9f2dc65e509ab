package packing

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/lp"
)

const (
	whole      = 1e-6 // a column this near to 0 or 1 counts as integer
	trusted    = 4    // trials after which a bid's gains need no strong branching
	tried      = 8    // bids that strong branching tries at a node
	tryouts    = 50   // pivots of a trial
	enumerable = 64   // most live bids of a node that is enumerated
	steps      = 200  // most steps of an enumeration

	patience   = 20  // of a worker, where prices differ
	shrunk     = 1.4 // a node gets a relaxation of its own if the one above has so many times more bids
	nearBest   = 4   // one part in so many of the work goes into packings near the best
	nodeRounds = 3   // rounds of cuts at a node with a relaxation of its own
)

// A worker explores parts of the tree.
type worker struct {
	*tree
	id     int
	saved  lp.State
	better *improver
	x      []float64
	inner  set
	small  *enumerator
	stack  []entry
	near   *neighbourhood
	swaps  *swapper // nil before the first search with it
	swap   bool     // the next search near the best one is by exchanges
	aside  bool     // the worker explores packings near the best one, not a part of the tree
	spent  [2]int   // work in the tree, and on packings near the best one
}

// An entry is a node to explore, and the relaxation of a node above it; nil: there is none.
type entry struct {
	*node
	above *relaxation
}

func newWorker(t *tree, id int) *worker {
	return &worker{tree: t, id: id, better: newImprover(t.g, t.prices, uint64(3+id)), x: make([]float64, t.g.n), inner: t.g.empty(), small: newEnumerator(t)}
}

// run explores open nodes.
func (w *worker) run(ctx context.Context) {
	for n := w.nextNode(w.id); n != nil; n = w.nextNode(w.id) {
		for _, n := range w.explore(ctx, n) {
			w.pushNode(n)
		}
		if w.share()*w.spent[1] < w.spent[0] && w.idle.Load()+w.wanted.Load() == 0 {
			w.searchNearBest(ctx)
		}
	}
}

// share is the work in the tree for each unit of work near the best packing.
func (w *worker) share() int {
	if w.equal {
		return 1
	}
	return nearBest
}

// patience is the most work below a node before a worker takes another one, in units of the node's first linear program.
func (w *worker) patience() int {
	if w.equal {
		return patience / 5
	}
	return patience
}

// searchNearBest looks for better packings, by neighbourhoods and by exchanges in turn. The one that has found a packing goes on.
func (w *worker) searchNearBest(ctx context.Context) {
	before := w.incumbent()
	if w.swap && w.swaps == nil {
		w.swaps = newSwapper(w.g, w.prices, w.rest.live, uint64(w.id))
	}
	if w.swap && w.swaps != nil {
		work := max(w.spent[0]/w.share()-w.spent[1], 0) / conflictCost
		w.searchSwaps(ctx, w.swaps, w.rest, work)
		w.spent[1] += conflictCost * work
	} else {
		w.searchNeighbourhoods(ctx)
	}
	if w.incumbent() == before {
		w.swap = !w.swap && w.cover.cliques == nil
	}
}

// explore searches depth first from a node until the linear programs have taken `patience` times the
// work of the first, and returns the nodes that are not done.
func (w *worker) explore(ctx context.Context, n *node) (left []*node) {
	w.stack = append(w.stack[:0], entry{n, nil})
	work, limit := 0, 0
	for len(w.stack) > 0 && ctx.Err() == nil && (limit == 0 || work <= limit) && w.incumbent() <= w.enough {
		if w.nodes.Add(1); w.reportDue() {
			w.top.Store(min(w.top.Load(), w.bound()))
			w.report()
		}
		if !w.aside && len(w.stack) > 1 && w.idle.Load()+w.wanted.Load() > 0 {
			w.pushNode(w.stack[0].node)
			w.stack = slices.Delete(w.stack, 0, 1)
		}
		e := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		work += w.node(ctx, e)
		limit = cmp.Or(limit, w.patience()*work)
	}
	if w.aside {
		w.spent[1] += work
	} else {
		w.spent[0] += work
	}
	for _, e := range w.stack {
		left = append(left, e.node)
	}
	return left
}

// node solves a node, and stacks its children. It returns the work of linear programs.
func (w *worker) node(ctx context.Context, e entry) int {
	n, r, work := e.node, e.above, 0
	if w.log == nil && n.bound <= w.incumbent() {
		return 0
	}
	for {
		w.takeUncontested(n)
		if !w.propagate(n) {
			return work
		}
		if n.fixed > w.incumbent() {
			w.offer(n.taken, n.fixed)
		}
		if w.enumerate(n) {
			return work
		}
		before := 0
		if r == nil || shrunk*float64(n.live.count()) < float64(len(r.bids)) {
			made, err := w.solveWithCuts(ctx, n, w.rows, r, nodeRounds, w.better, nil)
			switch {
			case err != nil && r == nil: // memory does not hold the node's cliques: those of the root serve
				rows, _ := w.g.rowsWithin(ctx, n.live, w.rows, w.key)
				r = w.newRelaxation(n, n.live.members(), rows)
			case err == nil && made == nil:
				return work
			case err == nil:
				r = made
			}
		} else {
			before = r.solver.Pivots
		}
		best := w.incumbent()
		r.boundColumns(n)
		done := r.solver.Solve(ctx, r.cutoff(best), 0)
		work += (r.solver.Pivots - before) * r.Rows * r.Rows
		if ctx.Err() != nil {
			w.stack = append(w.stack, e)
			return work
		}
		scaled := r.bound(n.live, n.fixed)
		bound := scaled >> r.shift
		n.bound = min(n.bound, max(bound, best))
		fixed := bound > best && r.fixByReducedPrices(n.live, scaled, best)
		if bound > best {
			for k, j := range r.bids {
				w.x[j] = r.solver.Value(k)
				w.better.key[j] = w.x[j] + 1e-3*w.cover.net[j]
			}
			w.offer(w.better.fill(n.live, n.taken))
		}
		closed := w.prunes(n, bound)
		if fixed || closed {
			n.step.recordStage(r)
		}
		if closed {
			return work
		}
		before = len(n.taken)
		w.takeUncontested(n)
		if w.enumerate(n) {
			return work
		}
		if len(n.taken) > before {
			continue
		}
		before = r.solver.Pivots
		j, again := w.chooseBranch(ctx, n, r, best, done)
		work += (r.solver.Pivots - before) * r.Rows * r.Rows
		if ctx.Err() != nil {
			w.stack = append(w.stack, e)
			return work
		}
		if again {
			continue
		}
		out := &node{live: slices.Clone(n.live), taken: slices.Clone(n.taken), fixed: n.fixed, bound: n.bound}
		out.live.remove(j)
		n.step, out.step = n.step.branchOn(j)
		w.accept(n, j)
		w.stack = append(w.stack, entry{out, r}, entry{n, r})
		return work
	}
}

// enumerate ends a node of few live bids without linear programs, if few steps do.
func (w *worker) enumerate(n *node) bool {
	left := n.live.count()
	if left > 0 && (left > enumerable || w.set.bare) {
		return false
	}
	done := w.small.run(n, w.incumbent(), steps)
	if w.small.chosen != nil {
		w.offer(w.small.chosen, w.small.best)
	}
	return done
}

// takeUncontested takes all live bids that conflict with no other live bid.
func (w *worker) takeUncontested(n *node) {
	n.live.each(func(j int) {
		if !n.live.intersects(w.g.conflict[j]) {
			w.accept(n, j)
		}
	})
}

// A candidate is a bid that a node may branch on, with what its pseudo-costs say.
type candidate struct {
	j      int
	score  float64
	trials int
}

// chooseBranch finds the bid to branch on, -1 if none is live. Trials of strong branching
// that prove a child to be of no use change the node, which is to be solved again then.
func (w *worker) chooseBranch(ctx context.Context, n *node, r *relaxation, best int64, done bool) (int, bool) {
	var list []candidate
	fallback, most := -1, -1.0
	n.live.each(func(j int) {
		x := w.x[j]
		if x > whole && x < 1-whole {
			out, in, trials := w.pseudoCosts(j)
			list = append(list, candidate{j, branchScore(out*x, in*(1-x)), trials})
		}
		if v := x + 1e-3*w.cover.net[j]; v > most {
			fallback, most = j, v
		}
	})
	if len(list) == 0 || !done {
		return fallback, false
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.j, b.j)
	})
	now := r.solver.Objective()
	if w.set.Bounds != nil && w.cover.cliques == nil {
		if pick, changed, ok := w.branchWithBounder(ctx, n, r, list, best, now); ok {
			return pick, changed
		}
	}
	r.solver.Save(&w.saved)
	pick, top := list[0].j, -1.0
	changed := false
	for k, c := range list[:min(len(list), 2*tried)] {
		if k >= tried && pick >= 0 && top >= 0 || ctx.Err() != nil {
			break
		}
		if c.trials >= trusted {
			if c.score > top {
				pick, top = c.j, c.score
			}
			continue
		}
		if changed && !n.live.has(c.j) {
			continue
		}
		var fall [2]float64
		for side := range 2 {
			useless := w.tryChild(ctx, n, r, c.j, side, best, now, &fall)
			if !useless {
				continue
			}
			changed = true
			w.decideChild(n, r, c.j, side)
			break
		}
		if changed {
			break
		}
		if s := branchScore(fall[0], fall[1]); s > top {
			pick, top = c.j, s
		}
	}
	return pick, changed
}

// branchScore is the score of a branch by the falls of the objective in its two children.
func branchScore(out, in float64) float64 { return math.Max(out, 1e-7) * math.Max(in, 1e-7) }

// tryChild solves a child for a few pivots: side 0 leaves the bid out, 1 takes it. It returns the fall of
// the objective, and reports whether the child's bound closes it.
func (w *worker) tryChild(ctx context.Context, n *node, r *relaxation, j, side int, best int64, now float64, fall *[2]float64) bool {
	fixed := w.childBids(n, j, side)
	r.solver.Bound(int(r.at[j]), float64(side), float64(side))
	r.solver.Solve(ctx, r.cutoff(best), tryouts)
	fall[side] = math.Max(0, now-r.solver.Objective())
	useless := now-fall[side] <= r.cutoff(best) && r.bound(w.inner, fixed)>>r.shift <= best
	w.learnPseudoCost(j, side, fall[side], w.branchDistance(j, side))
	r.solver.Bound(int(r.at[j]), 0, 1)
	r.solver.Load(&w.saved)
	return useless
}

// childBids leaves the live bids of a node's child in inner, and returns the price of those taken.
func (w *worker) childBids(n *node, j, side int) (fixed int64) {
	copy(w.inner, n.live)
	w.inner.remove(j)
	if side == 0 {
		return n.fixed
	}
	w.inner.subtract(w.g.conflict[j])
	return n.fixed + w.prices[j]
}

// branchDistance is the distance by which a child moves its bid's x from the node's solution.
func (w *worker) branchDistance(j, side int) float64 { return math.Abs(float64(side) - w.x[j]) }

// decideChild turns a node into one of its children, where the prices at hand show that the other,
// which it notes, is of no use.
func (w *worker) decideChild(n *node, r *relaxation, j, useless int) {
	in, out := n.step.branchOn(j)
	if useless == 0 {
		out.recordStage(r)
		n.step = in
		w.accept(n, j)
		return
	}
	in.recordStage(r)
	n.step = out
	n.live.remove(j)
}
