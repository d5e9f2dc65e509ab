package tuned

import (
	"cmp"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// A union is the results of a class of device with those of its kin.
type union struct{ own, kin, both *pool }

// kin reports whether the device runs the same code: it is of the same kind and has the same compute
// capability, or the same vector instructions.
func (p *pool) kin(f *device.Facts) bool {
	c := &p.class
	return c.kind == f.Kind && c.major == f.Major && c.minor == f.Minor && c.instructions == f.Instructions
}

// apart is the ratio of the numbers of multiprocessors, as a logarithm of at least 0.
func (p *pool) apart(f *device.Facts) float64 {
	return math.Abs(logRatio(max(1, p.class.sms), max(1, f.SMs)))
}

// alike is the size that gives each of the pool's multiprocessors as much work as the
// given size gives each of the device's.
func (p *pool) alike(f *device.Facts, size int) int { return p.moved(size, f.SMs, p.class.sms) }

// moved is the size that gives each of so many multiprocessors as much work as the given size gives
// each of others: between tuned sizes work grows as a power of the size. It is the given size where
// that power is not known.
func (p *pool) moved(size, from, to int) int {
	if from == to || from < 1 || to < 1 || size < 1 || len(p.sizes) < 2 {
		return size
	}
	k := 1
	for k < len(p.sizes)-1 && p.sizes[k].size < size {
		k++
	}
	a, b := &p.sizes[k-1], &p.sizes[k]
	power := math.Log(b.work/a.work) / logRatio(b.size, a.size)
	if !(power > 0) || math.IsInf(power, 1) {
		return size
	}
	return int(math.Round(float64(size) * math.Pow(float64(to)/float64(from), 1/power)))
}

// together are the results of a class of device with those of its kin at other sizes, which are put
// together once; then those of its kin. Its own stay alone where they are of another workload than its
// kin's, and on a host: processors with the same instructions differ more than GPUs of one compute capability.
// Each may be nil.
func (k *knowledge) together(own, kin *pool) [2]*pool {
	if own == nil || kin == nil || own.other != kin.other || own.class.kind == device.Host {
		return [2]*pool{own, kin}
	}
	k.mutex.RLock()
	for i := range k.unions {
		if u := &k.unions[i]; u.own == own && u.kin == kin {
			k.mutex.RUnlock()
			return [2]*pool{u.both, kin}
		}
	}
	k.mutex.RUnlock()
	u := union{own, kin, own.with(kin)}
	k.mutex.Lock()
	k.unions = append(k.unions, u)
	k.mutex.Unlock()
	return [2]*pool{u.both, kin}
}

// with adds the sizes of a pool of another class that this one does not have, or whose winner is stale here,
// at what gives each multiprocessor as much work. Times of a class with as many multiprocessors are
// multiplied by what times here are over times there at the nearest size of both, and join those of the sizes
// that this one has.
func (p *pool) with(kin *pool) *pool {
	q := *p
	q.sizes = slices.Clone(p.sizes)
	for i := range kin.sizes {
		t := kin.sizes[i]
		t.kin = kin
		t.size = kin.moved(t.size, kin.class.sms, p.class.sms)
		if kin.class.sms == p.class.sms {
			t.slow(p.over(kin, t.size))
		}
		at := slices.IndexFunc(q.sizes, func(o tunedSize) bool { return o.size == t.size })
		switch {
		case at < 0:
			q.sizes = append(q.sizes, t)
		case q.sizes[at].winner == nil && t.winner != nil:
			q.sizes[at] = t
		case kin.class.sms == p.class.sms:
			q.sizes[at].join(&t)
		}
	}
	slices.SortFunc(q.sizes, func(a, b tunedSize) int { return cmp.Compare(a.size, b.size) })
	q.round()
	return &q
}

// over is the mean logarithm of times in p over times in kin, of variants that both measured, at the size
// of both that is nearest to the given one; 0 where there is none.
func (p *pool) over(kin *pool, size int) (log float64) {
	least := math.Inf(1)
	for i := range p.sizes {
		t := &p.sizes[i]
		away := math.Abs(logRatio(max(1, t.size), max(1, size)))
		if away >= least {
			continue
		}
		for j := range kin.sizes {
			if kin.sizes[j].size != t.size {
				continue
			}
			if x := spanning(target{}, t.size, &kin.sizes[j], t); x.common > 0 {
				least, log = away, x.growth
			}
		}
	}
	return log
}

// slow multiplies all times by a factor, given as a logarithm.
func (t *tunedSize) slow(log float64) {
	won := t.winner
	t.usable = slices.Clone(t.usable)
	for i := range t.usable {
		c := &t.usable[i]
		if won != nil && c.variant == won.variant {
			t.winner = c
		}
		c.log += log
		c.nanos *= math.Exp(log)
	}
	t.winnerNanos *= math.Exp(log)
	t.slowest += log
}

// join adds the results that another class has at the size, of variants that have none here.
func (t *tunedSize) join(kin *tunedSize) {
	won := t.winner
	t.usable = slices.Clone(t.usable)
	for _, c := range kin.usable {
		if t.find(c.variant) == nil {
			t.usable = append(t.usable, c)
		}
	}
	slices.SortFunc(t.usable, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.variant.Label, b.variant.Label))
	})
	t.slowest = max(t.slowest, kin.slowest)
	if won != nil {
		t.winner = t.find(won.variant)
	}
}
