package coreprice

import (
	"context"
	"math"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// corePasses are the steps of a solve that read the whole matrix. All but the first use the
// current duals.
type corePasses interface {
	contextError(ctx context.Context) error // called before each round: the error of a ctx that has ended
	solveCore(launch func() error) error    // solves the core, by calling launch
	setColumnMinima() error                 // sets v to the columns' minima
	makeCandidates() error                  // makes every row's first chunk
	priceRows() ([]uint64, error)           // adds chunks to rows with violations; returns the control words
	extendReached() ([]uint64, error)       // adds chunks of edges from rows that a search reached to columns that it did not reach
}

func (r *coreRun) contextError(ctx context.Context) error { return ctx.Err() }

func (r *coreRun) solveCore(launch func() error) error { return launch() }

func (r *coreRun) setColumnMinima() error {
	// Every byte 0x20 makes a price above all others, from which atomicMin goes down.
	if err := r.s.Fill(r.v, 0, 8*int64(r.p.Cols), 0x20); err != nil {
		return err
	}
	strips := (r.p.Cols + r.block - 1) / r.block
	shares := max(1, min((r.p.Rows+15)/16, (r.sms*2048/r.block*4+strips-1)/strips))
	grid := device.Grid{Blocks: int64(strips * shares), Threads: r.block}
	return r.kernels.Minima(r.s, grid, r.m.Costs, uint64(r.p.Rows), uint64(r.p.Cols), r.p.Scale, uint64(shares), r.v)
}

// A sieve lets passes rule out most pairs by arithmetic in 32 bits: see struct Sieve of
// core/matrix.cuh.
type sieve struct{ unit, margin float64 }

// sieve computes the sieve's unit and margin, and its 32-bit prices from v.
func (r *coreRun) sieve() (sieve, error) {
	const exact, rounding = 1 << 23, 1.0 / (1 << 22)
	top := float64(max(r.p.Max, -r.p.Min, 1))
	f := sieve{unit: math.Exp2(-math.Ceil(math.Log2(top)))}
	asAre := 0.0 // prices smaller than this are exact in 32 bits
	switch whole := r.p.Instance.Type == problem.Int32 || r.p.Instance.Type == problem.Int64; {
	case whole && top < exact:
		asAre = exact
	case whole:
		f.margin = rounding
	default:
		// Costs are multiplied by scale*unit, of float32 in 32 bits.
		f.unit = min(f.unit, 1<<100/math.Abs(r.p.Scale))
		f.margin = top*f.unit*rounding + f.unit
	}
	grid := device.Grid{Blocks: int64((r.p.Cols + r.block - 1) / r.block), Threads: r.block}
	return f, r.kernels.Prices(r.s, grid, r.v, uint64(r.p.Cols), f.unit, asAre, r.prices)
}

func (r *coreRun) makeCandidates() error { return r.rows(r.kernels.Candidates) }

// doubleCandidates makes, for every row, twice the edges of makeCandidates.
func (r *coreRun) doubleCandidates() error { return r.rows(r.kernels.Widen) }

// rows launches a kernel that finds the cheapest edges of every row.
func (r *coreRun) rows(kernel func(s device.Stream, grid device.Grid, costs device.Buffer, rows, cols uint64, scale, unit, margin float64,
	prices device.Buffer, limit int64, v, col, cost, next device.Buffer) error) error {
	f, err := r.sieve()
	if err != nil {
		return err
	}
	return kernel(r.s, r.passGrid(), r.m.Costs, uint64(r.p.Rows), uint64(r.p.Cols), r.p.Scale, f.unit, f.margin, r.prices,
		r.p.Limit, r.v, r.col, r.cost, r.next)
}

func (r *coreRun) priceRows() ([]uint64, error) {
	if err := r.launchPrice(); err != nil {
		return nil, err
	}
	return r.downloadControl()
}

func (r *coreRun) launchPrice() error {
	f, err := r.sieve()
	if err != nil {
		return err
	}
	return r.kernels.Price(r.s, r.passGrid(), r.m.Costs, uint64(r.p.Rows), uint64(r.p.Cols), r.p.Scale, f.unit, f.margin, r.prices, r.u, r.v, r.match, r.owner,
		r.col, r.cost, r.next, r.control, uint64(r.pool))
}

func (r *coreRun) extendReached() ([]uint64, error) {
	if err := r.launchGrow(); err != nil {
		return nil, err
	}
	return r.downloadControl()
}

func (r *coreRun) launchGrow() error {
	f, err := r.sieve()
	if err != nil {
		return err
	}
	return r.kernels.Grow(r.s, r.passGrid(), r.m.Costs, uint64(r.p.Rows), uint64(r.p.Cols), r.p.Scale, f.unit, f.margin, r.prices, r.u, r.v, r.match, r.owner,
		r.word, r.col, r.cost, r.next, r.control, uint64(r.pool))
}
