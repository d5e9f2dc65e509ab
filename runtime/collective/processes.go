package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unsafe"

	"coalesce/runtime/device"
)

// Join makes a group of the devices of all ranks: each calls it with its own, at least
// one, of one kind on all. Ranks with a GPU each, all different, talk through NCCL where
// every one of them finds the same version; others by copies through the memory of the
// processes. Without ranks, or with one, it is Open.
//
// Operations of the group are called by all ranks in the same order, with the buffers of
// their own devices; those of copies are done when they return.
func Join(devices []device.Device, ranks Ranks) (*Group, error) {
	if ranks == nil || ranks.Size() == 1 {
		return Open(devices)
	}
	g, err := OpenCopies(devices)
	if err != nil {
		return nil, err
	}
	g.ranks = ranks
	counts, err := g.GatherWords(uint64(len(devices)))
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.members = make([]int, 1+ranks.Size())
	for k, n := range counts {
		g.members[k+1] = g.members[k] + int(n)
	}
	link, why, err := joined(devices, ranks)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if g.link = link; link == nil {
		g.link = staged{ranks, g.members}
	} else if l, ok := ranks.(Limiter); ok {
		g.Streams = []device.Stream{watched{g.raw[0], l, "work and exchanges by " + link.Name()}}
	}
	if g.method = g.link.Name(); why != "" {
		g.method += " (" + why + ")"
	}
	if link == nil {
		return g, nil
	}
	if err := limited(ranks, "first exchange by "+link.Name(), g.connectMembers); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// meeting is the size of the text about its device that each rank sends to the others, in bytes.
const meeting = 256

// joined opens the devices' own transport among ranks. Where they have none it returns nil and the
// reason, the same on all ranks.
func joined(devices []device.Device, ranks Ranks) (link Transport, why string, err error) {
	d, version, why, err := agreed(devices, ranks)
	if err != nil || why != "" {
		return nil, strings.TrimSpace(why), err
	}
	id := make([]byte, meeting) // its length and itself
	if ranks.Rank() == 0 {
		made, failed := d.UniqueID()
		if err = failed; err == nil {
			id[0] = byte(copy(id[1:], made))
		}
	}
	if err := errors.Join(err, ranks.Broadcast(id, 0)); err != nil {
		return nil, "", err
	}
	err = limited(ranks, "start of "+version, func() (err error) {
		link, err = d.Join(id[1:1+id[0]], ranks.Rank(), ranks.Size())
		return err
	})
	return link, "", err
}

// agreed returns this rank's device that joins the transport, and the version that all ranks have,
// or the reason why they have none in common.
func agreed(devices []device.Device, ranks Ranks) (d Joiner, version, why string, err error) {
	d, name, why := joiner(devices)
	told, why, err := exchangeTransportNames(ranks, name, why)
	if err != nil || why != "" {
		return nil, "", why, err
	}
	version, _, _ = strings.Cut(told[0], "\n")
	seen := map[string]int{}
	for k, text := range told {
		own, id, _ := strings.Cut(text, "\n")
		other, twice := seen[id]
		switch {
		case own != version:
			return nil, "", fmt.Sprintf("rank %d has %s, rank 0 %s", k, own, version), nil
		case twice:
			return nil, "", fmt.Sprintf("ranks %d and %d share a GPU", other, k), nil
		}
		seen[id] = k
	}
	return d, version, "", nil
}

// PlannedMethod returns the text that Group.Method would return for a group of the ranks' devices. All ranks
// call it together.
func PlannedMethod(devices []device.Device, ranks Ranks) (string, error) {
	_, version, why, err := agreed(devices, ranks)
	switch why = strings.TrimSpace(why); {
	case err != nil || version != "":
		return version, err
	case why == "":
		return staged{}.Name(), nil
	}
	return staged{}.Name() + " (" + why + ")", nil
}

// CountDistinctDevices counts the devices of all ranks; a device that several ranks hold counts once. All
// ranks call it together, each with its own devices.
func CountDistinctDevices(devices []device.Device, ranks Ranks) (int, error) {
	own := make([]uint64, len(devices))
	for k, d := range devices {
		id := fnv.New64a()
		fmt.Fprint(id, d.Facts().UUID)
		own[k] = id.Sum64()
	}
	counts, err := gather(ranks, []uint64{uint64(len(own))}, slices.Repeat([]int{1}, ranks.Size()))
	if err != nil {
		return 0, err
	}
	each := make([]int, len(counts))
	for k, n := range counts {
		each[k] = int(n)
	}
	all, err := gather(ranks, own, each)
	slices.Sort(all)
	return len(slices.Compact(all)), err
}

// gather returns the words of all ranks, of which rank k contributes counts[k].
func gather(ranks Ranks, own []uint64, counts []int) ([]uint64, error) {
	bounds, at := make([]int64, 1+len(counts)), 0
	for k, n := range counts {
		if k == ranks.Rank() {
			at = int(bounds[k] / 8)
		}
		bounds[k+1] = bounds[k] + int64(8*n)
	}
	all := make([]uint64, bounds[len(counts)]/8)
	if len(all) == 0 {
		return all, nil
	}
	copy(all[at:], own)
	return all, ranks.AllGather(unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 8*len(all)), bounds)
}

