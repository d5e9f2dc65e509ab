package device

import (
	"errors"
	"slices"
)

// A Scope holds buffers, streams and modules of devices for one piece of work. Close frees all of
// them together. The zero value holds nothing. A scope belongs to one goroutine at a time.
type Scope struct{ held []func() error }

// A BufferRequest is a buffer that is to be allocated.
type BufferRequest struct {
	to    *Buffer
	bytes int64
}

// BufferFor requests a buffer of bytes bytes, which AllocAll stores in `to`.
func BufferFor(to *Buffer, bytes int64) BufferRequest { return BufferRequest{to, bytes} }

// AllocAll allocates buffers on a device, in order. With an error, which is that of Alloc,
// the scope holds those before.
func (s *Scope) AllocAll(d Device, list ...BufferRequest) error {
	for _, w := range list {
		b, err := s.Alloc(d, w.bytes)
		if err != nil {
			return err
		}
		*w.to = b
	}
	return nil
}

// Alloc allocates a buffer on d that the scope frees.
func (s *Scope) Alloc(d Device, bytes int64) (Buffer, error) {
	b, err := d.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s.held = append(s.held, b.Free)
	return b, nil
}

// NewStream opens a stream of d that the scope closes.
func (s *Scope) NewStream(d Device) (Stream, error) {
	stream, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	s.CloseLater(stream)
	return stream, nil
}

// CloseLater makes the scope close c.
func (s *Scope) CloseLater(c interface{ Close() error }) { s.held = append(s.held, c.Close) }

// Close frees everything in the scope, the last first, and joins the errors. The scope is empty
// then.
func (s *Scope) Close() error {
	var errs []error
	for _, back := range slices.Backward(s.held) {
		errs = append(errs, back())
	}
	s.held = nil
	return errors.Join(errs...)
}
