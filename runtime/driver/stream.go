//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// stream belongs to one goroutine at a time; its scratch needs no lock.
type stream struct {
	g      *gpu
	s      cu.Stream
	stage  stage
	slots  []uint64
	lent   bool // the caller's, who ends it
	closed bool
}

func (g *gpu) NewStream() (device.Stream, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	s, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, fmt.Errorf("make a stream on %s: %w", g.facts, explain(err))
	}
	return &stream{g: g, s: s}, nil
}

var errStreamClosed = errors.New("the stream is closed")

func (s *stream) enter() error {
	if s.closed {
		return errStreamClosed
	}
	return s.g.enter()
}

// Launch hands one grid to the driver and returns; a few microseconds.
func (s *stream) Launch(x device.Kernel, grid device.Grid, args ...device.Arg) error {
	k, ok := x.(*kernel)
	if !ok || k.g != s.g {
		return errors.New("launch: the kernel belongs to another device")
	}
	if grid.Blocks == 0 {
		return nil
	}
	if grid.Blocks < 0 || grid.Blocks > math.MaxInt32 || grid.Threads < 1 || grid.Threads > k.res.MaxThreads {
		return fmt.Errorf("launch %s: %d blocks of %d threads (at most %d blocks of %d)",
			k.name, grid.Blocks, grid.Threads, math.MaxInt32, k.res.MaxThreads)
	}
	if c := grid.Cluster; c < 0 || c > 1 && (grid.Cooperative || grid.Blocks%int64(c) != 0) {
		return fmt.Errorf("launch %s: %d blocks in clusters of %d (a multiple, and not cooperative)", k.name, grid.Blocks, c)
	}
	if grid.Shared < 0 || grid.Shared > k.shared {
		return fmt.Errorf("launch %s: %d bytes of dynamic shared memory (at most %d)", k.name, grid.Shared, k.shared)
	}
	if len(args) != len(k.params) {
		return fmt.Errorf("launch %s: %d arguments, and it takes %d", k.name, len(args), len(k.params))
	}
	if cap(s.slots) < len(args) {
		s.slots = make([]uint64, len(args))
	}
	slots := s.slots[:len(args)]
	for i, a := range args {
		// A buffer parameter without a buffer is a null pointer.
		if buffer := k.params[i].Type == "buffer"; a.Buffer != nil && !buffer || a.Buffer == nil && buffer && a.Bits != 0 {
			return fmt.Errorf("launch %s: argument %s is a %s", k.name, k.params[i].Name, k.params[i].Type)
		}
		slots[i] = a.Bits
		if a.Buffer != nil {
			b, err := s.g.checkOwned(a.Buffer)
			if err != nil {
				return fmt.Errorf("launch %s: argument %s: %w", k.name, k.params[i].Name, err)
			}
			slots[i] = uint64(b.ptr) + a.Bits
		}
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := launch(k.fn, grid, s.s, slots); err != nil {
		return fmt.Errorf("launch %s, %d blocks of %d threads: %w", k.name, grid.Blocks, grid.Threads, explain(err))
	}
	return nil
}

func (s *stream) Fill(dst device.Buffer, off, n int64, value byte) error {
	ptr, err := s.g.span(dst, off, n)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	if n == 0 {
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := cu.MemsetD8Async(ptr, value, n, s.s); err != nil {
		return fmt.Errorf("fill %d bytes: %w", n, explain(err))
	}
	return nil
}

func (s *stream) Sync() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := s.s.Synchronize(); err != nil {
		return fmt.Errorf("wait for %s: %w", s.g.facts, explain(err))
	}
	s.stage.drained()
	return nil
}

// Close waits for the stream's work and frees its memory. Of a lent stream it waits for copies alone, for which the
// stream has memory.
func (s *stream) Close() error {
	if s.closed {
		return nil
	}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.closed = true
	if s.g.closed || s.lent && s.stage.half[0].mem == nil {
		return nil
	}
	if err := s.g.enter(); err != nil {
		return err
	}
	defer unlockThread()
	first := s.s.Synchronize()
	s.g.leaveHalves(&s.stage)
	if s.lent {
		return explain(first)
	}
	if err := s.s.Destroy(); first == nil {
		first = err
	}
	if first != nil {
		return fmt.Errorf("close a stream of %s: %w", s.g.facts, explain(first))
	}
	return nil
}

// event marks a point of a stream. Its driver object is used again once the
// event is out of reach.
type event struct {
	g  *gpu
	ev cu.Event
}

func (s *stream) Record() (device.Event, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	ev, err := s.g.takeEvent()
	if err != nil {
		return nil, fmt.Errorf("make an event: %w", explain(err))
	}
	if err := ev.Record(s.s); err != nil {
		return nil, fmt.Errorf("record an event: %w", explain(err))
	}
	e := &event{g: s.g, ev: ev}
	runtime.AddCleanup(e, s.g.giveEvent, ev)
	return e, nil
}

func (g *gpu) takeEvent() (cu.Event, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.events); n > 0 {
		ev := g.events[n-1]
		g.events = g.events[:n-1]
		return ev, nil
	}
	return cu.MakeEvent(cu.DefaultEvent)
}

func (g *gpu) giveEvent(ev cu.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, ev)
}

func (e *event) Since(x device.Event) (time.Duration, error) {
	start, ok := x.(*event)
	if !ok || start.g != e.g {
		return 0, errors.New("the events belong to different devices")
	}
	if err := e.g.enter(); err != nil {
		return 0, err
	}
	defer unlockThread()
	ms, err := start.ev.Elapsed(e.ev)
	runtime.KeepAlive(start)
	runtime.KeepAlive(e)
	if err != nil {
		return 0, fmt.Errorf("time between events: %w", explain(err))
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}
