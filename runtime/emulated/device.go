package emulated

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coalesce/runtime/device"
)

// The machine that is emulated.
const (
	multiprocessors = 4
	threadsPerSM    = 2048
	maxThreads      = 1024     // of a block
	sharedPerBlock  = 99 << 10 // static and dynamic together, bytes
	maxCluster      = 16       // blocks
)

type buffer struct {
	dev  *Device
	at   uint64
	n    int64
	free bool
}

func (d *Device) Alloc(n int64) (device.Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("allocate %d bytes: a negative size", n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n > d.opts.Memory-d.used {
		return nil, fmt.Errorf("allocate %d bytes, %d of %d are free: %w", n, d.opts.Memory-d.used, d.opts.Memory, device.ErrMemory)
	}
	at, err := parseWord(d.child.request(0, nil, nil, opAlloc, uint64(n)))
	var no *refusal
	if errors.As(err, &no) {
		return nil, fmt.Errorf("allocate %d bytes: %s: %w", n, no, device.ErrMemory)
	}
	if err != nil {
		return nil, d.child.explainFailure(fmt.Sprintf("allocate %d bytes", n), err)
	}
	d.used += n
	return &buffer{dev: d, at: at, n: n}, nil
}

func (b *buffer) Len() int64 { return b.n }

func (b *buffer) Free() error {
	b.dev.mu.Lock()
	defer b.dev.mu.Unlock()
	if b.free {
		return errors.New("free a buffer: it was freed before")
	}
	b.free = true
	b.dev.used -= b.n
	if _, err := b.dev.child.request(0, nil, nil, opFree, b.at); err != nil && !errors.Is(err, device.ErrLost) { // it went with the child
		return fmt.Errorf("free a buffer: %w", err)
	}
	return nil
}

// own returns a buffer of this device that has n bytes at off.
func (d *Device) own(b device.Buffer, off, n int64) (*buffer, error) {
	e, ok := b.(*buffer)
	if !ok || e == nil || e.dev != d {
		return nil, errors.New("the buffer is not of this device")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.free {
		return nil, errors.New("the buffer was freed")
	}
	if off < 0 || n < 0 || n > e.n-off {
		return nil, fmt.Errorf("%d bytes at %d of a buffer of %d", n, off, e.n)
	}
	return e, nil
}

type module struct {
	dev     *Device
	symbol  string
	handle  uint64
	family  *device.Family
	threads map[string]int // entries, with the most threads of a launch
	shared  int
	closed  bool
}

// Load compiles the variant (or, with Options.Whole, its pack) unless the
// cache has it, and loads it into the child.
func (d *Device) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	m, err := d.load(f, v)
	if errors.Is(err, errCompile) {
		return nil, err // which names a place
	}
	if err != nil {
		return nil, d.child.explainFailure("load "+v.Symbol, err)
	}
	return m, nil
}

func (d *Device) load(f *device.Family, v *device.Variant) (*module, error) {
	so, own, err := d.compile(context.Background(), f, v)
	if err != nil {
		return nil, err
	}
	m := &module{dev: d, symbol: v.Symbol, family: f, threads: own}
	l, err := readLayout(so)
	if err != nil {
		return nil, err
	}
	m.shared = l.bytes
	var payload []byte
	for _, r := range l.shared {
		payload = binary.LittleEndian.AppendUint64(payload, r[0])
		payload = binary.LittleEndian.AppendUint64(payload, r[1])
	}
	payload = append(payload, so...)
	m.handle, err = parseWord(d.child.request(0, nil, payload, opLoad, uint64(len(l.shared)), l.anchor))
	if err != nil {
		return nil, err
	}
	if err := m.checkHash(v); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *module) find(symbol string) (uint64, error) {
	return parseWord(m.dev.child.request(0, nil, []byte(symbol), opSymbol, m.handle))
}

func (m *module) checkHash(v *device.Variant) error {
	at, err := m.find(v.Symbol + "_hash")
	if err != nil {
		return err
	}
	if at == 0 {
		return fmt.Errorf("the compiled text has no %s_hash", v.Symbol)
	}
	var b [8]byte
	if _, err := m.dev.child.request(0, b[:], nil, opRead, at, 8); err != nil {
		return err
	}
	if h := binary.LittleEndian.Uint64(b[:]); h != v.Hash {
		return fmt.Errorf("the text's hash is %016x, the table says %016x: run go generate ./... again", h, v.Hash)
	}
	return nil
}

func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	if _, err := m.dev.child.request(0, nil, nil, opUnload, m.handle); err != nil && !errors.Is(err, device.ErrLost) {
		return fmt.Errorf("unload %s: %w", m.symbol, err)
	}
	return nil
}

