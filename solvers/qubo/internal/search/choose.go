package search

import (
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// Choose picks a variant of a family: the one whose label o gives, whatever the
// problem's shape, else what tuning and shape say of it (solve.Settings.Choose). fits
// says why a variant cannot take the problem.
func Choose(family *device.Family, facts device.Facts, o Setup, fits func(v *device.Variant) error, shape func() (tuned.Workload, error)) (tuned.Choice, error) {
	if o.Variant != "" {
		return o.Choose(family, facts, tuned.Workload{}, fits)
	}
	w, err := shape()
	if err != nil {
		return tuned.Choice{}, err
	}
	return o.Choose(family, facts, w, fits)
}
