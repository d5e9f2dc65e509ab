package tuned

import (
	"cmp"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// PromisingVariants lists the variants, the best first, without a result at a size on this class of device that, at
// the nearest size that they have one of, here or on the class's nearest kin, took at most a tenth more
// than the fastest there.
func (db *Database) PromisingVariants(f *device.Family, facts device.Facts, w Workload) ([]string, error) {
	k, err := db.knowledgeOf(compiledFamily{f, facts.Compiler})
	if err != nil {
		return nil, err
	}
	type hint struct {
		candidate
		away float64 // of the size with the result, as a logarithm
	}
	p := k.resultsFor(f, &facts, w.Fixed, true)
	if p == nil {
		return nil, nil
	}
	var list []hint
	for i := range p.sizes {
		t := &p.sizes[i]
		for _, c := range t.usable {
			h := hint{c, math.Abs(logRatio(t.size, w.Size))}
			h.log -= t.usable[0].log
			if t.size == w.Size && !c.elsewhere && t.on.class == classOf(facts.Class()) {
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
	slices.SortFunc(list, func(a, b hint) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.away, b.away), cmp.Compare(a.variant.Label, b.variant.Label))
	})
	var labels []string
	for _, h := range list {
		if h.log <= close {
			labels = append(labels, h.variant.Label)
		}
	}
	return labels, nil
}
