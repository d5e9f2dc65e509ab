package device

import (
	"errors"
	"slices"
)

// A Scope holds what a piece of work takes of devices: buffers, streams, modules. Close
// gives all of it back together. The zero value holds nothing. A scope belongs to one
// goroutine at a time.
type Scope struct{ held []func() error }

// A Want is a buffer that is to be allocated.
type Want struct {
	to    *Buffer
	bytes int64
}

// Into wants a buffer of so many bytes, which goes to `to`.
func Into(to *Buffer, bytes int64) Want { return Want{to, bytes} }

// Take allocates buffers on a device, in order. With an error, which is that of Alloc,
// the scope holds those before.
func (s *Scope) Take(d Device, list ...Want) error {
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
	s.Keep(stream)
	return stream, nil
}

// Keep makes the scope close c.
func (s *Scope) Keep(c interface{ Close() error }) { s.held = append(s.held, c.Close) }

// Close gives back what the scope holds, the last first, and joins the errors. The scope
// is empty then.
func (s *Scope) Close() error {
	var errs []error
	for _, back := range slices.Backward(s.held) {
		errs = append(errs, back())
	}
	s.held = nil
	return errors.Join(errs...)
}
