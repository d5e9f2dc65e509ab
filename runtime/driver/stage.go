//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// chunk is the size of each of a stream's two staging buffers. Smaller ones
// leave the bus idle between copies, larger ones the processor.
const chunk = 8 << 20

// half is one of a stream's two buffers of pinned memory.
type half struct {
	mem  []byte
	done cu.Event
	busy bool // copies from it may still be under way, until done
}

// stage is a stream's pinned memory: two buffers, one being filled or emptied
// by the processor while the other is on the bus.
type stage struct {
	half [2]half
	cur  int
	used int // bytes of the current half that copies under way read
}

// ready makes sure of the memory of the first halves. Pinning takes
// milliseconds, so that streams that close leave theirs to the next.
func (t *stage) ready(g *gpu, halves int) error {
	for i := range halves {
		if t.half[i].mem != nil {
			continue
		}
		h, err := g.takeHalf()
		if err != nil {
			return err
		}
		t.half[i] = h
	}
	return nil
}

// readyFor makes sure of the memory that an upload of n bytes takes.
func (t *stage) readyFor(g *gpu, n int) error {
	if t.cur == 0 && t.used+n <= chunk {
		return t.ready(g, 1)
	}
	return t.ready(g, 2)
}

func (g *gpu) takeHalf() (half, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.halves); n > 0 {
		h := g.halves[n-1]
		g.halves = g.halves[:n-1]
		return h, nil
	}
	ev, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return half{}, fmt.Errorf("make an event: %w", explain(err))
	}
	mem, err := hostAlloc(chunk)
	if err != nil {
		return half{}, errors.Join(err, cu.DestroyEvent(&ev))
	}
	return half{mem: mem, done: ev}, nil
}

// leaveHalves hands a stream's pinned memory, which nothing reads any more, to
// the streams to come; g.mu is held.
func (g *gpu) leaveHalves(t *stage) {
	for i := range t.half {
		if h := &t.half[i]; h.mem != nil {
			g.halves = append(g.halves, half{mem: h.mem, done: h.done})
			*h = half{}
		}
	}
}

// freeHalves gives back the pinned memory that no stream has.
func (g *gpu) freeHalves() error {
	var errs []error
	for _, h := range g.halves {
		errs = append(errs, hostFree(h.mem), cu.DestroyEvent(&h.done))
	}
	g.halves = nil
	return errors.Join(errs...)
}

// drained is called when the stream has nothing under way.
func (t *stage) drained() {
	t.used = 0
	t.half[0].busy, t.half[1].busy = false, false
}

// next leaves the current half to the bus and waits for the other.
func (t *stage) next(s cu.Stream) error {
	h := &t.half[t.cur]
	if err := h.done.Record(s); err != nil {
		return err
	}
	h.busy = true
	t.cur, t.used = 1-t.cur, 0
	if h = &t.half[t.cur]; h.busy {
		if err := h.done.Synchronize(); err != nil {
			return err
		}
		h.busy = false
	}
	return nil
}

// Upload copies src into pinned memory and from there, asynchronously, to the
// device: it returns when src is free again. It waits for earlier work of the
// stream only when both staging buffers are full.
func (s *stream) Upload(dst device.Buffer, off int64, src []byte) error {
	ptr, err := s.g.span(dst, off, int64(len(src)))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if len(src) == 0 {
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	t := &s.stage
	if err := t.readyFor(s.g, len(src)); err != nil {
		return fmt.Errorf("upload %d bytes: %w", len(src), err)
	}
	total := len(src)
	for len(src) > 0 {
		if t.used == chunk {
			if err := t.next(s.s); err != nil {
				return fmt.Errorf("upload %d bytes: %w", total, explain(err))
			}
		}
		mem := t.half[t.cur].mem[t.used:]
		n := min(len(mem), len(src))
		copyMany(mem[:n], src[:n])
		if err := cu.MemcpyHtoDAsync(ptr, unsafe.Pointer(&mem[0]), int64(n), s.s); err != nil {
			return fmt.Errorf("upload %d bytes: %w", total, explain(err))
		}
		// The next piece starts on a cache line of its own.
		t.used = min(chunk, (t.used+n+63)&^63)
		ptr += cu.DevicePtr(n)
		src = src[n:]
	}
	return nil
}

// Stage implements device.Stager with room in a staging buffer.
func (s *stream) Stage(dst device.Buffer, off int64, n int, fill func(room []byte)) error {
	ptr, err := s.g.span(dst, off, int64(n))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if n == 0 {
		return nil
	}
	if n > chunk {
		return fmt.Errorf("upload %d bytes: at most %d at once", n, chunk)
	}
	if err := s.enter(); err != nil {
		return err
	}
	t := &s.stage
	err = t.readyFor(s.g, n)
	if err == nil && t.used+n > chunk {
		err = t.next(s.s)
	}
	unlockThread()
	if err != nil {
		return fmt.Errorf("upload %d bytes: %w", n, explain(err))
	}
	room := t.half[t.cur].mem[t.used:][:n:n]
	t.used = min(chunk, (t.used+n+63)&^63)
	fill(room) // which may have work for other GPUs
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := cu.MemcpyHtoDAsync(ptr, unsafe.Pointer(&room[0]), int64(n), s.s); err != nil {
		return fmt.Errorf("upload %d bytes: %w", n, explain(err))
	}
	return nil
}

// Download brings a chunk to pinned memory while the one before it is copied
// out.
func (s *stream) Download(dst []byte, src device.Buffer, off int64) error {
	ptr, err := s.g.span(src, off, int64(len(dst)))
	if err != nil {
		return fmt.Errorf("download: %w", err)
	}
	if len(dst) == 0 {
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := s.download(dst, ptr); err != nil {
		return fmt.Errorf("download %d bytes: %w", len(dst), explain(err))
	}
	return nil
}

func (s *stream) download(dst []byte, ptr cu.DevicePtr) error {
	t := &s.stage
	pieces := (len(dst) + chunk - 1) / chunk
	if err := t.ready(s.g, min(2, pieces)); err != nil {
		return err
	}
	// The stream's order puts these copies behind any upload that still reads
	// the staging buffers.
	fetch := func(i int) error {
		h := &t.half[i&1]
		n := min(chunk, len(dst)-i*chunk)
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&h.mem[0]), ptr+cu.DevicePtr(i*chunk), int64(n), s.s); err != nil {
			return err
		}
		return h.done.Record(s.s)
	}
	for i := range min(2, pieces) {
		if err := fetch(i); err != nil {
			return err
		}
	}
	for i := range pieces {
		h := &t.half[i&1]
		if err := h.done.Synchronize(); err != nil {
			return err
		}
		out := dst[i*chunk : min(len(dst), (i+1)*chunk)]
		copyMany(out, h.mem[:len(out)])
		if i+2 < pieces {
			if err := fetch(i + 2); err != nil {
				return err
			}
		}
	}
	t.drained()
	return nil
}

// copyMany copies large slices with several goroutines: one core fills a
// fraction of the bus.
func copyMany(dst, src []byte) {
	const least = 1 << 20
	parts := min(runtime.GOMAXPROCS(0), 8, len(src)/least)
	if parts < 2 {
		copy(dst, src)
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		lo, hi := len(src)*i/parts, len(src)*(i+1)/parts
		wg.Go(func() { copy(dst[lo:hi], src[lo:hi]) })
	}
	wg.Wait()
}
