package price

import (
	"cmp"
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
func NewTrial[T device.Number](values []T, on DevicePasses) (*Trial[T], error) {
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
		s.solveSample()
		t.prices, err = s.prices()
	}
	if err == nil {
		t.limit, err = d.largestLoss(t.prices, s.estimateLimit(t.prices, trialKeep))
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
	for _, b := range []device.Buffer{d.low, d.high, d.columns, d.values, d.count} {
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
	own := t.on(s)
	all, err := own.fetch(room)
	if err != nil {
		return err
	}
	if !all {
		return fmt.Errorf("a pass found more than %d coalitions, expected about %d", room, trialKeep)
	}
	var got []pricedCoalition
	for k, mask := range own.masks {
		if mask >= uint64(len(t.device.values)) {
			return fmt.Errorf("a pass found coalition %d, expected less than %d", mask, len(t.device.values))
		}
		if own.worth[k] != t.device.values[mask] {
			return fmt.Errorf("a pass found coalition %d of the value %v, expected %v", mask, own.worth[k], t.device.values[mask])
		}
		value := t.device.valueAt(mask)
		if x := (pricedCoalition{mask, sumPrices(t.prices, mask) - value}); mask != 0 && value != forbidden && x.loss <= t.limit {
			got = append(got, x)
		}
	}
	f, err := t.device.onHost.pass(ctx, t.prices, t.limit, room)
	if err != nil {
		return err
	}
	byMask := func(a, b pricedCoalition) int { return cmp.Compare(a.mask, b.mask) }
	slices.SortFunc(got, byMask)
	slices.SortFunc(f.items, byMask)
	if !slices.Equal(got, f.items) {
		return fmt.Errorf("a pass found %d coalitions, expected %d, or others", len(got), len(f.items))
	}
	most, err := own.largestMagnitude()
	if want, _ := t.device.onHost.largestMagnitude(); err == nil && most != want {
		return fmt.Errorf("the largest magnitude is %g, expected %g", most, want)
	}
	if err != nil {
		return err
	}
	// The last value is even by itself, so that another coalition is the answer.
	units := t.device.valueAt(uint64(len(t.device.values) - 1))
	if units = max(units, -units); units < 2 {
		units = 3
	}
	mask, err := own.findNonMultiple(units)
	if want, _ := t.device.onHost.findNonMultiple(units); err == nil && mask != want {
		return fmt.Errorf("the last coalition whose value is no multiple of %d is %d, expected %d", units, mask, want)
	}
	return err
}

// on sets the stream of the passes.
func (t *Trial[T]) on(s device.Stream) *deviceShare[T] {
	d := *t.device.shares[0]
	d.stream = s
	return &d
}
