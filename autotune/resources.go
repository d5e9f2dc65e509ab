package autotune

import (
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
)

// resources are what the searches of one run share.
type resources struct {
	file    *trial.File    // nil for none
	records []trial.Trial  // trials in the file, and those that were run since
	client  *worker.Client // nil when Options.Device is used
}

// openResources opens the file of trials, and lets a worker be started.
func openResources(o *Options) (*resources, error) {
	d := &resources{}
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

// add keeps a trial, also in the file.
func (d *resources) add(t *trial.Trial) error {
	d.records = append(d.records, *t)
	if d.file == nil {
		return nil
	}
	return d.file.Append(t)
}

// close ends the worker and closes the file.
func (d *resources) close() error {
	if d.client != nil {
		d.client.Close()
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
