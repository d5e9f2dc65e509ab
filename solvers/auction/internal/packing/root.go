package packing

import (
	"context"
	"math"
	"slices"
)

const (
	maxMemory  = 4 << 30 // bytes of the bases' inverses
	maxRows    = 1 << 11 // of a relaxation, whose inverse takes 16 bytes for each pair of them
	dense      = 0.8     // components with at least this share of conflicting pairs are enumerated: they have few packings
	starts     = 40      // greedy packings before the first linear program
	maxRounds  = 60      // of cuts at the root
	cutsARound = 150     // of cliques
	oddARound  = 50      // of odd numbers of cliques
)

// solveComponent solves a problem whose graph of conflicts is connected.
func solveComponent(ctx context.Context, p *Problem, set Settings) (*Result, error) {
	n := len(p.Prices)
	res := &Result{Bids: n, Parts: 1}
	if n == 1 {
		res.Winners, res.Value, res.Bound, res.LPBound = []int{0}, p.Prices[0], p.Prices[0], p.Prices[0]
		if set.Log {
			res.Proof = []Part{{Root: &Step{Stages: []Stage{{}}}}}
		}
		return res, nil
	}
	g := newGraph(n, p.Cliques)
	live := g.empty()
	for j := range n {
		live.add(j)
	}
	t := &tree{g: g, prices: p.Prices, set: set, team: teamOf(set), best: -1, key: make([]float64, n)}
	for j, price := range p.Prices {
		t.key[j] = float64(price)
	}
	top := &node{live: live, bound: p.shareBound()}
	if set.Log {
		t.log, top.step = &proofLog{number: map[string]int32{}}, &Step{}
	}
	proof := top.step
	t.top.Store(top.bound)
	t.priceScale = newScale(t.prices, len(p.Cliques)+(maxRounds+1)*cutsARound)
	t.setCover(p)
	value := int64(0)
	if set.Start != nil {
		begun := make([]int32, len(set.Start))
		for k, j := range set.Start {
			begun[k], value = int32(j), value+p.Prices[j]
		}
		t.offer(begun, value)
	}
	if t.enough = value; !set.Enough {
		t.enough = math.MaxInt64
	}
	end := t.startHeuristic(ctx)
	search, err := false, error(nil)
	if t.team == nil || t.team.Rank() == 0 {
		search, err = t.begin(ctx, p, top, res)
	}
	if t.team != nil && err == nil {
		search, err = t.shareRoot(top, res, search)
	}
	if search && err == nil {
		err = t.search(ctx, top, res)
	}
	end()
	if err != nil {
		return nil, err
	}
	res.Nodes += t.nodes.Load()
	res.Value, res.Winners = max(0, t.best), indices(t.chosen)
	if !t.isCovered(res.Value) && res.Bound <= t.cover.floor {
		res.Bound = res.Value // no packing covers all
	}
	if set.Log {
		if t.team != nil {
			proof.graftSubtrees(t.team.received)
		}
		res.Proof = []Part{{Cliques: t.log.cliques, Odd: t.log.odd, Root: proof}}
	}
	return res, nil
}

// begin finds first packings and a first bound, and reports whether the tree is to be
// searched.
func (t *tree) begin(ctx context.Context, p *Problem, top *node, res *Result) (search bool, err error) {
	n, tries := t.g.n, starts
	if !t.fits(len(p.Cliques)) || t.cover.cliques != nil || t.set.sifts { // sifted bids begin with a packing
		tries = 1
	}
	if !t.set.bare {
		newImprover(t.g, t.prices, 1).start(ctx, top.live, tries, t.offer)
	}
	if !t.propagate(top) {
		res.Bound, res.LPBound = t.incumbent(), t.incumbent()
		return false, nil
	}
	if e := newEnumerator(t); !t.set.bare && (n <= enumerable || t.g.density() > dense) && e.run(top, t.incumbent(), 20*n) {
		if e.chosen != nil {
			t.offer(e.chosen, e.best)
		}
		res.Bound = t.incumbent()
		res.LPBound = res.Bound
		return false, nil
	}
	if !t.fits(len(p.Cliques)) {
		res.Nodes = 1
		return false, t.withoutTree(ctx, p, top, res)
	}
	err = t.root(ctx, p, top, res)
	best := t.incumbent()
	return res.Bound > best && best <= t.enough, err
}

func indices(chosen []int32) []int {
	list := make([]int, len(chosen))
	for k, j := range chosen {
		list[k] = int(j)
	}
	return list
}

// root solves the linear relaxation, with more cliques round by round. It leaves the last
// program's cliques in the tree, and the bounds in the result.
func (t *tree) root(ctx context.Context, p *Problem, n *node, res *Result) error {
	res.Bound, res.Nodes = n.bound, 1
	round, plain := 0, n.bound // plain: the bound without odd rows
	report := func(r *relaxation, bound int64) {
		if round == 0 {
			res.LPBound = min(bound, res.Bound)
		}
		if bound < res.Bound || round == 0 {
			res.Bound = min(bound, res.Bound)
			t.top.Store(res.Bound)
			if prices, ok := r.cliquePrices(); ok {
				res.Prices = prices
			}
			t.report()
		}
		t.rows, res.Cliques = r.rows, 0
		for _, c := range r.rows {
			if c.Odd == nil {
				res.Cliques++
			}
		}
		if res.Cliques == len(r.rows) {
			plain = bound
		}
		round++
	}
	better := newImprover(t.g, t.prices, 2)
	last, err := t.solveWithCuts(ctx, n, p.rows(), nil, maxRounds, better, report)
	if last != nil && t.cover.cliques != nil {
		t.searchCheapest(ctx, n, last)
	}
	if 100*(plain-res.Bound) < plain-t.incumbent() { // odd rows that gain little stay out of the tree
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.Odd != nil })
	}
	return err
}
