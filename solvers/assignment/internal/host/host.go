// Package host solves on the host's cores, by the few pairs of each row that matter
// (see Solve).
package host

import (
	"context"
	"sync"
	"sync/atomic"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

const (
	// known pairs a row at the start
	firstPairs = 16
	// bids a row of augmenting row reduction
	bids = 8
	// a share of the rows left free that says that the first candidates of
	// many rows are the same columns: costs with a structure
	structured = 1.0 / 3
	// a share that says that searches will be long
	distant = 1.0 / 20
)

// Solve solves p on the host's cores, threads of them (0: all).
//
// Duals start from column minima. One pass over the costs reads the pairs of
// each row with the least c - v, and how much c - v is of all others at least.
// On those few pairs rows bid for columns (augmenting row reduction, Jonker and
// Volgenant 1987), then searches from all free rows at once raise the duals
// and augment along disjoint paths. A search that comes to a row's bound reads
// more of the row, so duals are feasible for all pairs at all times; there is
// nothing left to check in the end, and never more to do than on the whole
// matrix. Where more than a third of the rows stay free before the searches,
// the duals of a random quarter of the problem are a better start (sample);
// where more than a twentieth do, auctions come before the searches. Square
// problems of points go from coarse to fine (solvePoints). Two different costs
// are a matching of the pairs of the lower one (solveTwoCosts).
//
// Where columns may stay unmatched v starts from zero and falls only on
// columns that are matched for good, and searches start from one row. A start
// is used where all columns get matched, and where there are at most twice as
// many as rows, by adding rows (padded).
//
// Beside the error of a ctx that has ended stands the partial matching, where there is
// one, with the duals so far; those of rows may be too large.
func Solve(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
	on.Threads = on.ThreadsFor(p.Rows * p.Cols)
	threads := on.Threads
	if p.Rows == 0 {
		return &engine.Solution{Column: []int32{}, Prices: problem.Prices{U: []int64{}, V: make([]int64, p.Cols)}}, nil
	}
	if p.Instance.Points != nil && p.IsCoarseToFine() {
		return solvePoints(ctx, p, start, on)
	}
	if start == nil && p.Instance.Dense() && p.Source == nil && p.Limit == problem.Infinity {
		if sol, err := solveTwoCosts(ctx, p, threads); sol != nil || err != nil {
			return sol, err
		}
	}
	src, err := SourceOf(p, on.Tuning)
	if err != nil {
		return nil, err
	}
	padable := p.Rows < p.Cols && p.Limit == problem.Infinity && p.Cols <= maxPadding*p.Rows
	if padable && start != nil {
		return solvePadded(ctx, p, src, start.V, on)
	}
	h := newCore(p.Rows, p.Cols, p.Limit, src, threads)
	h.enableReports(on, p.Rows, 0)
	switch {
	case !h.full:
	case start != nil:
		copy(h.v, start.V)
	default:
		h.source.ColumnMinima(h.u, h.v, threads)
		h.counts.Passes++
		h.boundPrices()
	}
	if err := h.matchFromDuals(ctx); err != nil {
		return h.partialMatching(ctx), err
	}
	if on.Wary && h.full && h.free() > distant {
		return nil, engine.ErrLong
	}
	if start == nil && (h.full || padable) && h.free() > structured {
		ok, err := h.startFromSample(ctx, p, engine.Host{Threads: threads, Tuning: on.Tuning})
		if err != nil {
			return h.partialMatching(ctx), err
		}
		if ok && padable {
			return solvePadded(ctx, p, src, h.v, on)
		}
		if ok {
			if err := h.matchFromDuals(ctx); err != nil {
				return h.partialMatching(ctx), err
			}
		}
	}
	if err := h.matchRemaining(ctx, p, start == nil || !on.Near); err != nil {
		return h.partialMatching(ctx), err
	}
	return h.solution(p.Rows), nil
}

// matchRemaining matches the rows that matchFromDuals left free.
func (h *core) matchRemaining(ctx context.Context, p *problem.Normal, auctions bool) error {
	if auctions && h.full && h.free() > distant {
		if err := h.scaleEpsilon(ctx, (p.Max-p.Min)/8); err != nil {
			return err
		}
	}
	return h.augmentAll(ctx)
}

// partialMatching returns the partial matching, with -1 for free rows, of a solve that the end of ctx
// interrupted; nil after other errors.
func (h *core) partialMatching(ctx context.Context) *engine.Solution {
	if ctx.Err() == nil {
		return nil
	}
	return h.solution(h.rows)
}

// solution is that of the first rows.
func (h *core) solution(rows int) *engine.Solution {
	for _, k := range h.known {
		h.counts.Edges += int64(len(k.edges))
	}
	for i, j := range h.column {
		h.column[i] = max(j, -1)
	}
	return &engine.Solution{Column: h.column[:rows], Prices: problem.Prices{U: h.u[:rows], V: h.v}, Counts: h.counts}
}

// boundPrices sets v to 0 for columns where v is infinite because no row may have the column, and for
// columns that may stay unmatched where v is positive.
func (h *core) boundPrices() {
	for j, v := range h.v {
		if v >= problem.Infinity/2 || v > 0 && !h.full {
			h.v[j] = 0
		}
	}
}

// matchFromDuals matches what it can from v alone.
func (h *core) matchFromDuals(ctx context.Context) error {
	h.unmatchAll()
	if err := h.readCandidates(ctx, firstPairs); err != nil {
		return err
	}
	h.augmentingRowReduction(bids * h.rows)
	h.augmentTightPairs(h.freeRows())
	h.reportProgress()
	return ctx.Err()
}

// free is the share of the rows that are.
func (h *core) free() float64 { return float64(len(h.freeRows())) / float64(h.rows) }

// ParallelParts works on 0..n in parts, on several goroutines that each make a worker.
func ParallelParts(threads, n int, worker func() func(low, high int)) {
	if threads == 1 {
		worker()(0, n)
		return
	}
	grain := max(1, n/(threads*16))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			work := worker()
			for {
				low := int(next.Add(int64(grain))) - grain
				if low >= n {
					return
				}
				work(low, min(n, low+grain))
			}
		})
	}
	wg.Wait()
}
