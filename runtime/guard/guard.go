// Package guard detects wrong kernels by a device's memory. It fills new buffers with poison, so that
// a kernel cannot find results of an earlier trial in them, and puts canaries, bytes of a fixed value,
// before and behind each buffer, which a write past an end changes.
package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coalesce/runtime/device"
)

// The bytes of poison and of canaries, and the number of canary bytes before and behind each buffer,
// which keeps the buffer's alignment.
const (
	poison  = 0xa5
	canary  = 0xc3
	watched = 4 << 10
)

// ErrOverrun is wrapped when a kernel wrote past an end of a buffer.
var ErrOverrun = errors.New("a kernel wrote past an end of a buffer")

// A Device is another device with guarded buffers. A launch only looks up its buffers, so that times
// are those of the device.
type Device struct {
	device.Device
	mu     sync.Mutex
	stream device.Stream // for poison and canaries
	live   []*buffer
	err    error // the first overrun that Free found
}

// Overrun is the first overrun that was found since New; nil where there was none.
func (d *Device) Overrun() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(d.err, ErrOverrun) {
		return d.err
	}
	return nil
}

// New guards the buffers that are made through it on d.
func New(d device.Device) (*Device, error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, fmt.Errorf("stream of the guard: %w", err)
	}
	return &Device{Device: d, stream: s}, nil
}

// Close checks what is left and closes the guard's stream; the device stays open. The
// error wraps ErrOverrun when any buffer was overrun since New.
func (d *Device) Close() error {
	err := d.Check()
	d.mu.Lock()
	d.live = nil
	d.mu.Unlock()
	return errors.Join(err, d.stream.Close())
}

// Check returns the first overrun since New, after a look at the buffers that are live. The
// kernels launched must have ended.
func (d *Device) Check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.live {
		d.look(b)
	}
	return d.err
}

// look compares the canaries of a buffer, and keeps the first overrun.
func (d *Device) look(b *buffer) {
	if d.err != nil {
		return
	}
	got := make([]byte, watched)
	for _, end := range []struct {
		name string
		at   int64 // of the canaries
	}{{"before", 0}, {"behind", watched + b.n}} {
		if d.err = d.stream.Download(got, b.Buffer, end.at); d.err != nil {
			return
		}
		at := slices.IndexFunc(got, func(x byte) bool { return x != canary })
		if at < 0 {
			continue
		}
		last := watched
		for got[last-1] == canary {
			last--
		}
		if end.name == "before" {
			at, last = watched-last, watched-at
		}
		d.err = fmt.Errorf("%w: found bytes changed from %d to %d %s %s, expected none", ErrOverrun, at, last, end.name, b)
		return
	}
}

type buffer struct {
	device.Buffer
	d     *Device
	n     int64
	names []string // the parameters of kernels that it was, the first mostNames of them
}

// mostNames is how many names a buffer keeps.
const mostNames = 3

// call notes that the buffer was a parameter of a kernel.
func (b *buffer) call(name string) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if len(b.names) < mostNames && !slices.Contains(b.names, name) {
		b.names = append(b.names, name)
	}
}

// String says which buffer it is.
func (b *buffer) String() string {
	if len(b.names) == 0 {
		return fmt.Sprintf("a buffer of %d bytes that no kernel was given", b.n)
	}
	return fmt.Sprintf("%s, a buffer of %d bytes", strings.Join(b.names, " and "), b.n)
}

// Len is the length asked for.
func (b *buffer) Len() int64 { return b.n }

// Free looks at the canaries once more.
func (b *buffer) Free() error {
	b.d.mu.Lock()
	b.d.look(b)
	b.d.live = slices.DeleteFunc(b.d.live, func(x *buffer) bool { return x == b })
	b.d.mu.Unlock()
	return b.Buffer.Free()
}

