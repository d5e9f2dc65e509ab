// Package scaling solves square problems by epsilon scaling over the whole matrix, on a device
// (family assignment/scaling): for costs on which shortest paths are long, such as distances of
// points in clusters or sorted rows.
package scaling

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A scalingEngine solves by epsilon scaling (Bertsekas and Eckstein 1988) with searches for
// shortest paths in place of most bids:
//
//  1. Prices v are the columns' least costs. Each row has a list of the columns of its least
//     c - v, and a bound of the others, which holds for good, because prices only fall. A row is
//     read again where the bound does not decide.
//  2. A scale, one launch, keeps the matched pairs that its epsilon allows, and matches the
//     other rows: by rounds of bids, then by phases of label correcting from all free rows at
//     once, in which every hop costs epsilon more than its reduced cost, so that paths stay
//     short; bids follow each phase. A search relaxes lists until no label falls, then reads the
//     rows whose bound is within the search's, and goes on. A scale but the last leaves some rows
//     free.
//  3. The last scale matches all rows, at an epsilon below 1/(rows+1) of a unit where costs
//     leave room for it. Refinement then lowers prices until every row's own column is its
//     best, exactly, and exchanges the cycles of less than no cost that it meets.
//
// Any epsilon ends so in an optimum, proven by the prices. Where no free column can be reached,
// prices would leave their range, or steps reach a bound, an *engine.ExhaustedError lets another
// family go on: this one gives no proof that no full matching exists.
type scalingEngine struct {
	engine.Reporter
	kernels  *assignment.ScalingKernels
	scope    device.Scope // holds the kernels and the buffers
	side     int          // rows, and columns
	block    int
	list     int // columns of a row's list
	blocks   int // of a search
	shared   int // bytes of a block, at most
	schedule schedule
	work     device.Buffer
	control  device.Buffer
}

// A schedule is how epsilon falls, and the bounds of the work.
type schedule struct {
	first  int64   // the first epsilon is the costs' span divided by first
	divide int64   // of epsilon from scale to scale
	full   float64 // share of matched rows at which a scale but the last ends
	last   float64 // the last epsilon is the costs' span times last, at least a unit
	opening,
	later uint64 // rounds of bids at a scale's beginning, and after a phase
	half  uint64 // a search ends when 1/2^half of the free rows have a free column
	steps uint64 // of a launch, at most
}

// defaultSchedule took few steps and passes on seven kinds of costs of 2,000 to 4,000 rows, counted on
// a processor (docs/notes/assignment-degenerate.md).
func defaultSchedule() schedule {
	return schedule{first: 8, divide: 4, full: 0.995, last: 1e-12, opening: 20, later: 10, half: 1, steps: 1 << 17}
}

// workPerRow is what the kernels keep in memory, in bytes a row: struct State of scaling.cuh.
func workPerRow(list int) int64 {
	return int64(8*2 + 4*2 + 16 + 8*(1+1+1+1+1+2+1) + 16*(3*assignment.ScalingQueued+1) + 12*list + 4*(1+1+3+1+2))
}

// Open loads a variant of assignment/scaling and takes memory for problems of that many rows and columns.
func Open(d device.Device, v *device.Variant, rows, cols int) (*scalingEngine, error) {
	if rows != cols {
		return nil, fmt.Errorf("assignment/scaling of %d x %d pairs: expected as many columns as rows", rows, cols)
	}
	facts := d.Facts()
	f := &assignment.Scaling
	e := &scalingEngine{side: rows, block: f.Int(v, "block"), list: warp * f.Int(v, "depth"), shared: int(facts.SharedPerBlock), schedule: defaultSchedule()}
	e.setBlocks(facts.SMs - 1)
	var err error
	if e.kernels, err = assignment.LoadScaling(d, v); err != nil {
		return nil, err
	}
	e.scope.CloseLater(e.kernels)
	if err := e.scope.AllocAll(d, device.BufferFor(&e.work, workPerRow(e.list)*int64(rows)), device.BufferFor(&e.control, 8*assignment.ScalingWordWords)); err != nil {
		return nil, errors.Join(fmt.Errorf("assignment/scaling of %d rows: %w", rows, err), e.Close())
	}
	return e, nil
}

