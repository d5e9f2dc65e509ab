package coreprice

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

// A pointSchedule has the steps of auctions over points from coarse to fine. A unit is the mean
// distance between the first and the fourth pair of a row.
type pointSchedule struct {
	cell   int    // points of a level that become one point of the next coarser level
	least  int    // points of the coarsest level, at least
	first  int64  // the coarsest level's first epsilon, in units; others begin at one
	divide int64  // epsilon falls by this factor
	coarse int64  // a level ends at a unit divided by this
	fine   int64  // the last level, by this
	chain  int    // bids that may follow one another are the rows divided by this, at least 256
	limit  uint64 // bids of a row in an auction, at most, about: only long chains count
	turns  uint64 // times that a row may lower prices before it loses its match
	sweeps uint64 // of refinement, at most
}

// defaultPointSchedule needs some 75 bids a row on the finest level of 100,000
// points, uniform in a square. Few rows' bids take very long to find a column,
// 2.5 µs each, one after the other; with chains bounded, they are left to the
// searches, a step of which takes 10 to 20 µs: on one H200 chains of up to
// 131,072, 4,096 and 1,024 bids take 5.5, 1.1 and 0.5 s at 20,000 points, and 31,
// 4.8 and 6.5 s at 100,000 (bench/assignment -experiment points).
func defaultPointSchedule() pointSchedule {
	return pointSchedule{cell: 2, least: 300, first: 16, divide: 4, coarse: 64, fine: 1 << 16, chain: 20, limit: 32, turns: 100, sweeps: 1000}
}

// levelPoints are both sides of a level.
type levelPoints struct{ rows, cols pointSet }

// loadCoarseLevels loads the levels above the finest: cells of points that stand
// together, each as the mean of its points.
func (e *pointCore) loadCoarseLevels(d device.Device) error {
	c, q := defaultPointSchedule(), e.local.Instance.Points
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	row, col := q.Row, q.Col
	e.coarse = []levelPoints{{e.rows, e.cols}}
	for n := e.p.Rows / c.cell; n >= c.least && err == nil; n /= c.cell {
		row, col = host.CellMeans(row, q.Dim, n), host.CellMeans(col, q.Dim, n)
		var level levelPoints
		if level.rows, err = e.uploadPoints(d, s, row, n); err == nil {
			level.cols, err = e.uploadPoints(d, s, col, n)
		}
		e.coarse = append(e.coarse, level)
	}
	return errors.Join(err, s.Sync(), s.Close())
}

// solve finds the matching of a square problem.
//
// From coarse to fine, levels are solved by auctions with falling epsilon (Bertsekas
// 1979), on all pairs: a row keeps a lower bound on c - v of its unknown pairs, and reads
// them when they may matter. Column duals of a level are the least c - u over the rows of
// the coarser level. On the finest level prices are refined until matched pairs are tight;
// phases on the known pairs match the other rows, and pricing proves the whole.
func (r *pointPasses) solve(ctx context.Context, start *problem.Prices) (*engine.Solution, error) {
	if err := r.s.Fill(r.control, 0, 8*assignment.CoreWords, 0); err != nil {
		return nil, err
	}
	if err := r.approach(ctx, start); err != nil {
		return nil, err
	}
	c := defaultPointSchedule()
	e := r.e
	at := e.coarse[0]
	grid := device.Grid{Blocks: int64(max(1, min(r.sms, e.blocks(at.rows.n)))), Threads: e.threads, Cooperative: true}
	if err := errors.Join(
		r.s.Fill(r.control, 0, 8*assignment.CoreWordStatus, 0),
		r.s.Fill(r.claim, 0, r.claim.Len(), 0),
		e.kernels.Refine(r.s, grid, at.rows.points, at.cols.tiles, at.cols.boxes, e.peak, uint64(at.rows.n), uint64(at.cols.n), r.dimension(), r.p.Scale,
			r.col, r.cost, e.bound, r.v, r.match, r.owner, r.claim, c.turns, c.sweeps, r.control),
		r.fit(at),
	); err != nil {
		return nil, err
	}
	var words []uint64
	for range r.Schedule.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		limit := r.Schedule.steps
		if words != nil {
			limit += words[assignment.CoreWordSteps]
			r.counts.Repairs++
		}
		var err error
		if words, err = r.solveAndPrice(0, limit); err != nil {
			return nil, err
		}
		switch words[assignment.CoreWordStatus] {
		case assignment.CoreStatusSolved:
			if words[assignment.CoreWordViolations] == 0 {
				return r.downloadSolution(words)
			}
		case assignment.CoreStatusStuck:
			if err := r.addEdges(); err != nil {
				return nil, err
			}
		case assignment.CoreStatusStalled:
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d steps", words[assignment.CoreWordSteps])}
		default:
			return nil, &engine.ExhaustedError{Why: "labels or edges beyond their memory"}
		}
	}
	return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d rounds of pricing", r.Schedule.Rounds)}
}

