// Package collective lets several devices work as a group: devices of one host (Open), or of
// several processes (Join). A broadcast copies one device's bytes to all, a gather gives every
// device the parts of all, and a reduction combines the values of all.
//
// The devices of a group are of one kind. GPUs talk through NCCL where its
// library is found when the group opens, and otherwise through copies between
// the devices and a reduction on the host; emulated and host devices always
// take the second way. Group.Method says which it was and why.
//
// Operations are enqueued on the group's streams, one a device: they come
// after the earlier work of every member's stream, and later work of a member
// comes after its part of the operation. They return before they are done,
// except that a reduction on the host waits. A group belongs to one goroutine
// at a time.
package collective

import (
	"errors"
	"fmt"
	"slices"

	"coalesce/runtime/device"
)

// An Op combines values of all members.
type Op int

// Min, Max and Sum; a sum that overflows wraps.
const (
	Min Op = iota
	Max
	Sum
)

// A Type is the type of the values that a reduction combines.
type Type int

const (
	Int32 Type = iota
	Int64
	Uint64
)

// Size is the bytes of a value.
func (t Type) Size() int64 {
	if t == Int32 {
		return 4
	}
	return 8
}

// A Transport moves data between the devices of a group. Ranges have been
// checked; streams and buffers are in the order of the devices.
type Transport interface {
	Name() string // "NCCL 2.28.9"
	Broadcast(streams []device.Stream, buffers []device.Buffer, root int, off, n int64) error
	AllReduce(streams []device.Stream, buffers []device.Buffer, off, count int64, t Type, op Op) error
	AllGather(streams []device.Stream, buffers []device.Buffer, bounds []int64) error
	Close() error
}

// A Linker is a device that has a transport of its own kind.
type Linker interface {
	Link(devices []device.Device) (Transport, error)
}

// A Joiner is a device with a transport to devices of other processes, as NCCL is for GPUs. TransportName
// returns the transport's name and version. UniqueID makes an identifier on rank 0, which every
// rank passes to Join. Join waits for all ranks.
type Joiner interface {
	TransportName() (name string, err error)
	UniqueID() ([]byte, error)
	Join(id []byte, rank, size int) (Transport, error)
}

// A Group has several devices of this process, with a stream for each. It may have members in other
// processes too. Members are numbered over all processes, and Devices[0] has the number FirstMember.
type Group struct {
	Devices []device.Device
	Streams []device.Stream
	raw     []device.Stream // the same, which the transport is given
	link    Transport
	method  string
	ranks   Ranks // nil: this process alone
	members []int // before those of each rank, and all
	sent    int64 // see BytesSent
}

// Open makes a group of at least one device, which the caller closes after the group. It uses the
// devices' own transport where that works, else copies.
func Open(devices []device.Device) (*Group, error) {
	return open(devices, true)
}

// OpenCopies makes a group that uses nothing but copies.
func OpenCopies(devices []device.Device) (*Group, error) {
	return open(devices, false)
}