type kernel struct {
	module  *module
	entry   *device.Entry
	at      uint64
	threads int
}

func (m *module) Kernel(entry string) (device.Kernel, error) {
	n, ok := m.threads[entry]
	if !ok {
		return nil, fmt.Errorf("%s of %s (it has %s): %w", entry, m.symbol,
			strings.Join(sortedKeys(m.threads), ", "), device.ErrNoEntry)
	}
	at, err := m.find("emu_entry_" + m.symbol + "_" + entry)
	if err == nil && at == 0 {
		err = device.ErrNoEntry
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", entry, m.symbol, err)
	}
	return &kernel{module: m, entry: m.family.Entry(entry), at: at, threads: n}, nil
}

// Resources gives the static shared memory of the whole unit and the launch
// bounds; the rest is not known.
func (k *kernel) Resources() device.Resources {
	return device.Resources{Shared: k.module.shared, MaxThreads: k.threads}
}

// BlocksPerSM is small, so that a grid which fills the device runs quickly.
func (k *kernel) BlocksPerSM(threads, shared int) (int, error) {
	if threads < 1 || threads > k.threads || shared < 0 || k.module.shared+shared > sharedPerBlock {
		return 0, nil
	}
	return min(2, threadsPerSM/threads), nil
}

// A stream of this device does everything at once.
type stream struct{ dev *Device }

func (d *Device) NewStream() (device.Stream, error) { return &stream{d}, nil }

func (s *stream) Upload(dst device.Buffer, off int64, src []byte) error {
	b, err := s.dev.own(dst, off, int64(len(src)))
	if err == nil && len(src) > 0 {
		_, err = s.dev.child.request(0, nil, src, opWrite, b.at+uint64(off))
	}
	return s.dev.child.explainFailure("upload", err)
}

func (s *stream) Download(dst []byte, src device.Buffer, off int64) error {
	b, err := s.dev.own(src, off, int64(len(dst)))
	if err == nil && len(dst) > 0 {
		_, err = s.dev.child.request(0, dst, nil, opRead, b.at+uint64(off), uint64(len(dst)))
	}
	return s.dev.child.explainFailure("download", err)
}

func (s *stream) Fill(dst device.Buffer, off, n int64, value byte) error {
	b, err := s.dev.own(dst, off, n)
	if err == nil && n > 0 {
		_, err = s.dev.child.request(0, nil, nil, opFill, b.at+uint64(off), uint64(n), uint64(value))
	}
	return s.dev.child.explainFailure("fill", err)
}

// Copy goes through this process where the buffers are of two devices.
func (s *stream) Copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	return s.dev.child.explainFailure("copy", s.copy(dst, dstOff, src, srcOff, n))
}

func (s *stream) copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	to, err := span(dst, dstOff, n)
	if err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	from, err := span(src, srcOff, n)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if to.dev != s.dev && from.dev != s.dev {
		return errors.New("neither buffer is of the stream's device")
	}
	if to.dev == from.dev {
		_, err = to.dev.child.request(0, nil, nil, opCopy, to.at+uint64(dstOff), from.at+uint64(srcOff), uint64(n))
		return err
	}
	piece := make([]byte, min(n, 1<<20))
	for done := int64(0); done < n; done += int64(len(piece)) {
		piece = piece[:min(n-done, int64(len(piece)))]
		if _, err := from.dev.child.request(0, piece, nil, opRead, from.at+uint64(srcOff+done), uint64(len(piece))); err != nil {
			return err
		}
		if _, err := to.dev.child.request(0, nil, piece, opWrite, to.at+uint64(dstOff+done)); err != nil {
			return err
		}
	}
	return nil
}

// span returns a buffer of any emulated device that has n bytes at off.
func span(b device.Buffer, off, n int64) (*buffer, error) {
	e, ok := b.(*buffer)
	if !ok || e == nil {
		return nil, errors.New("the buffer is not of an emulated device")
	}
	return e.dev.own(e, off, n)
}

