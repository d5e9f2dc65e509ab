package multistart

import (
	"errors"
	"fmt"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/evaluate"
	"coalesce/solvers/qubo/problem"
)

// An Evaluation is a number of random solutions of an instance, resident on a
// device beside its matrix, to be evaluated and timed.
type Evaluation struct {
	Variant string
	Count   int
	on      *deviceStarter
	s       device.Stream
}

// OpenEvaluation takes a variant of qubo/evaluate by its label and draws count
// solutions. An empty label is the tuned variant for the narrowest type of
// coefficients that is exact.
func OpenEvaluation(d device.Device, inst *problem.Instance, label string, count int) (*Evaluation, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	p, err := inst.Normal()
	if err != nil {
		return nil, err
	}
	kind, err := evaluate.NarrowestKind(p)
	if err != nil {
		return nil, err
	}
	asked := qubo.Evaluate.Variant(label)
	switch {
	case asked != nil:
		kind = qubo.Evaluate.Value(asked, "weight")
	case label != "":
		return nil, fmt.Errorf("qubo/evaluate has no variant %q", label)
	}
	v, w, err := chooseVariants(d.Facts(), nil, p.N, kind, count)
	if err != nil {
		return nil, err
	}
	if asked != nil {
		v = asked
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Variant: v.Label, Count: count, s: s}
	if e.on, err = openStarterAs(d, s, p, v, w, count, count); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return e, errors.Join(e.on.enqueueSamples(count, 1), s.Sync())
}

// Multiplications is the number of multiplications of a weight and a bit that evaluating
// the objectives alone needs: half the matrix; the gains need all of it.
func (e *Evaluation) Multiplications() float64 {
	n := float64(e.on.p.N)
	return float64(e.Count) * n * (n + 1) / 2
}

// Values times the objectives, on the device's clock.
func (e *Evaluation) Values() (time.Duration, error) {
	return e.timed(func() error { return e.on.many.EnqueueValues(e.s, e.on.x, e.Count, e.on.twice) })
}

// TimeGains times the objectives and the gains of all flips.
func (e *Evaluation) TimeGains() (time.Duration, error) {
	return e.timed(func() error { return e.on.many.EnqueueGains(e.s, e.on.x, e.Count, e.on.twice, e.on.gain) })
}

// TimeSamples times drawing the solutions, their objectives, and the reduction.
func (e *Evaluation) TimeSamples() (time.Duration, error) {
	return e.timed(func() error { return e.on.enqueueSamples(e.Count, 1) })
}

func (e *Evaluation) timed(enqueue func() error) (time.Duration, error) {
	begin, err := e.s.Record()
	if err != nil {
		return 0, err
	}
	if err := enqueue(); err != nil {
		return 0, err
	}
	end, err := e.s.Record()
	if err != nil {
		return 0, err
	}
	if err := e.s.Sync(); err != nil {
		return 0, err
	}
	return end.Since(begin)
}

// Check holds the last objectives against the host's, of the first solutions;
// float32 only where its sums are exact.
func (e *Evaluation) Check(first int) error {
	values := make([]byte, 8*e.Count)
	if err := e.s.Download(values, e.on.twice, 0); err != nil {
		return err
	}
	for k := range min(first, e.Count) {
		x, err := e.on.solution(k)
		if err != nil {
			return err
		}
		found, expected := e.on.many.Objective(values[8*k:]), e.on.p.Value(x)
		if exact := e.on.many.IsExact(e.on.p); found != expected && exact {
			return fmt.Errorf("solution %d: found %d, expected %d: %w", k, found, expected, problem.ErrCheck)
		}
	}
	return nil
}

// TimeOnHost evaluates the first solutions on one core of the host, as the paper's
// CPU column does, and returns the time of each.
func (e *Evaluation) TimeOnHost(first int) (time.Duration, error) {
	var list [][]uint64
	for k := range min(first, e.Count) {
		x, err := e.on.solution(k)
		if err != nil {
			return 0, err
		}
		list = append(list, x)
	}
	began := time.Now()
	for _, x := range list {
		e.on.p.Value(x)
	}
	return time.Since(began) / time.Duration(max(1, len(list))), nil
}

// Close frees the memory, unloads the kernels and closes the stream.
func (e *Evaluation) Close() error { return errors.Join(e.on.Close(), e.s.Close()) }

// EvaluateVariants are the labels of the variants of qubo/evaluate that can evaluate an instance.
// Those of float32 may round; all others are exact.
func EvaluateVariants(inst *problem.Instance) ([]string, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	p, err := inst.Normal()
	if err != nil {
		return nil, err
	}
	spans, unit := p.Spans(), evaluate.UnitOf(p)
	var list []string
	for _, v := range qubo.Evaluate.Variants {
		if evaluate.CheckCoefficients(p, qubo.Evaluate.Value(&v, "weight"), spans, unit) == nil {
			list = append(list, v.Label)
		}
	}
	return list, nil
}
