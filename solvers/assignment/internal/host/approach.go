package host

import (
	"context"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// The levels are those of the solve on a device: see pointPasses.solve.
const (
	cellPoints  = 2   // points of a level that become one point of the next coarser level
	minPoints   = 300 // of the coarsest level, at least
	coarsePairs = 16  // of a row, known at first
	rowTurns    = 100 // times that a row may lower prices before it loses its match
)

// solvePoints solves a square problem of points from coarse to fine.
func solvePoints(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
	finer, shift := p.Refined()
	src := newPlaces(finer)
	h := newCore(p.Rows, p.Cols, problem.Infinity, src, on.Threads)
	h.enableReports(on, p.Rows, shift)
	var err error
	if start != nil {
		limit := int64(1) << 60 >> shift // no larger duals fit, and any duals of columns may begin
		for j, v := range start.V {
			h.v[j] = max(-limit, min(v, limit)) << shift
		}
		err = h.scales(ctx, 1, 1<<16)
	} else {
		err = h.approach(ctx, finer, 1<<16)
	}
	if err == nil {
		h.refine(ctx, finer)
		err = h.augmentAll(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	sol := h.solution(p.Rows)
	sol.RoundDuals(shift)
	return sol, err
}

// approach finds near-optimal v, and a matching whose pairs are each within a unit divided by last
// of the row's least c - v. Unless the problem is small, approach solves the next coarser level
// first, and begins with its prices.
func (h *core) approach(ctx context.Context, p *problem.Normal, last int64) error {
	if p.Rows < cellPoints*minPoints {
		h.source.ColumnMinima(h.u, h.v, h.threads)
		h.counts.Passes++
		return h.scales(ctx, 16, last)
	}
	q := coarser(p)
	c := newCore(q.Rows, q.Cols, problem.Infinity, newPlaces(q), h.threads)
	if err := c.approach(ctx, q, 64); err != nil {
		return err
	}
	for i := range c.u {
		_, _, c.u[i], _ = c.bestColumns(int32(i), coarsePairs)
	}
	mixed, points := *q.Instance, *q.Instance.Points
	points.Col, mixed.Points, mixed.Cols = p.Instance.Points.Col, &points, p.Cols
	over := *q
	over.Instance, over.Cols = &mixed, p.Cols
	newPlaces(&over).ColumnMinima(c.u, h.v, h.threads)
	h.counts.Bids += c.counts.Bids
	return h.scales(ctx, 1, last)
}

// coarser is the problem of half as many points: each is the mean of two neighbours.
func coarser(p *problem.Normal) *problem.Normal {
	inst, points, q := *p.Instance, *p.Instance.Points, *p
	n := p.Rows / cellPoints
	points.Row = CellMeans(GatherPoints(points.Row, points.Dim, NewPlaceTree(p, points.Row, p.Rows).Order), points.Dim, n)
	points.Col = CellMeans(GatherPoints(points.Col, points.Dim, NewPlaceTree(p, points.Col, p.Cols).Order), points.Dim, n)
	inst.Points, inst.Rows, inst.Cols = &points, n, n
	q.Instance, q.Rows, q.Cols = &inst, n, n
	return &q
}

// scales runs auctions with eps from first units down to a unit divided by last. A unit is the
// mean distance between the first and the fourth pair of a row.
func (h *core) scales(ctx context.Context, first, last int64) error {
	if err := h.readCandidates(ctx, coarsePairs); err != nil {
		return err
	}
	mean := 0.0
	for _, k := range h.known {
		if n := len(k.edges); n > 0 {
			mean += float64(k.edges[min(3, n-1)].least-k.edges[0].least) / float64(h.rows)
		}
	}
	unit := max(1, int64(mean))
	for eps, least := first*unit, max(1, unit/last); ; eps = max(eps/finer, least) {
		h.unmatchAll()
		h.source.DualsChanged(h.v)
		h.auctionPhase(ctx, eps, auctionBids*h.rows) // rows that it leaves free are matched by searches
		if err := ctx.Err(); err != nil || eps <= least {
			return err
		}
	}
}

// refine lowers v until matched pairs are tight (price refinement, Goldberg 1997). Where a row has
// a pair of smaller c - v than its matched pair, the v of that pair's column falls, and the row of
// that column is looked at next. With an optimal matching all pairs become tight. With another one
// the rows of a cycle would lower prices for ever, so that a row loses its match after rowTurns
// turns.
func (h *core) refine(ctx context.Context, p *problem.Normal) {
	h.source.DualsChanged(h.v)
	queue := make([]int32, h.rows)
	turns := make([]int32, h.rows)
	waits := make([]bool, h.rows)
	for i := range queue {
		queue[i], waits[i] = int32(i), true
	}
	for at := 0; at < len(queue) && (at%4096 != 0 || ctx.Err() == nil); at++ {
		i := queue[at]
		waits[i] = false
		j := h.column[i]
		if j < 0 {
			continue
		}
		k := &h.known[i]
		own := p.Cost(int(i), int(j)) - h.v[j]
		if own > k.bound {
			h.countReread()
			k.edges, k.bound = sortByReducedCost(h.reader.AppendLeast(int(i), h.v, coarsePairs, coarsePairs, problem.Infinity, k.edges[:0]))
		}
		for _, e := range k.edges {
			if e.least >= own {
				break
			}
			if e.Cost-h.v[e.Col] >= own {
				continue
			}
			if turns[i]++; turns[i] > rowTurns {
				h.row[j], h.column[i] = -1, -1
				break
			}
			h.v[e.Col] = e.Cost - own
			if o := h.row[e.Col]; o >= 0 && !waits[o] {
				waits[o] = true
				queue = append(queue, o)
			}
		}
		if own > k.bound && h.column[i] >= 0 && !waits[i] { // pairs beyond the bound may be better than the matched one
			waits[i] = true
			queue = append(queue, i)
		}
	}
	for i := range h.u {
		_, _, h.u[i], _ = h.bestColumns(int32(i), coarsePairs)
		if j := h.column[i]; j >= 0 && p.Cost(i, int(j))-h.v[j] > h.u[i] {
			h.row[j], h.column[i] = -1, -1
		}
	}
}

// CellMeans cuts points into n cells of equal size, give or take one point, and returns the mean of
// each cell.
func CellMeans(coords []float64, dim, n int) []float64 {
	count := len(coords) / dim
	out := make([]float64, n*dim)
	for k := range n {
		low, high := k*count/n, (k+1)*count/n
		for i := low; i < high; i++ {
			for x := range dim {
				out[k*dim+x] += coords[i*dim+x] / float64(high-low)
			}
		}
	}
	return out
}

// GatherPoints lists the points whose numbers order has, in that order.
func GatherPoints(coords []float64, dim int, order []int32) []float64 {
	out := make([]float64, 0, len(coords))
	for _, k := range order {
		out = append(out, coords[int(k)*dim:(int(k)+1)*dim]...)
	}
	return out
}
