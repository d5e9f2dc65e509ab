package autotune

import (
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
)

// resources are what the searches of one run share.
type resources struct {
	file    *trial.File    // nil for none
	records []trial.Trial  // trials in the file but those of lacked, and those that were run since
	lacked  []trial.Trial  // trials in the file that failed for lack of memory, which may be there now: they are tried again
	client  *worker.Client // nil when Options.Device is used
	// compilers are nil where nothing is compiled.
	compilers *compilers
}

// openResources opens the file of trials, and lets a worker be started.
func openResources(o *Options) (*resources, error) {
	d := &resources{}
	if o.Device == nil {
		d.client = &worker.Client{Command: o.Worker}
	}
	if o.Compile != nil {
		d.compilers = newCompilers(max(1, o.Compilers), o.Compile)
	}
	if o.Trials == "" {
		return d, nil
	}
	file, found, err := trial.Open(o.Trials)
	if err != nil {
		return nil, err
	}
	d.file = file
	for _, t := range found.Trials {
		if t.Status == trial.Memory {
			d.lacked = append(d.lacked, t)
		} else {
			d.records = append(d.records, t)
		}
	}
	for _, damage := range found.Damaged {
		if o.Damaged != nil {
			o.Damaged(damage)
		}
	}
	return d, nil
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
	if d.compilers != nil {
		d.compilers.close()
	}
	if d.client != nil {
		d.client.Close()
	}
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
