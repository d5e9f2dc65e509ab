package tuned

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"coalesce/runtime/device"
)

// knowledge has a database's results of a family of this binary in the form that Choose searches:
// with variants in place of labels, and without stale results.
type knowledge struct {
	pools []*pool
	order []ordered // all variants, the safe points first, then by likeness to those

	mutex  sync.RWMutex
	asked  []relation // workloads for which results of other workloads were looked for
	unions []union    // pools of two classes as one
}

// An ordered variant has the number of parameters in which it differs from the nearest safe point.
type ordered struct {
	variant *device.Variant
	apart   int
}

// A relation is a workload with the pools of other workloads that serve for it.
type relation struct {
	fixed map[string]string
	pools []*pool
}

// A pool is all results of a family on a class of device for the same fixed
// parameters.
type pool struct {
	class    class
	fixed    map[string]string
	sizes    []tunedSize // ascending, each with something usable
	rounders []candidate // variants by their mean slowdown over all sizes, the least first; log is that of the slowdown
	stale    int         // number of results of kernels that have changed since
	other    string      // of a pool that serves another workload: the fixed parameter that differs, "value=int32"
	steps    int         // distance of that parameter's value from the workload's
}

// tunedSize is an entry with those of its results that may be used.
type tunedSize struct {
	size        int
	winner      *candidate // nil: stale
	winnerNanos float64
	slowest     float64 // logarithm of the time of the slowest result, usable or not
	usable      []candidate
	work        float64 // basic operations of a run; 0: not known
	driver      string
	kin         *pool // of another class, where that measured; nil: the pool's own
	measured    int   // the size there
	sms         int   // multiprocessors there
}

// A candidate is a result that may be used.
type candidate struct {
	variant *device.Variant
	nanos   float64
	log     float64 // logarithm of the nanoseconds
}

func (t *tunedSize) find(v *device.Variant) *candidate {
	for i := range t.usable {
		if t.usable[i].variant == v {
			return &t.usable[i]
		}
	}
	return nil
}

// known is the knowledge of all families that a database was asked about so far.
type known struct {
	sync.RWMutex
	of map[compiled]*knowledge
}

// compiled is a family as a compiler made it; the compiler may be empty, not known.
type compiled struct {
	family   *device.Family
	compiler string
}

// forget drops all knowledge, because the database changes.
func (n *known) forget() {
	n.Lock()
	n.of = nil
	n.Unlock()
}

// about is the knowledge of a family from the database and those under it; it is computed once.
func (db *Database) about(f compiled) (*knowledge, error) {
	db.known.RLock()
	k := db.known.of[f]
	db.known.RUnlock()
	if k != nil {
		return k, nil
	}
	k, err := db.learn(f)
	if err != nil {
		return nil, err
	}
	db.known.Lock()
	defer db.known.Unlock()
	if db.known.of == nil {
		db.known.of = map[compiled]*knowledge{}
	}
	db.known.of[f] = k
	return k, nil
}

// learn decides which entry counts for a size: an entry whose winner is in this binary goes before one
// whose winner is stale, then the upper database's entry goes before the lower one's.
func (db *Database) learn(f compiled) (*knowledge, error) {
	type place struct {
		class, fixed string
		size         int
	}
	found := map[place]*Entry{}
	for layer := db; layer != nil; layer = layer.under {
		entries, err := layer.of(f.family.Name)
		if err != nil {
			return nil, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Family != f.family.Name || e.Protocol != Protocol {
				continue
			}
			at := place{e.Class, fixedString(e.Fixed), e.Size}
			if old := found[at]; old == nil || !old.sound(f) && e.sound(f) {
				found[at] = e
			}
		}
	}
	k := &knowledge{order: bySafety(f.family)}
	pools := map[place]*pool{}
	order := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.fixed, b.fixed), cmp.Compare(a.size, b.size))
	}
	for _, at := range slices.SortedFunc(maps.Keys(found), order) {
		e, key := found[at], place{at.class, at.fixed, 0}
		p := pools[key]
		if p == nil {
			p = &pool{class: classOf(at.class), fixed: e.Fixed}
			pools[key] = p
			k.pools = append(k.pools, p)
		}
		p.add(f, e)
	}
	k.pools = slices.DeleteFunc(k.pools, func(p *pool) bool { return len(p.sizes) == 0 })
	for _, p := range k.pools {
		p.round()
	}
	return k, nil
}

