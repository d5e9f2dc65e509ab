package multistart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/evaluate"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Solve runs massive multi-start on an instance: on a device with the
// kernels of qubo/multistart and qubo/evaluate, on a host device in plain Go,
// as the paper's CPU would. Objectives in the run are in the instance's scaled
// normal form; Value of the instance gives its own terms.
func Solve(ctx context.Context, d device.Device, inst *problem.Instance, o Options) (_ *Run, err error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	p, err := inst.Normal()
	if err != nil {
		return nil, err
	}
	on, closing, err := openFor(ctx, d, p, o)
	if err != nil {
		return nil, fmt.Errorf("multistart: %w", err)
	}
	defer func() { err = errors.Join(err, closing()) }()
	return o.run(ctx, p, on, o.limits(), nil)
}

// openFor opens the kernels that o needs on a device, with a stream of its own, or the host's code
// on a host device, where the end of ctx ends sampling and ascents. The function it returns closes
// both.
func openFor(ctx context.Context, d device.Device, p *problem.Normal, o Options) (backend, func() error, error) {
	batch := orElse(o.Batch, 1)
	if d.Facts().Kind == device.Host {
		h := newHostStarter(ctx, p, batch)
		h.deadline, h.blend = o.Deadline, o.Blend
		return h, h.Close, nil
	}
	kind, err := evaluate.NarrowestKind(p)
	if err != nil {
		return nil, nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, nil, err
	}
	g, err := openStarter(d, s, p, o.Tuning, kind, orElse(o.Samples, DefaultSamples), batch)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	if g.blend = o.Blend; o.Ascend == search.AscendHost {
		g.climber = newHostStarter(ctx, p, 1)
	}
	return g, func() error { return errors.Join(g.Close(), s.Close()) }, nil
}

// Open is massive multi-start for Solve: on a device as many
// iterations at once as it has multiprocessors, unless the parameters say otherwise.
func Open(_ *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	d, err := o.LeadDevice()
	if err != nil {
		return search.OpenedEngine{}, err
	}
	batch := 1
	if f := d.Facts(); f.Kind == device.CUDA {
		batch = max(1, f.SMs)
	}
	s := o.Starts
	m := Options{Samples: orElse(s.Samples, DefaultSamples), Iterations: orElse(s.Iterations, math.MaxInt), Batch: orElse(s.Batch, batch), MaxFlips: s.Flips,
		Blend: cmp.Or(s.Blend, search.BlendBest), Ascend: s.Ascend, Tuning: o.Tuning}
	if m.Lambda, m.Printed, err = s.ParseLambda(); err != nil {
		return search.OpenedEngine{}, err
	}
	return search.OpenedEngine{Islands: search.Islands{Members: []search.Searcher{multistartSearch{d, m}}}, Label: m.label(), Reason: "one climbing solution a multiprocessor, unless said otherwise"}, nil
}

// label names the parameters of a run as the flags do.
func (o Options) label() string {
	lambda := fmt.Sprint(DefaultLambda)
	if o.Lambda != nil {
		lambda = fmt.Sprint(*o.Lambda)
	} else if o.Printed {
		lambda = search.Printed
	}
	text := fmt.Sprintf("batch=%d,samples=%d,lambda=%s,blend=%s", o.Batch, o.Samples, lambda, o.Blend)
	if o.Iterations < math.MaxInt {
		text += fmt.Sprintf(",iterations=%d", o.Iterations)
	}
	if o.Ascend != "" {
		text += ",ascend=" + o.Ascend
	}
	if o.MaxFlips > 0 {
		text += fmt.Sprintf(",max-flips=%d", o.MaxFlips)
	}
	return text
}

// multistartSearch is massive multi-start as a search among others, until its
// limits.
type multistartSearch struct {
	device  device.Device
	options Options // but for the limits
}

// Search implements search.Searcher.
func (m multistartSearch) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(value int64, x []uint64, at time.Duration)) (search.Work, error) {
	options := m.options
	options.Deadline = o.Deadline // of sampling
	on, closing, err := openFor(ctx, m.device, p, options)
	if err != nil {
		return search.Work{}, err
	}
	r, err := options.run(ctx, p, on, o, found)
	if err = errors.Join(err, closing()); err != nil {
		return search.Work{}, err
	}
	return search.Work{Flips: r.Flips, Restarts: int64(r.Searched)}, nil
}