func (s *stream) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	e, ok := k.(*kernel)
	if !ok || e == nil || e.module.dev != s.dev {
		return errors.New("launch: the kernel is not of this device")
	}
	err := s.launch(e, g, args)
	var no *refusal
	if errors.As(err, &no) {
		err = fmt.Errorf("%w: %s", ErrSchedule, no)
	}
	return s.dev.child.explainFailure(fmt.Sprintf("launch %s_%s, %d blocks of %d threads", e.module.symbol, e.entry.Name, g.Blocks, g.Threads), err)
}

func (s *stream) launch(k *kernel, g device.Grid, args []device.Arg) error {
	switch {
	case k.module.closed:
		return errors.New("the module is closed")
	case g.Blocks < 1 || g.Blocks > 1<<31-1:
		return fmt.Errorf("%d blocks, expected 1 to %d", g.Blocks, 1<<31-1)
	case g.Threads < 1 || g.Threads > k.threads:
		return fmt.Errorf("%d threads a block, expected 1 to %d", g.Threads, k.threads)
	case g.Shared < 0 || k.module.shared+g.Shared > sharedPerBlock:
		return fmt.Errorf("%d bytes of shared memory, %d of them dynamic, and a block has %d", k.module.shared+g.Shared, g.Shared, sharedPerBlock)
	case g.Cluster < 0 || g.Cluster > maxCluster || g.Cluster > 1 && (g.Cooperative || g.Blocks%int64(g.Cluster) != 0):
		return fmt.Errorf("%d blocks in clusters of %d, expected a multiple, at most %d and no cooperative launch", g.Blocks, g.Cluster, maxCluster)
	case g.Cooperative && g.Blocks*int64(g.Threads) > multiprocessors*threadsPerSM:
		return fmt.Errorf("a cooperative launch of %d threads, and %d run at once", g.Blocks*int64(g.Threads), multiprocessors*threadsPerSM)
	case k.module.shared > 48<<10 && len(k.module.threads) == 1 && !s.dev.opts.Whole:
		return fmt.Errorf("%d bytes of static shared memory, a block has %d", k.module.shared, 48<<10)
	case len(args) != len(k.entry.Params):
		return fmt.Errorf("%d arguments, expected %d", len(args), len(k.entry.Params))
	}
	var slots []byte
	for i, a := range args {
		p := k.entry.Params[i]
		bits := a.Bits
		if a.Buffer != nil {
			b, err := s.dev.own(a.Buffer, 0, 0)
			if err == nil && p.Type != "buffer" {
				err = fmt.Errorf("a buffer, expected %s", p.Type)
			}
			if err != nil {
				return fmt.Errorf("argument %s: %w", p.Name, err)
			}
			bits += b.at
		} else if p.Type == "buffer" && bits != 0 {
			return fmt.Errorf("argument %s: a scalar, expected a buffer", p.Name)
		}
		slots = binary.LittleEndian.AppendUint64(slots, bits)
	}
	d := s.dev
	d.mu.Lock()
	d.launches++
	seed := d.opts.Seed*0x9e3779b97f4a7c15 + d.launches*0xd1342543de82ef95
	d.mu.Unlock()
	guard := uint64(d.opts.Timeout/time.Second) + 5
	together := uint64(1)
	switch {
	case g.Cooperative:
		together = uint64(g.Blocks)
	case g.Cluster > 1:
		together = 1<<32 | uint64(g.Cluster)
	}
	_, err := d.child.request(d.opts.Timeout, nil, slots, opLaunch,
		k.at, k.module.handle, uint64(g.Blocks), uint64(g.Threads), seed, guard, uint64(g.Shared), together)
	return err
}

// Wait has nothing to wait for: events are of work that is done.
func (s *stream) Wait(e device.Event) error {
	if _, ok := e.(event); !ok {
		return errors.New("the event is not of an emulated device")
	}
	return nil
}

func (s *stream) Sync() error  { return nil }
func (s *stream) Close() error { return nil }

// An event is a moment of the host's clock: all earlier work is done.
type event struct{ at time.Time }

func (s *stream) Record() (device.Event, error) { return event{time.Now()}, nil }

func (e event) Since(start device.Event) (time.Duration, error) {
	s, ok := start.(event)
	if !ok {
		return 0, errors.New("the event is not of this device")
	}
	return e.at.Sub(s.at), nil
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
