package assignment

import (
	"context"
)

// A host's levels are those of a device: see pointPasses.solve.
const (
	cellPoints  = 2   // points of a level for one of the next coarser
	fewPoints   = 300 // of the coarsest level, at least
	coarsePairs = 16  // known of a row
	rowTurns    = 100 // times that a row lowers prices before it is let go
)

// solvePoints solves a problem of points that approaches.
func solvePoints(ctx context.Context, p *normal, start *duals, threads int) (*solution, error) {
	finer, shift := p.finer()
	src := newPlaces(finer)
	h := newCore(p.rows, p.cols, far, src, threads)
	var err error
	if start != nil {
		most := int64(1) << 60 >> shift // any duals of columns may begin
		for j, v := range start.v {
			h.v[j] = max(-most, min(v, most)) << shift
		}
		err = h.scales(ctx, 1, 1<<16)
	} else {
		err = h.approach(ctx, finer, 1<<16)
	}
	if err == nil {
		h.refine(ctx, finer)
		err = h.finish(ctx)
	}
	if err != nil {
		return nil, err
	}
	sol := h.solution(p.rows)
	sol.round(shift)
	return sol, nil
}

// approach finds v near optimal duals, and a matching that is optimal but for
// a unit over last a pair: at first of the next coarser level.
func (h *core) approach(ctx context.Context, p *normal, last int64) error {
	if p.rows < cellPoints*fewPoints {
		h.source.columnMinima(h.u, h.v, h.threads)
		h.counts.Passes++
		return h.scales(ctx, 16, last)
	}
	q := coarser(p)
	c := newCore(q.rows, q.cols, far, newPlaces(q), h.threads)
	if err := c.approach(ctx, q, 64); err != nil {
		return err
	}
	for i := range c.u {
		_, _, c.u[i], _ = c.best(int32(i), coarsePairs)
	}
	mixed, points := *q.inst, *q.inst.Points
	points.Col, mixed.Points, mixed.Cols = p.inst.Points.Col, &points, p.cols
	over := *q
	over.inst, over.cols = &mixed, p.cols
	newPlaces(&over).columnMinima(c.u, h.v, h.threads)
	h.counts.Bids += c.counts.Bids
	return h.scales(ctx, 1, last)
}

// coarser is the problem of half as many points, each the mean of two that
// stand together.
func coarser(p *normal) *normal {
	inst, points, q := *p.inst, *p.inst.Points, *p
	n := p.rows / cellPoints
	points.Row = means(gather(points.Row, points.Dim, newPlaceTree(p, points.Row, p.rows).order), points.Dim, n)
	points.Col = means(gather(points.Col, points.Dim, newPlaceTree(p, points.Col, p.cols).order), points.Dim, n)
	inst.Points, inst.Rows, inst.Cols = &points, n, n
	q.inst, q.rows, q.cols = &inst, n, n
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
// falls, and the column's row looks next. An optimal matching ends it; of
// another, rows that go round a cycle are let go.
func (h *core) refine(ctx context.Context, p *normal) {
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
		own := p.cost(int(i), int(j)) - h.v[j]
		if own > k.bound {
			h.again()
			k.edges, k.bound = ascending(h.reader.least(int(i), h.v, coarsePairs, coarsePairs, far, k.edges[:0]))
		}
		for _, e := range k.edges {
			if e.least >= own {
				break
			}
			if e.cost-h.v[e.col] >= own {
				continue
			}
			if turns[i]++; turns[i] > rowTurns {
				h.row[j], h.column[i] = -1, -1
				break
			}
			h.v[e.col] = e.cost - own
			if o := h.row[e.col]; o >= 0 && !waits[o] {
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
		if j := h.column[i]; j >= 0 && p.cost(i, int(j))-h.v[j] > h.u[i] {
			h.row[j], h.column[i] = -1, -1
		}
	}
}

// means cuts points into n cells of as many, one more or less, and returns
// their means.
func means(coords []float64, dim, n int) []float64 {
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

// gather is the points of these numbers, in their order.
func gather(coords []float64, dim int, order []int32) []float64 {
	out := make([]float64, 0, len(coords))
	for _, k := range order {
		out = append(out, coords[int(k)*dim:(int(k)+1)*dim]...)
	}
	return out
}
