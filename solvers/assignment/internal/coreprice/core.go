// Package coreprice solves exactly by core and price, on one device or several: the
// core, a few of the cheapest pairs of every row, is solved on the device, then one
// pass over all costs prices it (families assignment/core, points and duals).
package coreprice

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A coreEngine solves by core and price, on a device:
//
//  1. Column minima (square problems), then every row's K least c - v, in two
//     passes: the core, about K edges a row. All passes but the first look at
//     most pairs in 32 bits alone: see sieve.
//  2. The core, exactly, in one persistent kernel: an epsilon-scaled auction in
//     which free rows bid without waiting for one another, then one with epsilon
//     0, which leaves a tight partial matching; then phases: label correcting
//     from all free rows at once, duals raised to the distance of the m-th free
//     column (1/2^half of the free rows; the nearest where columns may stay
//     unmatched), and one augmentation in each tree. Phases of few rows are one
//     block's, in its shared memory, unless the duals were initialised anew.
//  3. Price, in one pass over the matrix: rows with c < u + v get their worst
//     edges as well, and are matched again. No violation: u and v prove it.
//
// A core without a perfect matching grows: rows that the search reached get their best
// edges to columns that the search did not reach. Where no such edge exists, these rows
// violate Hall's condition. Rounds and steps are bounded: an *engine.ExhaustedError says
// which bound was met, and another family goes on.
type coreEngine struct {
	engine.Reporter
	coreSizes
	coreBuffers
	kernels     *assignment.CoreKernels
	scope       device.Scope // holds the kernels and the buffers
	Schedule    schedule
	initialiser *Initialiser // nil: none for this type
	yields      bool         // to give up where many costs are equal, or first prices are bad: another family can go on
}

// coreSizes are what the variant, the device and the size of the problem decide when an engine is opened.
type coreSizes struct {
	rows     int
	block, k int
	cluster  int // blocks of the kernel solve; 1: by the amount of work
	resident int // rows, at most, whose phases one block does in its shared memory
	shared   int // bytes of a block, at most
	sms      int
	pool     int // chunks
	capacity int // entries of one list
}

// coreBuffers are the memory of an engine on its device, which the kernels write.
type coreBuffers struct {
	col, cost, next, rest, u, v, match, owner,
	word, lists, reached, claim, control, prices device.Buffer
}

// A schedule has the bounds and steps of solving the core.
type schedule struct {
	first  int64   // the first epsilon is the costs' span divided by first
	last   int64   // the last epsilon is the costs' span divided by last, at least 1
	full   float64 // share of matched rows at which a scale ends
	hops   uint64  // bids of a row in a scale, at most
	Rounds int     // of pricing and growing, at most
	wary   uint64  // steps after which the first prices are taken for bad ones
	steps  uint64  // steps between two rounds of pricing, at most
}

func defaultSchedule(rows int) schedule {
	return schedule{first: 1000, last: 64 * int64(max(1, rows)), full: 0.985, hops: 150, Rounds: 64,
		wary: 600 + uint64(rows)/4, steps: 20000 + 8*uint64(rows)}
}

// ScalingRows is the size from which assignment/scaling takes less time than this method where the columns' least costs are bad
// first prices, so that paths are long (docs/notes/assignment-degenerate.md).
const ScalingRows = 4000

// A forbidden pair has the same cost here and in the kernels.
var _ = [1]struct{}{}[assignment.CoreInfinite-problem.Infinity]