// warp is the number of threads of a warp.
const warp = 32

// setBlocks limits the blocks of a search to most. Each block adds up to ScalingShared to a sum of 32 bits.
func (e *scalingEngine) setBlocks(most int) {
	e.blocks = max(1, min(most, (e.side*warp+e.block-1)/e.block, 1<<32/assignment.ScalingShared-1))
}

// Close implements engine.Engine.
func (e *scalingEngine) Close() error { return e.scope.Close() }

// LimitSteps implements engine.Engine: a launch takes at most so many steps.
func (e *scalingEngine) LimitSteps(steps uint64) {
	if e.schedule.steps = defaultSchedule().steps; steps > 0 {
		e.schedule.steps = steps
	}
}

// A scalingRun is one solve.
type scalingRun struct {
	*scalingEngine
	s      device.Stream
	p      *problem.Normal
	m      *engine.Matrix
	bits   uint    // by which costs are multiplied: 2^bits
	scale  float64 // of the costs so multiplied
	span   int64   // of these costs
	counts engine.Counts
}

// Solve implements engine.Engine.
func (e *scalingEngine) Solve(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Rows != e.side || p.Cols != e.side || p.Limit != problem.Infinity {
		return nil, fmt.Errorf("assignment/scaling: %d x %d pairs with limit %d: expected %d x %d without a limit", p.Rows, p.Cols, p.Limit, e.side, e.side)
	}
	if p.Rows == 0 {
		return &engine.Solution{Column: []int32{}, Prices: problem.Prices{U: []int64{}, V: []int64{}}}, nil
	}
	r := &scalingRun{scalingEngine: e, s: s, p: p, m: m}
	r.bits = finerBits(p)
	r.scale = p.Scale * float64(int64(1)<<r.bits)
	r.span = max(0, p.Max-p.Min) << r.bits
	r.counts.Cycles = make([]int64, assignment.ScalingWordWords-assignment.ScalingWordStages)
	if err := r.begin(start); err != nil {
		return nil, err
	}
	if err := r.scales(ctx, start != nil); err != nil {
		return nil, err
	}
	return r.refine()
}

// finerBits is the power of two by which costs are multiplied, so that epsilon may fall below
// 1/(rows+1) of a unit: as far as sums over all rows leave room. Rounded costs would be others
// then; they have no room either.
func finerBits(p *problem.Normal) uint {
	if !p.Instance.Type.Integer() && !p.Exact {
		return 0
	}
	room := bits.Len64(uint64(problem.MaxScaled(p.Rows))) - bits.Len64(uint64(max(p.Max, -p.Min, 1))) - 2
	return uint(max(0, min(room, bits.Len(uint(p.Rows)))))
}

// begin sets the prices, to those of start or to the columns' least costs.
func (r *scalingRun) begin(start *problem.Prices) error {
	warm := uint64(0)
	if start != nil {
		warm = 1
		v := make([]int64, r.side)
		for j, x := range start.V {
			v[j] = x << r.bits
		}
		if err := r.s.Upload(r.work, 0, device.Bytes(v)); err != nil {
			return err
		}
	}
	grid := device.Grid{Blocks: int64((r.side + warp - 1) / warp), Threads: r.block}
	r.counts.Passes++
	return r.kernels.Begin(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, warm)
}

// shift is the number of bits of a row's number in words of prices and distances.
func (r *scalingRun) shift() uint64 { return uint64(bits.Len(uint(r.side))) }

