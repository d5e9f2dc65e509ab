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

	mutex    sync.RWMutex
	gathered []pooledResults // what was gathered so far
}

// An ordered variant has the number of parameters in which it differs from the nearest safe point.
type ordered struct {
	variant *device.Variant
	differ  int
}

// A pool is the results of a family on a class of device for the same fixed parameters, or what is gathered of several pools for
// a workload on a device (resultsFor).
type pool struct {
	class deviceClass
	fixed map[string]string
	sizes []tunedSize // ascending, each with something usable
	stale int         // number of results of kernels that have changed since
	other string      // where it serves another workload: the fixed parameter that differs, "value=int32"
	steps int         // distance of that parameter's value from the workload's
}

// tunedSize is an entry with those of its results that may be used.
type tunedSize struct {
	size      int             // that gives each multiprocessor of the device as much work
	winner    *device.Variant // nil: stale
	winnerLog float64         // logarithm of its time
	usable    []candidate     // fastest first
	work      float64         // basic operations of a run; 0: not known
	driver    string
	on        *pool // of the class that it was measured on
	measured  int   // the size there
}

// A candidate is a result that may be used.
type candidate struct {
	variant   *device.Variant
	log       float64 // logarithm of the nanoseconds
	elsewhere bool    // measured on another class of device than the others of its size
}

// trusted reports whether the winner or what was about as fast may be used.
func (t *tunedSize) trusted() bool { return t.winner != nil || t.usable[0].log <= t.winnerLog+close }

func (t *tunedSize) find(v *device.Variant) *candidate {
	for i := range t.usable {
		if t.usable[i].variant == v {
			return &t.usable[i]
		}
	}
	return nil
}

// knowledgeCache is the knowledge of all families that a database was asked about so far.
type knowledgeCache struct {
	sync.RWMutex
	of map[compiledFamily]*knowledge
}

// compiledFamily is a family as a compiler made it; the compiler may be empty, not known.
type compiledFamily struct {
	family   *device.Family
	compiler string
}

// invalidate drops all knowledge, because the database changes.
func (n *knowledgeCache) invalidate() {
	n.Lock()
	n.of = nil
	n.Unlock()
}

// knowledgeOf is the knowledge of a family from the database and those under it; it is computed once.
func (db *Database) knowledgeOf(f compiledFamily) (*knowledge, error) {
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
		db.known.of = map[compiledFamily]*knowledge{}
	}
	db.known.of[f] = k
	return k, nil
}

// learn decides which entry counts for a size: an entry whose winner is in this binary goes before one
// whose winner is stale, then the upper database's entry goes before the lower one's.
func (db *Database) learn(f compiledFamily) (*knowledge, error) {
	type place struct {
		class, fixed string
		size         int
	}
	found := map[place]*Entry{}
	for layer := db; layer != nil; layer = layer.under {
		entries, err := layer.entriesOf(f.family.Name)
		if err != nil {
			return nil, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Family != f.family.Name || e.Protocol != Protocol {
				continue
			}
			at := place{e.Class, fixedString(e.Fixed), e.Size}
			if old := found[at]; old == nil || !old.hasWinner(f) && e.hasWinner(f) {
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
	return k, nil
}

// hasWinner reports whether the binary has the entry's winner.
func (e *Entry) hasWinner(f compiledFamily) bool {
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
func (f compiledFamily) anew(e *Entry) bool {
	return e.Compiler != "" && f.compiler != "" && e.Compiler != f.compiler
}

// add adds the usable results of an entry; entries come in the order of their sizes.
func (p *pool) add(f compiledFamily, e *Entry) {
	t := tunedSize{size: e.Size, driver: e.Driver, measured: e.Size, on: p}
	for i := range e.Results {
		r := &e.Results[i]
		log := math.Log(float64(r.Nanos))
		t.work = max(t.work, r.Work)
		if r.Variant == e.Winner {
			t.winnerLog = log
		}
		v, ok := r.Valid(f.family)
		switch {
		case !ok || f.anew(e):
			p.stale++
			continue
		case f.family.CheckWorkload(v, e.Fixed) != nil:
			continue
		case r.Variant == e.Winner:
			t.winner = v
		}
		t.usable = append(t.usable, candidate{variant: v, log: log})
	}
	if len(t.usable) > 0 {
		p.sizes = append(p.sizes, t)
	}
}

// valueDistance is the distance of two values of a parameter: of ranges the number of classes between them; of
// types 1 for an integer and a float of one width, 2 for another width, 3 for both; 4 for values without
// an order.
func valueDistance(a, b string) int {
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
	slices.SortStableFunc(list, func(a, b ordered) int { return cmp.Compare(a.differ, b.differ) })
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

// A deviceClass is device.Facts.Class in its parts.
type deviceClass struct {
	kind, name   string
	major, minor int
	instructions string // of a host
	sms          int
	shared       int64
}

// classOf reads a class; what cannot be read is like no device.
func classOf(text string) deviceClass {
	var c deviceClass
	parts := strings.Split(text, "|")
	if len(parts) != 5 {
		return deviceClass{}
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
			return deviceClass{}
		}
	}
	return c
}
