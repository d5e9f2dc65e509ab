//go:build cuda

package driver

/*
#include <stdint.h>
#include <cuda.h>

static CUresult recordOn(CUevent e, uintptr_t stream) { return cuEventRecord(e, (CUstream)stream); }

static CUresult ordinalOf(int *ordinal, uintptr_t address) {
	return cuPointerGetAttribute(ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)address);
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// What callers lend: memory, and streams to wait for.

var (
	_ device.Lender   = (*gpu)(nil)
	_ device.Mapper   = (*gpu)(nil)
	_ device.Follower = (*stream)(nil)
)

// lentAlign is the alignment of lent memory, in bytes, which kernels rely on that load several
// numbers at once. Memory of Alloc has it too.
const lentAlign = 64

// Lend is device.Lender's. The driver is asked whose memory it is.
func (g *gpu) Lend(address uintptr, n int64) (device.Buffer, error) {
	if n < 0 || n > 0 && address == 0 || address%lentAlign != 0 {
		return nil, fmt.Errorf("lend %d bytes at address %#x: expected memory of %s that begins at a multiple of %d bytes", n, address, g.facts, lentAlign)
	}
	if n == 0 {
		return &buffer{g: g}, nil
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	ordinal := C.int(-1)
	if err := outcome(C.ordinalOf(&ordinal, C.uintptr_t(address))); err != nil {
		return nil, fmt.Errorf("lend %d bytes at address %#x: no memory that CUDA knows: %w", n, address, explain(err))
	}
	if int(ordinal) != g.facts.Index {
		return nil, fmt.Errorf("lend %d bytes at address %#x: found memory of cuda:%d, expected %s", n, address, ordinal, g.facts)
	}
	return &buffer{g: g, ptr: cu.DevicePtr(address), n: n, lent: true}, nil
}

// Map is device.Mapper's: pinned memory has the same address on all sides.
func (g *gpu) Map(n int) ([]byte, device.Buffer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, errClosed
	}
	if err := g.enter(); err != nil {
		return nil, nil, err
	}
	defer unlockThread()
	memory, err := hostAlloc(n)
	if err != nil {
		return nil, nil, err
	}
	return memory, &buffer{g: g, ptr: cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))), n: int64(n), mapped: memory}, nil
}

// LendStream is device.Lender's.
func (g *gpu) LendStream(caller uintptr) (device.Stream, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	s := &stream{g: g, lent: true}
	*(*uintptr)(unsafe.Pointer(&s.s)) = caller // see handle
	return s, nil
}

// Follow is device.Follower's.
func (s *stream) Follow(caller uintptr) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	ev, err := s.g.takeEvent()
	if err != nil {
		return fmt.Errorf("make an event: %w", explain(err))
	}
	if err := outcome(C.recordOn(handle[C.CUevent](&ev), C.uintptr_t(caller))); err != nil {
		s.g.giveEvent(ev)
		return fmt.Errorf("record an event of the caller's stream %#x: %w", caller, explain(err))
	}
	e := &event{g: s.g, ev: ev}
	runtime.AddCleanup(e, s.g.giveEvent, ev)
	return s.Wait(e)
}