// Open loads a variant of assignment/core and takes memory for dense problems of
// that size.
func Open(d device.Device, t *tuned.Database, v *device.Variant, rows, cols int) (engine.Engine, error) {
	e, err := openCore(d, v, rows, cols, 4*rows+256)
	if err != nil {
		return nil, err
	}
	if rows != cols || rows == 0 {
		return e, nil
	}
	w := DualsWorkload(map[string]string{"value": assignment.Core.Value(v, "value")}, cols)
	duals, err := t.Pick(&assignment.Duals, d.Facts(), w, nil)
	if errors.Is(err, tuned.ErrNoVariant) {
		return e, nil
	}
	if err == nil {
		e.initialiser, err = OpenInitialiser(d, duals, rows, cols)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.scope.CloseLater(e.initialiser)
	return e, nil
}

// openCore loads a variant and allocates memory for chunks chunks of edges.
func openCore(d device.Device, v *device.Variant, rows, cols, chunks int) (*coreEngine, error) {
	kernels, err := assignment.LoadCore(d, v)
	if err != nil {
		return nil, err
	}
	f := &assignment.Core
	e := &coreEngine{kernels: kernels, Schedule: defaultSchedule(rows), coreSizes: coreSizes{rows: rows, block: f.Int(v, "block"), k: f.Int(v, "k"),
		cluster: f.Int(v, "cluster"), resident: f.Int(v, "resident"), shared: int(d.Facts().SharedPerBlock), sms: max(1, d.Facts().SMs),
		pool: chunks, capacity: 8*rows + 1<<12}}
	width := int64(rows + cols)
	e.scope.CloseLater(kernels)
	if err = e.scope.AllocAll(d, device.BufferFor(&e.col, 4*int64(e.pool*e.k)), device.BufferFor(&e.cost, 8*int64(e.pool*e.k)), device.BufferFor(&e.next, 4*int64(e.pool)), device.BufferFor(&e.rest, 8*int64(e.pool*e.k)),
		device.BufferFor(&e.u, 8*int64(rows)), device.BufferFor(&e.v, 8*width), device.BufferFor(&e.match, 4*int64(rows)), device.BufferFor(&e.owner, 4*width),
		device.BufferFor(&e.word, 8*width), device.BufferFor(&e.lists, 16*int64(e.capacity)), device.BufferFor(&e.reached, 4*width), device.BufferFor(&e.claim, 4*int64(rows)),
		device.BufferFor(&e.control, 8*assignment.CoreWords+8*(width+int64(rows))+4*int64(rows)), device.BufferFor(&e.prices, 4*int64(cols))); err != nil {
		return nil, errors.Join(fmt.Errorf("core of %d x %d pairs: %w", rows, cols, err), e.Close())
	}
	return e, nil
}

// Close implements engine.Engine.
func (e *coreEngine) Close() error { return e.scope.Close() }

// passGrid is a grid of the kernels that read the matrix.
func (e *coreEngine) passGrid() device.Grid {
	return device.Grid{Blocks: int64(max(1, min((e.rows*32+e.block-1)/e.block, e.sms*2048/e.block))), Threads: e.block}
}

// Solve implements engine.Engine.
func (e *coreEngine) Solve(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Rows == 0 {
		return &engine.Solution{Prices: problem.Prices{V: make([]int64, p.Cols)}}, nil
	}
	r := e.newRun(s, p, m)
	r.over = r
	return r.solve(ctx, start)
}

// newRun prepares a solve of p.
func (e *coreEngine) newRun(s device.Stream, p *problem.Normal, m *engine.Matrix) *coreRun {
	spread := p.Max - p.Min
	if p.Limit < problem.Infinity {
		spread = max(spread, p.Limit-p.Min, p.Max-p.Limit)
	}
	shift := bits.Len(uint(p.Rows))
	return &coreRun{coreEngine: e, s: s, p: p, m: m, shift: uint64(shift), spread: spread, square: p.Rows == p.Cols && p.Limit == problem.Infinity}
}

// solve runs to an optimum or to a bound.
func (r *coreRun) solve(ctx context.Context, start *problem.Prices) (*engine.Solution, error) {
	if err := r.begin(start); err != nil {
		return nil, err
	}
	mode, limit := uint64(assignment.CoreModeTight), r.Schedule.steps
	if r.square {
		mode |= assignment.CoreModeAuction
	}
	if r.square && start == nil && r.initialiser != nil && r.over == corePasses(r) {
		mode |= assignment.CoreModeWary
		if r.yields {
			mode |= assignment.CoreModeYield
		}
		limit = r.Schedule.wary
	}
	for range r.Schedule.Rounds {
		if err := r.over.contextError(ctx); err != nil {
			return nil, err
		}
		words, err := r.solveAndPrice(mode, limit)
		if err != nil {
			return nil, err
		}
		status := words[assignment.CoreWordStatus]
		if status != assignment.CoreStatusTied {
			r.ReportMatched(r.p.Rows - int(words[assignment.CoreWordFree]+words[assignment.CoreWordViolations]))
		}
		switch {
		case status == assignment.CoreStatusSolved && words[assignment.CoreWordViolations] == 0:
			return r.downloadSolution(words)
		case status == assignment.CoreStatusTied:
			return nil, &engine.ExhaustedError{Why: "ties", Tied: true}
		case mode&assignment.CoreModeWary != 0 && status != assignment.CoreStatusSolved && r.yields && r.p.Rows >= ScalingRows:
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("bad first prices, seen after %d steps", words[assignment.CoreWordSteps])}
		case mode&assignment.CoreModeWary != 0 && status != assignment.CoreStatusSolved:
			if mode, err = r.initialise(); err != nil {
				return nil, err
			}
			limit = words[assignment.CoreWordSteps] + r.Schedule.steps
			continue
		case status == assignment.CoreStatusStalled:
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d steps", words[assignment.CoreWordSteps])}
		case status == assignment.CoreStatusOverflowed:
			return nil, &engine.ExhaustedError{Why: "labels or edges beyond their memory"}
		}
		mode, limit = 0, words[assignment.CoreWordSteps]+r.Schedule.steps
		r.counts.Repairs++
		if status == assignment.CoreStatusStuck {
			if err := r.addEdges(); err != nil {
				return nil, err
			}
		}
		if !r.square {
			// Columns without a row must have v = 0: begin again.
			mode = assignment.CoreModeTight
			if err := r.resetMatching(); err != nil {
				return nil, err
			}
		}
	}
	return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d rounds of pricing", r.Schedule.Rounds)}
}

