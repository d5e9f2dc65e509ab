package tuned

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/runtime/device"
)

// A Workload is what a variant is chosen for.
type Workload struct {
	// Fixed are parameters that the problem decides, {"value": "int32"}, and
	// what else tells problems apart: {"range": "wide"}.
	Fixed map[string]string
	Size  int // of the instance, in the family's own measure
}

// Levels of a choice, best first.
const (
	Exact         = "exact"          // this size was tuned on this class of device
	Interpolated  = "interpolated"   // predicted from the tuned sizes around it
	Nearest       = "nearest"        // the winner at the nearest tuned size
	DeviceDefault = "device default" // the best all-rounder of this class
	Safe          = "safe"           // not tuned: the manifest's safe point
	ByName        = "asked"          // the user named the variant
)

// A Choice is a variant with its justification.
type Choice struct {
	Variant *device.Variant
	Level   string // one of the levels above
	Reason  string // one sentence for the user
}

// ErrNoVariant is wrapped when no variant of the family can run the workload.
var ErrNoVariant = errors.New("no variant fits")

// Asked is the variant with a label, where it has the workload's fixed parameters
// and feasible, which may be nil, does not say why it cannot run.
func Asked(f *device.Family, label string, w Workload, feasible func(*device.Variant) error) (Choice, error) {
	v := f.Variant(label)
	if v == nil {
		return Choice{}, fmt.Errorf("%s has no variant %q; it has %d, such as %q", f.Name, label, len(f.Variants), f.Variants[0].Label)
	}
	for _, parameter := range f.Params {
		want, fixed := w.Fixed[parameter]
		if got := f.Value(v, parameter); fixed && got != want {
			return Choice{}, fmt.Errorf("variant %s has %s=%s, the instance needs %s=%s", v.Label, parameter, got, parameter, want)
		}
	}
	c := Choice{Variant: v, Level: ByName, Reason: "asked for by name"}
	if feasible != nil {
		return c, feasible(v)
	}
	return c, nil
}

// Choose picks the variant of f for a workload on a device. The levels, best
// first:
//
//   - exact: the winner at this size; when it is stale or not feasible, the
//     fastest runner-up that is neither.
//   - interpolated: among the variants measured at both tuned sizes around this
//     one, the least time, log(time) being taken as linear in log(size) between
//     them. All candidates share both sizes, so the common growth cancels in
//     their order and the rule serves sizes that are counts (time a power of
//     size) as well as exponents (csg, where n agents take 3^n). It needs a
//     winner of one of the two sizes among the candidates.
//   - nearest: the winner at the tuned size with the least |Δ log size|, the
//     larger on a tie, when it lies within a factor of two or no tuned size lies
//     beyond: what is fastest changes with the size, so that the other sizes,
//     which are farther still, say less.
//   - device default: the least geometric-mean slowdown over all tuned sizes of
//     this class; at a size it was not measured, a variant counts as slow as the
//     slowest kept there.
//   - safe: the manifest's safe point or, where that does not fit, the variant
//     that does and differs from it in the fewest parameters.
//
// Only variants with the workload's fixed parameters, and only results whose
// variant is in the binary with the same hash, take part. feasible may be nil;
// else it says why a variant cannot run. The error wraps ErrNoVariant.
func (db *Database) Choose(f *device.Family, facts device.Facts, w Workload, feasible func(*device.Variant) error) (Choice, error) {
	fits := func(v *device.Variant) error {
		if err := f.Fits(v, w.Fixed); err != nil {
			return err
		}
		if feasible != nil {
			return feasible(v)
		}
		return nil
	}
	p := db.pool(f, facts, w, fits)
	for _, level := range []func(*pool) (Choice, bool){exact, interpolated, nearest, deviceDefault} {
		if c, ok := level(p); ok {
			c.Reason += p.remarks()
			return c, nil
		}
	}
	return safe(f, facts, w, p, fits)
}

// A candidate is a result that may be used here.
type candidate struct {
	variant *device.Variant
	nanos   float64
}

// tunedSize is an entry with what of it may be used.
type tunedSize struct {
	size    int
	winner  string
	slowest float64 // of every result, usable or not
	usable  []candidate
}

