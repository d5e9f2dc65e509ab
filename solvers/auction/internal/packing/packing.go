// Package packing solves weighted set packing exactly: which bids of a combinatorial
// auction to accept so that no two that share a clique win, and the prices add up to
// the most. It is made for hundreds of goods and thousands of bids.
//
// The search is branch and cut on the conflict graph of the bids. Dominated bids are left out,
// components are solved apart, the cliques of the goods are lifted to maximal ones and
// more are separated at the root; nodes branch on a bid, as CABOB does (Sandholm, Suri,
// Gilpin and Levine, Management Science 51, 2005), chosen by pseudo-costs that strong
// branching starts, and all cores work on open nodes. Where few bids are left the node has
// a linear program of its own.
//
// No rounding enters the proof. The linear program in float64 only proposes prices for
// the cliques; bounds are recomputed from those prices in integers, where any prices of
// at least 0 give a bound.
package packing

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"coalesce/runtime/collective"
	"coalesce/solvers/auction/problem"
)

// MaxBids is the most bids of a part that is searched: the conflicts take a bit for each pair. Larger parts get a greedy packing and
// a bound.
const MaxBids = 1 << 15

// A Problem has the prices of bids, and the cliques of bids that exclude one another.
type Problem struct {
	Prices  []int64   // bids of price 0 and less never win
	Cliques [][]int32 // bids, of which one can win
	Cover   []bool    // cliques of which one has to win; nil: none has to
	Spread  int64     // where one has to: what each such clique adds to the prices of its bids, more than the prices without that of any two packings differ by
	Ceiling int64     // and the most that a packing is worth without that
}

// New is an auction of atomic bids as set packing: bids that ask for the same good, or the same dummy,
// exclude one another. Goods that have to be sold are cliques of which one bid has to win.
func New(a *problem.AtomicBids) *Problem {
	p := &Problem{Prices: make([]int64, len(a.Bids))}
	holders := map[int64][]int32{}
	var goods []int64
	for i, b := range a.Bids {
		p.Prices[i] = b.Price
		for _, g := range b.Goods {
			if holders[g] == nil {
				goods = append(goods, g)
			}
			holders[g] = append(holders[g], int32(i))
		}
	}
	slices.Sort(goods)
	p.Spread, p.Ceiling = a.Spread()
	for _, g := range goods {
		p.add(holders[g], p.Spread > 0 && !a.IsDummy(g))
	}
	return p
}

// Settings of Solve.
type Settings struct {
	Workers        int                             // open nodes worked on at once; 0: one a core
	Progress       func(value, bound, nodes int64) // called with better packings, bounds and, now and then, nodes, from any goroutine; may be nil
	Start          []int                           // a packing that is known, of bids of prices above 0; nil: none
	Known          []Price                         // prices of a problem like this one, and its cliques
	Enough         bool                            // end a component, after its root, with any packing better than the start's
	Log            bool                            // prove the result for others, who need not search; without Known prices
	Heuristic      Heuristic                       // runs while the tree of a component is searched, if that takes longer than HeuristicDelay; nil, and with several Ranks: none does
	Bounds         Bounder                         // of all children of a node that strong branching may choose; nil: it tries some, one by one
	HeuristicDelay time.Duration                   // from a component's first packings to the start of the heuristic
	Ranks          collective.Ranks                // processes that search together, with the same problem and settings, each of which gets the result, and rank 0 the proof; nil: this one

	sifts    bool // the problem is bids sifted from another
	bidsHeld int  // for tests: instead of MaxBids; 0: that
	rowsHeld int  // for tests: instead of maxRows; 0: that
	bare     bool // for tests: no greedy starts, no cuts and no enumeration, so that small problems reach the tree
}

// mostBids is the most bids of a part that is searched.
func (s *Settings) mostBids() int { return cmp.Or(s.bidsHeld, MaxBids) }

// A Price is what a clique of bids, of which one can win, pays. No packing is worth more
// than the sum of any prices of at least 0, and of what each bid's price lacks in those
// of its cliques.
type Price struct {
	Bids   []int32
	Amount int64
}

// A Result is the best packing found and what is known of better ones.
type Result struct {
	Winners  []int      // bids, ascending
	Value    int64      // their prices' sum
	Bound    int64      // no packing is worth more; Value where the search ended
	LPBound  int64      // of the linear relaxation over the cliques given, made maximal, or less; of parts that were enumerated, their value
	Nodes    int64      // solved linear programs, the root's rounds counted as one
	Bids     int        // left after dominated ones went
	Cliques  int        // at the root's end
	Parts    int        // components
	Prices   []Price    // of the root's last linear program, those above 0; parts that were enumerated have none
	Proof    []Part     // where it was asked for, of the bids that are left
	Limited  string     // why the bound is that of prices alone, without a tree; empty: it is not
	Replaced [][2]int32 // with a proof: bids left out one after the other, and that which takes the place of each in any packing
}

