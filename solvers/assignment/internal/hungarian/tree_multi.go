package hungarian

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// TreePeers is the method of the type tree on several devices of one host that
// reach each other's memory, each with a share of the rows: variants with
// barrier=peers. Every device keeps the whole forest and takes the same
// decisions; it scans the rows that it holds, and a column's slack there is that
// over these rows. After each scan, blocks of one number, which own the same columns
// on all devices, tell one another which of these have no slack left, and the
// rows that took it; of several the first by number is the parent everywhere. The
// lists of zeros are on the first device alone: it does the closures, and its
// blocks tell the others which columns were reached, from which row, in which
// tree. A dual update takes the least of the devices' minimum slacks. Only the reduction
// of the columns exchanges a number for each column. Words carry the number of
// the exchange that they belong to: no flags, no fences, no host.
type TreePeers struct {
	rows, cols int
	width      int
	devices    []device.Device
	streams    []device.Stream
	tables     []device.Buffer // on each device, where the memory of all members is
	Members    []*treeMember
	limit      uint64 // steps after which a solve gives up; treeSteps: never
	held       device.Scope
}

// A treeMember is one device's share. Neighbours on one device share its
// launch.
type treeMember struct {
	*tree
	first, count int            // rows
	messages     device.Buffer  // of the others: two halves, each a message of 4*width words for each member and block
	costs        *engine.Matrix // that the tables name
}

// OpenTreeShards is OpenTree for the devices of a group.
func OpenTreeShards(g *collective.Group, v *device.Variant, rows, cols int) (engine.Sharded, error) {
	if g.SpansProcesses() {
		return nil, errors.New("assignment/tree on several ranks: expected devices of one process, which reach each other's memory")
	}
	if !allPeersReachable(g.Devices) {
		return nil, fmt.Errorf("assignment/tree on several devices of kind %s: expected devices that reach each other's memory", g.Devices[0].Facts().Kind)
	}
	width := 0 // of the device with the fewest blocks at once
	for _, d := range g.Devices {
		width = max(width, treeWidth(d, cols))
	}
	t, err := newTreePeers(g.Devices, g.Streams, v, rows, cols, collective.SplitRows(rows, g.Len()), width)
	if err != nil {
		return nil, err // a nil *TreePeers in an interface would not be nil
	}
	return t, nil
}

// newTreePeers takes memory on every device. Rows first[k] to first[k+1] are
// member k's.
func newTreePeers(devices []device.Device, streams []device.Stream, v *device.Variant, rows, cols int, first []int, width int) (*TreePeers, error) {
	if limit := assignment.Tree.Int(v, "block") / 32; len(devices) > limit {
		return nil, fmt.Errorf("assignment/tree %s on %d devices: expected at most %d, a warp each", v.Label, len(devices), limit)
	}
	t := &TreePeers{rows: rows, cols: cols, width: width, devices: devices, streams: streams, limit: treeSteps}
	for k, d := range devices {
		own, err := allocTree(d, v, rows, cols, width)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.held.CloseLater(own)
		m := &treeMember{tree: own, first: first[k], count: first[k+1] - first[k]}
		t.Members = append(t.Members, m)
		var table device.Buffer
		if err := t.held.AllocAll(d, device.BufferFor(&m.messages, 2*8*assignment.TreeMessageWords*int64(len(devices))*own.Blocks()*int64(width)),
			device.BufferFor(&table, int64(assignment.TreeMemberSize*len(devices)))); err != nil {
			return nil, errors.Join(fmt.Errorf("assignment/tree of %d x %d pairs on %d devices: %w", rows, cols, len(devices), err), t.Close())
		}
		t.tables = append(t.tables, table)
	}
	return t, nil
}

func (t *TreePeers) Close() error { return t.held.Close() }

