package levels

import "coalesce/runtime/device"

// A Follow has the functions that a run calls after each level. Its zero value calls none.
type Follow struct {
	From int                   // the first level to compute: the table has the tiles of all lower ones
	Told func(share float64)   // of the work, 0 to 1
	Done func(level int) error // a level's tiles are finished, on all devices
}

// Share tells the share of the work that is done.
func (w Follow) Share(share float64) {
	if w.Told != nil {
		w.Told(share)
	}
}

// Finished tells that a level's tiles are finished.
func (w Follow) Finished(level int) error {
	if w.Done == nil {
		return nil
	}
	return w.Done(level)
}

// Waited waits for the stream and then calls Done for the level.
func (w Follow) Waited(s device.Stream, level int) error {
	if w.Done == nil {
		return nil
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return w.Done(level)
}