// initialise begins the solve again where the columns' minima are bad first prices: with prices by
// annealed soft minima, and twice as many edges. It returns the mode in which the kernel
// continues.
func (r *coreRun) initialise() (mode uint64, err error) {
	found, err := r.initialiser.Initialise(r.s, r.p, r.m, r.v)
	if err != nil {
		return 0, err
	}
	r.initialised = true
	r.counts.Passes += found.passes
	r.counts.Structure = found.structure
	if err := errors.Join(
		r.resetMatching(),
		r.s.Fill(r.control, 8*assignment.CoreWordStatus, 8, 0),
		r.s.Upload(r.control, 8*assignment.CoreWordPool, binary.LittleEndian.AppendUint64(nil, uint64(r.p.Rows))), // second chunks
	); err != nil {
		return 0, err
	}
	mode = assignment.CoreModeSoft | assignment.CoreModeTight
	if !found.structured {
		mode = assignment.CoreModeAuction | assignment.CoreModeTight
		if err := r.over.setColumnMinima(); err != nil {
			return 0, err
		}
		r.counts.Passes++
	}
	r.counts.Passes++
	return mode, r.doubleCandidates()
}

// A coreRun is one solve.
type coreRun struct {
	*coreEngine
	s           device.Stream
	p           *problem.Normal
	m           *engine.Matrix
	shift       uint64
	spread      int64
	square      bool
	counts      engine.Counts
	initialised bool       // the solve began again with the initialiser's duals: long searches of many rows follow
	apart       bool       // one block ran the phases of the last round
	answer      []byte     // v, u and the matching, as that block left them
	over        corePasses // the passes: this run, or the shards of several devices
}

func (r *coreRun) width() int {
	if r.p.Limit < problem.Infinity {
		return r.p.Cols + r.p.Rows
	}
	return r.p.Cols
}

// begin sets the duals v, to those of start or to the columns' minima, and makes the core.
func (r *coreRun) begin(start *problem.Prices) error {
	// The first word is the grid barrier's.
	if err := errors.Join(r.resetMatching(), r.s.Fill(r.control, 0, 8*assignment.CoreWords, 0)); err != nil {
		return err
	}
	switch {
	case start != nil && r.square:
		if err := r.s.Upload(r.v, 0, device.Bytes(start.V)); err != nil {
			return err
		}
	case r.square:
		if err := r.over.setColumnMinima(); err != nil {
			return err
		}
		r.counts.Passes++
	}
	r.counts.Passes++
	return r.over.makeCandidates()
}

// resetMatching unmatches all rows, and sets all prices to 0 where the problem is not square.
func (r *coreRun) resetMatching() error {
	err := errors.Join(r.s.Fill(r.match, 0, r.match.Len(), 0xff), r.s.Fill(r.owner, 0, r.owner.Len(), 0xff))
	if !r.square {
		err = errors.Join(err, r.s.Fill(r.v, 0, r.v.Len(), 0))
	}
	return err
}

// room is the shared memory, in bytes, of a block that runs the phases alone; 0 where all blocks
// run them. All do after initialise: geometric costs of 1,000 rows took 5.4 ms by all blocks and
// 8.0 by one (bench/assignment -experiment kinds -sizes 1000 -kinds geom -families core -variant
// with resident=0 and 1024, one H200).
func (r *coreRun) room() int {
	const static = 10 << 10 // of the kernel solve, at most
	bytes := 24*r.width() + 20*r.p.Rows + 8*assignment.CoreWords
	if r.initialised || r.p.Rows > min(r.resident, 1<<16) || bytes+static > r.shared {
		return 0
	}
	return bytes
}

