package solve

import (
	"slices"

	"coalesce/runtime/device"
)

// WithSession opens a session, hands it to work and closes it. An error of work is returned in place
// of one of closing, which it may have caused.
//
// The sessions of all problems are used alike: Open with a problem's Options, Solve any
// number of instances, Close.
func WithSession[O any, S interface{ Close() error }](open func(O) (S, error), o O, work func(S) error) error {
	s, err := open(o)
	if err != nil {
		return err
	}
	err = work(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}

// KeepLoaded makes the devices load each variant once: variants that solves load stay loaded for
// those after them, until held closes. Sessions begin with it.
func (s *Settings) KeepLoaded(held *device.Scope) {
	kept := make([]device.Device, len(s.Devices))
	for k, d := range s.Devices {
		if at := slices.Index(s.Devices, d); at < k { // named twice
			kept[k] = kept[at]
			continue
		}
		c := device.Cache(d)
		held.CloseLater(c)
		kept[k] = c
	}
	s.Devices = kept
}
