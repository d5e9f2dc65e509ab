package host

import (
	"context"

	"coalesce/solvers/assignment/problem"
)

// auctions begin with eps = coarse times the mean distance between the first and the last of the
// pairs that were first read of a row; each next eps is smaller by finer.
const (
	coarse = 16
	finer  = 4
	finest = 1 << 16 // the last eps is the mean distance divided by this

	auctionPairs = 32 // of a row, read at once
	auctionBids  = 40 // of a row in one auction, in the mean, at most
)

// scaleEpsilon brings v close to optimal duals (Bertsekas 1979): rows bid for columns until all rows
// are matched within eps of their least c - v, and again with smaller eps. An auction costs about
// the same for each row, while the paths of searches grow with the problem where costs are
// distances. Duals need no auction to be right: one that takes too many bids is ended, and the
// rows it leaves free are matched by the searches.
func (h *core) scaleEpsilon(ctx context.Context, widest int64) error {
	mean := 0.0
	for i, k := range h.known {
		if k.bound < problem.Infinity/2 {
			mean += float64(k.bound-h.u[i]) / float64(h.rows)
		}
	}
	eps, again := min(int64(coarse*mean), widest), 0
	for last := max(1, int64(mean/finest)); eps >= last; eps /= finer {
		h.unmatchAll()
		if !h.auctionPhase(ctx, eps, auctionBids*h.rows) && eps <= widest/coarse && h.counts.Bids < 4*auctionBids*int64(h.rows) && again < 4 {
			eps *= coarse * finer // eps was too fine to begin with, or a row without columns made no bid
			again++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	h.unmatchAll()
	for i := range h.u {
		h.u[i] = h.leastKnown(i)
	}
	h.augmentingRowReduction(bids * h.rows)
	h.augmentTightPairs(h.freeRows())
	return nil
}

// unmatchAll makes all rows and columns free.
func (h *core) unmatchAll() {
	for i := range h.column {
		h.column[i] = -1
	}
	for j := range h.row {
		h.row[j] = -1
	}
}

// auctionPhase reports whether all rows were matched within `limit` bids. Rows bid in the order in
// which they became free.
func (h *core) auctionPhase(ctx context.Context, eps int64, limit int) bool {
	queue := h.freeRows()
	for at := 0; at < len(queue); at++ {
		if at%4096 == 0 {
			h.reportProgress()
		}
		if at == limit || at%4096 == 0 && ctx.Err() != nil {
			return false
		}
		i := queue[at]
		k := &h.known[i]
		j, _, first, second := h.bestColumns(i, auctionPairs)
		if j < 0 {
			return false
		}
		if second = min(second, k.bound); second >= problem.Infinity/2 {
			second = first
		}
		h.v[j] -= second - first + eps
		if old := h.row[j]; old >= 0 {
			h.column[old] = -1
			queue = append(queue, old)
		}
		h.row[j], h.column[i] = i, j
		h.counts.Bids++
	}
	return true
}
