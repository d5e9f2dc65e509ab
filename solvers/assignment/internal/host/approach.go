package host

import (
	"context"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A host's levels are those of a device: see pointPasses.solve.
const (
	cellPoints  = 2   // points of a level for one of the next coarser
	minPoints   = 300 // of the coarsest level, at least
	coarsePairs = 16  // known of a row
	rowTurns    = 100 // times that a row lowers prices before it loses its match
)

// solvePoints solves a problem of points that approaches.
func solvePoints(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
	finer, shift := p.Finer()
	src := newPlaces(finer)
	h := newCore(p.Rows, p.Cols, problem.Infinity, src, on.Threads)
	h.tells(on, p.Rows, shift)
	var err error
	if start != nil {
		limit := int64(1) << 60 >> shift // any duals of columns may begin
		for j, v := range start.V {
			h.v[j] = max(-limit, min(v, limit)) << shift
		}
		err = h.scales(ctx, 1, 1<<16)
	} else {
		err = h.approach(ctx, finer, 1<<16)
	}
	if err == nil {
		h.refine(ctx, finer)
		err = h.finish(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	sol := h.solution(p.Rows)
	sol.Round(shift)
	return sol, err
}

// approach finds v near optimal duals, and a matching that is optimal but for
// a unit over last a pair: at first of the next coarser level.
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
		_, _, c.u[i], _ = c.best(int32(i), coarsePairs)
	}
	mixed, points := *q.Instance, *q.Instance.Points
	points.Col, mixed.Points, mixed.Cols = p.Instance.Points.Col, &points, p.Cols
	over := *q
	over.Instance, over.Cols = &mixed, p.Cols
	newPlaces(&over).ColumnMinima(c.u, h.v, h.threads)
	h.counts.Bids += c.counts.Bids
	return h.scales(ctx, 1, last)
}

// coarser is the problem of half as many points, each the mean of two that
// stand together.
func coarser(p *problem.Normal) *problem.Normal {
	inst, points, q := *p.Instance, *p.Instance.Points, *p
	n := p.Rows / cellPoints
	points.Row = Means(Gather(points.Row, points.Dim, NewPlaceTree(p, points.Row, p.Rows).Order), points.Dim, n)
	points.Col = Means(Gather(points.Col, points.Dim, NewPlaceTree(p, points.Col, p.Cols).Order), points.Dim, n)
	inst.Points, inst.Rows, inst.Cols = &points, n, n
	q.Instance, q.Rows, q.Cols = &inst, n, n
	return &q
}

// scales are auctions from first units down to a unit over last; a unit is how
// far the fourth pair of a row is from its first, in the mean.
func (h *core) scales(ctx context.Context, first, last int64) error {
	if err := h.read(ctx, coarsePairs); err != nil {
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
		h.release()
		h.source.prepare(h.v)
		h.auction(ctx, eps, auctionBids*h.rows) // rows that it leaves free are matched by searches
		if err := ctx.Err(); err != nil || eps <= least {
			return err
		}
	}
}

// refine lowers v until matched pairs are tight (price refinement, Goldberg
// 1997): where a row has a pair of less c - v than its own, that column's v
// falls, and the column's row is looked at next. With an optimal matching all pairs end
// tight. With another the rows of a cycle would lower prices for ever, so that a row loses
// its match after rowTurns turns.
func (h *core) refine(ctx context.Context, p *problem.Normal) {
	h.source.prepare(h.v)
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
			h.again()
			k.edges, k.bound = ascending(h.reader.Least(int(i), h.v, coarsePairs, coarsePairs, problem.Infinity, k.edges[:0]))
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
		if own > k.bound && h.column[i] >= 0 && !waits[i] { // there may be more
			waits[i] = true
			queue = append(queue, i)
		}
	}
	for i := range h.u {
		_, _, h.u[i], _ = h.best(int32(i), coarsePairs)
		if j := h.column[i]; j >= 0 && p.Cost(i, int(j))-h.v[j] > h.u[i] {
			h.row[j], h.column[i] = -1, -1
		}
	}
}

// Means cuts points into n cells of as many, one more or less, and returns
// their means.
func Means(coords []float64, dim, n int) []float64 {
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

// Gather is the points of these numbers, in their order.
func Gather(coords []float64, dim int, order []int32) []float64 {
	out := make([]float64, 0, len(coords))
	for _, k := range order {
		out = append(out, coords[int(k)*dim:(int(k)+1)*dim]...)
	}
	return out
}
