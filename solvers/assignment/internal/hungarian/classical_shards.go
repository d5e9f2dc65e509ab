package hungarian

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// classicalShards is the classical variant for a matrix whose rows are spread over the devices of
// a group. Zeros of all rows are on the first device, which searches alone, without exchanges
// between levels. A dual update runs on all devices at once: each learns which rows and columns
// were reached, finds the least uncovered slack of its rows, and makes edges of its new zeros,
// which the first device adds to its own. Devices that reach each other's memory run one kernel
// each, from the beginning to the end (classicalPeers). For others a dual update is a sequence of
// launches and collectives: a broadcast of the reached rows and columns, an all-reduce of the
// least slack, an all-gather of messages with the edges. The host reads the state of the search
// after every few updates; updates after the end of the search change nothing.
//
// A group may have its devices in several processes, one in each. All take the same steps: the
// first process searches, and the others repeat the launches and collectives that the search asks
// for.
type classicalShards struct {
	*classical // the search, on the first device; of other processes room for a copy of its state
	group      *collective.Group
	first      []int // row of each part, and the number of rows
	parts      []*classical
	messages   []device.Buffer // on each device: the messages of all parts about an update
	edges      []device.Buffer // of each part: all its new edges, the first of which are in its message
	given      device.Buffer   // edges on their way to the first device
	Peers      *classicalPeers // nil where devices do not reach each other's memory
	held       device.Scope    // all of these
}

const (
	classicalGiven = assignment.ClassicalEdgeSize << 14 // bytes of edges that the first device takes over at a time, at most
	classicalAhead = 4                                  // dual updates between two looks at the search
)

// OpenClassicalShards takes a variant with devices=many.
func OpenClassicalShards(g *collective.Group, v *device.Variant, rows, cols int) (engine.Sharded, error) {
	e, err := NewClassicalParts(g, v, rows, cols, collective.SplitRows(rows, g.Len()))
	if err != nil {
		return nil, err
	}
	return e, nil
}

// NewClassicalParts takes memory on every device. Rows first[k] to first[k+1] are
// device k's.
func NewClassicalParts(g *collective.Group, v *device.Variant, rows, cols int, first []int) (_ *classicalShards, err error) {
	if g.SpansProcesses() && len(g.Devices) > 1 {
		return nil, fmt.Errorf("%d devices of a rank: expected one", len(g.Devices))
	}
	e := &classicalShards{group: g, first: first}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if e.classical, err = OpenClassical(g.Devices[0], v, rows, cols); err != nil {
		return nil, err
	}
	e.held.CloseLater(e.classical)
	for k, d := range g.Devices {
		own := e.first[g.FirstMember()+k+1] - e.first[g.FirstMember()+k]
		part, err := OpenClassical(d, v, own, cols)
		if err != nil {
			return nil, err
		}
		part.Grid.Cooperative = false
		e.held.CloseLater(part)
		e.parts = append(e.parts, part)
		var edges, messages device.Buffer
		if err := e.held.AllocAll(d, device.BufferFor(&edges, assignment.ClassicalEdgeSize*part.words*int64(own)),
			device.BufferFor(&messages, int64(g.Len())*assignment.ClassicalMessageSize)); err != nil {
			return nil, err
		}
		e.edges, e.messages = append(e.edges, edges), append(e.messages, messages)
	}
	if e.given, err = e.held.Alloc(g.Devices[0], classicalGiven); err != nil {
		return nil, err
	}
	if !g.SpansProcesses() && allPeersReachable(g.Devices) && g.Len() <= assignment.ClassicalMembers {
		if e.Peers, err = newClassicalPeers(g.Devices); err != nil {
			return nil, err
		}
		e.held.CloseLater(e.Peers)
		// All members have the same number of blocks, which wait for one another: as many
		// as the smallest device runs at once, divided among the members that share a device.
		for k, d := range g.Devices {
			here := int64(0)
			for _, other := range g.Devices {
				if d == other {
					here++
				}
			}
			e.Grid.Blocks = max(1, min(e.Grid.Blocks, e.parts[k].atOnce()/here))
		}
	}
	return e, nil
}

