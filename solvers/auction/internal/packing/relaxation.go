package packing

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/lp"
)

// A relaxation is a linear program of a node's live bids.
type relaxation struct {
	priceScale
	*lp.Matrix
	bids    []int32 // of its columns
	at      []int32 // column of each bid
	rows    []row
	names   []int32 // of the rows in the proof; nil: there is none
	taken   int     // bids taken before it
	fixed   int64   // their price
	spread  int64   // what rows of which a bid has to win add to prices, together
	solver  *lp.Solver
	worth   []int64 // prices of all bids
	y       []int64 // prices of the rows, in units of 2^-shift
	used    []bool  // by row: it has a live bid
	reduced []int64 // by live bid: its price less those of its rows, in units of 2^-shift
}

func (t *tree) newRelaxation(n *node, bids []int32, rows []row) *relaxation {
	r := &relaxation{priceScale: t.priceScale, bids: bids, at: make([]int32, t.g.n), rows: rows, taken: len(n.taken), fixed: n.fixed,
		worth: t.prices, used: make([]bool, len(rows)), reduced: make([]int64, t.g.n)}
	r.Matrix = &lp.Matrix{Columns: make([][]int32, len(bids)), Rows: len(rows), Most: make([]float64, len(rows))}
	prices, own := make([]float64, len(bids)), make([]int64, len(bids))
	for k, j := range bids {
		r.at[j] = int32(k)
		own[k] = t.prices[j]
	}
	for i, c := range rows {
		r.Most[i] = float64(c.maxWinners())
		if c.Cover > 0 {
			if r.Equal == nil {
				r.Equal = make([]bool, len(rows))
			}
			r.Equal[i] = true
			r.spread += t.base * int64(c.Cover)
			for _, j := range c.Bids {
				own[r.at[j]] -= t.base * int64(c.Cover)
			}
		}
		for _, j := range c.Bids {
			k := r.at[j]
			r.Columns[k] = append(r.Columns[k], int32(i))
		}
	}
	for k, price := range own {
		prices[k] = float64(price) / t.unit
	}
	r.names = t.log.numberRows(rows)
	r.solver = lp.New(r.Matrix, prices)
	return r
}

// boundColumns bounds the columns to a node's packings.
func (r *relaxation) boundColumns(n *node) {
	for k, j := range r.bids {
		if n.live.has(int(j)) {
			r.solver.Bound(k, 0, 1)
		} else {
			r.solver.Bound(k, 0, 0)
		}
	}
	for _, j := range n.taken[r.taken:] {
		r.solver.Bound(int(r.at[j]), 1, 1)
	}
}

// cutoff is the objective from which on a node is of no use.
func (r *relaxation) cutoff(best int64) float64 {
	return (float64(best-r.fixed-r.spread) + 0.5) / r.unit
}

// bound is a value that no packing of the live bids beats, together with fixed, by the
// prices at hand. It is in units of 2^-shift.
func (r *relaxation) bound(live set, fixed int64) int64 {
	price := r.solver.Price
	if ray := r.solver.Ray(); ray != nil {
		length := r.lengthOf(ray)
		price = func(i int) float64 { return r.solver.Price(i) + length*ray[i] }
	}
	r.y = r.toUnits(price, r.rows, r.y)
	return r.boundOfPrices(live, fixed)
}

// lengthOf is how far prices may go along a ray: none falls below 0, with what a row that has to have a winner adds to
// prices, and none exceeds the largest price.
func (r *relaxation) lengthOf(ray []float64) float64 {
	length := math.Inf(1)
	for i, v := range ray {
		base := float64(r.base*int64(r.rows[i].Cover)) / r.unit
		switch y := base + r.solver.Price(i); {
		case v < -1e-9 && r.rows[i].Cover > 0: // of other rows it is rounding
			length = min(length, max(0, y)/-v)
		case v > 1e-9:
			length = min(length, max(0, float64(r.most)/r.unit-y)/v)
		}
	}
	return length
}