// scales makes one scale after another, until all rows are matched.
func (r *scalingRun) scales(ctx context.Context, warm bool) error {
	c := r.schedule
	first, last := max(1, r.span/c.first), max(1, int64(float64(r.span)*c.last))
	if warm {
		first = max(last, first>>10)
	}
	blocks := r.blocks
	if blocks > 1 {
		blocks++ // one lowers the bound of a search
	}
	grid := device.Grid{Blocks: int64(blocks), Threads: r.block, Cooperative: true}
	for eps, fresh := first, uint64(1); ; eps, fresh = max(eps/c.divide, last), 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		enough := uint64(float64(r.side) * (1 - c.full))
		if eps == last {
			enough = 0
		}
		words, err := r.launch(func() error {
			return r.kernels.Scale(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, r.shift(),
				eps, r.span, fresh, enough, c.opening, c.later, c.half, c.steps)
		})
		if err != nil {
			return err
		}
		r.ReportMatched(r.side - int(words[assignment.ScalingWordLeft]))
		if words[assignment.ScalingWordStatus] != assignment.ScalingStatusDone {
			why := "rows from which no free column can be reached"
			if words[assignment.ScalingWordSteps] >= c.steps {
				why = fmt.Sprintf("%d steps of a scale", c.steps)
			}
			return &engine.ExhaustedError{Why: why}
		}
		if eps == last {
			return nil
		}
	}
}

// launch clears the control words, launches, and returns them; it adds them to the counts.
func (r *scalingRun) launch(kernel func() error) ([]uint64, error) {
	raw := make([]byte, 8*assignment.ScalingWordWords)
	if err := errors.Join(r.s.Fill(r.control, 0, int64(len(raw)), 0), kernel(), r.s.Download(raw, r.control, 0)); err != nil {
		return nil, err
	}
	words := make([]uint64, assignment.ScalingWordWords)
	for k := range words {
		words[k] = binary.LittleEndian.Uint64(raw[8*k:])
	}
	c := &r.counts
	c.Steps += int64(words[assignment.ScalingWordSteps] + words[assignment.ScalingWordBids])
	c.Phases += int64(words[assignment.ScalingWordPhases])
	c.Updates = c.Phases
	c.Paths += int64(words[assignment.ScalingWordPaths])
	c.Bids += int64(words[assignment.ScalingWordBids])
	c.Repairs += int64(words[assignment.ScalingWordFlips])
	c.Passes += float64(words[assignment.ScalingWordRead]) / float64(r.side)
	for k := range c.Cycles {
		c.Cycles[k] += int64(words[assignment.ScalingWordStages+k])
	}
	return words, nil
}

// refine makes the prices exact and returns the solution.
func (r *scalingRun) refine() (*engine.Solution, error) {
	const static = 40 << 10 // bytes of shared memory that the kernel has besides, at most
	room, roomy := 8*r.side, uint64(1)
	if room+static > r.shared {
		room, roomy = 0, 0
	}
	grid := device.Grid{Blocks: int64(r.blocks), Threads: r.block, Shared: room, Cooperative: true}
	words, err := r.launch(func() error {
		return r.kernels.Refine(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, r.shift(), r.schedule.steps, roomy)
	})
	if err != nil {
		return nil, err
	}
	switch words[assignment.ScalingWordStatus] {
	case assignment.ScalingStatusStuck:
		return nil, &engine.ExhaustedError{Why: "prices beyond their range"}
	case assignment.ScalingStatusStalled:
		return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d steps of the refinement", r.schedule.steps)}
	}
	n := int64(r.side)
	sol := &engine.Solution{Column: make([]int32, n), Prices: problem.Prices{U: make([]int64, n), V: make([]int64, n)}, Counts: r.counts}
	if err := errors.Join(
		r.s.Download(device.Bytes(sol.V), r.work, 0),
		r.s.Download(device.Bytes(sol.U), r.work, 8*n),
		r.s.Download(device.Bytes(sol.Column), r.work, 16*n),
	); err != nil {
		return nil, err
	}
	sol.RoundDuals(r.bits)
	return sol, nil
}