// Alloc returns a poisoned buffer of n bytes between canaries.
func (d *Device) Alloc(n int64) (device.Buffer, error) {
	if n < 0 {
		return d.Device.Alloc(n) // returns the device's own error
	}
	whole, err := d.Device.Alloc(watched + n + watched)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err = errors.Join(d.stream.Fill(whole, 0, watched, canary), d.stream.Fill(whole, watched, n, poison),
		d.stream.Fill(whole, watched+n, watched, canary), d.stream.Sync())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("poison: %w", err), whole.Free())
	}
	b := &buffer{Buffer: whole, d: d, n: n}
	d.live = append(d.live, b)
	return b, nil
}

// NewStream returns a stream that knows guarded buffers.
func (d *Device) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	if err != nil {
		return nil, err
	}
	return stream{s}, nil
}

// PeerAccess reports what the device says of another, which may be guarded.
func (d *Device) PeerAccess(other device.Device) (bool, error) {
	if o, ok := device.WithoutCache(other).(interface{ Below() device.Device }); ok {
		other = o.Below()
	}
	r, ok := d.Device.(device.PeerAccessor)
	if !ok {
		return false, nil
	}
	return r.PeerAccess(other)
}

// Below is the device that is guarded.
func (d *Device) Below() device.Device { return d.Device }

// Load is device.Device's; kernels of the module know what their parameters are called.
func (d *Device) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	m, err := d.Device.Load(f, v)
	if err != nil {
		return nil, err
	}
	return module{m, f}, nil
}

type module struct {
	device.Module
	family *device.Family
}

func (m module) Kernel(entry string) (device.Kernel, error) {
	k, err := m.Module.Kernel(entry)
	if err != nil {
		return nil, err
	}
	return kernel{k, m.family, entry}, nil
}

type kernel struct {
	device.Kernel
	family *device.Family
	entry  string
}

// parameter names the i-th one.
func (k kernel) parameter(i int) string {
	name := fmt.Sprintf("argument %d", i+1)
	if e := k.family.Entry(k.entry); e != nil && i < len(e.Params) {
		name = e.Params[i].Name
	}
	return fmt.Sprintf("%s of %s in %s", name, k.entry, k.family.Name)
}

type stream struct{ device.Stream }

// bare is the device's own buffer, and where a guarded one begins in it.
func bare(b device.Buffer) (device.Buffer, int64) {
	if g, ok := b.(*buffer); ok {
		return g.Buffer, watched
	}
	return b, 0
}

// within returns an error for bytes past the end of a buffer, where the canaries are.
func within(b device.Buffer, off, n int64) error {
	if g, ok := b.(*buffer); ok && (off < 0 || n < 0 || off+n > g.n) {
		return fmt.Errorf("bytes %d to %d of a buffer of %d", off, off+n, g.n)
	}
	return nil
}

func (s stream) Upload(dst device.Buffer, off int64, src []byte) error {
	if err := within(dst, off, int64(len(src))); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	to, begin := bare(dst)
	return s.Stream.Upload(to, begin+off, src)
}

func (s stream) Download(dst []byte, src device.Buffer, off int64) error {
	if err := within(src, off, int64(len(dst))); err != nil {
		return fmt.Errorf("download: %w", err)
	}
	from, begin := bare(src)
	return s.Stream.Download(dst, from, begin+off)
}

func (s stream) Fill(dst device.Buffer, off, n int64, value byte) error {
	if err := within(dst, off, n); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	to, begin := bare(dst)
	return s.Stream.Fill(to, begin+off, n, value)
}

func (s stream) Copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	if err := errors.Join(within(dst, dstOff, n), within(src, srcOff, n)); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	to, begin := bare(dst)
	from, start := bare(src)
	return s.Stream.Copy(to, begin+dstOff, from, start+srcOff, n)
}

func (s stream) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	named, ours := k.(kernel)
	if ours {
		k = named.Kernel
	}
	plain := slices.Clone(args)
	for i := range plain {
		if b, ok := plain[i].Buffer.(*buffer); ok {
			if ours {
				b.call(named.parameter(i))
			}
			plain[i].Buffer = b.Buffer
			plain[i].Bits += watched
		}
	}
	return s.Stream.Launch(k, g, plain...)
}
