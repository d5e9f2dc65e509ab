package qubo

import (
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A fallback is the variant that suits a problem by its shape, and how tuned
// winners are looked for that may take its place.
type fallback struct {
	variant *device.Variant
	reason  string // why that variant
	// workload is what a winner was tuned for: the size and the fixed parameters.
	workload tuned.Workload
	// fits says why a winner cannot take the problem; nil where it can.
	fits func(v *device.Variant) error
}

// choose picks a variant of a family: the one whose label o gives; or the winner
// of tuning for this size, or one near; or, where nothing of the kind was tuned,
// the fallback. fits says why the variant that was asked for cannot take the
// problem.
func choose(family *device.Family, facts device.Facts, o setup, fits func(v *device.Variant) error, otherwise func() (fallback, error)) (tuned.Choice, error) {
	if o.variant != "" {
		v := family.Variant(o.variant)
		if v == nil {
			return tuned.Choice{}, fmt.Errorf("%s has no variant %q; it has %d, such as %q", family.Name, o.variant, len(family.Variants), family.Variants[0].Label)
		}
		return tuned.Choice{Variant: v, Level: "asked", Reason: "asked for by name"}, fits(v)
	}
	safe, err := otherwise()
	if err != nil {
		return tuned.Choice{}, err
	}
	if o.database == nil {
		if o.database, err = tuned.Embedded(); err != nil {
			return tuned.Choice{}, err
		}
	}
	c, err := o.database.Choose(family, facts, safe.workload, safe.fits)
	if err == nil && (c.Level == tuned.Exact || c.Level == tuned.Interpolated || c.Level == tuned.Nearest) {
		return c, nil
	}
	return tuned.Choice{Variant: safe.variant, Level: tuned.Safe, Reason: safe.reason}, nil
}
