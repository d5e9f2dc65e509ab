package emulatedtest

import (
	"fmt"
	"sync/atomic"

	"coalesce/runtime/device"
)

// A Losing device is lost after so many launches of kernels, or when LoseDevice is called: all
// that is asked of it then fails with one error, which wraps device.ErrLost.
type Losing struct {
	device.Device
	left atomic.Int64
}

// NewLosing makes a device that is lost after so many launches.
func NewLosing(d device.Device, launches int64) *Losing {
	l := &Losing{Device: d}
	l.left.Store(launches)
	return l
}

// LoseDevice has the next launch lose the device.
func (l *Losing) LoseDevice() { l.left.Store(0) }

var errLosing = fmt.Errorf("launch: %w", device.ErrLost)

func (l *Losing) err() error {
	if l.left.Load() < 0 {
		return errLosing
	}
	return nil
}

// Alloc is device.Device's.
func (l *Losing) Alloc(n int64) (device.Buffer, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.Device.Alloc(n)
}

// NewStream is device.Device's.
func (l *Losing) NewStream() (device.Stream, error) {
	s, err := l.Device.NewStream()
	return &losingStream{s, l}, err
}

type losingStream struct {
	device.Stream
	of *Losing
}

func (s *losingStream) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	if s.of.left.Add(-1) < 0 {
		return errLosing
	}
	return s.Stream.Launch(k, g, args...)
}

func (s *losingStream) Upload(dst device.Buffer, off int64, src []byte) error {
	if err := s.of.err(); err != nil {
		return err
	}
	return s.Stream.Upload(dst, off, src)
}

func (s *losingStream) Download(dst []byte, src device.Buffer, off int64) error {
	if err := s.of.err(); err != nil {
		return err
	}
	return s.Stream.Download(dst, src, off)
}
