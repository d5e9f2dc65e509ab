package packing

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"coalesce/solvers/auction/internal/lp"
)

const (
	whole   = 1e-6 // a column this near to 0 or 1 is there
	trusted = 2    // trials after which a bid's gains are believed
	tried   = 8    // bids that strong branching tries at a node
	tryouts = 20   // pivots of a trial
	few     = 64   // live bids that are enumerated
	steps   = 200  // of an enumeration
)

// A worker solves nodes on a basis of its own.
type worker struct {
	*tree
	exact  *bounder
	id     int
	solver *lp.Solver
	saved  lp.State
	better *improver
	y      []int64
	x      []float64
	inner  set
	small  *enumerator
}

func newWorker(t *tree, id int, basis *lp.State) *worker {
	prices := make([]float64, t.g.n)
	for j, p := range t.prices {
		prices[j] = float64(p) / t.unit
	}
	w := &worker{tree: t, exact: t.bounder(), id: id, solver: lp.New(t.matrix, prices), better: newImprover(t.g, t.prices, uint64(3+id)), x: make([]float64, t.g.n), inner: t.g.empty(),
		small: newEnumerator(t)}
	w.solver.Load(basis)
	return w
}

// run dives from open nodes: one child is worked on at once, the other is left open.
func (w *worker) run(ctx context.Context) {
	for n := w.next(w.id); n != nil; n = w.next(w.id) {
		for n != nil {
			if ctx.Err() != nil || w.incumbent() > w.enough {
				w.push(n)
				return
			}
			if w.nodes.Add(1); w.due() {
				w.top.Store(min(w.top.Load(), w.bound()))
				w.tell()
			}
			child := w.node(ctx, n)
			if ctx.Err() != nil { // the children's bounds hold no more than the node's
				n.bound = max(n.bound, 0)
				w.push(n)
				return
			}
			n = child
			if n != nil && n.bound <= w.incumbent() {
				n = nil
			}
		}
	}
}

// relax solves the linear program of a node and returns the exact bound, scaled.
func (w *worker) relax(ctx context.Context, n *node, best int64) (int64, bool) {
	for j := range w.g.n {
		if n.live.has(j) {
			w.solver.Bound(j, 0, 1)
		} else {
			w.solver.Bound(j, 0, 0)
		}
	}
	for _, j := range n.taken {
		w.solver.Bound(int(j), 1, 1)
	}
	done := w.solver.Solve(ctx, w.cutoff(best), 0)
	w.y = w.exact.prices(w.solver, w.y)
	return w.exact.bound(w.y, n.live, n.fixed), done
}

// cutoff is the objective of the linear program from which on a node is of no use.
func (w *worker) cutoff(best int64) float64 { return (float64(best) + 0.5) / w.unit }

// node solves a node, and leaves open all but one of its children, which is returned;
// nil: the node is done.
func (w *worker) node(ctx context.Context, n *node) *node {
	for {
		w.settle(n)
		best := w.incumbent()
		if n.fixed > best {
			w.offer(n.taken, n.fixed)
			best = n.fixed
		}
		scaled, done := w.relax(ctx, n, best)
		if ctx.Err() != nil {
			return nil
		}
		n.bound = min(n.bound, scaled>>w.shift)
		if n.bound <= best {
			return nil
		}
		before := len(n.taken)
		w.exact.fix(n.live, scaled, best)
		for j := range w.x {
			w.x[j] = w.solver.Value(j)
			w.better.key[j] = w.x[j] + 1e-3*float64(w.prices[j])/w.unit
		}
		w.offer(w.better.fill(n.live, n.taken))
		if best = w.incumbent(); n.bound <= best {
			return nil
		}
		w.settle(n)
		if w.enumerate(n, best) {
			return nil
		}
		if len(n.taken) > before && n.live.meets(n.live) {
			continue
		}
		j, again := w.choose(ctx, n, best, done)
		if ctx.Err() != nil {
			return nil
		}
		if again {
			continue
		}
		if j < 0 { // nothing is live: the packing taken was offered
			return nil
		}
		out := &node{live: slices.Clone(n.live), taken: slices.Clone(n.taken), fixed: n.fixed, bound: n.bound}
		out.live.drop(j)
		w.take(n, j)
		w.push(out)
		return n
	}
}

// enumerate ends a node of few live bids without linear programs, if few steps do.
func (w *worker) enumerate(n *node, best int64) bool {
	count := 0
	for _, word := range n.live {
		count += bits.OnesCount64(word)
	}
	if count > few || w.set.bare {
		return false
	}
	done := w.small.run(n.live, n.taken, n.fixed, best, steps)
	if w.small.chosen != nil {
		w.offer(w.small.chosen, w.small.best)
	}
	return done
}

// take puts a live bid into a node's packings.
func (w *worker) take(n *node, j int) {
	n.live.drop(j)
	n.live.without(w.g.conflict[j])
	n.taken = append(n.taken, int32(j))
	n.fixed += w.prices[j]
}

// settle takes all live bids that conflict with no other live bid.
func (w *worker) settle(n *node) {
	n.live.each(func(j int) {
		if !n.live.meets(w.g.conflict[j]) {
			w.take(n, j)
		}
	})
}

// choose finds the bid to branch on, -1 if none is live. Trials of strong branching
// that prove a child to be of no use change the node, which is to be solved again then.
func (w *worker) choose(ctx context.Context, n *node, best int64, done bool) (int, bool) {
	type candidate struct {
		j      int
		score  float64
		trials int
	}
	var list []candidate
	fallback, most := -1, -1.0
	n.live.each(func(j int) {
		x := w.x[j]
		if x > whole && x < 1-whole {
			out, in, trials := w.guess(j)
			list = append(list, candidate{j, product(out*x, in*(1-x)), trials})
		}
		if v := x + 1e-3*float64(w.prices[j])/w.unit; v > most {
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
	w.solver.Save(&w.saved)
	now := w.solver.Objective()
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
			useless := w.try(ctx, n, c.j, side, best, now, &fall)
			if !useless {
				continue
			}
			changed = true
			if side == 0 {
				w.take(n, c.j)
			} else {
				n.live.drop(c.j)
			}
			break
		}
		if changed {
			break
		}
		if s := product(fall[0], fall[1]); s > top {
			pick, top = c.j, s
		}
	}
	return pick, changed
}

// product is the score of a branch that takes so much in its two children.
func product(out, in float64) float64 { return math.Max(out, 1e-7) * math.Max(in, 1e-7) }

// try solves a child for a few pivots: side 0 leaves the bid out, 1 takes it. It tells
// what that takes from the objective, and reports whether the child is of no use.
func (w *worker) try(ctx context.Context, n *node, j, side int, best int64, now float64, fall *[2]float64) bool {
	copy(w.inner, n.live)
	w.inner.drop(j)
	fixed := n.fixed
	if side == 0 {
		w.solver.Bound(j, 0, 0)
	} else {
		w.solver.Bound(j, 1, 1)
		w.inner.without(w.g.conflict[j])
		fixed += w.prices[j]
	}
	w.solver.Solve(ctx, w.cutoff(best), tryouts)
	fall[side] = math.Max(0, now-w.solver.Objective())
	useless := false
	if now-fall[side] <= w.cutoff(best) {
		w.y = w.exact.prices(w.solver, w.y)
		useless = w.exact.bound(w.y, w.inner, fixed)>>w.shift <= best
	}
	moved := w.x[j]
	if side == 1 {
		moved = 1 - moved
	}
	w.learn(j, side, fall[side], moved)
	w.solver.Bound(j, 0, 1)
	w.solver.Load(&w.saved)
	return useless
}