func (e *classicalShards) Close() error { return e.held.Close() }

// A classicalShardRun is one solve.
type classicalShardRun struct {
	*classicalShards
	head  *classicalRun
	parts []*classicalRun
	costs []*engine.Matrix
}

// Solve implements engine.Sharded.
func (e *classicalShards) Solve(ctx context.Context, p *problem.Normal, ms []*engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Limit != problem.Infinity || p.Rows != e.rows || p.Cols != e.cols || p.Rows > p.Cols {
		return nil, fmt.Errorf("assignment/classical: %d x %d pairs with limit %d: expected %d x %d without a limit", p.Rows, p.Cols, p.Limit, e.rows, e.cols)
	}
	sol := &engine.Solution{Column: make([]int32, p.Rows), Prices: problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}}
	if p.Rows == 0 {
		return sol, nil
	}
	run := func(c *classical, k int, m *engine.Matrix) *classicalRun {
		r := &classicalRun{classical: c, s: e.group.Streams[k], scale: p.Scale, full: p.Rows == p.Cols}
		if m != nil {
			r.costs = m.Costs
		}
		return r
	}
	r := &classicalShardRun{classicalShards: e, head: run(e.classical, 0, nil), costs: ms}
	r.head.apart = true
	for k, part := range e.parts {
		r.parts = append(r.parts, run(part, k, ms[k]))
	}
	if err := r.solve(ctx, p, start, sol); err != nil {
		return nil, errors.Join(err, e.group.Sync())
	}
	return sol, nil
}

func (r *classicalShardRun) solve(ctx context.Context, p *problem.Normal, start *problem.Prices, sol *engine.Solution) error {
	if err := r.begin(p, start); err != nil {
		return err
	}
	run := r.solveByUpdateLaunches
	if r.Peers != nil {
		opened, err := r.writeMemberTables()
		if err != nil {
			return err
		}
		if opened {
			run = r.launchOnAll
		}
	}
	x, err := run(ctx)
	if err != nil {
		return err
	}
	if x.Stage == assignment.ClassicalStageStuck {
		return errors.Join(r.broadcastMemory(r.queue, 4*4*int64(r.rows)), r.head.infeasibleError(x))
	}
	passes, err := r.passes(x)
	if err != nil {
		return err
	}
	sol.Counts = engine.Counts{
		Passes:  1 + r.parts[0].columnReductions() + passes,
		Steps:   int64(x.Levels),
		Phases:  int64(x.Phases),
		Paths:   int64(x.Paths),
		Updates: int64(x.Updates),
	}
	return r.collect(sol)
}

// passes is the number of times that dual updates read the matrix, x being the head's control
// words.
func (r *classicalShardRun) passes(x *classicalControl) (float64, error) {
	if r.hasParam("slack", "recomputed") {
		return r.head.updatePasses(x), nil
	}
	sum := 0.0
	for _, part := range r.parts {
		if part.rows == 0 {
			continue
		}
		own, err := part.readControl()
		if err != nil {
			return 0, err
		}
		sum += part.updatePasses(own) * float64(part.rows) / float64(r.rows)
	}
	all, err := r.group.GatherWords(math.Float64bits(sum))
	sum = 0
	for _, word := range all {
		sum += math.Float64frombits(word)
	}
	return sum, err
}

// solveByUpdateLaunches is the solve in which the host launches every step of an update.
func (r *classicalShardRun) solveByUpdateLaunches(ctx context.Context) (*classicalControl, error) {
	if err := r.search(); err != nil {
		return nil, err
	}
	for number := uint64(0); ; {
		if err := r.broadcastMemory(0, 8*assignment.ClassicalControlWords); err != nil {
			return nil, err
		}
		x, err := r.head.readControl()
		if err != nil {
			return nil, err
		}
		if x.Late != 0 {
			if err := errors.Join(r.absorb(0), r.search()); err != nil {
				return nil, err
			}
			continue
		}
		if x.Stage >= assignment.ClassicalStageMatched {
			return x, nil
		}
		if err := r.group.AnyRankEnded(ctx); err != nil {
			return nil, err
		}
		r.head.reportMatched(x)
		for range classicalAhead {
			if err := errors.Join(r.price(number), r.send(number), r.search()); err != nil {
				return nil, err
			}
			number++
		}
	}
}

