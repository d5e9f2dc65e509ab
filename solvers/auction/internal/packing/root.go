package packing

import (
	"context"
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/auction/internal/lp"
)

const (
	maxMemory  = 4 << 30 // bytes of the bases' inverses
	dense      = 0.8     // share of pairs in conflict from which on packings are so few that they are enumerated
	starts     = 40      // greedy packings before the first linear program
	rounds     = 60      // of cuts at the root
	cutsARound = 150
)

// solveComponent solves a problem whose bids hang together.
func solveComponent(ctx context.Context, p *Problem, set Settings) (*Result, error) {
	n := len(p.Prices)
	res := &Result{Bids: n, Parts: 1}
	if n == 1 {
		res.Winners, res.Value, res.Bound, res.LPBound = []int{0}, p.Prices[0], p.Prices[0], p.Prices[0]
		return res, nil
	}
	g := newGraph(n, p.Cliques)
	live := g.empty()
	for j := range n {
		live.add(j)
	}
	t := &tree{g: g, prices: p.Prices, set: set, best: -1}
	t.top.Store(p.shares())
	value := int64(0)
	if set.Start != nil {
		begun := make([]int32, len(set.Start))
		for k, j := range set.Start {
			begun[k], value = int32(j), value+p.Prices[j]
		}
		t.offer(begun, value)
	}
	h := newImprover(g, p.Prices, 1)
	if !set.bare {
		h.start(ctx, live, starts, t.offer)
	}
	if e := newEnumerator(t); !set.bare && (n <= few || g.density() > dense) && e.run(live, nil, 0, t.best, 20*n) {
		t.offer(e.chosen, e.best)
		res.Winners, res.Value, res.Bound, res.LPBound = indices(t.chosen), t.best, t.best, t.best
		if n > few || len(set.Known) > 0 {
			return res, nil
		}
		t.top.Store(t.best)
		var proof Result // what a relaxation proves of so few bids costs next to nothing
		err := t.root(ctx, p.Cliques, live, &proof)
		res.Proof = proof.Proof
		return res, err
	}
	if err := t.root(ctx, p.Cliques, live, res); err != nil {
		return nil, err
	}
	if t.enough = value; !set.Enough {
		t.enough = math.MaxInt64
	}
	if res.Bound > t.best && t.best <= t.enough {
		t.search(ctx, live, res)
	}
	res.Nodes += t.nodes.Load()
	res.Value = t.best
	res.Winners = indices(t.chosen)
	return res, nil
}

func indices(chosen []int32) []int {
	list := make([]int, len(chosen))
	for k, j := range chosen {
		list[k] = int(j)
	}
	return list
}

// root solves the linear relaxation, with more cliques round by round, and takes from
// live the bids that no better packing has. It leaves the last program's rows and
// basis in the tree, and the bounds in the result.
func (t *tree) root(ctx context.Context, cliques [][]int32, live set, res *Result) error {
	key := make([]float64, t.g.n)
	for j, p := range t.prices {
		key[j] = float64(p)
	}
	rows := t.g.lifted(ctx, cliques, key)
	t.scale = newScale(t.prices, len(rows)+rounds*cutsARound)
	scaled := make([]float64, t.g.n)
	for j, p := range t.prices {
		scaled[j] = float64(p) / t.unit
	}
	h := newImprover(t.g, t.prices, 2)
	x := make([]float64, t.g.n)
	var y []int64
	var old *lp.Solver
	var kept [][2]int
	least := int64(math.MaxInt64)
	res.Bound, res.Nodes = max(t.best, t.top.Load()), 1
	stale := 0
	res.Proof = []Part{{}}
	record := func() { // the prices of this round
		x := Stage{Shift: t.shift}
		for i, c := range t.rows {
			if y[i] > 0 {
				x.Prices = append(x.Prices, Price{slices.Clone(c), y[i]})
			}
		}
		res.Proof[0].Stages = append(res.Proof[0].Stages, x)
	}
	for round := 0; ; round++ {
		if len(rows) > 1<<13 || 16*len(rows)*len(rows) > maxMemory {
			return fmt.Errorf("%w: found %d cliques of bids, more than memory holds", ErrSize, len(rows))
		}
		t.matrix, t.rows = t.g.matrix(rows), rows
		s := lp.New(t.matrix, scaled)
		if old != nil {
			s.Warm(old, kept)
		}
		t.basis = s
		for j := range t.g.n {
			if !live.has(j) {
				s.Bound(j, 0, 0)
			}
		}
		done := s.Solve(ctx, float64(t.best)/t.unit-1, 0)
		b := t.bounder()
		y = t.scale.prices(s, y)
		bound := b.bound(y, live, 0)
		whole := max(t.best, bound>>t.shift)
		if round == 0 {
			res.LPBound = min(whole, res.Bound)
		}
		if whole < res.Bound || round == 0 {
			res.Bound = min(whole, res.Bound)
			t.top.Store(res.Bound)
			res.Prices = res.Prices[:0]
			for i, c := range rows {
				if amount := (y[i] + 1<<t.shift - 1) >> t.shift; amount > 0 {
					res.Prices = append(res.Prices, Price{slices.Clone(c), amount})
				}
			}
			t.tell()
		}
		if res.Bound <= t.best || !done {
			record()
			break
		}
		fixed := b.fix(live, bound, t.best)
		for j := range x {
			x[j] = s.Value(j)
			h.key[j] = x[j] + 1e-3*scaled[j]
		}
		t.offer(h.fill(live, nil))
		if 100*(least-whole) < whole-t.best || round == 0 {
			stale++
		} else {
			stale = 0
		}
		least = min(least, whole)
		cuts := t.g.violated(x, key, cutsARound)
		last := len(cuts) == 0 || round == rounds || stale > 5 || t.set.bare
		if fixed || last {
			record()
		}
		if last {
			break
		}
		// Rows that bind nothing make room.
		var next [][]int32
		kept = kept[:0]
		for i, c := range rows {
			if !s.Slack(i) {
				kept = append(kept, [2]int{i, len(next)})
				next = append(next, c)
			}
		}
		rows, old = append(next, cuts...), s
	}
	res.Cliques = len(rows)
	return nil
}

func (t *tree) bounder() *bounder {
	return &bounder{Matrix: t.matrix, scale: t.scale, worth: t.prices, reduced: make([]int64, t.g.n), used: make([]bool, t.matrix.Rows)}
}

// fix takes the bids that no packing better than best has: bound, less what a bid's
// rows ask beyond its price, is no more. It follows bound, whose reduced prices it reads,
// and reports whether there are such bids.
func (b *bounder) fix(live set, bound, best int64) bool {
	some := false
	live.each(func(j int) {
		if r := b.reduced[j]; r < 0 && (bound+r)>>b.shift <= best {
			live.drop(j)
			some = true
		}
	})
	return some
}