// Solve implements engine.Sharded.
func (t *TreePeers) Solve(ctx context.Context, p *problem.Normal, costs []*engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Limit != problem.Infinity || p.Rows != t.rows || p.Cols != t.cols || p.Rows > p.Cols || len(costs) != len(t.Members) {
		return nil, fmt.Errorf("assignment/tree: %d x %d pairs in %d parts with limit %d: expected %d x %d in %d without a limit", p.Rows, p.Cols, len(costs), p.Limit, t.rows, t.cols, len(t.Members))
	}
	streams := t.streams
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sol := &engine.Solution{Column: make([]int32, t.rows), Prices: problem.Prices{U: make([]int64, t.rows), V: make([]int64, t.cols)}}
	if t.rows == 0 {
		return sol, nil
	}
	if err := t.bind(costs); err != nil {
		return nil, err
	}
	var errs []error
	for k, m := range t.Members {
		errs = append(errs, m.initialise(streams[k], start), streams[k].Fill(m.messages, 0, m.messages.Len(), 0))
	}
	for _, s := range streams {
		errs = append(errs, s.Sync()) // no member may write to another before
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	heads, err := t.run(ctx, p, start)
	if err != nil {
		return nil, err
	}
	var read uint64
	for k, m := range t.Members {
		if heads[k].lastTurn().Stage == assignment.TreeStageStuck {
			if err := streams[k].Download(device.Bytes(sol.Column), m.work, m.column); err != nil {
				return nil, err
			}
			return nil, m.infeasibleError(streams[k], sol.Column)
		}
		read += heads[k].Read
		share := sol.U[m.first : m.first+m.count]
		if err := streams[k].Download(device.Bytes(share), m.work, m.u+8*int64(m.first)); err != nil {
			return nil, err
		}
	}
	sol.Counts = heads[0].counts(read, t.rows, t.cols)
	m, s := t.Members[0], streams[0]
	return sol, errors.Join(s.Download(device.Bytes(sol.Column), m.work, m.column), s.Download(device.Bytes(sol.V), m.work, m.v))
}

// bind writes the tables. A launch on each device finds the addresses.
func (t *TreePeers) bind(costs []*engine.Matrix) error {
	streams := t.streams
	fresh := true
	for k, m := range t.Members {
		fresh = fresh && m.costs == costs[k]
	}
	if fresh {
		return nil
	}
	var table memberTable
	for k, m := range t.Members {
		if err := openWays(t.devices, streams, t.tables, k); err != nil {
			return err
		}
		if err := m.kernels.Addresses(streams[k], device.Grid{Blocks: 1, Threads: m.blockSize()}, t.tables[k], costs[k].Costs, m.work, m.messages); err != nil {
			return err
		}
		if err := table.appendMember(streams[k], t.tables[k], int(unsafe.Offsetof(assignment.TreeMember{}.First)), m.first, m.count); err != nil {
			return err
		}
	}
	for k, m := range t.Members {
		if err := streams[k].Upload(t.tables[k], 0, table.Bytes()); err != nil {
			return err
		}
		m.costs = costs[k]
	}
	return nil
}

// SetReporter implements engine.Sharded: the first member tells for all.
func (t *TreePeers) SetReporter(now engine.Reporter) { t.Members[0].SetReporter(now) }

// run launches the kernels of all members until the solve has ended.
func (t *TreePeers) run(ctx context.Context, p *problem.Normal, start *problem.Prices) (heads []*treeHead, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.launch(p, start); err != nil {
			return nil, err
		}
		heads = heads[:0]
		for k, m := range t.Members {
			head, err := m.awaitEnd(t.streams[k])
			if err != nil {
				return nil, err
			}
			heads = append(heads, head)
		}
		if heads[0] != nil {
			return heads, nil
		}
		if t.limit < treeSteps {
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d steps", t.limit)}
		}
	}
}

// launch starts the kernels, one a device.
func (t *TreePeers) launch(p *problem.Normal, start *problem.Prices) error {
	for k := 0; k < len(t.Members); {
		m, here := t.Members[k], membersOfLaunch(t.devices, k)
		warm := uint64(0)
		if m.isWarmStart(start) {
			warm = 1
		}
		g := device.Grid{Blocks: m.Blocks() * int64(here), Threads: m.blockSize(), Cooperative: true}
		if err := m.kernels.Peer(t.streams[k], g, t.tables[k], uint64(t.rows), uint64(t.cols), uint64(t.width), warm, p.Scale, uint64(k), uint64(here), uint64(len(t.Members)), t.Members[0].stepsPerLaunch(t.limit)); err != nil {
			return err
		}
		k += here
	}
	return nil
}