// begin reduces the matrix and gathers and matches its zeros.
func (r *classicalShardRun) begin(p *problem.Normal, start *problem.Prices) error {
	for _, part := range r.parts {
		if err := errors.Join(part.initialise(p, start), part.launchStep(part.kernels.Begin)); err != nil {
			return err
		}
	}
	if r.parts[0].flags&assignment.ClassicalFlagReduce != 0 {
		if err := r.group.AllReduce(r.works(nil), r.parts[0].base, int64(r.cols), collective.Int64, collective.Min); err != nil {
			return err
		}
	}
	for k, part := range r.parts {
		if err := errors.Join(part.launchStep(part.kernels.Reduce), part.s.Fill(r.messages[k], 0, r.messages[k].Len(), 0), r.emit(k, 1, 0)); err != nil {
			return err
		}
	}
	head := r.head
	if err := head.initialise(p, start); err != nil {
		return err
	}
	head.flags = 0
	return errors.Join(head.launchStep(head.kernels.Begin), r.absorb(1), head.launchStep(head.kernels.Match))
}

// leads reports whether this process runs the search.
func (r *classicalShardRun) leads() bool { return r.group.FirstMember() == 0 }

// broadcastMemory copies n bytes at off of the search's memory to the other processes.
func (r *classicalShardRun) broadcastMemory(off, n int64) error {
	if !r.group.SpansProcesses() {
		return nil
	}
	return r.group.Broadcast([]device.Buffer{r.work}, 0, off, n)
}

// works are the workspaces of the parts; head stands for the first of them
// where it is given.
func (r *classicalShardRun) works(head device.Buffer) []device.Buffer {
	var list []device.Buffer
	for _, part := range r.parts {
		list = append(list, part.work)
	}
	if head != nil {
		list[0] = head
	}
	return list
}

// search augments until a dual update is due or every row is matched.
func (r *classicalShardRun) search() error {
	h := r.head
	if !r.leads() {
		return nil
	}
	return h.kernels.Search(h.s, h.gridWithMatching(), nil, nil, h.work, h.scale, h.floor, uint64(h.rows), uint64(h.cols), h.flags|h.sharedMatchingFlag())
}

// price sends the rows and columns that were reached to all devices, which then find the
// least uncovered slack together.
func (r *classicalShardRun) price(number uint64) error {
	size := r.u - r.reached
	if err := errors.Join(
		r.group.Broadcast(r.works(r.work), 0, r.reached, size),
		r.parts[0].s.Copy(r.parts[0].work, r.reached, r.work, r.reached, size),
		r.broadcastMemory(r.column, 4*int64(r.rows)),
	); err != nil {
		return err
	}
	for k, part := range r.parts {
		if err := errors.Join(
			part.s.Copy(part.work, part.column, r.work, r.column+4*int64(r.first[r.number(k)]), 4*int64(part.rows)),
			part.kernels.Collect(part.s, part.Grid, part.costs, nil, part.work, part.scale, part.floor, uint64(part.rows), uint64(part.cols), part.flags, r.messages[k], uint64(r.number(k)), number),
			part.kernels.Price(part.s, part.Grid, part.costs, nil, part.work, part.scale, part.floor, uint64(part.rows), uint64(part.cols), part.flags, number),
		); err != nil {
			return err
		}
	}
	return r.group.AllReduce(r.works(nil), 8*int64(number%2), 1, collective.Int64, collective.Min)
}

