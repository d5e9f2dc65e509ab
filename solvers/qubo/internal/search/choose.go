package search

import (
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// ChooseVariant picks a variant of a family: the one whose label o gives, whatever the problem's shape,
// else the choice by tuning data for the problem's shape (solve.Settings.Choose). fits is nil
// where a variant can take the problem, else the error that says why it cannot.
func ChooseVariant(family *device.Family, facts device.Facts, o Setup, fits func(v *device.Variant) error, shape func() (tuned.Workload, error)) (tuned.Choice, error) {
	if o.Variant != "" {
		return o.Choose(family, facts, tuned.Workload{}, fits)
	}
	w, err := shape()
	if err != nil {
		return tuned.Choice{}, err
	}
	return o.Choose(family, facts, w, fits)
}
