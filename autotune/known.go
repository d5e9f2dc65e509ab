package autotune

import (
	"maps"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// What a search begins with, from results of other runs, sizes, workloads and devices.

// previousWinners lists the earlier winners whose label this build still has; those whose text has changed
// count only where entries are refreshed. Without any, previous lists the variant that a solve
// would choose.
func (r *run) previousWinners(db *tuned.Database, fixed map[string]string) map[int]string {
	out := map[int]string{}
	for _, e := range db.Entries() {
		if e.Family != r.family.Name || e.Class != r.Facts.Class() || e.Protocol != tuned.Protocol || !maps.Equal(e.Fixed, fixed) {
			continue
		}
		_, valid := e.Result(e.Winner).Valid(r.family)
		if valid || r.Refresh && r.family.Variant(e.Winner) != nil {
			out[e.Size] = e.Winner
		}
	}
	known := db.Over(r.Known)
	for _, size := range r.Sizes {
		if _, won := out[size]; won {
			continue
		}
		if v := r.chosen(known, fixed, size); v != nil {
			out[size] = v.Label
		}
	}
	return out
}

// chosen is what solves would run at a size; nil where nothing can.
func (r *run) chosen(db *tuned.Database, fixed map[string]string, size int) *device.Variant {
	w, _, _ := DescribeWorkload(r.Subject, fixed, r.Facts, size) // without its shape where there is an error
	c, err := db.Choose(r.family, r.Facts, w, func(v *device.Variant) error { return r.Subject.Feasible(v, r.Facts, size) })
	if err != nil {
		return nil
	}
	return c.Variant
}

// likelyWinners lists the winners of any size and device, whatever their texts were, and the fast variants in Options.Begin.
func (r *run) likelyWinners(db *tuned.Database) []string {
	var labels []string
	for _, e := range tuned.Merge(r.Known, db).Entries() {
		if e.Family == r.family.Name {
			labels = append(labels, e.Winner)
		}
	}
	if r.Begin != nil {
		labels = append(labels, r.Begin.Fastest(r.family)...)
	}
	return labels
}

// promisingVariants lists for each size the variants that were fast at the nearest size where they were tried.
func (r *run) promisingVariants(db *tuned.Database, fixed map[string]string) (map[int][]string, error) {
	out := map[int][]string{}
	for _, size := range r.Sizes {
		labels, err := db.Over(r.Known).PromisingVariants(r.family, r.Facts, tuned.Workload{Fixed: fixed, Size: size})
		if err != nil {
			return nil, err
		}
		out[size] = labels
	}
	return out, nil
}
