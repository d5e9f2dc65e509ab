package tuned

import (
	"cmp"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// Promising lists the variants, the best first, without a result at a size on this class of device that, at
// the nearest size that they have one of, here or on the class's nearest kin, took at most a tenth more
// than the fastest there.
func (db *Database) Promising(f *device.Family, facts device.Facts, w Workload) ([]string, error) {
	k, err := db.about(compiled{f, facts.Compiler})
	if err != nil {
		return nil, err
	}
	type hint struct {
		candidate
		away float64 // of the size with the result, as a logarithm
	}
	var list []hint
	s := search{family: f, facts: facts, w: w}
	for _, p := range [2]*pool{s.closest(k, false, false), s.closest(k, true, false)} {
		if p == nil {
			continue
		}
		size := p.alike(&facts, w.Size)
		for i := range p.sizes {
			t := &p.sizes[i]
			away := math.Abs(logRatio(max(1, t.size), max(1, size)))
			for _, c := range t.usable {
				c.log -= t.usable[0].log
				h := hint{c, away}
				if p.is(&facts) && t.size == w.Size {
					h.log, h.away = math.Inf(1), -1 // has a result
				}
				at := slices.IndexFunc(list, func(h hint) bool { return h.variant == c.variant })
				switch {
				case at < 0:
					list = append(list, h)
				case h.away < list[at].away:
					list[at] = h
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b hint) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.away, b.away), cmp.Compare(a.variant.Label, b.variant.Label))
	})
	var labels []string
	for _, h := range list {
		if h.log <= math.Log(closeTo) {
			labels = append(labels, h.variant.Label)
		}
	}
	return labels, nil
}