// sound reports whether the binary has the entry's winner.
func (e *Entry) sound(f compiled) bool {
	r := e.Result(e.Winner)
	if r == nil {
		return false
	}
	_, ok := r.Valid(f.family)
	return ok && !f.anew(e)
}

// anew reports whether the family was compiled by another compiler, or with other
// flags, than what the entry was measured with. Where either is not known they count as
// the same.
func (f compiled) anew(e *Entry) bool {
	return e.Compiler != "" && f.compiler != "" && e.Compiler != f.compiler
}

// add adds the usable results of an entry; entries come in the order of their sizes.
func (p *pool) add(f compiled, e *Entry) {
	t := tunedSize{size: e.Size, driver: e.Driver, measured: e.Size, sms: p.class.sms}
	winner := -1
	for i := range e.Results {
		r := &e.Results[i]
		nanos := float64(r.Nanos)
		t.slowest, t.work = max(t.slowest, math.Log(nanos)), max(t.work, r.Work)
		if r.Variant == e.Winner {
			t.winnerNanos = nanos
		}
		v, ok := r.Valid(f.family)
		switch {
		case !ok || f.anew(e):
			p.stale++
			continue
		case f.family.CheckWorkload(v, e.Fixed) != nil:
			continue
		case r.Variant == e.Winner:
			winner = len(t.usable)
		}
		t.usable = append(t.usable, candidate{v, nanos, math.Log(nanos)})
	}
	if len(t.usable) == 0 {
		return
	}
	if winner >= 0 {
		t.winner = &t.usable[winner]
	}
	p.sizes = append(p.sizes, t)
}

// round lists the variants of all sizes by their mean slowdown.
func (p *pool) round() {
	p.rounders = nil
	for i := range p.sizes {
		for _, c := range p.sizes[i].usable {
			if !slices.ContainsFunc(p.rounders, func(r candidate) bool { return r.variant == c.variant }) {
				p.rounders = append(p.rounders, candidate{variant: c.variant, log: p.slowdown(c.variant)})
			}
		}
	}
	slices.SortFunc(p.rounders, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.variant.Label, b.variant.Label))
	})
}

// slowdown is the mean log slowdown of a variant over all tuned sizes.
func (p *pool) slowdown(v *device.Variant) float64 {
	var sum float64
	for i := range p.sizes {
		t := &p.sizes[i]
		log := t.slowest
		if c := t.find(v); c != nil {
			log = c.log
		}
		sum += log - t.usable[0].log
	}
	return sum / float64(len(p.sizes))
}

// same reports whether the pool is for these fixed parameters.
func (p *pool) same(fixed map[string]string) bool { return maps.Equal(p.fixed, fixed) }

// relatives are the pools of other workloads that serve for a workload; they are looked for once.
func (k *knowledge) relatives(f *device.Family, fixed map[string]string) []*pool {
	k.mutex.RLock()
	for i := range k.asked {
		if maps.Equal(k.asked[i].fixed, fixed) {
			pools := k.asked[i].pools
			k.mutex.RUnlock()
			return pools
		}
	}
	k.mutex.RUnlock()
	r := relation{fixed: maps.Clone(fixed)}
	for _, p := range k.pools {
		if q := p.related(f, r.fixed); q != nil {
			r.pools = append(r.pools, q)
		}
	}
	k.mutex.Lock()
	k.asked = append(k.asked, r)
	k.mutex.Unlock()
	return r.pools
}

