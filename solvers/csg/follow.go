package csg

import "coalesce/runtime/device"

// A follow is what follows a run, level by level. Its zero value does nothing.
type follow struct {
	from int                   // the levels below are done: their tiles stand in the table
	told func(share float64)   // of the work, 0 to 1
	done func(level int) error // a level's tiles are finished, on all devices
}

func (w follow) share(share float64) {
	if w.told != nil {
		w.told(share)
	}
}

func (w follow) finished(level int) error {
	if w.done == nil {
		return nil
	}
	return w.done(level)
}

// waited is finished once a stream has been waited for.
func (w follow) waited(s device.Stream, level int) error {
	if w.done == nil {
		return nil
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return w.done(level)
}