// send has all parts send their new zeros to the head.
func (r *classicalShardRun) send(number uint64) error {
	for k := range r.parts {
		if err := r.emit(k, 0, number); err != nil {
			return err
		}
	}
	bounds := make([]int64, 1+r.group.Len())
	for k := range bounds {
		bounds[k] = int64(k) * assignment.ClassicalMessageSize
	}
	if err := r.group.AllGather(r.messages, bounds); err != nil || !r.leads() {
		return err
	}
	h, plain := r.head, r.Grid
	plain.Cooperative = false
	return h.kernels.Receive(h.s, plain, nil, nil, h.work, h.scale, h.floor, uint64(h.rows), uint64(h.cols), h.flags, r.messages[0], uint64(r.group.Len()))
}

// number is the number of this process's part k among the parts of all processes.
func (r *classicalShardRun) number(k int) int { return r.group.FirstMember() + k }

// emit makes part k change its duals and list edges of its new zeros.
func (r *classicalShardRun) emit(k int, first, number uint64) error {
	part := r.parts[k]
	return part.kernels.Emit(part.s, part.Grid, part.costs, nil, part.work, part.scale, part.floor, uint64(part.rows), uint64(part.cols), part.flags,
		r.edges[k], r.messages[k], uint64(r.number(k)), uint64(r.first[r.number(k)]), first, number)
}

// absorb copies the edges of all parts to the head, in pieces that fit given.
func (r *classicalShardRun) absorb(first uint64) error {
	h, plain := r.head, r.Grid
	plain.Cooperative = false
	used, again := int64(0), uint64(0)
	flush := func() (err error) {
		if r.leads() {
			err = h.kernels.Absorb(h.s, plain, nil, nil, h.work, h.scale, h.floor, uint64(h.rows), uint64(h.cols), h.flags,
				r.given, uint64(used/assignment.ClassicalEdgeSize), first, again)
		}
		used, again = 0, 1
		return err
	}
	counts := make([]uint64, len(r.parts)) // edges of each part
	for k, part := range r.parts {
		var count [8]byte
		if err := part.s.Download(count[:], r.messages[k], int64(r.number(k))*assignment.ClassicalMessageSize); err != nil {
			return err
		}
		counts[k] = min(binary.LittleEndian.Uint64(count[:]), uint64(r.edges[k].Len()/assignment.ClassicalEdgeSize))
	}
	all, err := r.group.GatherLists(counts)
	if err != nil {
		return err
	}
	for number, count := range slices.Concat(all...) {
		k, size := number-r.group.FirstMember(), assignment.ClassicalEdgeSize*int64(count)
		for off := int64(0); off < size; {
			n := min(size-off, r.given.Len()-used)
			if k >= 0 && k < len(r.parts) {
				if err := h.s.Copy(r.given, used, r.edges[k], off, n); err != nil {
					return err
				}
			}
			if r.group.SpansProcesses() {
				if err := r.group.Broadcast([]device.Buffer{r.given}, number, used, n); err != nil {
					return err
				}
			}
			off, used = off+n, used+n
			if used < r.given.Len() {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// collect downloads the matching and the duals.
func (r *classicalShardRun) collect(sol *engine.Solution) error {
	errs := []error{
		r.broadcastMemory(r.column, 4*int64(r.rows)),
		r.head.s.Download(device.Bytes(sol.Column), r.work, r.column),
		r.parts[0].s.Download(device.Bytes(sol.V), r.parts[0].work, r.v),
	}
	if r.group.SpansProcesses() { // their duals come together in the search's memory
		bounds := make([]int64, len(r.first))
		for k, row := range r.first {
			bounds[k] = r.u + 8*int64(row)
		}
		part := r.parts[0]
		return errors.Join(append(errs,
			part.s.Copy(r.work, bounds[r.number(0)], part.work, part.u, 8*int64(part.rows)),
			r.group.AllGather([]device.Buffer{r.work}, bounds),
			r.head.s.Download(device.Bytes(sol.U), r.work, r.u))...)
	}
	for k, part := range r.parts {
		errs = append(errs, part.s.Download(device.Bytes(sol.U[r.first[k]:r.first[k+1]]), part.work, part.u))
	}
	return errors.Join(errs...)
}
