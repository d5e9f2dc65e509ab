package host

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"coalesce/runtime/device"
)

type stream struct {
	device *hostDevice
	failed error // the first failed launch; Sync reports it once
}

// window returns n bytes of a buffer at off.
func window(b device.Buffer, off, n int64) ([]byte, error) {
	h, ok := b.(*buffer)
	if !ok {
		return nil, fmt.Errorf("host: buffer of another kind of device")
	}
	if h.words == nil {
		return nil, fmt.Errorf("host: freed buffer")
	}
	if off < 0 || n < 0 || n > h.Len()-off {
		return nil, fmt.Errorf("host: bytes %d+%d are outside a buffer of %d", off, n, h.Len())
	}
	return h.data[off : off+n], nil
}

func (s *stream) Upload(dst device.Buffer, off int64, src []byte) error {
	w, err := window(dst, off, int64(len(src)))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	copy(w, src)
	return nil
}

func (s *stream) Download(dst []byte, src device.Buffer, off int64) error {
	w, err := window(src, off, int64(len(dst)))
	if err != nil {
		return fmt.Errorf("download: %w", err)
	}
	copy(dst, w)
	return nil
}

func (s *stream) Fill(dst device.Buffer, off, n int64, value byte) error {
	w, err := window(dst, off, n)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	if value == 0 {
		clear(w)
		return nil
	}
	// Writing bytes one by one takes ten times as long as copying the filled ones.
	filled := w[:min(len(w), 4<<10)]
	for i := range filled {
		filled[i] = value
	}
	for rest := w[len(filled):]; len(rest) > 0; {
		rest = rest[copy(rest, filled):]
	}
	return nil
}

// Copy also serves two devices of this kind: their memory is the process's.
func (s *stream) Copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	to, err := window(dst, dstOff, n)
	if err != nil {
		return fmt.Errorf("copy: destination: %w", err)
	}
	from, err := window(src, srcOff, n)
	if err != nil {
		return fmt.Errorf("copy: source: %w", err)
	}
	if dst.(*buffer).device != s.device && src.(*buffer).device != s.device {
		return fmt.Errorf("copy: host: neither buffer is of the stream's device")
	}
	copy(to, from)
	return nil
}

// Launch runs all blocks and returns when they are done. A cooperative grid has blocks that wait
// for one another, and needs a worker for each. After a panic in a block no further block starts;
// the caller does not learn which others ran.
func (s *stream) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	h, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("host: kernel of another kind of device")
	}
	if err := h.check(args); err != nil {
		return err
	}
	if g.Cluster > 1 {
		return fmt.Errorf("host: %s: a host has no clusters of blocks", h.name)
	}
	if g.Cooperative && g.Blocks > int64(s.device.workers) {
		return fmt.Errorf("host: %s: %d blocks cannot run at once on %d workers", h.name, g.Blocks, s.device.workers)
	}
	if err := run(h, g.Blocks, s.device.workers, args); err != nil {
		if s.failed == nil {
			s.failed = err
		}
		return err
	}
	return nil
}

// run hands out the blocks by a counter. One worker is the caller itself.
func run(k *kernel, blocks int64, workers int, args []device.Arg) error {
	if blocks <= 0 {
		return nil
	}
	var (
		next    atomic.Int64
		mu      sync.Mutex
		failure error
		wait    sync.WaitGroup
	)
	work := func() {
		block := int64(-1)
		defer func() {
			if r := recover(); r != nil {
				next.Store(blocks) // the others stop
				mu.Lock()
				if failure == nil {
					failure = fmt.Errorf("host: %s: block %d of %d panicked: %v\n%s", k.name, block, blocks, r, debug.Stack())
				}
				mu.Unlock()
			}
		}()
		for {
			if block = next.Add(1) - 1; block >= blocks {
				return
			}
			k.run(block, blocks, args)
		}
	}
	for range min(int64(workers), blocks) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return failure
}

func (s *stream) Record() (device.Event, error) { return event{at: time.Now()}, nil }

// Wait has nothing to wait for: events are of work that is done.
func (s *stream) Wait(e device.Event) error {
	if _, ok := e.(event); !ok {
		return fmt.Errorf("host: event of another kind of device")
	}
	return nil
}

// Sync has nothing to wait for; it returns the error of the first launch that
// failed since the last Sync.
func (s *stream) Sync() error {
	err := s.failed
	s.failed = nil
	return err
}

func (s *stream) Close() error { return nil }