func open(devices []device.Device, own bool) (*Group, error) {
	if len(devices) == 0 {
		return nil, errors.New("a group of no devices")
	}
	kind := devices[0].Facts().Kind
	g := &Group{Devices: slices.Clone(devices), link: copyTransport{}, method: copyTransport{}.Name()}
	for i, d := range devices {
		if k := d.Facts().Kind; k != kind {
			return nil, fmt.Errorf("a group of devices of two kinds, %s and %s", kind, k)
		}
		s, err := d.NewStream()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("device %d of a group: %w", i, err), g.Close())
		}
		g.Streams, g.raw = append(g.Streams, s), append(g.raw, s)
	}
	linker, ok := device.WithoutCache(devices[0]).(Linker)
	if !own || !ok || len(devices) == 1 {
		return g, nil
	}
	link, err := linker.Link(devices)
	if err != nil {
		g.method = fmt.Sprintf("%s (%v)", g.method, err)
		return g, nil
	}
	g.link, g.method = link, link.Name()
	if err := g.connectMembers(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// connectMembers reduces one word over all members. A transport connects its members at their first
// exchange, which takes NCCL most of a second among processes.
func (g *Group) connectMembers() error {
	const word = 8
	buffers, bounds := make([]device.Buffer, len(g.Devices)), make([]int64, 1+g.Len())
	for k := range bounds {
		bounds[k] = int64(k * word)
	}
	var errs []error
	for k, d := range g.Devices {
		var err error
		if buffers[k], err = d.Alloc(bounds[g.Len()]); err == nil {
			defer buffers[k].Free()
			err = g.Streams[k].Fill(buffers[k], 0, bounds[g.Len()], 0)
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	for _, exchange := range []func() error{
		func() error { return g.AllGather(buffers, bounds) },
		func() error { return g.AllReduce(buffers, 0, 1, Uint64, Max) },
		g.Sync,
	} {
		if err == nil {
			err = exchange()
		}
	}
	g.sent = 0
	return err
}

// Len is the number of members, those of other processes too.
func (g *Group) Len() int {
	if g.ranks != nil {
		return g.members[g.ranks.Size()]
	}
	return len(g.Devices)
}

// FirstMember is the number of the first member that is a device of this process.
func (g *Group) FirstMember() int {
	if g.ranks != nil {
		return g.members[g.ranks.Rank()]
	}
	return 0
}

// BytesSent is the number of bytes that this process's devices handed to others: in a broadcast the
// root's bytes, in a reduction each device's values, in a gather each device's part. A transport
// may send them several times; BytesSent counts them once.
func (g *Group) BytesSent() int64 { return g.sent }

// own reports whether a member is a device of this process.
func (g *Group) own(member int) bool {
	return member >= g.FirstMember() && member < g.FirstMember()+len(g.Devices)
}

// Method says how the devices talk: "NCCL 2.28.9", or "copies" with the reason.
func (g *Group) Method() string { return g.method }

// Broadcast brings n bytes at off of the root's buffer to the same place of
// every other's.
func (g *Group) Broadcast(buffers []device.Buffer, root int, off, n int64) error {
	if root < 0 || root >= g.Len() {
		return fmt.Errorf("broadcast from device %d of %d", root, g.Len())
	}
	if err := g.check(buffers, off, n); err != nil {
		return fmt.Errorf("broadcast: %w", err)
	}
	if n == 0 || g.Len() == 1 {
		return nil
	}
	if err := g.link.Broadcast(g.raw, buffers, root, off, n); err != nil {
		return fmt.Errorf("broadcast of %d bytes by %s: %w", n, g.link.Name(), err)
	}
	if g.own(root) {
		g.sent += n
	}
	return nil
}

// AllReduce combines count values at byte offset off, a multiple of a value's
// size, of every buffer, value by value, and leaves the result in all of them.
func (g *Group) AllReduce(buffers []device.Buffer, off, count int64, t Type, op Op) error {
	if t < Int32 || t > Uint64 || op < Min || op > Sum {
		return fmt.Errorf("all-reduce of type %d by operation %d", t, op)
	}
	if count < 0 || count > 1<<60 || off%t.Size() != 0 {
		return fmt.Errorf("all-reduce of %d values at byte %d", count, off)
	}
	if err := g.check(buffers, off, count*t.Size()); err != nil {
		return fmt.Errorf("all-reduce: %w", err)
	}
	if count == 0 || g.Len() == 1 {
		return nil
	}
	if err := g.link.AllReduce(g.raw, buffers, off, count, t, op); err != nil {
		return fmt.Errorf("all-reduce of %d values by %s: %w", count, g.link.Name(), err)
	}
	g.sent += count * t.Size() * int64(len(g.Devices))
	return nil
}

// AllGather gives every device the parts of all: before it, device i holds
// bytes bounds[i] to bounds[i+1] of its buffer; afterwards every device holds
// bytes bounds[0] to bounds[len] of it. Parts may be empty and of any sizes.
func (g *Group) AllGather(buffers []device.Buffer, bounds []int64) error {
	if len(bounds) != g.Len()+1 || !slices.IsSorted(bounds) {
		return fmt.Errorf("all-gather with bounds %v for %d devices", bounds, g.Len())
	}
	first, last := bounds[0], bounds[g.Len()]
	if err := g.check(buffers, first, last-first); err != nil {
		return fmt.Errorf("all-gather: %w", err)
	}
	if first == last || g.Len() == 1 {
		return nil
	}
	if err := g.link.AllGather(g.raw, buffers, bounds); err != nil {
		return fmt.Errorf("all-gather of %d bytes by %s: %w", last-first, g.link.Name(), err)
	}
	g.sent += bounds[g.FirstMember()+len(g.Devices)] - bounds[g.FirstMember()]
	return nil
}

// check looks at a buffer for each device and n bytes at off of each.
func (g *Group) check(buffers []device.Buffer, off, n int64) error {
	if len(buffers) != len(g.Devices) {
		return fmt.Errorf("%d buffers for %d devices", len(buffers), len(g.Devices))
	}
	for i, b := range buffers {
		if b == nil || off < 0 || n < 0 || off > b.Len() || n > b.Len()-off {
			return fmt.Errorf("device %d: bytes %d to %d are not in its buffer", i, off, off+n)
		}
	}
	return nil
}

// Sync waits for the work of all streams.
func (g *Group) Sync() error {
	var errs []error
	for _, s := range g.Streams {
		errs = append(errs, s.Sync())
	}
	return errors.Join(errs...)
}

// Close gives back the streams and the transport.
func (g *Group) Close() error {
	errs := []error{g.link.Close()}
	for _, s := range g.Streams {
		errs = append(errs, s.Close())
	}
	g.Streams = nil
	return errors.Join(errs...)
}
