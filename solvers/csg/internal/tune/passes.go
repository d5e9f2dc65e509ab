package tune

import (
	"context"
	"fmt"

	"coalesce/autotune/subject"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/problem"
)

// passSubject is csg/price for the tuner, which times one pass over the values.
type passSubject struct{ familySubject }

func (t passSubject) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{24, 28}
	}
	return []int{13, 14}
}

// Cases have the agents of the largest tile, and one more.
func (t passSubject) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	value := problem.Value(fixed["value"])
	for name, worth := range map[string]func(n int, mask uint64) float64{
		"random":     drawnValues(1, 1000, 0),
		"negative":   drawnValues(2, 1000, -2000),
		"few values": drawnValues(3, 3, -1),
		"ties":       func(_ int, mask uint64) float64 { return float64(len(problem.Agents(mask))) },
	} {
		for _, n := range t.Sizes(device.Facts{}) {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 { return worth(n, mask) })
			if err != nil {
				return nil, err
			}
			cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d agents", name, n), Instance: &trialInstance{Instance: inst}})
		}
	}
	return cases, nil
}

func (t passSubject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	on := price.DevicePasses{Devices: []device.Device{d}, Variant: v}
	return subject.Open(&gencsg.Price, v, func(t *trialInstance) (subject.Job, error) {
		switch t.Type {
		case problem.Int32:
			return newPassJob(t.I32, on)
		case problem.Int64:
			return newPassJob(t.I64, on)
		case problem.Float32:
			return newPassJob(t.F32, on)
		}
		return newPassJob(t.F64, on)
	})
}

type passJob[T problem.Number] struct {
	*price.Trial[T]
	values float64
}

func newPassJob[T problem.Number](values []T, on price.DevicePasses) (subject.Job, error) {
	t, err := price.NewTrial(values, on)
	if err != nil {
		return nil, err
	}
	return passJob[T]{t, float64(len(values))}, nil
}

func (j passJob[T]) Check(s device.Stream) error {
	if err := j.Trial.Check(context.Background(), s); err != nil {
		return fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	return nil
}

// Work is the number of values.
func (j passJob[T]) Work() float64 { return j.values }

// Demand is a reading of the values.
func (j passJob[T]) Demand() subject.Demand {
	return subject.Demand{Bytes: j.values * float64(len(device.Bytes(make([]T, 1))))}
}
