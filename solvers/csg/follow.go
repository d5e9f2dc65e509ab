package csg

import "coalesce/runtime/device"

// A follow has the functions that a run calls after each level. Its zero value calls none.
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

// waited waits for the stream and then calls done for the level.
func (w follow) waited(s device.Stream, level int) error {
	if w.done == nil {
		return nil
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return w.done(level)
}
