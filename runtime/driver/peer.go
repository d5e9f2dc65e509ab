//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// What goes from one GPU to another: copies and waits.

// Copy goes over the link between two GPUs where they reach each other's
// memory, and otherwise through the host, by the driver's own means.
func (s *stream) Copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	to, toPtr, err := place(dst, dstOff, n)
	if err != nil {
		return fmt.Errorf("copy: destination: %w", err)
	}
	from, fromPtr, err := place(src, srcOff, n)
	if err != nil {
		return fmt.Errorf("copy: source: %w", err)
	}
	if to != s.g && from != s.g {
		return errors.New("copy: neither buffer belongs to the stream's device")
	}
	if n == 0 {
		return nil
	}
	if to != from {
		other := to
		if to == s.g {
			other = from
		}
		for _, err := range []error{s.g.reach(other), other.reach(s.g)} {
			if err != nil {
				return fmt.Errorf("copy: %w", err)
			}
		}
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	if to.dev == from.dev {
		err = cu.MemcpyDtoDAsync(toPtr, fromPtr, n, s.s)
	} else {
		err = cu.MemcpyPeerAsync(toPtr, to.ctx, fromPtr, from.ctx, n, s.s)
	}
	if err != nil {
		return fmt.Errorf("copy %d bytes from %s to %s: %w", n, from.facts, to.facts, explain(err))
	}
	return nil
}

// place is a buffer's device and the address of n bytes of it.
func place(x device.Buffer, off, n int64) (*gpu, cu.DevicePtr, error) {
	b, ok := x.(*buffer)
	if !ok {
		return nil, 0, errForeign
	}
	ptr, err := b.g.span(b, off, n)
	return b.g, ptr, err
}

// reach gives g access to the memory of other, once, where the hardware can.
// Copies work without, but through the host.
func (g *gpu) reach(other *gpu) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errClosed
	}
	if g.peers[other] || g.dev == other.dev {
		return nil
	}
	can, err := g.dev.CanAccessPeer(other.dev)
	if err != nil {
		return fmt.Errorf("ask whether %s reaches %s: %w", g.facts, other.facts, explain(err))
	}
	if can != 0 {
		if err := g.enter(); err != nil {
			return err
		}
		defer unlockThread()
		if err := other.ctx.EnablePeerAccess(0); err != nil && err != cu.PeerAccessAlreadyEnabled {
			return fmt.Errorf("give %s access to %s: %w", g.facts, other.facts, explain(err))
		}
	}
	g.peers[other] = true
	return nil
}

var _ device.PeerAccessor = (*gpu)(nil)

// PeerAccess reports whether the hardware lets kernels of g use the memory of other.
func (g *gpu) PeerAccess(other device.Device) (bool, error) {
	o, ok := device.WithoutCache(other).(*gpu)
	if !ok || o.dev == g.dev {
		return ok, nil
	}
	can, err := g.dev.CanAccessPeer(o.dev)
	if err != nil {
		return false, fmt.Errorf("ask whether %s reaches %s: %w", g.facts, o.facts, explain(err))
	}
	return can != 0, nil
}

func (s *stream) Wait(x device.Event) error {
	e, ok := x.(*event)
	if !ok {
		return errors.New("wait: the event belongs to another kind of device")
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer unlockThread()
	// The stream waits for the event as it stands now: that its driver object
	// may be recorded again later is no harm.
	err := s.s.Wait(e.ev, 0)
	runtime.KeepAlive(e)
	if err != nil {
		return fmt.Errorf("wait for an event of %s: %w", e.g.facts, explain(err))
	}
	return nil
}
