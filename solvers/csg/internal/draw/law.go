package draw

import (
	"errors"
	"fmt"
	"math"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/csg/problem"
)

// A law computes the values of one instance in a type: one at a time, all of them on this
// machine's cores, or a part of them on a device. The device's kernels do the same operations
// as this package in the same order, with the elementary functions that Go has on amd64: every
// bit is the same.
type law struct {
	*source
	n              int
	as             problem.Value
	scale, largest float64
}

// NewDrawn makes the instance of GenerateAs without its values: its Law has them.
func NewDrawn(name string, n int, seed uint64, as problem.Value) (*problem.Instance, error) {
	s, err := newSource(name, n, seed)
	if err != nil {
		return nil, err
	}
	l := &law{source: s, n: n, as: as}
	switch as {
	case problem.Int16:
		l.scale, l.largest = ScaleInt16, valueLimit16
	case problem.Int32:
		l.scale, l.largest = ScaleInt32, valueLimit32
	case problem.Int64:
		l.scale, l.largest = ScaleInt64, valueLimit64
	case problem.Float32, problem.Float64:
	default:
		return nil, fmt.Errorf("generate %s: value type %q: expected int16, int32, int64, float32 or float64", name, as)
	}
	return &problem.Instance{N: n, Type: as, Law: l, Source: fmt.Sprintf("%s, %d agents, seed %d", s.name, n, seed)}, nil
}

// Value is the value of a coalition, converted to the type.
func (l *law) Value(mask uint64) float64 { return l.rounded(l.value(new(randomNumbers), mask)) }

func (l *law) rounded(x float64) float64 {
	switch {
	case l.as.Integer():
		return scaledInteger(x, l.scale, l.largest)
	case l.as == problem.Float32:
		return float64(float32(x))
	}
	return x
}

// LeastValue is below every finite value of every distribution: normal ones lie within nine
// deviations, as no uniform draw is nearer to 0 than 2^-53.
func (l *law) LeastValue() float64 { return -float64(max(l.n, 20)) }

// AsType returns the law with values of another type, at the same scale.
func (l *law) AsType(as problem.Value) problem.Law {
	x := *l
	x.as = as
	return &x
}

// SetValues draws all values into an instance's memory.
func (l *law) SetValues(inst *problem.Instance) {
	switch l.as {
	case problem.Float64:
		problem.SetValues(inst, hold[float64](l))
	case problem.Float32:
		problem.SetValues(inst, hold[float32](l))
	case problem.Int16:
		problem.SetValues(inst, hold[int16](l))
	case problem.Int32:
		problem.SetValues(inst, hold[int32](l))
	default:
		problem.SetValues(inst, hold[int64](l))
	}
}

func hold[T problem.Number](l *law) []T {
	values := make([]T, uint64(1)<<l.n)
	const piece = 1 << 14 // coalitions that a core draws at a time
	cores.Pieces((len(values)+piece-1)/piece, func(k int) {
		var d randomNumbers
		part := values[k*piece : min(len(values), (k+1)*piece)]
		for i := range part {
			part[i] = T(l.rounded(l.value(&d, uint64(k*piece+i))))
		}
	})
	return values
}

// OpenDrawer loads the drawing kernel on a device.
func (l *law) OpenDrawer(d device.Device) (_ problem.Drawer, err error) {
	f := &gencsg.Draw
	var v *device.Variant
	for i := range f.Variants {
		if f.Value(&f.Variants[i], "value") == string(l.as) {
			v = &f.Variants[i]
		}
	}
	on := &drawer{law: l, block: f.Int(v, "block")}
	defer func() {
		if err != nil {
			err = errors.Join(err, on.Close())
		}
	}()
	if on.kernels, err = gencsg.LoadDraw(d, v); err != nil {
		return nil, err
	}
	on.scope.CloseLater(on.kernels)
	if err = on.scope.AllocAll(d, device.BufferFor(&on.own, int64(8*max(1, l.n)))); err != nil {
		return nil, err
	}
	s, err := on.scope.NewStream(d)
	if err != nil {
		return nil, err
	}
	return on, errors.Join(s.Upload(on.own, 0, device.Bytes(l.source.own)), s.Sync())
}

// A drawer is a law on a device.
type drawer struct {
	*law
	kernels *gencsg.DrawKernels
	own     device.Buffer
	block   int
	scope   device.Scope
}

func (d *drawer) Close() error { return d.scope.Close() }

// DrawInto waits for the device now and then, so that a guarded stream can end it with its context.
func (d *drawer) DrawInto(s device.Stream, v device.Buffer, first, count uint64) error {
	const step = 1 << 28
	for at := uint64(0); at < count; at += step {
		part := min(step, count-at)
		g := device.Grid{Blocks: int64(min((part+uint64(d.block)-1)/uint64(d.block), math.MaxInt16)), Threads: d.block}
		if err := d.kernels.Values(s, g, v, at, first+at, part, uint64(d.law.law), d.seed, d.own, d.scale, d.largest); err != nil {
			return fmt.Errorf("draw %s: %w", d.name, err)
		}
		if err := s.Sync(); err != nil {
			return err
		}
	}
	return nil
}
