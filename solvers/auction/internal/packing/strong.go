package packing

import (
	"context"
	"math"
)

// mostTried is the most bids for which strong branching asks a Bounder for bounds, two children each.
const mostTried = 256

// rounding is the relative error allowed for sums in float32: a child's bound has to be lower than the
// best packing by this share.
const rounding = 2e-6

// A Bounder bounds all children of a node at once; any goroutine may call it. If it returns nil,
// strong branching tries the children one by one. Its row prices are proposals, like those of the
// linear program: the tree computes bounds from them in integers.
type Bounder func(ctx context.Context, c *Children) *Bounds

// Children are the linear program of a node, and parts of it whose optima are wanted:
// Σ price·x is the most where the columns of each row add up to at most what it allows, 0 ≤ x ≤ 1,
// and x is 0 where a child has not the column.
type Children struct {
	Prices []float32
	Rows   [][]uint16 // columns, ascending
	Most   []float32  // that a row allows
	X, Y   []float32  // a solution of the node, and its row prices
	Live   [][]uint32 // of each child: its columns, a bit each
	Enough []float32  // of each child: a bound of at most this closes it
}

// Bounds are row prices of children, at least 0, and the bounds that they give: for each row with a
// column of the child, its right-hand side times its price; for each column, the excess of its
// price over the prices of its rows.
type Bounds struct {
	Values []float32
	Y      [][]float32
}

// branchWithBounder is strong branching on all bids of a list at once. It returns the bid whose children's
// bounds fall most, and whether children proved to be of no use, which changed the node.
func (w *worker) branchWithBounder(ctx context.Context, n *node, r *relaxation, list []candidate, best int64, now float64) (pick int, changed, ok bool) {
	list = list[:min(len(list), mostTried)]
	c, place := w.children(n, r, list, best)
	got := w.set.Bounds(ctx, c)
	if got == nil {
		return 0, false, false
	}
	closes := c.Enough
	now -= float64(n.fixed-r.fixed) / w.unit
	pick, top := list[0].j, -1.0
	for k, c := range list {
		if !n.live.has(c.j) {
			continue
		}
		var fall [2]float64
		useless := -1
		for side := range 2 {
			at := 2*k + side
			fall[side] = math.Max(0, now-float64(side)*float64(w.prices[c.j])/w.unit-float64(got.Values[at]))
			w.learnPseudoCost(c.j, side, fall[side], w.branchDistance(c.j, side))
			if useless < 0 && got.Values[at] <= closes[at] && w.closedBy(n, r, c.j, side, best, place, got.Y[at]) {
				useless = side
			}
		}
		if useless >= 0 {
			w.decideChild(n, r, c.j, useless)
			changed = true
		} else if s := branchScore(fall[0], fall[1]); s > top {
			pick, top = c.j, s
		}
	}
	return pick, changed, true
}

// closedBy reports whether prices of the rows that have a place bound a child by best, and leaves
// them at hand.
func (w *worker) closedBy(n *node, r *relaxation, j, side int, best int64, place []int, y []float32) bool {
	fixed := w.childBids(n, j, side)
	r.y = r.toUnits(func(i int) float64 {
		if place[i] < 0 {
			return 0
		}
		return float64(y[place[i]])
	}, r.rows, r.y)
	return r.boundOfPrices(w.inner, fixed)>>r.shift <= best
}

// children are two of a node for each bid of a list: without it and with it. place tells which of
// their rows those of the relaxation are, -1: none, since the node's bids all fit one.
func (w *worker) children(n *node, r *relaxation, list []candidate, best int64) (c *Children, place []int) {
	c = &Children{}
	column := make([]uint16, w.g.n)
	n.live.each(func(j int) {
		column[j] = uint16(len(c.Prices))
		c.Prices = append(c.Prices, float32(float64(w.prices[j])/w.unit))
		c.X = append(c.X, float32(w.x[j]))
	})
	place = make([]int, len(r.rows))
	for i, row := range r.rows {
		var columns []uint16
		for _, j := range row.Bids {
			if n.live.has(int(j)) {
				columns = append(columns, column[j])
			}
		}
		if place[i] = -1; len(columns) > int(row.maxWinners()) {
			place[i] = len(c.Rows)
			c.Rows = append(c.Rows, columns)
			c.Most = append(c.Most, float32(row.maxWinners()))
			c.Y = append(c.Y, float32(r.solver.Price(i)))
		}
	}
	for _, x := range list {
		for side := range 2 {
			enough := (float64(best-w.childBids(n, x.j, side)) + 0.5) / w.unit
			live := make([]uint32, (len(c.Prices)+31)/32)
			w.inner.each(func(j int) { live[column[j]/32] |= 1 << (column[j] % 32) })
			c.Live = append(c.Live, live)
			c.Enough = append(c.Enough, float32(enough-rounding*math.Abs(enough)))
		}
	}
	return c, place
}