func (t *tunedSize) find(v *device.Variant) (candidate, bool) {
	for _, c := range t.usable {
		if c.variant == v {
			return c, true
		}
	}
	return candidate{}, false
}

// best is the winner when it may be used, else the fastest that may.
func (t *tunedSize) best() (c candidate, isWinner bool) {
	for _, c := range t.usable {
		if c.variant.Label == t.winner {
			return c, true
		}
	}
	return t.usable[0], false
}

// pool is everything the database knows of a family on a class of device.
type pool struct {
	w          Workload
	class      string
	name       string
	sizes      []tunedSize // ascending, each with something usable
	entries    int
	stale      int
	infeasible int
	why        error // of the first infeasible result
}

func (db *Database) pool(f *device.Family, facts device.Facts, w Workload, fits func(*device.Variant) error) *pool {
	p := &pool{w: w, class: facts.Class(), name: cmp.Or(facts.Name, facts.String())}
	if db == nil {
		return p
	}
	fixed := fixedString(w.Fixed)
	for i := range db.entries {
		e := &db.entries[i]
		if e.Family != f.Name || e.Class != p.class || e.Protocol != Protocol || fixedString(e.Fixed) != fixed {
			continue
		}
		p.entries++
		t := tunedSize{size: e.Size, winner: e.Winner}
		for j := range e.Results {
			r := &e.Results[j]
			t.slowest = max(t.slowest, float64(r.Nanos))
			v, ok := r.Valid(f)
			if !ok {
				p.stale++
				continue
			}
			if err := fits(v); err != nil {
				p.infeasible++
				p.why = cmp.Or(p.why, err)
				continue
			}
			t.usable = append(t.usable, candidate{v, float64(r.Nanos)})
		}
		if len(t.usable) > 0 {
			p.sizes = append(p.sizes, t)
		}
	}
	slices.SortFunc(p.sizes, func(a, b tunedSize) int { return cmp.Compare(a.size, b.size) })
	return p
}

// remarks tell of results that were passed over.
func (p *pool) remarks() string {
	var s string
	if p.stale > 0 {
		s += fmt.Sprintf("; %s of kernels that have changed since ignored as stale", results(p.stale))
	}
	if p.infeasible > 0 {
		s += fmt.Sprintf("; %s not feasible here ignored (%v)", results(p.infeasible), p.why)
	}
	return s
}

func results(n int) string {
	if n == 1 {
		return "1 tuned result"
	}
	return fmt.Sprintf("%d tuned results", n)
}

func exact(p *pool) (Choice, bool) {
	i := slices.IndexFunc(p.sizes, func(t tunedSize) bool { return t.size == p.w.Size })
	if i < 0 {
		return Choice{}, false
	}
	c, isWinner := p.sizes[i].best()
	what := "won"
	if !isWinner {
		what = "is the fastest usable runner-up"
	}
	return Choice{c.variant, Exact, fmt.Sprintf("exact: %s when size %d was tuned on %s", what, p.w.Size, p.name)}, true
}

func interpolated(p *pool) (Choice, bool) {
	hi := slices.IndexFunc(p.sizes, func(t tunedSize) bool { return t.size > p.w.Size })
	if hi < 1 || p.sizes[hi-1].size < 1 {
		return Choice{}, false
	}
	a, b := &p.sizes[hi-1], &p.sizes[hi]
	at := logRatio(p.w.Size, a.size) / logRatio(b.size, a.size)
	var best *device.Variant
	least, n, crowned := math.Inf(1), 0, false
	for _, c := range a.usable {
		d, ok := b.find(c.variant)
		if !ok {
			continue
		}
		n++
		crowned = crowned || c.variant.Label == a.winner || c.variant.Label == b.winner
		t := (1-at)*math.Log(c.nanos) + at*math.Log(d.nanos)
		if t < least || t == least && c.variant.Label < best.Label {
			best, least = c.variant, t
		}
	}
	if !crowned {
		return Choice{}, false
	}
	return Choice{best, Interpolated, fmt.Sprintf("interpolated: size %d lies between the tuned sizes %d and %d on %s, and of %d variants measured at both it is predicted fastest",
		p.w.Size, a.size, b.size, p.name, n)}, true
}

