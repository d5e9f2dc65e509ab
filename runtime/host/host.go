// Package host is a device made of goroutines: it runs the Go kernels that
// gen/host writes, on all cores of the machine. Buffers are ordinary memory,
// a launch calls the kernel once for each block of the grid and hands blocks
// to whichever worker is free.
//
// Launches complete before Launch returns; a kernel that panics makes Launch
// fail with an error and leaves the device usable.
package host

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/runtime/memory"
)

// Line is the alignment of every buffer in bytes: a cache line, and the width
// of the widest vector register.
const Line = 64

// scavenge is the size in bytes from which a freed buffer is given back to
// the system at once rather than at the next collection.
const scavenge = 64 << 20

type hostDevice struct {
	workers int
	facts   device.Facts
	limit   int64 // most bytes all buffers may hold together; 0 when not known

	mu     sync.Mutex
	held   int64
	closed bool
	free   memory.Free // of the moment read
	read   time.Time
}

// fresh is how long a reading of the free memory stands for Facts: it opens half a dozen files,
// which takes longer than a small instance's solve.
const fresh = 10 * time.Millisecond

// Open makes a device of workers goroutines; 0 or less stands for GOMAXPROCS.
// Its buffers together may take what memory is available now, where the
// system tells.
func Open(workers int) device.Device {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	total, free := memory.Read()
	return &hostDevice{
		workers: workers,
		limit:   free.Bytes,
		facts: device.Facts{
			Kind:            device.Host,
			Name:            processorName(),
			Instructions:    instructionSet(),
			SMs:             workers,
			Memory:          total,
			Free:            free.Bytes,
			FreeBy:          free.By,
			ThreadsPerSM:    1,
			ThreadsPerBlock: 1,
		},
	}
}

// Facts reads the free memory anew when the last reading is older than fresh.
func (d *hostDevice) Facts() device.Facts {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.read) > fresh {
		d.free, d.read = memory.FreeNow(), time.Now()
	}
	f := d.facts
	if d.free.Bytes > 0 {
		f.Free, f.FreeBy = d.free.Bytes, d.free.By
	}
	return f
}

// Alloc fails with an error that wraps device.ErrMemory when the system has fewer than n bytes
// left. It counts this device's own buffers: the system counts pages only from their first use.
func (d *hostDevice) Alloc(n int64) (device.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("host: a buffer of %d bytes", n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("host: alloc of %d bytes: the device is closed", n)
	}
	if n > math.MaxInt-2*Line {
		return nil, fmt.Errorf("host: %d bytes: %w", n, device.ErrMemory)
	}
	if d.limit > 0 {
		// Small requests are not worth a look at the system.
		left := d.limit - d.held
		if n > 1<<20 {
			if free := memory.FreeNow(); free.Bytes > 0 && free.Bytes < left {
				left = free.Bytes
			}
		}
		if n > left {
			return nil, fmt.Errorf("host: %d bytes asked for, %d available: %w", n, max(left, 0), device.ErrMemory)
		}
	}
	b, err := newBuffer(d, n)
	if err != nil {
		return nil, err
	}
	d.held += n
	return b, nil
}

// Load makes the kernels of a host variant ready: nothing is compiled or read.
func (d *hostDevice) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	if f.Target != device.Host || len(v.Kernels) == 0 {
		return nil, fmt.Errorf("host: %s %s has no Go kernels (target %s)", f.Name, v.Label, f.Target)
	}
	return &module{family: f, variant: v}, nil
}

// NewStream returns a stream; several may be used at once and then share the
// processor's cores.
func (d *hostDevice) NewStream() (device.Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("host: stream: the device is closed")
	}
	return &stream{device: d}, nil
}

func (d *hostDevice) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

// A buffer is memory of n bytes starting at a multiple of Line.
type buffer struct {
	device *hostDevice
	words  []uint64 // keeps the memory; longer than n by the alignment
	data   []byte
}

func newBuffer(d *hostDevice, n int64) (b *buffer, err error) {
	defer func() {
		if r := recover(); r != nil { // makeslice: len out of range
			b, err = nil, fmt.Errorf("host: %d bytes: %v: %w", n, r, device.ErrMemory)
		}
	}()
	words := make([]uint64, (n+7)/8+Line/8)
	p := unsafe.Pointer(unsafe.SliceData(words))
	skip := -uintptr(p) & (Line - 1)
	data := unsafe.Slice((*byte)(unsafe.Add(p, skip)), n)
	return &buffer{device: d, words: words, data: data}, nil
}

func (b *buffer) Len() int64 { return int64(len(b.data)) }

// Free gives the memory up; a second Free is an error.
func (b *buffer) Free() error {
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	if b.words == nil {
		return fmt.Errorf("host: buffer freed twice")
	}
	n := int64(len(b.data))
	b.device.held -= n
	b.words, b.data = nil, nil
	if n >= scavenge {
		debug.FreeOSMemory()
	}
	return nil
}

// Slice is how a kernel sees a buffer argument: as many whole values of T as
// the buffer holds. T must hold no pointers. A scalar argument, a freed buffer
// or one of another device gives no values at all.
func Slice[T any](a device.Arg) []T {
	b, ok := a.Buffer.(*buffer)
	var zero T
	size := int(unsafe.Sizeof(zero))
	if !ok || size == 0 || len(b.data) < size {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.data))), len(b.data)/size)
}

type module struct {
	family  *device.Family
	variant *device.Variant
}

func (m *module) Kernel(entry string) (device.Kernel, error) {
	run := m.variant.Kernels[entry]
	if run == nil {
		return nil, fmt.Errorf("host: %s %s: %s: %w", m.family.Name, m.variant.Label, entry, device.ErrNoEntry)
	}
	return &kernel{name: m.variant.Symbol + "_" + entry, entry: m.family.Entry(entry), run: run}, nil
}

func (m *module) Close() error { return nil }

type kernel struct {
	name  string
	entry *device.Entry // nil when the family does not state the signature
	run   device.HostKernel
}

func (k *kernel) Resources() device.Resources { return device.Resources{} }

func (k *kernel) BlocksPerSM(_, _ int) (int, error) { return 1, nil }

// check compares arguments with the entry's signature.
func (k *kernel) check(args []device.Arg) error {
	if k.entry != nil && len(args) != len(k.entry.Params) {
		return fmt.Errorf("host: %s takes %d arguments, got %d", k.name, len(k.entry.Params), len(args))
	}
	for i, a := range args {
		b, ok := a.Buffer.(*buffer)
		switch {
		case a.Buffer != nil && !ok:
			return fmt.Errorf("host: %s: argument %d is a buffer of another kind of device", k.name, i)
		case ok && b.words == nil:
			return fmt.Errorf("host: %s: argument %d is a freed buffer", k.name, i)
		case k.entry != nil && (k.entry.Params[i].Type == "buffer") != ok:
			return fmt.Errorf("host: %s: argument %d (%s) must be a %s", k.name, i, k.entry.Params[i].Name, k.entry.Params[i].Type)
		}
	}
	return nil
}

type event struct{ at time.Time }

func (e event) Since(start device.Event) (time.Duration, error) {
	s, ok := start.(event)
	if !ok {
		return 0, fmt.Errorf("host: event of another kind of device")
	}
	return e.at.Sub(s.at), nil
}
