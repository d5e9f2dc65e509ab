package autotune

import (
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
)

// A desk is what the searches of one run share.
type desk struct {
	file    *trial.File    // nil for none
	records []trial.Trial  // what the file holds, or what was tried since
	client  *worker.Client // nil when Options.Device is used
}

// openDesk opens the file of trials, and lets a worker be started.
func openDesk(o *Options) (*desk, error) {
	d := &desk{}
	if o.Device == nil {
		d.client = &worker.Client{Command: o.Worker}
	}
	if o.Trials == "" {
		return d, nil
	}
	var err error
	d.file, d.records, err = trial.Open(o.Trials)
	return d, err
}

// add writes a trial down.
func (d *desk) add(t *trial.Trial) error {
	d.records = append(d.records, *t)
	if d.file == nil {
		return nil
	}
	return d.file.Append(t)
}

// close ends the worker and closes the file.
func (d *desk) close() error {
	if d.client != nil {
		d.client.Close()
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
