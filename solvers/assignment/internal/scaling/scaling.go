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
	"slices"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/order"
	"coalesce/solvers/assignment/problem"
)

// A scalingEngine solves by epsilon scaling (Bertsekas and Eckstein 1988) with searches for
// shortest paths in place of most bids:
//
//  1. Prices v are the columns' least costs. Where rows stay free after some rounds of bids, and
//     costs are nearly a Monge array (package order), prices and matching of an order's flow
//     replace them. Each row has a list of the columns of its least
//     c - v, and a bound of the others, which holds for good, because prices only fall. A row is
//     read again where the bound does not decide.
//  2. A scale, one launch, keeps the matched pairs that its epsilon allows, and matches the
//     other rows: by rounds of bids, then by phases of label correcting from all free rows at
//     once, in which every hop costs epsilon more than its reduced cost, rounded down to a part
//     of epsilon, so that paths stay short and few labels fall; bids follow each phase. A search relaxes lists until no label falls, then reads the
//     rows whose bound is within the search's, and goes on. A scale but the last leaves some rows
//     free.
//  3. The last scale matches all rows, at an epsilon below 1/(rows+1) of a unit where costs
//     leave room for it. Refinement then lowers prices until every row's own column is its
//     best, exactly, and exchanges the cycles of less than no cost that it meets. Where the problem has
//     exact units, that is done in these, for floats as they are.
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
	first   int64   // the first epsilon is the costs' span divided by first
	divide  int64   // of epsilon from scale to scale
	near    int64   // an order's flow is a beginning where its prices are within the span divided by this
	full    float64 // share of matched rows at which a scale ends that does not match all
	ordered float64 // the same after an order
	last    float64 // the last epsilon is the costs' span times last, at least a unit
	opening,
	later uint64 // rounds of bids at a scale's beginning, and after a phase
	fine     uint    // distances are multiples of the largest power of two that is at most epsilon over 2^fine
	whole    float64 // share of the span from which epsilon on a scale matches all rows
	patience uint64  // phases of a scale after which twice as many rows may stay free, and again after as many more; not after an order
	half     uint64  // a search ends when 1/2^half of the free rows have a free column
	steps    uint64  // of a launch, at most
}

// defaultSchedule took little time on nineteen kinds of costs of 8,000 rows (docs/notes/assignment-degenerate.md).
// Costs of fewer values than rows keep exact distances, which took half the time on blocks.
func defaultSchedule() schedule {
	return schedule{first: 8, divide: 4, full: 0.995, ordered: 0.99, last: 1e-12, opening: 20, later: 10, half: 1, patience: 8, fine: 1, whole: 1e-10, near: 64, steps: 1 << 17}
}

// Where lists begin in the kernels' memory, in bytes a row: struct State of scaling.cuh.
const (
	matchOffset  = 8 * 2
	lowOffset    = matchOffset + 4*2 + 16 + 8*(1+1+1+1+1+2+1+2) // of columns, then of rows
	searchOffset = lowOffset + 8*2                              // of a search
)

// workPerRow is what the kernels keep in memory, in bytes a row.
func workPerRow(list int) int64 {
	return int64(searchOffset + 16*(3*assignment.ScalingQueued+1) + 12*list + 4*(1+1+3+1+2))
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
	own    schedule
	finer  uint // exact units are 2^finer times finer, 0: there are none
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
	r := &scalingRun{scalingEngine: e, s: s, p: p, m: m, own: e.schedule}
	r.bits, r.finer = finerBits(p), p.Finer
	if int(r.finer) > 62-bits.Len(uint(r.side))-changeBits {
		r.finer = 0
	}
	r.scale = p.Scale * float64(int64(1)<<r.bits)
	r.span = max(0, p.Max-p.Min) << r.bits
	r.counts.Cycles = make([]int64, assignment.ScalingWordWords-assignment.ScalingWordStages)
	if p.Max-p.Min < int64(p.Rows) {
		r.own.whole, r.own.fine = 0, 62
	}
	from, err := r.begin(start)
	if err != nil {
		return nil, err
	}
	if err := r.scales(ctx, from); err != nil {
		return nil, err
	}
	return r.refine()
}

