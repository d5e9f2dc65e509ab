//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"sync/atomic"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// buffer is device memory; ptr is 0 when it is empty or freed.
type buffer struct {
	g      *gpu
	ptr    cu.DevicePtr
	n      int64
	lent   bool   // the caller's memory, which the caller frees
	mapped []byte // of the host, nil of the device
	freed  atomic.Bool
}

func (g *gpu) Alloc(n int64) (device.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("allocate %d bytes on %s: a size cannot be negative", n, g.facts)
	}
	if n == 0 {
		return &buffer{g: g}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	ptr, err := cu.MemAlloc(n)
	if err != nil {
		if err == cu.OutOfMemory {
			free, total, _ := cu.MemInfo()
			return nil, fmt.Errorf("allocate %d bytes on %s (%d of %d free): %w", n, g.facts, free, total, device.ErrMemory)
		}
		return nil, fmt.Errorf("allocate %d bytes on %s: %w", n, g.facts, explain(err))
	}
	return &buffer{g: g, ptr: ptr, n: n}, nil
}

func (b *buffer) Len() int64 { return b.n }

// Free gives the memory back; a second call does nothing.
func (b *buffer) Free() error {
	if b.freed.Swap(true) || b.n == 0 || b.lent {
		return nil
	}
	b.g.mu.Lock()
	defer b.g.mu.Unlock()
	if b.g.closed {
		return nil // went with the context
	}
	if err := b.g.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if b.mapped != nil {
		return hostFree(b.mapped)
	}
	if err := cu.MemFree(b.ptr); err != nil {
		return fmt.Errorf("free %d bytes on %s: %w", b.n, b.g.facts, explain(err))
	}
	return nil
}

var (
	errForeign = errors.New("the buffer belongs to another device")
	errFreed   = errors.New("the buffer was freed")
)

// checkOwned checks that a buffer is this device's and alive.
func (g *gpu) checkOwned(x device.Buffer) (*buffer, error) {
	b, ok := x.(*buffer)
	if !ok || b.g != g {
		return nil, errForeign
	}
	if b.freed.Load() {
		return nil, errFreed
	}
	return b, nil
}

// span checks n bytes at off of a buffer and returns their address.
func (g *gpu) span(x device.Buffer, off, n int64) (cu.DevicePtr, error) {
	b, err := g.checkOwned(x)
	if err != nil {
		return 0, err
	}
	if off < 0 || n < 0 || off > b.n || n > b.n-off {
		return 0, fmt.Errorf("bytes %d to %d of a buffer of %d", off, off+n, b.n)
	}
	return b.ptr + cu.DevicePtr(off), nil
}