// solveAndPrice solves the core and prices the matrix; it returns the control words.
func (r *coreRun) solveAndPrice(mode, limit uint64) ([]uint64, error) {
	c := r.Schedule
	last := max(1, r.spread/c.last)
	first := max(last, r.spread/c.first)
	full := uint64(float64(r.p.Rows) * c.full)
	far := uint64(0)
	if r.square {
		far = 1
	}
	room := r.room()
	if r.apart = room > 0; r.apart {
		mode |= assignment.CoreModeApart
	}
	const atMost = 1<<32/assignment.CoreShared - 1 // blocks, each of which adds CoreShared to a sum of 32 bits
	room = max(room, 32*r.block+16)                // struct LocalQueue of core/thread_groups.cuh
	blocks := max(1, min(r.sms, atMost, (r.p.Rows*min(r.k, 32)+r.block-1)/r.block))
	grid := device.Grid{Blocks: int64(blocks), Threads: r.block, Shared: room, Cooperative: true}
	if r.cluster > 1 {
		grid = device.Grid{Blocks: int64(r.cluster), Threads: r.block, Shared: room, Cluster: r.cluster}
	}
	if err := r.over.solveCore(func() error {
		return r.kernels.Solve(r.s, grid, r.col, r.cost, r.next, r.rest, r.u, r.v, r.match, r.owner, r.word, r.lists, r.reached, r.claim, r.control,
			uint64(r.p.Rows), uint64(r.width()), uint64(r.capacity), r.shift, mode, first, last, full, r.spread, c.hops, far, limit)
	}); err != nil {
		return nil, err
	}
	r.counts.Passes++
	return r.over.priceRows()
}

// downloadControl downloads the control words and, where one block ran the phases, its answer.
func (r *coreRun) downloadControl() ([]uint64, error) {
	size := 8 * assignment.CoreWords
	if r.apart {
		size += 8*(r.width()+r.p.Rows) + 4*r.p.Rows
	}
	raw := make([]byte, size)
	if err := r.s.Download(raw, r.control, 0); err != nil {
		return nil, err
	}
	words := make([]uint64, assignment.CoreWords)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	r.answer = raw[8*assignment.CoreWords:]
	return words, nil
}

// addEdges is for a search that is stuck: it adds edges from the rows that the search reached to
// columns that it did not reach.
func (r *coreRun) addEdges() error {
	r.counts.Passes++
	words, err := r.over.extendReached()
	if err != nil {
		return err
	}
	if words[assignment.CoreWordStatus] == assignment.CoreStatusOverflowed {
		return &engine.ExhaustedError{Why: "memory of edges"}
	}
	if words[assignment.CoreWordGrown] > 0 {
		return nil
	}
	match, word := make([]int32, r.p.Rows), make([]int64, r.p.Cols)
	if err := errors.Join(r.s.Download(device.Bytes(match), r.match, 0), r.s.Download(device.Bytes(word), r.word, 0)); err != nil {
		return err
	}
	hall := &engine.Infeasible{}
	for i, j := range match {
		if j < 0 || word[j] != -1 {
			hall.Rows = append(hall.Rows, int32(i))
		}
	}
	return hall
}

// downloadSolution downloads the matching and the duals.
func (r *coreRun) downloadSolution(words []uint64) (*engine.Solution, error) {
	sol := &engine.Solution{Column: make([]int32, r.p.Rows), Prices: problem.Prices{U: make([]int64, r.p.Rows), V: make([]int64, r.p.Cols)}, Counts: r.counts}
	if len(r.answer) > 0 {
		u := 8 * r.width()
		copy(device.Bytes(sol.V), r.answer)
		copy(device.Bytes(sol.U), r.answer[u:])
		copy(device.Bytes(sol.Column), r.answer[u+8*r.p.Rows:])
	} else if err := errors.Join(
		r.s.Download(device.Bytes(sol.Column), r.match, 0),
		r.s.Download(device.Bytes(sol.U), r.u, 0),
		r.s.Download(device.Bytes(sol.V), r.v, 0),
	); err != nil {
		return nil, err
	}
	for i, j := range sol.Column {
		if int(j) >= r.p.Cols { // a column that stands for leaving the row unmatched
			sol.Column[i], sol.U[i] = -1, r.p.Limit
		}
	}
	sol.Counts.Steps = int64(words[assignment.CoreWordSteps])
	sol.Counts.Phases = int64(words[assignment.CoreWordPhases])
	sol.Counts.Updates = sol.Counts.Phases
	sol.Counts.Paths = int64(words[assignment.CoreWordPaths])
	sol.Counts.Bids = int64(words[assignment.CoreWordBids])
	for _, cycles := range words[assignment.CoreWordStages:] {
		sol.Counts.Cycles = append(sol.Counts.Cycles, int64(cycles))
	}
	return sol, nil
}

// LimitSteps implements engine: with another family to take over, a solve gives up where many costs are
// equal.
func (e *coreEngine) LimitSteps(uint64) { e.yields = true }