// joiner returns the device that joins the others, and the name of its transport with the
// transport's identity. Where there is no such device, why has the reason, or a space where
// devices of this kind have no transport.
func joiner(devices []device.Device) (d Joiner, name, why string) {
	d, ok := device.WithoutCache(devices[0]).(Joiner)
	if !ok {
		return nil, "", " "
	}
	if len(devices) > 1 {
		return nil, "", "a rank has several devices"
	}
	name, err := d.TransportName()
	if err != nil {
		return nil, "", err.Error()
	}
	return d, name + "\n" + devices[0].Facts().UUID, ""
}

// A Limiter is implemented by ranks that end the program where one waits too long for others.
type Limiter interface {
	// Watch starts the clock for a wait. The caller calls done when the wait is over.
	Watch(what string) (done func())
}

// limited runs work, which may wait for other ranks and has no time limit of its own, under the
// ranks' limit.
func limited(ranks Ranks, what string, work func() error) error {
	if l, ok := ranks.(Limiter); ok {
		defer l.Watch(what)()
	}
	return work()
}

// exchangeTransportNames exchanges a text among ranks: each sends the name of its transport, or why it has none. If
// any has none, all ranks get the reason of the first of these.
func exchangeTransportNames(ranks Ranks, name, why string) (told []string, reason string, err error) {
	if why != "" {
		name = "!" + why
	}
	room, bounds := make([]byte, meeting*ranks.Size()), make([]int64, 1+ranks.Size())
	for k := range ranks.Size() {
		bounds[k+1] = int64(meeting * (k + 1))
	}
	copy(room[meeting*ranks.Rank():][:meeting-1], name)
	if err := ranks.AllGather(room, bounds); err != nil {
		return nil, "", err
	}
	for k := range ranks.Size() {
		text := string(bytes.TrimRight(room[meeting*k:][:meeting], "\x00"))
		if failed, bad := strings.CutPrefix(text, "!"); bad {
			return nil, failed, nil
		}
		told = append(told, text)
	}
	return told, "", nil
}

// A watched stream ends the program where its device waits too long for devices of other ranks.
type watched struct {
	device.Stream
	ranks Limiter
	name  string
}

func (s watched) Sync() error {
	defer s.ranks.Watch(s.name)()
	return s.Stream.Sync()
}

func (s watched) Download(dst []byte, src device.Buffer, off int64) error {
	defer s.ranks.Watch(s.name)()
	return s.Stream.Download(dst, src, off)
}

// GatherWords are a word of each rank, in all of them; one process has its own alone.
func (g *Group) GatherWords(word uint64) ([]uint64, error) {
	all, err := g.GatherLists([]uint64{word})
	return slices.Concat(all...), err
}

// GatherLists are a list of each rank, all of one length, in all of them; one process has its
// own alone.
func (g *Group) GatherLists(own []uint64) ([][]uint64, error) {
	if g.ranks == nil {
		return [][]uint64{own}, nil
	}
	return GatherLists(g.ranks, own)
}

// GatherLists are a list of each rank, all of one length, at least 1, in all of them.
func GatherLists(ranks Ranks, own []uint64) ([][]uint64, error) {
	all, err := gather(ranks, own, slices.Repeat([]int{len(own)}, ranks.Size()))
	return slices.Collect(slices.Chunk(all, len(own))), err
}

// GatherTexts are the bytes of each rank, of any length, in all of them.
func GatherTexts(ranks Ranks, own []byte) ([][]byte, error) {
	sizes, err := GatherLists(ranks, []uint64{uint64(len(own))})
	if err != nil {
		return nil, err
	}
	bounds := make([]int64, 1+len(sizes))
	for k, w := range sizes {
		bounds[k+1] = bounds[k] + int64(w[0])
	}
	room := make([]byte, bounds[len(sizes)])
	copy(room[bounds[ranks.Rank()]:], own)
	if err := ranks.AllGather(room, bounds); err != nil {
		return nil, err
	}
	texts := make([][]byte, len(sizes))
	for k := range texts {
		texts[k] = room[bounds[k]:bounds[k+1]]
	}
	return texts, nil
}