// Proven reports whether the packing is optimal.
func (r *Result) Proven() bool { return r.Value == r.Bound }

// LiveBids lists the bids that can win, those of prices above 0. Where their prices are too large for Solve, the error wraps
// problem.ErrSize.
func LiveBids(bids int, price func(bid int) int64) (live []int32, err error) {
	sum := uint64(0)
	for j := range bids {
		if price := price(j); price > 0 {
			live = append(live, int32(j))
			if sum += uint64(price); sum > 1<<61 {
				return nil, fmt.Errorf("%w: prices add up to more than 2^61 units", problem.ErrSize)
			}
		}
	}
	return live, nil
}

// Solve finds the best packing. When ctx ends the best so far is returned, with a bound
// that holds. Errors wrap problem.ErrSize.
func Solve(ctx context.Context, p *Problem, set Settings) (*Result, error) {
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}
	live, err := LiveBids(len(p.Prices), func(j int) int64 { return p.Prices[j] })
	if err != nil {
		return nil, err
	}
	if len(live) > set.mostBids() {
		return solveInBatches(ctx, p, live, set)
	}
	start := map[int32]bool{}
	least := int64(0)
	for _, j := range set.Start {
		start[int32(j)] = true
		least += p.Prices[j]
	}
	known := *p
	known.Cliques = slices.Clone(p.Cliques)
	for _, c := range set.Known {
		known.Cliques = append(known.Cliques, c.Bids)
	}
	live = ruledOut(p, set.Known, live, start, least)
	whole := known.restrict(live)
	g := newGraph(len(live), whole.Cliques)
	alike := ctx
	if teamOf(set) != nil {
		alike = context.WithoutCancel(ctx) // all ranks keep the same bids
	}
	kept, instead := g.undominated(alike, whole.Prices)
	begun := g.empty() // the start, in bids that are kept
	for k, j := range live {
		if start[j] {
			for instead[k] >= 0 {
				k = int(instead[k])
			}
			begun.add(k)
		}
	}
	res := &Result{Bids: len(kept)}
	parts := g.components(kept)
	res.Parts = len(parts)
	problems := whole.split(parts)
	later := int64(0) // upper bound on the value of the parts that are still to be solved
	for _, inner := range problems {
		later += inner.shareBound()
	}
	for k, part := range parts {
		inner := problems[k]
		later -= inner.shareBound()
		componentSet := set
		componentSet.Start = nil
		for k, j := range part {
			if begun.has(int(j)) {
				componentSet.Start = append(componentSet.Start, k)
			}
		}
		if set.Progress != nil {
			value, bound, nodes := res.Value, res.Bound+later, res.Nodes
			componentSet.Progress = func(v, b, n int64) { set.Progress(value+v, bound+b, nodes+n) }
		}
		one, err := solveComponent(ctx, inner, componentSet)
		if err != nil {
			return nil, err
		}
		numbers := make([]int32, len(part))
		for k, j := range part {
			numbers[k] = live[j]
		}
		res.add(one, numbers)
	}
	slices.Sort(res.Winners)
	if team := teamOf(set); team != nil && team.Rank() > 0 {
		res.Proof = nil // rank 0 has it
		return res, nil
	}
	for k, i := range instead {
		if set.Log && i >= 0 {
			res.Replaced = append(res.Replaced, [2]int32{live[k], live[i]})
		}
	}
	return res, nil
}

// add adds the result of a part, given the numbers of the part's bids.
func (r *Result) add(one *Result, numbers []int32) {
	r.Value += one.Value
	r.Bound += one.Bound
	r.LPBound += one.LPBound
	r.Nodes += one.Nodes
	r.Cliques += one.Cliques
	r.Limited = cmp.Or(r.Limited, one.Limited)
	for _, w := range one.Winners {
		r.Winners = append(r.Winners, int(numbers[w]))
	}
	for _, x := range one.Proof {
		x.renumberBids(numbers)
		if x.Bids == nil {
			x.Bids = numbers
		}
		r.Proof = append(r.Proof, x)
	}
	for _, price := range one.Prices {
		for k, j := range price.Bids {
			price.Bids[k] = numbers[j]
		}
		r.Prices = append(r.Prices, price)
	}
}