// boundOfPrices is the bound of the prices y: the sum of the prices of all rows with a live bid, each as often
// as its row allows bids, plus the part of each bid's price that its rows do not cover.
func (r *relaxation) boundOfPrices(live set, fixed int64) int64 {
	clear(r.used)
	total := fixed << r.shift
	live.each(func(j int) {
		rest := r.worth[j] << r.shift
		for _, i := range r.Columns[r.at[j]] {
			rest -= r.y[i]
			if !r.used[i] {
				r.used[i] = true
				total += r.y[i] * r.rows[i].maxWinners()
			}
		}
		r.reduced[j] = rest
		if rest > 0 {
			total += rest
		}
	})
	return total
}

// fixByReducedPrices leaves out the bids that are in no packing better than best: those for which the bound, less the
// amount by which the prices of the bid's rows exceed its own price, is no more than best. It reads
// the reduced prices of the last call of boundOfPrices, and reports whether there are such bids.
func (r *relaxation) fixByReducedPrices(live set, bound, best int64) bool {
	some := false
	live.each(func(j int) {
		if v := r.reduced[j]; v < 0 && (bound+v)>>r.shift <= best {
			live.remove(j)
			some = true
		}
	})
	return some
}

// cliquePrices returns the prices of cliques in whole units, rounded up, and false if odd rows have prices
// too, without which the prices of cliques give a weak bound.
func (r *relaxation) cliquePrices() ([]Price, bool) {
	var list []Price
	for i, c := range r.rows {
		if amount := (r.y[i] + 1<<r.shift - 1) >> r.shift; amount > 0 {
			if c.Odd != nil {
				return nil, false
			}
			list = append(list, Price{slices.Clone(c.Bids), amount})
		}
	}
	return list, true
}

// proofStage is the prices at hand, as the last bound took them.
func (r *relaxation) proofStage() Stage {
	s := Stage{Shift: r.shift}
	for i, y := range r.y {
		if y > 0 && r.used[i] {
			s.Prices = append(s.Prices, RowPrice{r.names[i], y})
		}
	}
	return s
}

// solveWithCuts makes the relaxation of a node and adds violated rows, round by round, and leaves out bids that
// the bounds rule out. It begins with `rows`, or if `above` is not nil, with the rows and the basis of
// that relaxation. It calls report with the prices and the bound of every round. A nil relaxation says
// that the node is done: its bound is no more than the best packing.
func (t *tree) solveWithCuts(ctx context.Context, n *node, rows []row, above *relaxation, rounds int, h *improver, report func(r *relaxation, bound int64)) (*relaxation, error) {
	bids := n.live.members()
	var columns []int32 // of bids, in the program before
	if above != nil {
		rows = above.rows
		for _, j := range bids {
			columns = append(columns, above.at[j])
		}
	}
	rows, kept := t.g.rowsWithin(ctx, n.live, rows, t.key)
	if !t.fits(len(rows)) {
		return nil, fmt.Errorf("%w: found %d rows, more than memory holds", problem.ErrSize, len(rows))
	}
	r := t.newRelaxation(n, bids, rows)
	if above != nil {
		r.solver.WarmStart(above.solver, kept, columns)
	}
	x := make([]float64, t.g.n)
	least, stale, odd := n.bound, 0, false
	for round := 0; ; round++ {
		best := t.incumbent()
		r.boundColumns(n)
		done := r.solver.Solve(ctx, r.cutoff(best), 0)
		scaled := r.bound(n.live, n.fixed)
		whole := max(scaled>>t.shift, best)
		n.bound = min(n.bound, whole)
		if report != nil {
			report(r, whole)
		}
		fixed := r.fixByReducedPrices(n.live, scaled, best)
		for k, j := range bids {
			x[j] = r.solver.Value(k)
			h.key[j] = x[j] + 1e-3*t.cover.net[j]
		}
		t.offer(h.fill(n.live, n.taken))
		closed := t.prunes(n, whole)
		if closed || !done {
			n.step.recordStage(r)
		}
		if closed {
			return nil, nil
		}
		if !done {
			return r, nil
		}
		if report != nil && round == 0 && !t.set.bare {
			if t.diveAmongTies(ctx, n, r, h); t.prunes(n, whole) {
				n.step.recordStage(r)
				return nil, nil
			}
		}
		gained := round == 0 || 100*(least-whole) >= whole-best
		if gained {
			stale = 0
		} else {
			stale++
		}
		least = min(least, whole)
		var cuts []row
		more := round < rounds && !t.set.bare
		if more && stale <= 5*rounds/maxRounds {
			for _, c := range t.g.violatedCliques(n.live, x, t.key, cutsARound) {
				cuts = append(cuts, row{Bids: c})
			}
		}
		if more && report != nil && len(cuts) == 0 && (gained || !odd) { // at the root, while they gain
			cuts, odd = t.g.oddRows(ctx, r.rows, x, oddARound), true
		}
		if !t.fits(len(r.rows) + len(cuts)) {
			cuts = nil
		}
		if fixed || len(cuts) == 0 {
			n.step.recordStage(r)
		}
		if len(cuts) == 0 {
			return r, nil
		}
		t.exchangeRows(r, cuts)
	}
}