// SpansProcesses reports whether the group has members in other processes.
func (g *Group) SpansProcesses() bool { return g.ranks != nil }

// AnyRankEnded returns an error on every rank if ctx has ended on any of them. All ranks call it together.
func (g *Group) AnyRankEnded(ctx context.Context) error {
	if g.ranks == nil {
		return ctx.Err()
	}
	over := uint64(0)
	if ctx.Err() != nil {
		over = 1
	}
	all, err := g.GatherWords(over)
	if err != nil || slices.Max(all) == 0 {
		return err
	}
	select { // signals and time limits reach the others in a moment
	case <-ctx.Done():
		return ended{ctx.Err()}
	case <-time.After(time.Second):
		return ended{fmt.Errorf("rank %d was ended", slices.Index(all, 1))}
	}
}

// ErrEnded is wrapped by the errors that AnyRankEnded gives to all ranks at once: what they call
// next they call together.
var ErrEnded = errors.New("all ranks were ended")

type ended struct{ error }

func (e ended) Unwrap() []error { return []error{e.error, ErrEnded} }

// staged is the transport that copies values through the memory of the processes, a piece at a
// time.
type staged struct {
	ranks   Ranks
	members []int
}

func (staged) Name() string { return "copies through MPI" }
func (staged) Close() error { return nil }

// owner is the rank that has a member.
func (s staged) owner(member int) (rank, own int) {
	for member >= s.members[rank+1] {
		rank++
	}
	return rank, member - s.members[rank]
}

func (s staged) Broadcast(streams []device.Stream, buffers []device.Buffer, root int, off, n int64) error {
	rank, own := s.owner(root)
	room := words(min(n, piece))
	for done := int64(0); done < n; done += piece {
		part := room[:min(piece, n-done)]
		if s.ranks.Rank() == rank {
			if err := streams[own].Download(part, buffers[own], off+done); err != nil {
				return err
			}
		}
		if err := s.ranks.Broadcast(part, rank); err != nil {
			return err
		}
		err := forEachMember(streams, func(i int) error {
			if s.ranks.Rank() == rank && i == own {
				return nil
			}
			return streams[i].Upload(buffers[i], off+done, part)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s staged) AllReduce(streams []device.Stream, buffers []device.Buffer, off, count int64, t Type, op Op) error {
	total := count * t.Size()
	rooms := make([][]byte, len(streams))
	for i := range rooms {
		rooms[i] = words(min(total, piece))
	}
	for done := int64(0); done < total; done += piece {
		n := min(piece, total-done)
		if err := forEachMember(streams, func(i int) error { return streams[i].Download(rooms[i][:n], buffers[i], off+done) }); err != nil {
			return err
		}
		for _, other := range rooms[1:] {
			Combine(rooms[0][:n], other[:n], t, op)
		}
		if err := s.ranks.AllReduce(rooms[0][:n], t, op); err != nil {
			return err
		}
		if err := forEachMember(streams, func(i int) error { return streams[i].Upload(buffers[i], off+done, rooms[0][:n]) }); err != nil {
			return err
		}
	}
	return nil
}

// AllGather goes through the parts of all ranks at once, a piece of each at a time.
func (s staged) AllGather(streams []device.Stream, buffers []device.Buffer, bounds []int64) error {
	size := s.ranks.Size()
	from := func(rank int) int64 { return bounds[s.members[rank]] }
	longest := int64(0)
	for r := range size {
		longest = max(longest, from(r+1)-from(r))
	}
	step := max(1, min(longest, piece/int64(size)))
	room := words(step * int64(size))
	first := s.members[s.ranks.Rank()]
	for done := int64(0); done < longest; done += step {
		at := make([]int64, 1+size) // of each rank's piece in the room
		for r := range size {
			at[r+1] = at[r] + min(step, max(0, from(r+1)-from(r)-done))
		}
		mine := from(s.ranks.Rank()) + done
		end := mine + at[s.ranks.Rank()+1] - at[s.ranks.Rank()]
		for i := range streams { // of the piece, what each device of this process has
			low, high := max(mine, bounds[first+i]), min(end, bounds[first+i+1])
			if low < high {
				if err := streams[i].Download(room[at[s.ranks.Rank()]+low-mine:][:high-low], buffers[i], low); err != nil {
					return err
				}
			}
		}
		if err := s.ranks.AllGather(room, at); err != nil {
			return err
		}
		err := forEachMember(streams, func(i int) error {
			for r := range size {
				if part := room[at[r]:at[r+1]]; len(part) > 0 && (r != s.ranks.Rank() || len(streams) > 1) {
					if err := streams[i].Upload(buffers[i], from(r)+done, part); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// words is room for bytes, aligned for values of 8.
func words(n int64) []byte {
	list := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), n)
}