// renumberBids maps bids, given by their places in a list, to the numbers in the list.
func (x *Part) renumberBids(bids []int32) {
	for k, j := range x.Bids {
		x.Bids[k] = bids[j]
	}
	for _, c := range x.Cliques {
		for k, j := range c {
			c[k] = bids[j]
		}
	}
	x.Root.renumberBids(bids)
}

func (s *Step) renumberBids(bids []int32) {
	if s == nil {
		return
	}
	for k, j := range s.Branch {
		s.Branch[k] = bids[j]
	}
	for _, kid := range s.Kids {
		kid.renumberBids(bids)
	}
}

// shareBound is a bound on any packing that needs no linear program: each clique pays the
// largest share of a bid in it, where bids share out their prices over their cliques.
func (p *Problem) shareBound() int64 {
	cliques := make([]int64, len(p.Prices))
	for _, c := range p.Cliques {
		for _, j := range c {
			cliques[j]++
		}
	}
	bound := int64(0)
	for _, c := range p.Cliques {
		most := int64(0)
		for _, j := range c {
			most = max(most, (p.Prices[j]+cliques[j]-1)/cliques[j])
		}
		bound += most
	}
	for j, n := range cliques {
		if n == 0 {
			bound += max(0, p.Prices[j])
		}
	}
	return bound
}

// ruledOut leaves out the bids that no packing worth more than the start has, by known
// prices. Bids of the start stay.
func ruledOut(p *Problem, known []Price, live []int32, start map[int32]bool, least int64) []int32 {
	if len(known) == 0 {
		return live
	}
	reduced := slices.Clone(p.Prices)
	present := make([]bool, len(p.Prices))
	for _, j := range live {
		present[j] = true
	}
	bound := int64(0)
	for _, c := range known {
		if slices.ContainsFunc(c.Bids, func(j int32) bool { return present[j] }) {
			bound += c.Amount
		}
		for _, j := range c.Bids {
			reduced[j] -= c.Amount
		}
	}
	for _, j := range live {
		bound += max(0, reduced[j])
	}
	var left []int32
	for _, j := range live {
		if start[j] || bound+min(0, reduced[j]) > least {
			left = append(left, j)
		}
	}
	return left
}

// covers reports whether a bid of the clique has to win.
func (p *Problem) covers(clique int) bool { return clique < len(p.Cover) && p.Cover[clique] }

// add adds a clique, unless it is of no use.
func (p *Problem) add(clique []int32, cover bool) {
	if len(clique) < 2 && !cover {
		return
	}
	slices.Sort(clique)
	p.Cliques = append(p.Cliques, clique)
	if cover {
		p.Cover = append(p.Cover, make([]bool, len(p.Cliques)-len(p.Cover))...)
		p.Cover[len(p.Cliques)-1] = true
	}
}

// empty is a problem of so many bids, without prices and cliques.
func (p *Problem) empty(bids int) *Problem {
	return &Problem{Prices: make([]int64, bids), Spread: p.Spread, Ceiling: p.Ceiling}
}

// restrict is the problem of some of the bids, renumbered by their place in the list.
func (p *Problem) restrict(bids []int32) *Problem {
	sub := p.empty(len(bids))
	number := slices.Repeat([]int32{-1}, len(p.Prices))
	for k, j := range bids {
		number[j] = int32(k)
		sub.Prices[k] = p.Prices[j]
	}
	for i, c := range p.Cliques {
		var left []int32
		for _, j := range c {
			if number[j] >= 0 {
				left = append(left, number[j])
			}
		}
		sub.add(left, p.covers(i))
	}
	return sub
}

// split is the problem of each of some lists of bids, which share no cliques, renumbered by the places in the list.
func (p *Problem) split(lists [][]int32) []*Problem {
	problems := make([]*Problem, len(lists))
	list, place := slices.Repeat([]int32{-1}, len(p.Prices)), make([]int32, len(p.Prices))
	for k, bids := range lists {
		problems[k] = p.empty(len(bids))
		for at, j := range bids {
			list[j], place[j] = int32(k), int32(at)
			problems[k].Prices[at] = p.Prices[j]
		}
	}
	for i, c := range p.Cliques {
		var left []int32
		to := int32(-1)
		for _, j := range c {
			if list[j] >= 0 {
				left, to = append(left, place[j]), list[j]
			}
		}
		if to >= 0 {
			problems[to].add(left, p.covers(i))
		}
	}
	return problems
}

