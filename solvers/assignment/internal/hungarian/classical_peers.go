package hungarian

import (
	"context"
	"errors"
	"unsafe"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
)

// classicalPeers runs the search and the dual updates of classicalShards where the devices reach
// each other's memory: one persistent kernel a device, without the host and without collectives.
// For a dual update the first device writes that its search has stopped, and all devices read from
// its memory which rows and columns were reached. Each device sends the least slack of its rows to
// all others, and its number of new edges to the first device, which reads the edges where they
// are. Words carry the number of the update, so that no flag has to be cleared.
type classicalPeers struct {
	messages, table []device.Buffer  // on each device
	costs           []*engine.Matrix // that the tables name; nil before
	number          uint64           // of the next dual update, of all solves
	budget          uint64           // dual updates of a launch
	held            device.Scope
}

// allPeersReachable reports whether all devices reach each other's memory.
func allPeersReachable(devices []device.Device) bool {
	for _, d := range devices {
		for _, other := range devices {
			if d == other {
				continue
			}
			r, ok := device.WithoutCache(d).(device.PeerAccessor)
			if !ok {
				return false
			}
			if can, err := r.PeerAccess(other); !can || err != nil {
				return false
			}
		}
	}
	return true
}

// newClassicalPeers takes memory on every device.
func newClassicalPeers(devices []device.Device) (*classicalPeers, error) {
	e := &classicalPeers{number: 1, budget: classicalBudget}
	count := int64(len(devices))
	for _, d := range devices {
		var messages, table device.Buffer
		if err := e.held.AllocAll(d, device.BufferFor(&messages, 8*(1+3*count)),
			device.BufferFor(&table, assignment.ClassicalMemberSize*(count+1))); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		e.messages, e.table = append(e.messages, messages), append(e.table, table)
	}
	return e, nil
}

func (e *classicalPeers) Close() error { return e.held.Close() }

// writeMemberTables writes the tables, and clears the message buffers; opened is false where the
// way to another device's memory does not open.
func (r *classicalShardRun) writeMemberTables() (opened bool, err error) {
	e := r.Peers
	bound := e.costs != nil
	for k, m := range r.costs {
		bound = bound && e.costs[k] == m
	}
	if bound {
		return true, nil
	}
	var table memberTable
	for k, part := range r.parts {
		if err := openWays(r.group.Devices, r.group.Streams, e.table, k); err != nil {
			return false, nil
		}
		if err := part.s.Fill(e.messages[k], 0, e.messages[k].Len(), 0); err != nil {
			return false, err
		}
		if err := r.addresses(&table, k, part, r.edges[k], r.first[k]); err != nil {
			return false, err
		}
	}
	if err := r.addresses(&table, 0, r.head, r.given, 0); err != nil {
		return false, err
	}
	for k, part := range r.parts {
		if err := part.s.Upload(e.table[k], 0, table.Bytes()); err != nil {
			return false, err
		}
	}
	e.costs = r.costs
	return true, nil
}

// addresses adds a Member of the kernels to the table. A launch finds where its
// memory is on device k.
func (r *classicalShardRun) addresses(table *memberTable, k int, c *classicalRun, edges device.Buffer, first int) error {
	at := r.Peers.table[k]
	if err := c.kernels.Addresses(c.s, device.Grid{Blocks: 1, Threads: c.Grid.Threads}, at, c.costs, c.work, edges, r.Peers.messages[k]); err != nil {
		return err
	}
	return table.appendMember(c.s, at, int(unsafe.Offsetof(assignment.ClassicalMember{}.First)), first, c.rows)
}

// launchOnAll launches the kernels of all devices until the solve has ended.
func (r *classicalShardRun) launchOnAll(ctx context.Context) (*classicalControl, error) {
	if err := r.group.Sync(); err != nil { // no member may write to another before
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.launch(); err != nil {
			return nil, err
		}
		if err := r.group.Sync(); err != nil {
			return nil, err
		}
		x, err := r.head.readControl()
		if err != nil || x.Stage >= assignment.ClassicalStageMatched {
			return x, err
		}
		r.head.reportMatched(x)
	}
}

// launch starts the kernels, one a device. Neighbours on one device share a
// launch.
func (r *classicalShardRun) launch() error {
	h := r.head
	flags, count := r.parts[0].flags&^assignment.ClassicalFlagReduce|h.sharedMatchingFlag(), len(r.parts)
	number := r.Peers.number
	r.Peers.number += r.Peers.budget + 1 // the last message says that no update follows
	for k := 0; k < count; {
		part, here := r.parts[k], membersOfLaunch(r.group.Devices, k)
		g := h.gridWithMatching()
		g.Blocks *= int64(here)
		if err := part.kernels.Peer(part.s, g, r.Peers.table[k], h.scale, uint64(r.rows), uint64(r.cols), flags, uint64(k), uint64(here), uint64(count), number, r.Peers.budget); err != nil {
			return err
		}
		k += here
	}
	return nil
}