// changeBits are the bits of the whole units by which refinement may change prices.
const changeBits = 17

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

// How a solve begins: with prices alone, with given ones, or with a matching too.
const (
	cold = iota
	warm
	matched
)

// A beginning is where scales begin.
type beginning struct {
	epsilon int64
	fresh   bool   // all rows are free
	opening uint64 // rounds of bids of the first scale
}

// begin sets the prices, to those of start, or to the columns' least costs. There rows bid; where some stay free and an order is found, its flow is the
// beginning in their place.
func (r *scalingRun) begin(start *problem.Prices) (beginning, error) {
	first := max(1, r.span/r.own.first)
	if start != nil {
		v := make([]int64, r.side)
		for j, x := range start.V {
			v[j] = x << r.bits
		}
		return beginning{first >> 10, true, r.own.opening}, errors.Join(r.s.Upload(r.work, 0, device.Bytes(v)), r.clear(warm))
	}
	if err := r.clear(cold); err != nil {
		return beginning{}, err
	}
	words, err := r.one(beginning{first, true, r.own.opening}, 0, 0)
	if err != nil || words[assignment.ScalingWordLeft] == 0 {
		return beginning{first, false, 0}, err
	}
	f, err := r.order()
	if f == nil || err != nil {
		return beginning{first, false, 0}, err
	}
	r.own.full, r.own.patience = r.own.ordered, r.own.steps // which no scale reaches
	match := make([]int32, 2*r.side)
	for _, x := range f.Shipments {
		if x.Amount > 0 {
			match[x.Row], match[r.side+int(x.Col)] = x.Col, x.Row
		}
	}
	low, behind := make([]int64, r.side), r.behind()
	for j, v := range f.V {
		whole := v >> behind
		f.V[j], low[j] = whole<<r.bits, (v-whole<<behind)<<(r.finer-behind)
	}
	n := int64(r.side)
	return beginning{f.Below >> behind << r.bits, false, r.own.opening}, errors.Join(r.s.Upload(r.work, 0, device.Bytes(f.V)),
		r.s.Upload(r.work, lowOffset*n, device.Bytes(low)), r.s.Upload(r.work, matchOffset*n, device.Bytes(match)), r.clear(matched))
}

// behind are the bits behind a unit of the costs from which an order is found: the exact ones, as far as sums of a few costs have room.
func (r *scalingRun) behind() uint {
	const room = 58
	return uint(max(0, min(int(r.finer), room-bits.Len64(uint64(max(r.p.Max, -r.p.Min))))))
}

// clear empties the lists of rows, and what the beginning does not give.
func (r *scalingRun) clear(begins uint64) error {
	r.counts.Passes++
	grid := device.Grid{Blocks: int64((r.side + warp - 1) / warp), Threads: r.block}
	return r.kernels.Begin(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, begins)
}

// order returns the flow of an order of costs that are nearly a Monge array, nil where they are none, or where prices alone are as good a beginning.
func (r *scalingRun) order() (*order.Flow, error) {
	one, p, behind := slices.Repeat([]int64{1}, r.side), *r.p, r.behind()
	p.Scale *= float64(int64(1) << behind)
	p.Min, p.Max, p.Exact = p.Min<<behind, p.Max<<behind, p.Exact || behind > 0 && behind == r.finer
	f, err := order.FindFast(deviceCosts{r, p.Scale}, &p, one, one, 1<<(60-r.shift()-uint64(r.bits)+uint64(behind)))
	if err != nil || f == nil || f.Below > (p.Max-p.Min)/r.own.near {
		return nil, err
	}
	return f, nil
}

// deviceCosts reads the costs of pairs from the device, times a scale.
type deviceCosts struct {
	*scalingRun
	scale float64
}

