package price

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"coalesce/runtime/device"
)

// A Trial is one pass of a variant for the tuner. The prices are those of a sample of coalitions,
// and the limit is a loss that about a thousand coalitions do not exceed.
type Trial[T device.Number] struct {
	device *onDevices[T] // of one share
	prices []int64
	limit  int64
}

// trialKeep is the approximate number of coalitions that the pass finds.
const trialKeep = 1 << 10

// NewTrial uploads the values.
func NewTrial[T device.Number](values []T, on On) (*Trial[T], error) {
	n := bits.Len(uint(len(values))) - 1
	o := Settings{On: &on}
	o.Cores = o.cores()
	d, err := newOnDevices(context.Background(), values, n, &o)
	if err != nil {
		return nil, err
	}
	t := &Trial[T]{device: d}
	s, err := newSolver[T](d, n, o)
	if err == nil {
		s.begin()
		t.prices, err = s.prices()
	}
	if err == nil {
		t.limit, err = d.holds(t.prices, s.guess(t.prices, trialKeep))
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return t, nil
}

// Close frees the device's memory.
func (t *Trial[T]) Close() error { return t.device.close() }

// Reset overwrites on a stream all that a pass writes, so that Check cannot pass on old results.
func (t *Trial[T]) Reset(s device.Stream) error {
	const poison = 0xa5
	d := t.device.shares[0]
	var errs []error
	for _, b := range []device.Buffer{d.low, d.high, d.columns, d.count} {
		errs = append(errs, s.Fill(b, 0, b.Len(), poison))
	}
	return errors.Join(errs...)
}

// Run enqueues the pass on a stream.
func (t *Trial[T]) Run(s device.Stream) error {
	return t.on(s).launch(t.prices, t.limit, int(t.device.shares[0].room))
}

// Check compares the coalitions that the pass on a stream has found with those of a pass on the
// cores. Narrow sums are rounded down: of what they find, coalitions above the limit are removed
// first. Check compares the extent of the values too, from which a solve computes the unit.
func (t *Trial[T]) Check(ctx context.Context, s device.Stream) error {
	room := int(t.device.shares[0].room)
	got, all, err := t.on(s).fetch(room)
	if err != nil {
		return err
	}
	if !all {
		return fmt.Errorf("a pass found more than %d coalitions, expected about %d", room, trialKeep)
	}
	if k := slices.IndexFunc(got, func(mask uint64) bool { return mask >= uint64(len(t.device.values)) }); k >= 0 {
		return fmt.Errorf("a pass found coalition %d, expected less than %d", got[k], len(t.device.values))
	}
	got = slices.DeleteFunc(got, func(mask uint64) bool {
		value := t.device.at(mask)
		return mask == 0 || value == forbidden || sum(t.prices, mask)-value > t.limit
	})
	f, err := t.device.host.pass(ctx, t.prices, t.limit, room)
	if err != nil {
		return err
	}
	want := make([]uint64, len(f.columns))
	for i, c := range f.columns {
		want[i] = c.mask
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("a pass found %d coalitions, expected %d, or others", len(got), len(want))
	}
	most, err := t.on(s).extent()
	if want, _ := t.device.host.extent(); err == nil && most != want {
		return fmt.Errorf("the largest magnitude is %g, expected %g", most, want)
	}
	return err
}

// on sets the stream of the passes.
func (t *Trial[T]) on(s device.Stream) *share[T] {
	d := *t.device.shares[0]
	d.stream = s
	return &d
}
