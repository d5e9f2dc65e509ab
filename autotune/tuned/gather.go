package tuned

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// pooledResults are the results that serve a workload on a class of device.
type pooledResults struct {
	class  deviceClass
	fixed  map[string]string
	strict bool  // without those of other workloads and of devices that run other code
	pool   *pool // nil: none
}

// resultsFor are the results that serve a workload on a device, gathered once: those of the nearest class of device for the
// nearest workload. For GPUs, the next class that runs the same code fills in the sizes that the nearest lacks. The nearest
// class is the one whose number of multiprocessors is closest.
func (k *knowledge) resultsFor(f *device.Family, facts *device.Facts, fixed map[string]string, strict bool) *pool {
	here := classFor(facts)
	k.mutex.RLock()
	for i := range k.gathered {
		if g := &k.gathered[i]; g.class == here && g.strict == strict && maps.Equal(g.fixed, fixed) {
			k.mutex.RUnlock()
			return g.pool
		}
	}
	k.mutex.RUnlock()
	g := pooledResults{here, maps.Clone(fixed), strict, nil}
	g.pool = k.gather(f, &g)
	k.mutex.Lock()
	k.gathered = append(k.gathered, g)
	k.mutex.Unlock()
	return g.pool
}

func (k *knowledge) gather(f *device.Family, g *pooledResults) *pool {
	var found []*pool
	for _, p := range k.pools {
		if q := p.converted(f, g.fixed); q != nil && p.class.kind == g.class.kind && !(g.strict && (q.steps > 0 || !p.class.sameCode(g.class))) {
			found = append(found, q.scaled(g.class.sms))
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(p, q *pool) int { return p.compare(q, g.class) })
	first := found[0]
	next := slices.IndexFunc(found[1:], func(p *pool) bool { return p.other == first.other && p.class.sameCode(first.class) })
	if next >= 0 && first.class.kind != device.Host { // hosts with the same instructions differ more than GPUs of one compute capability
		first = first.joined(found[1+next])
	}
	return first.withTrustedSizes()
}

// compare is below 0 where p tells more than q of a class of device: by whether it runs the same code, whether the workload
// is the same, whether it is that class, the number of multiprocessors, and how much the workload differs.
func (p *pool) compare(q *pool, here deviceClass) int {
	order := func(yes func(*pool) bool) int {
		switch of, other := yes(p), yes(q); {
		case of == other:
			return 0
		case of:
			return -1
		}
		return 1
	}
	distance := func(p *pool) float64 { return math.Abs(logRatio(p.class.sms, here.sms)) }
	return cmp.Or(order(func(p *pool) bool { return p.class.sameCode(here) }), order(func(p *pool) bool { return p.steps == 0 }),
		order(func(p *pool) bool { return p.class == here }), cmp.Compare(distance(p), distance(q)), cmp.Compare(p.steps, q.steps))
}

func classFor(f *device.Facts) deviceClass {
	return deviceClass{f.Kind, f.Name, f.Major, f.Minor, f.Instructions, f.SMs, f.SharedPerBlock}
}

// sameCode reports whether two classes run the same code: they have the same compute capability, or the same vector instructions.
func (c deviceClass) sameCode(d deviceClass) bool {
	return c.kind == d.kind && c.major == d.major && c.minor == d.minor && c.instructions == d.instructions
}

// converted makes of the pool one that serves a workload: itself, or one that differs in one fixed parameter; nil
// if it cannot. If that is a parameter of the family, each variant is replaced by the one that differs
// in this parameter alone; sizes whose winner is stale or has no such variant are left out.
func (p *pool) converted(f *device.Family, fixed map[string]string) *pool {
	if maps.Equal(p.fixed, fixed) {
		return p
	}
	if len(p.fixed) != len(fixed) {
		return nil
	}
	differs := ""
	for k, v := range fixed {
		have, ok := p.fixed[k]
		if !ok || have != v && differs != "" {
			return nil
		}
		if have != v {
			differs = k
		}
	}
	at := slices.Index(f.Params, differs)
	q := &pool{class: p.class, fixed: fixed, stale: p.stale, other: differs + "=" + p.fixed[differs], steps: valueDistance(p.fixed[differs], fixed[differs])}
	for _, t := range p.sizes {
		var usable []candidate
		var winner *device.Variant
		for _, c := range t.usable {
			won := c.variant == t.winner
			if at >= 0 {
				c.variant = sibling(f, c.variant, at, fixed[differs])
			}
			if c.variant == nil || f.CheckWorkload(c.variant, fixed) != nil {
				continue
			}
			if won {
				winner = c.variant
			}
			usable = append(usable, c)
		}
		if winner != nil {
			t.usable, t.winner, t.on = usable, winner, q
			q.sizes = append(q.sizes, t)
		}
	}
	if len(q.sizes) == 0 {
		return nil
	}
	return q
}

// withTrustedSizes leaves out the sizes that are not sound, where there are others.
func (p *pool) withTrustedSizes() *pool {
	q := *p
	q.sizes = slices.DeleteFunc(slices.Clone(p.sizes), func(t tunedSize) bool { return !t.trusted() })
	if len(q.sizes) == 0 {
		return p
	}
	return &q
}

// scaled has in place of the tuned sizes those that give each of so many multiprocessors as much work: between tuned sizes
// work grows as a power of the size. Where that power is not known they stay.
func (p *pool) scaled(sms int) *pool {
	if p.class.sms == sms || p.class.sms < 1 || sms < 1 || len(p.sizes) < 2 {
		return p
	}
	q := *p
	q.sizes = slices.Clone(p.sizes)
	for i := range q.sizes {
		a, b := &p.sizes[max(0, i-1)], &p.sizes[max(1, i)]
		power := math.Log(b.work/a.work) / logRatio(b.size, a.size)
		if power > 0 && !math.IsInf(power, 1) {
			q.sizes[i].size = int(math.Round(float64(p.sizes[i].size) * math.Pow(float64(sms)/float64(p.class.sms), 1/power)))
		}
	}
	slices.SortStableFunc(q.sizes, bySize)
	return &q
}

func bySize(a, b tunedSize) int { return cmp.Compare(a.size, b.size) }

// joined has besides the sizes of a pool of another class, where this one does not have them or their winner is stale here. Of a
// class with as many multiprocessors it has results of variants without any here too, and times are multiplied by what times here are
// over times there, at the nearest size of both.
func (p *pool) joined(other *pool) *pool {
	indexOf := func(size int) int { return slices.IndexFunc(p.sizes, func(t tunedSize) bool { return t.size == size }) }
	type scale struct {
		size int
		log  float64
	}
	var scales []scale
	for i := range other.sizes {
		t := &other.sizes[i]
		if at := indexOf(t.size); at >= 0 && other.class.sms == p.class.sms {
			scales = append(scales, scale{t.size, (&Workload{}).timeGrowth(t, &p.sizes[at])})
		}
	}
	q := *p
	q.sizes = slices.Clone(p.sizes)
	for _, t := range other.sizes {
		if len(scales) > 0 {
			away := func(s scale) float64 { return math.Abs(logRatio(s.size, t.size)) }
			t = t.slower(slices.MinFunc(scales, func(a, b scale) int { return cmp.Compare(away(a), away(b)) }).log)
		}
		switch at := indexOf(t.size); {
		case at < 0:
			q.sizes = append(q.sizes, t)
		case !p.sizes[at].trusted() && t.trusted():
			q.sizes[at] = t
		case len(scales) > 0:
			q.sizes[at].usable = q.sizes[at].joined(&t)
		}
	}
	slices.SortStableFunc(q.sizes, bySize)
	return &q
}

// slower has all times multiplied by a factor, given as a logarithm.
func (t tunedSize) slower(log float64) tunedSize {
	t.usable = slices.Clone(t.usable)
	for i := range t.usable {
		t.usable[i].log += log
	}
	t.winnerLog += log
	return t
}

// joined are the results with those that another class has of variants without one here.
func (t *tunedSize) joined(other *tunedSize) []candidate {
	list := slices.Clone(t.usable)
	for _, c := range other.usable {
		if t.find(c.variant) == nil {
			c.elsewhere = true
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.variant.Label, b.variant.Label))
	})
	return list
}
