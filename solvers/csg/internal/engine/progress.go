package engine

import "coalesce/runtime/device"

// A Progress has the functions that a run calls after each level. Its zero value calls none.
type Progress struct {
	From  int                   // the first level to compute: the table has the tiles of all lower ones
	Share func(share float64)   // of the work that is done, 0 to 1
	Level func(level int) error // a level's tiles are finished, on all devices
}

// Report tells the share of the work that is done.
func (p Progress) Report(share float64) {
	if p.Share != nil {
		p.Share(share)
	}
}

// Finish tells that a level's tiles are finished.
func (p Progress) Finish(level int) error {
	if p.Level == nil {
		return nil
	}
	return p.Level(level)
}

// FinishOn waits for the stream, if the end of a level is asked for, and then tells it.
func (p Progress) FinishOn(s device.Stream, level int) error {
	if p.Level == nil {
		return nil
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return p.Level(level)
}