// A set is bids, a bit each.
type set []uint64

func (s set) has(j int) bool { return s[j>>6]>>(j&63)&1 != 0 }
func (s set) add(j int)      { s[j>>6] |= 1 << (j & 63) }
func (s set) remove(j int)   { s[j>>6] &^= 1 << (j & 63) }
func (s set) subtract(t set) {
	for k, w := range t {
		s[k] &^= w
	}
}

// xor takes out what both have, and adds what t has alone.
func (s set) xor(t set) {
	for k, w := range t {
		s[k] ^= w
	}
}

func (s set) intersects(t set) bool {
	for k, w := range t {
		if s[k]&w != 0 {
			return true
		}
	}
	return false
}

func (s set) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s set) members() []int32 {
	var list []int32
	s.each(func(j int) { list = append(list, int32(j)) })
	return list
}

// each calls f with the members, ascending.
func (s set) each(f func(j int)) {
	for k, w := range s {
		for ; w != 0; w &= w - 1 {
			f(k<<6 + bits.TrailingZeros64(w))
		}
	}
}

// A graph is conflicts: the set of bids that each excludes, itself left out.
type graph struct {
	n        int
	conflict []set
}

func newGraph(n int, cliques [][]int32) *graph {
	words := (n + 63) / 64
	all := make([]uint64, n*words)
	g := &graph{n: n, conflict: make([]set, n)}
	for j := range n {
		g.conflict[j] = all[j*words : (j+1)*words]
	}
	for _, c := range cliques {
		mask := g.empty()
		for _, j := range c {
			mask.add(int(j))
		}
		for _, j := range c {
			for k, w := range mask {
				g.conflict[j][k] |= w
			}
		}
	}
	for j := range n {
		g.conflict[j].remove(j)
	}
	return g
}

// density is the share of pairs of bids that conflict.
func (g *graph) density() float64 {
	pairs := 0
	for _, c := range g.conflict {
		for _, w := range c {
			pairs += bits.OnesCount64(w)
		}
	}
	return float64(pairs) / float64(max(1, g.n*(g.n-1)))
}

func (g *graph) empty() set { return make(set, (g.n+63)/64) }

// undominated leaves out each bid that another bid could replace in any packing: the other pays at
// least as much, conflicts with the bid, and conflicts with nothing else that the bid does not
// conflict with. It also returns the number of that other bid, -1 for bids that are kept.
//
// When ctx ends, all bids that it has not looked at are kept.
func (g *graph) undominated(ctx context.Context, prices []int64) (kept, instead []int32) {
	gone := g.empty()
	instead = make([]int32, g.n)
	for j := range g.n {
		instead[j] = -1
		if j%64 == 0 && ctx.Err() != nil {
			prices = nil
		}
		if prices == nil {
			continue
		}
		for k, w := range g.conflict[j] {
			for ; w != 0 && !gone.has(j); w &= w - 1 {
				i := k<<6 + bits.TrailingZeros64(w)
				if prices[i] >= prices[j] && !gone.has(i) && g.replaces(i, j) {
					gone.add(j)
					instead[j] = int32(i)
				}
			}
		}
	}
	for j := range g.n {
		if !gone.has(j) {
			kept = append(kept, int32(j))
		}
	}
	return kept, instead
}

// replaces reports whether all conflicts of i, but for the two themselves, are j's.
func (g *graph) replaces(i, j int) bool {
	for k, w := range g.conflict[i] {
		rest := w &^ g.conflict[j][k]
		if k == j>>6 {
			rest &^= 1 << (j & 63)
		}
		if rest != 0 {
			return false
		}
	}
	return true
}

// components are the parts of the bids that do not conflict with one another, small
// ones first.
func (g *graph) components(bids []int32) [][]int32 {
	left := g.empty()
	for _, j := range bids {
		left.add(int(j))
	}
	var parts [][]int32
	for _, j := range bids {
		if !left.has(int(j)) {
			continue
		}
		left.remove(int(j))
		part := []int32{j}
		for at := 0; at < len(part); at++ {
			for k, w := range g.conflict[part[at]] {
				for w &= left[k]; w != 0; w &= w - 1 {
					i := k<<6 + bits.TrailingZeros64(w)
					left.remove(i)
					part = append(part, int32(i))
				}
			}
		}
		slices.Sort(part)
		parts = append(parts, part)
	}
	slices.SortStableFunc(parts, func(a, b []int32) int { return cmp.Compare(len(a), len(b)) })
	return parts
}
