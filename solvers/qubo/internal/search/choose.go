package search

import (
	"errors"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Fallback is the variant that suits a problem by its shape, and how tuned
// winners are looked for that may take its place.
type Fallback struct {
	Variant *device.Variant
	Reason  string // why that variant
	// Workload is what a winner was tuned for: the size and the fixed parameters.
	Workload tuned.Workload
	// Fits says why a winner cannot take the problem; nil where it can.
	Fits func(v *device.Variant) error
}

// Choose picks a variant of a family: the one whose label o gives; or the winner
// of tuning for this size, or one near; or, where nothing of the kind was tuned,
// the fallback. fits says why the variant that was asked for cannot take the
// problem.
func Choose(family *device.Family, facts device.Facts, o Setup, fits func(v *device.Variant) error, otherwise func() (Fallback, error)) (tuned.Choice, error) {
	if o.Variant != "" {
		return o.Choose(family, facts, tuned.Workload{}, fits)
	}
	safe, err := otherwise()
	if err != nil {
		return tuned.Choice{}, err
	}
	c, err := o.Choose(family, facts, safe.Workload, safe.Fits)
	switch {
	case err != nil && !errors.Is(err, tuned.ErrNoVariant):
		return tuned.Choice{}, err
	case err == nil && (c.Level == tuned.Exact || c.Level == tuned.Interpolated || c.Level == tuned.Nearest):
		return c, nil
	}
	return tuned.Choice{Variant: safe.Variant, Level: tuned.Safe, Reason: safe.Reason}, nil
}
