package main

import (
	"errors"
	"fmt"
	"slices"

	"coalesce/autotune/measure"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// boundVariants are variants bound to instances of one workload, to be timed.
type boundVariants struct {
	b     *bench
	w     workload
	check bool // outputs are checked where they are those of one run
	keep  bool // jobs keep the device's memory until close, as far as there is room, for other times
	kept  map[pair]job
	drawn []drawnInstance // the last two instances
}

// A drawnInstance instance and its place among all.
type drawnInstance struct {
	at       int
	instance subject.Instance
}

type pair struct {
	variant  *device.Variant
	instance int
}

// A job is closed with its runner.
type job struct {
	subject.Job
	runner subject.Runner
}

// time is the median time of a variant on the instance at that place, in seconds, from a cold cache where
// the device tells its size.
func (j *boundVariants) time(v *device.Variant, at int, o measure.Options) (float64, error) {
	seconds, err := j.once(v, at, o)
	if errors.Is(err, device.ErrMemory) && len(j.kept) > 0 { // there is room without the others
		if err = j.close(); err == nil {
			seconds, err = j.once(v, at, o)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", v.Label, err)
	}
	return seconds, nil
}

func (j *boundVariants) once(v *device.Variant, at int, o measure.Options) (seconds float64, err error) {
	if err := j.b.Ctx.Err(); err != nil {
		return 0, err
	}
	job, err := j.job(v, at)
	if err != nil {
		return 0, err
	}
	if !j.keep {
		defer func() { err = errors.Join(err, job.close()) }()
	}
	s, err := j.b.Dev.NewStream()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err := measure.Run(j.b.Ctx, j.b.Dev, s, job, o)
	if err == nil && j.check && m.Clean {
		err = job.Check(s)
	}
	if err != nil {
		return 0, err
	}
	sample := m.Cold
	if sample == nil {
		sample = m.Hot
	}
	return float64(sample.Median) / 1e9, nil
}

// job is a kept job or a new one.
func (j *boundVariants) job(v *device.Variant, at int) (job, error) {
	key := pair{v, at}
	if kept, ok := j.kept[key]; ok {
		return kept, nil
	}
	instance, err := j.instance(at)
	if err != nil {
		return job{}, err
	}
	runner, err := j.w.subject.Open(j.b.Dev, v)
	if err != nil {
		return job{}, err
	}
	prepared, err := runner.Prepare(instance)
	if err != nil {
		return job{}, errors.Join(err, runner.Close())
	}
	made := job{prepared, runner}
	if j.keep {
		if j.kept == nil {
			j.kept = map[pair]job{}
		}
		j.kept[key] = made
	}
	return made, nil
}

// instance is the instance at that place, which is drawn unless it is one of the last two.
func (j *boundVariants) instance(at int) (subject.Instance, error) {
	if k := slices.IndexFunc(j.drawn, func(d drawnInstance) bool { return d.at == at }); k >= 0 {
		return j.drawn[k].instance, nil
	}
	instance, err := j.w.subject.Instance(j.w.fixed, j.w.size, 1+uint64(at)*nextRandom)
	if err != nil {
		return nil, err
	}
	if len(j.drawn) == 2 {
		j.drawn = slices.Delete(j.drawn, 0, 1)
	}
	j.drawn = append(j.drawn, drawnInstance{at, instance})
	return instance, nil
}

// close closes the jobs that are kept.
func (j *boundVariants) close() (err error) {
	for _, kept := range j.kept {
		err = errors.Join(err, kept.close())
	}
	j.kept = nil
	return err
}

func (j job) close() error { return errors.Join(j.Job.Close(), j.runner.Close()) }