// approach leaves column duals near optimal ones, and a matching for them.
func (r *pointPasses) approach(ctx context.Context, start *problem.Prices) error {
	c := defaultPointSchedule()
	levels := r.e.coarse
	first := c.first
	if start != nil {
		if err := r.s.Upload(r.v, 0, device.Bytes(start.V)); err != nil {
			return err
		}
		levels, first = levels[:1], 1
	} else {
		top := levels[len(levels)-1]
		if err := errors.Join(r.s.Fill(r.u, 0, r.u.Len(), 0), r.setColumnDuals(top.rows, top.cols)); err != nil {
			return err
		}
		r.counts.Passes++
	}
	for l, at := range slices.Backward(levels) {
		last := c.coarse
		if l == 0 {
			last = c.fine
		}
		if err := r.auctions(ctx, at, first, last); err != nil {
			return err
		}
		first = 1
		if l > 0 {
			if err := errors.Join(r.fit(at), r.setColumnDuals(at.rows, levels[l-1].cols)); err != nil {
				return err
			}
		}
	}
	return nil
}

// auctions go from first units to a unit over last.
func (r *pointPasses) auctions(ctx context.Context, at levelPoints, first, last int64) error {
	e, n, m := r.e, uint64(at.rows.n), uint64(at.cols.n)
	if err := errors.Join(
		r.s.Fill(r.control, 8*assignment.PointsTallyGaps, 8, 0),
		r.tilePeaks(r.v, at.cols.n, 0),
		e.kernels.Know(r.s, r.wide(at.rows.n), at.rows.points, at.cols.tiles, at.cols.boxes, e.peak, n, m, r.dimension(), r.p.Scale, r.v, r.col, r.cost, r.next, e.bound, r.control),
	); err != nil {
		return err
	}
	r.counts.Passes++
	raw := make([]byte, 8)
	if err := r.s.Download(raw, r.control, 8*assignment.PointsTallyGaps); err != nil {
		return err
	}
	unit := int64(max(1, binary.LittleEndian.Uint64(raw)/n))
	c := defaultPointSchedule()
	for eps, least := first*unit, max(1, unit/last); ; eps = max(eps/c.divide, least) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := errors.Join(
			r.tilePeaks(r.v, at.cols.n, 0),
			e.kernels.Open(r.s, e.flat(at.cols.n), r.v, r.word, m, r.shift, r.control),
			e.kernels.Bid(r.s, r.wide(at.rows.n), at.rows.points, at.cols.tiles, at.cols.boxes, e.peak, n, m, r.dimension(), r.p.Scale, r.word, r.shift,
				r.col, r.cost, e.bound, eps, r.spread, uint64(max(256, e.rows.n/c.chain)), c.limit*n, r.control),
			r.s.Fill(r.match, 0, r.match.Len(), 0xff),
			e.kernels.Shut(r.s, e.flat(at.cols.n), r.word, m, r.shift, r.v, r.match, r.owner),
		); err != nil {
			return err
		}
		if eps <= least {
			return nil
		}
	}
}

// wide covers n rows, a warp each.
func (r *pointPasses) wide(n int) device.Grid {
	return device.Grid{Blocks: int64(min(r.e.blocks(n), r.sms*2048/r.e.threads)), Threads: r.e.threads}
}

// blocks of a warp a row.
func (e *pointCore) blocks(n int) int { return max(1, (n*32+e.threads-1)/e.threads) }

// flat covers n, a thread each.
func (e *pointCore) flat(n int) device.Grid {
	return device.Grid{Blocks: int64((n + e.threads - 1) / e.threads), Threads: e.threads}
}

// setColumnDuals sets v of columns to the least c - u over some rows.
func (r *pointPasses) setColumnDuals(rows, cols pointSet) error {
	return errors.Join(r.tilePeaks(r.u, rows.n, 0), r.e.kernels.Minima(r.s, r.rowGrid(cols.n), cols.points, rows.tiles, rows.boxes, r.e.peak,
		uint64(cols.n), uint64(rows.n), r.dimension(), r.p.Scale, r.u, r.v))
}

// tilePeaks finds the largest dual in each tile. stuck: of the columns that were not reached.
func (r *pointPasses) tilePeaks(of device.Buffer, n int, stuck uint64) error {
	return r.e.kernels.Peaks(r.s, r.e.flat(n), of, r.word, uint64(n), stuck, r.e.peak)
}

// fit sets u to the least c - v of each row, and unmatches rows whose pair costs more.
func (r *pointPasses) fit(at levelPoints) error {
	e := r.e
	return e.kernels.Fit(r.s, r.wide(at.rows.n), at.rows.points, at.cols.tiles, at.cols.boxes, e.peak, uint64(at.rows.n), uint64(at.cols.n), r.dimension(), r.p.Scale,
		r.col, r.cost, e.bound, r.v, r.u, r.match, r.owner)
}