// related converts the pool to one that serves for a workload that differs in one fixed parameter, nil
// if it cannot. If that is a parameter of the family, each variant is replaced by the one that differs
// in this parameter alone; sizes whose winner is stale or has no such variant are left out.
func (p *pool) related(f *device.Family, fixed map[string]string) *pool {
	if len(p.fixed) != len(fixed) || p.same(fixed) {
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
			if c.variant == nil || f.CheckWorkload(c.variant, fixed) != nil {
				continue
			}
			if &t.usable[i] == t.winner {
				winner = len(usable)
			}
			usable = append(usable, c)
		}
		if winner >= 0 {
			t.usable, t.winner = usable, &usable[winner]
			q.sizes = append(q.sizes, t)
		}
	}
	if len(q.sizes) == 0 {
		return nil
	}
	q.round()
	return q
}

// steps is the distance of two values of a parameter: of ranges the number of classes between them; of
// types 1 for an integer and a float of one width, 2 for another width, 3 for both; 4 for values without
// an order.
func steps(a, b string) int {
	ranges := [...]string{"small", "medium", "wide"}
	if i, k := slices.Index(ranges[:], a), slices.Index(ranges[:], b); i >= 0 && k >= 0 {
		return max(i-k, k-i)
	}
	const digits = "0123456789"
	kind, other := strings.TrimRight(a, digits), strings.TrimRight(b, digits)
	numbers := []string{"int", "float"}
	switch {
	case !slices.Contains(numbers, kind) || !slices.Contains(numbers, other):
		return 4
	case a[len(kind):] == b[len(other):]:
		return 1
	case kind == other:
		return 2
	}
	return 3
}

// bySafety orders variants by the number of parameters in which they differ from the
// nearest safe point of the family.
func bySafety(f *device.Family) []ordered {
	list := make([]ordered, len(f.Variants))
	for i := range f.Variants {
		v := &f.Variants[i]
		list[i] = ordered{v, fromSafe(f, v)}
	}
	slices.SortStableFunc(list, func(a, b ordered) int { return cmp.Compare(a.apart, b.apart) })
	return list
}

// fromSafe is the number of parameters in which a variant differs from the
// nearest safe point of the family.
func fromSafe(f *device.Family, v *device.Variant) int {
	least := len(f.Params)
	for i := range f.Variants {
		s := &f.Variants[i]
		if !s.Safe {
			continue
		}
		d := 0
		for p := range f.Params {
			if v.Values[p] != s.Values[p] {
				d++
			}
		}
		least = min(least, d)
	}
	return least
}

// sibling is the variant that differs from v in one parameter alone, nil where there is
// none.
func sibling(f *device.Family, v *device.Variant, param int, value string) *device.Variant {
	for i := range f.Variants {
		w := &f.Variants[i]
		if w.Values[param] == value && slices.Equal(w.Values[:param], v.Values[:param]) && slices.Equal(w.Values[param+1:], v.Values[param+1:]) {
			return w
		}
	}
	return nil
}

// distance is the distance of a size from the nearest tuned one, as a logarithm.
func (p *pool) distance(size int) float64 {
	least := math.Inf(1)
	for i := range p.sizes {
		least = min(least, math.Abs(logRatio(max(1, p.sizes[i].size), max(1, size))))
	}
	return least
}

// A class is device.Facts.Class taken apart.
type class struct {
	kind, name   string
	major, minor int
	instructions string // of a host
	sms          int
	shared       int64
}

// classOf reads a class; what cannot be read is like no device.
func classOf(text string) class {
	var c class
	parts := strings.Split(text, "|")
	if len(parts) != 5 {
		return class{}
	}
	c.kind, c.name = parts[0], parts[1]
	for i, format := range []string{"%d.%d", "%dsm", "smem%d"} {
		to := [][]any{{&c.major, &c.minor}, {&c.sms}, {&c.shared}}[i]
		n, err := fmt.Sscanf(parts[2+i], format, to...)
		switch {
		case err == nil && n == len(to):
		case i == 0 && c.kind == device.Host:
			c.instructions = parts[2]
		default:
			return class{}
		}
	}
	return c
}

// is reports whether the pool's results were measured on the device's class.
func (p *pool) is(f *device.Facts) bool {
	c := &p.class
	return p.kin(f) && c.name == f.Name && c.sms == f.SMs && c.shared == f.SharedPerBlock
}
