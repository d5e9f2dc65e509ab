package collective

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"coalesce/runtime/device"
)

// Join makes a group of the devices of all ranks: each calls it with its own, at least
// one, of one kind on all. They talk by copies through the memory of the processes. Without ranks, or with one, it is Open.
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
	counts := make([]byte, 8*ranks.Size())
	binary.LittleEndian.PutUint64(counts[8*ranks.Rank():], uint64(len(devices)))
	if err := ranks.AllReduce(counts, Int64, Sum); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.members = make([]int, 1+ranks.Size())
	for k := range ranks.Size() {
		g.members[k+1] = g.members[k] + int(binary.LittleEndian.Uint64(counts[8*k:]))
	}
	g.link = staged{ranks, g.members}
	g.method = g.link.Name()
	return g, nil
}

// Words are a word of each rank, in all of them; one process has its own alone.
func (g *Group) Words(word uint64) ([]uint64, error) {
	if g.ranks == nil {
		return []uint64{word}, nil
	}
	all, bounds := make([]uint64, g.ranks.Size()), make([]int64, 1+g.ranks.Size())
	for k := range all {
		bounds[k+1] = int64(8 * (k + 1))
	}
	all[g.ranks.Rank()] = word
	return all, g.ranks.AllGather(unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 8*len(all)), bounds)
}

// staged brings values through the memory of the processes, a piece at a time.
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
		err := each(streams, func(i int) error {
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
		if err := each(streams, func(i int) error { return streams[i].Download(rooms[i][:n], buffers[i], off+done) }); err != nil {
			return err
		}
		for _, other := range rooms[1:] {
			combine(rooms[0][:n], other[:n], t, op)
		}
		if err := s.ranks.AllReduce(rooms[0][:n], t, op); err != nil {
			return err
		}
		if err := each(streams, func(i int) error { return streams[i].Upload(buffers[i], off+done, rooms[0][:n]) }); err != nil {
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
		err := each(streams, func(i int) error {
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
