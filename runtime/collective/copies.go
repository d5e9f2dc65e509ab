package collective

import (
	"errors"
	"sync"
	"unsafe"

	"coalesce/runtime/device"
)

// copyTransport is the transport that every kind of device has: copies between
// devices, ordered by events, and reductions on the host.
type copyTransport struct{}

func (copyTransport) Name() string { return "copies" }
func (copyTransport) Close() error { return nil }

func (c copyTransport) Broadcast(streams []device.Stream, buffers []device.Buffer, root int, off, n int64) error {
	return c.pullFromAll(streams, func(from, to int) error {
		if from != root {
			return nil
		}
		return streams[to].Copy(buffers[to], off, buffers[from], off, n)
	})
}

func (c copyTransport) AllGather(streams []device.Stream, buffers []device.Buffer, bounds []int64) error {
	return c.pullFromAll(streams, func(from, to int) error {
		n := bounds[from+1] - bounds[from]
		if n == 0 {
			return nil
		}
		return streams[to].Copy(buffers[to], bounds[from], buffers[from], bounds[from], n)
	})
}

// pullFromAll makes every stream wait for all, calls pull for every ordered pair of devices, to enqueue
// copies on the receiver's stream, and makes all streams wait again: a sender overwrites its data
// only after they were read.
func (copyTransport) pullFromAll(streams []device.Stream, pull func(from, to int) error) error {
	if err := meet(streams); err != nil {
		return err
	}
	for to := range streams {
		for i := range streams {
			// Each receiver begins with another sender.
			from := (to + i) % len(streams)
			if from == to {
				continue
			}
			if err := pull(from, to); err != nil {
				return err
			}
		}
	}
	return meet(streams)
}

// meet makes later work of every stream start after the present work of all.
func meet(streams []device.Stream) error {
	events := make([]device.Event, len(streams))
	for i, s := range streams {
		e, err := s.Record()
		if err != nil {
			return err
		}
		events[i] = e
	}
	for i, s := range streams {
		for j, e := range events {
			if i == j {
				continue
			}
			if err := s.Wait(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece is the most bytes of a device's values on the host at a time.
const piece = 16 << 20

func (copyTransport) AllReduce(streams []device.Stream, buffers []device.Buffer, off, count int64, t Type, op Op) error {
	total := count * t.Size()
	size := min(total, piece)
	host := make([][]byte, len(streams))
	for i := range host {
		// Words, so that values are aligned.
		words := make([]uint64, (size+7)/8)
		host[i] = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	}
	for done := int64(0); done < total; done += size {
		n := min(size, total-done)
		if err := forEachMember(streams, func(i int) error { return streams[i].Download(host[i][:n], buffers[i], off+done) }); err != nil {
			return err
		}
		for _, other := range host[1:] {
			Combine(host[0][:n], other[:n], t, op)
		}
		if err := forEachMember(streams, func(i int) error { return streams[i].Upload(buffers[i], off+done, host[0][:n]) }); err != nil {
			return err
		}
	}
	return nil
}

// forEachMember calls do for all members at once.
func forEachMember(streams []device.Stream, do func(i int) error) error {
	errs := make([]error, len(streams))
	var wait sync.WaitGroup
	for i := range streams {
		wait.Go(func() { errs[i] = do(i) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// Combine combines values with others, value by value.
func Combine(into, from []byte, t Type, op Op) {
	switch t {
	case Int32:
		fold(values[int32](into), values[int32](from), op)
	case Int64:
		fold(values[int64](into), values[int64](from), op)
	case Uint64:
		fold(values[uint64](into), values[uint64](from), op)
	}
}

func values[T int32 | int64 | uint64](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
}

func fold[T int32 | int64 | uint64](into, from []T, op Op) {
	switch op {
	case Min:
		for i, x := range from {
			into[i] = min(into[i], x)
		}
	case Max:
		for i, x := range from {
			into[i] = max(into[i], x)
		}
	case Sum:
		for i, x := range from {
			into[i] += x
		}
	}
}