func nearest(p *pool) (Choice, bool) {
	if p.w.Size < 1 || len(p.sizes) == 0 {
		return Choice{}, false
	}
	var t *tunedSize
	between := p.sizes[0].size < p.w.Size && p.w.Size < p.sizes[len(p.sizes)-1].size
	for i := range p.sizes {
		s := &p.sizes[i]
		if s.size < 1 || between && math.Abs(logRatio(s.size, p.w.Size)) > math.Ln2+1e-9 {
			continue
		}
		if t == nil || math.Abs(logRatio(s.size, p.w.Size)) <= math.Abs(logRatio(t.size, p.w.Size)) {
			t = s
		}
	}
	if t == nil {
		return Choice{}, false
	}
	c, _ := t.best()
	return Choice{c.variant, Nearest, fmt.Sprintf("nearest: the best at size %d, the tuned size nearest to %d on %s", t.size, p.w.Size, p.name)}, true
}

func deviceDefault(p *pool) (Choice, bool) {
	var best *device.Variant
	least := math.Inf(1)
	for i := range p.sizes {
		for _, c := range p.sizes[i].usable {
			if s := p.slowdown(c.variant); s < least || s == least && c.variant.Label < best.Label {
				best, least = c.variant, s
			}
		}
	}
	if best == nil {
		return Choice{}, false
	}
	sizes := make([]string, len(p.sizes))
	for i, t := range p.sizes {
		sizes[i] = fmt.Sprint(t.size)
	}
	return Choice{best, DeviceDefault, fmt.Sprintf("device default: size %d lies far from all that was tuned on %s (%s), and this variant is the best all-rounder there (on average %.2f times the fastest)",
		p.w.Size, p.name, strings.Join(sizes, ", "), math.Exp(least))}, true
}

// slowdown is the mean log slowdown of a variant over all tuned sizes.
func (p *pool) slowdown(v *device.Variant) float64 {
	var sum float64
	for i := range p.sizes {
		t := &p.sizes[i]
		nanos := t.slowest
		if c, ok := t.find(v); ok {
			nanos = c.nanos
		}
		sum += math.Log(nanos / t.usable[0].nanos)
	}
	return sum / float64(len(p.sizes))
}

func safe(f *device.Family, facts device.Facts, w Workload, p *pool, fits func(*device.Variant) error) (Choice, error) {
	why := fmt.Sprintf("%s was not tuned for %s on %s", f.Name, cmp.Or(fixedString(w.Fixed), "this workload"), p.name)
	if p.entries > 0 {
		why = fmt.Sprintf("nothing tuned for %s on %s is usable", cmp.Or(fixedString(w.Fixed), "this workload"), p.name)
	}
	var first error
	var best *device.Variant
	distance := len(f.Params) + 1
	for i := range f.Variants {
		v := &f.Variants[i]
		err := fits(v)
		switch d := fromSafe(f, v); {
		case err == nil && d < distance:
			best, distance = v, d
		case err == nil:
		// The safe point of this workload tells most; a mismatch of fixed
		// parameters tells least.
		case first == nil || f.Fits(v, w.Fixed) == nil && v.Safe:
			first = fmt.Errorf("%s: %w", v.Label, err)
		}
	}
	if best != nil {
		what := "the safe point"
		problem, _, _ := strings.Cut(f.Name, "/")
		if distance > 0 {
			what = "the variant nearest to the safe point"
		}
		return Choice{best, Safe, fmt.Sprintf("safe: %s, so %s is used%s; coalesce tune %s measures the others", why, what, p.remarks(), problem)}, nil
	}
	if first == nil {
		return Choice{}, fmt.Errorf("%s: %w: the family has no variants", f.Name, ErrNoVariant)
	}
	return Choice{}, fmt.Errorf("%s: %w %s at size %d on %s: %w", f.Name, ErrNoVariant, fixedString(w.Fixed), w.Size, facts, first)
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

// logRatio is log(a/b) of two sizes.
func logRatio(a, b int) float64 { return math.Log(float64(a) / float64(b)) }
