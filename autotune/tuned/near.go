package tuned

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// served is the pool that serves a workload on a class of device, nil where there is none.
type served struct {
	class class
	fixed map[string]string
	alone bool // results of this workload and of alike devices alone
	pool  *pool
}

// near are the results that serve a workload on a device, brought together once: those of the nearest class of device for the
// nearest workload and, of GPUs, what the next class of the same compute capability has besides. Where a prior tells more than other workloads and devices unlike this one, these are left out.
func (k *knowledge) near(f *device.Family, facts *device.Facts, fixed map[string]string, alone bool) *pool {
	here := classFor(facts)
	k.mutex.RLock()
	for i := range k.asked {
		if a := &k.asked[i]; a.class == here && a.alone == alone && maps.Equal(a.fixed, fixed) {
			k.mutex.RUnlock()
			return a.pool
		}
	}
	k.mutex.RUnlock()
	s := served{here, maps.Clone(fixed), alone, nil}
	s.pool = k.gather(f, &s)
	k.mutex.Lock()
	k.asked = append(k.asked, s)
	k.mutex.Unlock()
	return s.pool
}

func (k *knowledge) gather(f *device.Family, s *served) *pool {
	var found []*pool
	for _, p := range k.pools {
		if q := p.serving(f, s.fixed); q != nil && p.class.kind == s.class.kind && !(s.alone && (q.steps > 0 || !p.class.alike(s.class))) {
			found = append(found, q.scaled(s.class.sms))
		}
	}
	slices.SortStableFunc(found, func(p, q *pool) int { return p.compare(q, &s.class) })
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	if first.class.kind != device.Host { // hosts with the same instructions differ more than GPUs of one compute capability
		for _, p := range found[1:] {
			if p.other == first.other && p.class.alike(first.class) {
				first = first.with(p)
				break
			}
		}
	}
	return first.sound()
}

// compare is below 0 where p tells more than q of a class of device: by whether it runs the same code, how much the
// workload differs, and the number of multiprocessors.
func (p *pool) compare(q *pool, here *class) int {
	far := func(p *pool) int {
		switch {
		case !p.class.alike(*here):
			return 4
		case p.steps > 0 && p.class != *here:
			return 3
		case p.steps > 0:
			return 2
		case p.class != *here:
			return 1
		}
		return 0
	}
	apart := func(p *pool) float64 { return math.Abs(logRatio(p.class.sms, here.sms)) }
	return cmp.Or(cmp.Compare(far(p), far(q)), cmp.Compare(apart(p), apart(q)), cmp.Compare(p.steps, q.steps))
}

func classFor(f *device.Facts) class {
	return class{f.Kind, f.Name, f.Major, f.Minor, f.Instructions, f.SMs, f.SharedPerBlock}
}

// alike reports whether two classes run the same code: they have the same compute capability, or the same vector instructions.
func (c class) alike(d class) bool {
	return c.kind == d.kind && c.major == d.major && c.minor == d.minor && c.instructions == d.instructions
}

// serving converts the pool to one that serves for a workload: itself, or one that differs in one fixed parameter; nil
// if it cannot. If that is a parameter of the family, each variant is replaced by the one that differs
// in this parameter alone; sizes whose winner is stale or has no such variant are left out.
func (p *pool) serving(f *device.Family, fixed map[string]string) *pool {
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
	q := &pool{class: p.class, fixed: fixed, stale: p.stale, other: differs + "=" + p.fixed[differs], steps: steps(p.fixed[differs], fixed[differs])}
	for _, t := range p.sizes {
		var usable []candidate
		winner := -1
		for i := range t.usable {
			c := t.usable[i]
			if at >= 0 {
				c.variant = sibling(f, c.variant, at, fixed[differs])
			}
			if c.variant == nil || f.Fits(c.variant, fixed) != nil {
				continue
			}
			if &t.usable[i] == t.winner {
				winner = len(usable)
			}
			usable = append(usable, c)
		}
		if winner >= 0 {
			t.usable, t.winner, t.on = usable, &usable[winner], q
			q.sizes = append(q.sizes, t)
		}
	}
	if len(q.sizes) == 0 {
		return nil
	}
	return q
}

// sound leaves out the sizes that are not sound, where there are others.
func (p *pool) sound() *pool {
	q := *p
	q.sizes = slices.DeleteFunc(slices.Clone(p.sizes), func(t tunedSize) bool {
		return !t.sound()
	})
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

// with adds the sizes of a pool of another class that this one does not have, or whose winner is stale here. Of a class with as
// many multiprocessors it adds results of variants that have none here too, and times are multiplied by what times here are over
// times there, at the nearest size of both.
func (p *pool) with(kin *pool) *pool {
	type scale struct {
		size int
		log  float64
	}
	var scales []scale
	for i := range kin.sizes {
		if t := &kin.sizes[i]; kin.class.sms == p.class.sms && p.at(t.size) >= 0 {
			scales = append(scales, scale{t.size, (&Workload{}).growth(t, &p.sizes[p.at(t.size)])})
		}
	}
	q := *p
	q.sizes = slices.Clone(p.sizes)
	for _, t := range kin.sizes {
		if len(scales) > 0 {
			away := func(s scale) float64 { return math.Abs(logRatio(s.size, t.size)) }
			t = t.slower(slices.MinFunc(scales, func(a, b scale) int { return cmp.Compare(away(a), away(b)) }).log)
		}
		switch at := p.at(t.size); {
		case at < 0:
			q.sizes = append(q.sizes, t)
		case !p.sizes[at].sound() && t.sound():
			q.sizes[at] = t
		case len(scales) > 0:
			q.sizes[at] = q.sizes[at].with(&t)
		}
	}
	slices.SortStableFunc(q.sizes, bySize)
	return &q
}

// at is the index of a tuned size, -1 where it is none.
func (p *pool) at(size int) int {
	return slices.IndexFunc(p.sizes, func(t tunedSize) bool { return t.size == size })
}

// slower has all times multiplied by a factor, given as a logarithm.
func (t tunedSize) slower(log float64) tunedSize {
	won := t.winner
	t.usable = slices.Clone(t.usable)
	for i := range t.usable {
		t.usable[i].log += log
	}
	t.winnerLog += log
	return t.wonBy(won)
}

// with adds the results of another class of variants that have none here.
func (t tunedSize) with(kin *tunedSize) tunedSize {
	won := t.winner
	t.usable = slices.Clone(t.usable)
	for _, c := range kin.usable {
		if t.find(c.variant) == nil {
			c.elsewhere = true
			t.usable = append(t.usable, c)
		}
	}
	slices.SortFunc(t.usable, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.variant.Label, b.variant.Label))
	})
	return t.wonBy(won)
}

func (t tunedSize) wonBy(c *candidate) tunedSize {
	if c != nil {
		t.winner = t.find(c.variant)
	}
	return t
}
