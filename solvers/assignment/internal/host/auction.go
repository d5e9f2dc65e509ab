package host

import (
	"context"

	"coalesce/solvers/assignment/problem"
)

// auctions start at coarse times the mean of how far the pairs first read of a
// row lie apart; each is finer times closer than the one before.
const (
	coarse = 16
	finer  = 4
	finest = 1 << 16 // the last is that much below the mean
	// pairs read of a row at once
	auctionPairs = 32
	// bids a row in one auction
	auctionBids = 40
)

// auctions bring v close to optimal duals (Bertsekas 1979): rows bid for
// columns until all are matched within eps of their least c - v, and again
// with a smaller eps, down to little. Unlike searches, whose paths grow with the
// problem where costs are distances, they cost the same for each row. They
// are an aid only: one that takes too many bids is left, and matches what it
// could with eps = 0 again in the end.
func (h *core) auctions(ctx context.Context, widest int64) error {
	mean := 0.0
	for i, k := range h.known {
		if k.bound < problem.Infinity/2 {
			mean += float64(k.bound-h.u[i]) / float64(h.rows)
		}
	}
	eps, again := min(int64(coarse*mean), widest), 0
	for last := max(1, int64(mean/finest)); eps >= last; eps /= finer {
		h.release()
		if !h.auction(ctx, eps, auctionBids*h.rows) && eps <= widest/coarse && h.counts.Bids < 4*auctionBids*int64(h.rows) && again < 4 {
			eps *= coarse * finer // too fine a start; or a row has no columns, and no bids are made
			again++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	h.release()
	for i := range h.u {
		h.u[i] = h.leastKnown(i)
	}
	h.bid(bids * h.rows)
	h.tight(h.freeRows())
	return nil
}

// release makes all rows and columns free.
func (h *core) release() {
	for i := range h.column {
		h.column[i] = -1
	}
	for j := range h.row {
		h.row[j] = -1
	}
}

// auction reports whether it matched all rows, in at most `limit` bids. The row
// that waits longest bids next.
func (h *core) auction(ctx context.Context, eps int64, limit int) bool {
	queue := h.freeRows()
	for at := 0; at < len(queue); at++ {
		if at%4096 == 0 {
			h.tell()
		}
		if at == limit || at%4096 == 0 && ctx.Err() != nil {
			return false
		}
		i := queue[at]
		k := &h.known[i]
		j, _, first, second := h.best(i, auctionPairs)
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