// exchangeRows removes the rows of a relaxation whose slacks are in the basis, and adds cuts. The basis stays.
func (t *tree) exchangeRows(r *relaxation, cuts []row) {
	var rows []row
	for _, i := range r.solver.RemoveRows(func(i int) bool { return r.rows[i].Cover == 0 }) {
		rows = append(rows, r.rows[i])
	}
	columns, most := make([][]int32, len(cuts)), make([]float64, len(cuts))
	for k, c := range cuts {
		for _, j := range c.Bids {
			columns[k] = append(columns[k], r.at[j])
		}
		most[k] = float64(c.maxWinners())
	}
	r.solver.AddRows(columns, most)
	r.rows = append(rows, cuts...)
	r.names, r.used = t.log.numberRows(r.rows), make([]bool, len(r.rows))
}

// fits reports whether a relaxation may have so many rows.
func (t *tree) fits(rows int) bool { return rows <= cmp.Or(t.set.rowsHeld, maxRows) }

// prunes reports whether a node whose prices give a bound needs no search.
func (t *tree) prunes(n *node, bound int64) bool {
	if t.log == nil {
		bound = min(bound, n.bound)
	}
	return bound <= t.incumbent()
}

// rowsWithin takes rows to live bids, and cliques to maximal ones of these, each of them once. It
// pairs the places of those that it was given with theirs in the list.
func (g *graph) rowsWithin(ctx context.Context, live set, rows []row, key []float64) (all []row, from [][2]int) {
	seen := map[string]int{}
	var text []byte
	for i, r := range rows {
		c := slices.DeleteFunc(slices.Clone(r.Bids), func(j int32) bool { return !live.has(int(j)) })
		if len(c) == 0 {
			continue
		}
		if r.Odd == nil && r.Cover == 0 && ctx.Err() == nil {
			c = g.extend(live, c, key)
		}
		if len(c) <= int(r.maxWinners()) && r.Cover == 0 {
			continue
		}
		text = appendCliqueKey(appendCliqueKey(text[:0], c), []int32{int32(r.maxWinners())})
		if at, ok := seen[string(text)]; !ok {
			seen[string(text)] = len(all)
			from = append(from, [2]int{i, len(all)})
			all = append(all, row{c, r.Odd, r.Cover})
		} else {
			all[at].Cover += r.Cover
		}
	}
	return all, from // cliques are maximal and different, unless ctx ended: none contains another
}

// appendCliqueKey appends the bids of a clique, four bytes each.
func appendCliqueKey(text []byte, clique []int32) []byte {
	for _, j := range clique {
		text = append(text, byte(j), byte(j>>8), byte(j>>16), byte(j>>24))
	}
	return text
}
