// Package kernels loads a variant of a family on the devices of a solve, and keeps it, with the memory of a
// solve, for the next one.
package kernels

import (
	"errors"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/hosttiles"
	"coalesce/solvers/csg/internal/splits"
	"coalesce/solvers/csg/internal/tiles"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A LoadedVariant is one on the devices of a solve.
type LoadedVariant struct {
	engine.LoadedVariant
	Device  device.Device // the first
	Family  *device.Family
	Variant *device.Variant
	ranks   collective.Ranks
}

// Load loads a variant on the devices and the ranks of a solve.
func Load(o *solve.Settings, f *device.Family, v *device.Variant) (*LoadedVariant, error) {
	ranks := o.Ranks
	if o.RankCount() == 1 {
		ranks = nil
	}
	l := &LoadedVariant{Device: o.Devices[0], Family: f, Variant: v, ranks: o.Ranks}
	var err error
	switch {
	case f.Target == device.Host:
		l.LoadedVariant, err = hosttiles.Load(l.Device, v, ranks)
	case f != &gencsg.Tiles:
		l.LoadedVariant, err = splits.Load(l.Device, v)
	case len(o.Devices) > 1 || ranks != nil:
		l.LoadedVariant, err = tiles.LoadGroup(o.Devices, o.Ranks, v)
	default:
		l.LoadedVariant, err = tiles.Load(l.Device, v)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// A Job is a variant with the memory of one instance.
type Job struct {
	engine.Engine
	Kernels  *LoadedVariant
	Instance *problem.Instance
	Stream   device.Stream // closed with the job
}

// Prepare takes the memory for an instance.
func (l *LoadedVariant) Prepare(inst *problem.Instance) (*Job, error) {
	s, err := l.Device.NewStream()
	if err != nil {
		return nil, err
	}
	j := &Job{Engine: l.Engine(inst.N), Kernels: l, Instance: inst, Stream: s}
	if err := j.Alloc(l.Device, s); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Close gives the memory back.
func (j *Job) Close() error { return errors.Join(j.Free(), j.Stream.Close()) }