// Pairs implements order.Costs, by parts for which the lists of a search have room.
func (c deviceCosts) Pairs(rows, cols []int32, out []int64) error {
	at, most := int64(searchOffset*c.side), 3*assignment.ScalingQueued*c.side // a pair and its cost take 16 bytes
	pairs := make([]uint64, min(len(rows), most))
	for len(rows) > 0 {
		n := min(len(rows), most)
		for k := range n {
			pairs[k] = uint64(rows[k])<<32 | uint64(cols[k])
		}
		grid := device.Grid{Blocks: int64((n + c.block - 1) / c.block), Threads: c.block}
		if err := errors.Join(
			c.s.Upload(c.work, at, device.Bytes(pairs[:n])),
			c.kernels.Pairs(c.s, grid, c.m.Costs, c.work, uint64(at/8), uint64(n), uint64(c.side), c.scale),
			c.s.Download(device.Bytes(out[:n]), c.work, at+8*int64(n)),
		); err != nil {
			return err
		}
		rows, cols, out = rows[n:], cols[n:], out[n:]
	}
	return nil
}

// shift is the number of bits of a row's number in words of prices and distances.
func (r *scalingRun) shift() uint64 { return uint64(bits.Len(uint(r.side))) }

// scales makes one scale after another until all rows are matched.
func (r *scalingRun) scales(ctx context.Context, from beginning) error {
	c := r.own
	last := max(1, int64(float64(r.span)*c.last))
	for from.epsilon = max(from.epsilon, last); ; from = (beginning{max(from.epsilon/c.divide, last), false, c.opening}) {
		if err := ctx.Err(); err != nil {
			return err
		}
		enough := uint64(float64(r.side) * (1 - c.full))
		if from.epsilon == last || float64(from.epsilon) <= c.whole*float64(r.span) {
			enough = 0
		}
		words, err := r.one(from, enough, c.steps)
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
		if from.epsilon == last {
			return nil
		}
	}
}

// one makes a scale, in which at most `enough` rows stay free, in at most so many steps: in none, rows only bid.
func (r *scalingRun) one(from beginning, enough, steps uint64) ([]uint64, error) {
	blocks, free, c := r.blocks, uint64(0), r.own
	if blocks > 1 {
		blocks++ // one lowers the bound of a search
	}
	if from.fresh {
		free = 1
	}
	grain := int64(1) << max(0, bits.Len64(uint64(from.epsilon))-1-int(c.fine))
	grid := device.Grid{Blocks: int64(blocks), Threads: r.block, Cooperative: true}
	return r.launch(func() error {
		return r.kernels.Scale(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, r.shift(),
			from.epsilon, r.span, free, enough, from.opening, c.later, grain, c.half, c.patience, steps)
	})
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

// refine makes the prices exact and returns the solution: in exact units, or in units where there are none or prices would leave their range.
func (r *scalingRun) refine() (*engine.Solution, error) {
	if r.finer > 0 {
		sol, err := r.refineIn(r.finer)
		if gaveUp := (*engine.ExhaustedError)(nil); !errors.As(err, &gaveUp) {
			return sol, err
		}
	}
	return r.refineIn(0)
}

// refineIn is refine in units 2^finer times finer.
func (r *scalingRun) refineIn(finer uint) (*engine.Solution, error) {
	const static = 40 << 10 // bytes of shared memory that the kernel has besides, at most
	room, roomy := 8*r.side, uint64(1)
	if room+static > r.shared {
		room, roomy = 0, 0
	}
	grid := device.Grid{Blocks: int64(r.blocks), Threads: r.block, Shared: room, Cooperative: true}
	words, err := r.launch(func() error {
		return r.kernels.Refine(r.s, grid, r.m.Costs, r.work, r.control, uint64(r.side), r.scale, r.shift(), r.schedule.steps, roomy, uint64(finer))
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
		r.s.Download(device.Bytes(sol.Column), r.work, matchOffset*n),
	); err != nil {
		return nil, err
	}
	if finer == 0 {
		sol.RoundDuals(r.bits)
		return sol, nil
	}
	sol.Low = &problem.Prices{U: make([]int64, n), V: make([]int64, n)}
	return sol, errors.Join(r.s.Download(device.Bytes(sol.Low.V), r.work, lowOffset*n), r.s.Download(device.Bytes(sol.Low.U), r.work, (lowOffset+8)*n))
}
