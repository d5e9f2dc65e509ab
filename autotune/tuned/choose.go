package tuned

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// A Workload is what a variant is chosen for.
type Workload struct {
	// Fixed are parameters that the problem decides, {"value": "int32"}, and
	// what else tells problems apart: {"range": "wide"}.
	Fixed map[string]string
	Size  int // of the instance, in the family's own measure

	// Similar says why results at other sizes tell nothing of a variant for this
	// instance, whose shape suits it badly; a result at this size overrules it. It may
	// be nil.
	Similar func(v *device.Variant) error
	// Suits is the variant that the problem's shape suits best, where no result tells;
	// nil: the manifest's safe point. Why says so to people.
	Suits *device.Variant
	Why   string
	// Speaks reports whether results at another size tell anything of this one; nil: all do.
	Speaks func(size int) bool
	// Spread cuts a variant's work at a size into equal parts, and says how many run at once on so many multiprocessors; nil
	// where times do not go by that. A last round that is not full takes more than its share: times grow by steps.
	Spread    func(v *device.Variant, size, sms int) (parts, atOnce int)
	LastRound float64 // weight of that, from 0, the share alone, to 1, as long as a full round; 0 stands for 0.6
	// Holds reports whether a variant has room for another size; nil: not known.
	Holds func(v *device.Variant, size int) bool
}

// Levels of a choice, best first.
const (
	Exact         = "exact"          // this size was tuned on this class of device
	Interpolated  = "interpolated"   // predicted from the tuned sizes around it
	Extrapolated  = "extrapolated"   // predicted from the two tuned sizes on one side of it
	Nearest       = "nearest"        // the winner at the nearest tuned size
	DeviceDefault = "device default" // the best all-rounder of this class
	FamilyDefault = "family default" // the best all-rounder of all classes of the kind
	Predicted     = "predicted"      // not tuned: what suits the problem's shape
	Safe          = "safe"           // not tuned: the manifest's safe point
	ByName        = "asked"          // the user named the variant
)

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
	c := Choice{Variant: v, Level: ByName}
	if feasible != nil {
		if err := feasible(v); err != nil {
			return c, refused{err}
		}
	}
	return c, nil
}

// ErrRefused is wrapped when a variant that was asked for by name cannot run the workload.
var ErrRefused = errors.New("the variant asked for cannot run")

// refused is why a variant that was asked for cannot run, in the words of who says so.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, ErrRefused} }

// best picks the variant of f that measurements speak for. Results are looked for on
// this class of device and for these fixed parameters first; then on other classes of
// the same compute capability (of hosts: vector instructions), that with the most equal number of multiprocessors
// first, at the size that gives each of those as much work as this size gives each of
// this device's. On a GPU sizes at which another class alone was tuned take their place among this
// class's, their times multiplied by what times here are over times there; so do results of variants that this
// class has none of, at sizes of both. Then come results for
// workloads that differ in one fixed parameter (another range, or another type of values, the nearest
// that is known, whose winners' other parameters are taken over), here and on
// such classes, unless w.Suits tells more. Among the results found the levels are, best first:
//
//   - exact: the winner at this size; where it is not feasible, the fastest that is;
//     where it is stale, the fastest that is not, if within a tenth of its time.
//   - interpolated: among the variants measured at the tuned sizes around this
//     one, the least time, log(time) being taken as linear in log(size) between
//     them, but for what the last round of parts takes longer because it is not full
//     (w.Spread), which is known at each size. The growth that all candidates have in common
//     cancels in their order, so that the rule serves sizes that are counts (time a power of
//     size) as well as exponents (csg, where n agents take 3^n). A variant measured at one of
//     the two sizes alone is taken to grow as those do that were measured at both, of which
//     there must be one, and to be slower by some, and than the winner, where it has room (w.Holds) and no result.
//     What won at both sizes stays unless another is predicted faster by more than times are off.
//   - extrapolated: the same from the two tuned sizes nearest to a size that lies a
//     factor of two beyond all, or more; at most as far beyond as twice the distance
//     between them, since errors of measurement grow with it, and mostly by the growth that all have
//     in common. The winner at the nearer size stays unless another is predicted faster by
//     more than such errors have grown to.
//   - nearest: the winner at the tuned size with the least |Δ log size|, the
//     larger on a tie, when it lies within a factor of two or no tuned size lies
//     beyond: what is fastest changes with the size, so that the other sizes,
//     which are farther still, say less.
//     Sizes that w.Speaks passes over take part in neither.
//   - device default: the least geometric-mean slowdown over all tuned sizes of
//     the class; at a size it was not measured, a variant counts as slow as the
//     slowest kept there. w.Suits, where there is one, tells more.
//
// Without any of these:
//
//   - family default: the least geometric-mean slowdown over all that was tuned for
//     these fixed parameters on devices of this kind, unless w.Suits tells more.
//   - predicted: w.Suits, where there is one that is feasible.
//   - safe: the manifest's safe point or, where that does not fit, the variant
//     that does and differs from it in the fewest parameters.
//
// Only variants with the workload's fixed parameters, and only results whose
// variant is in the binary with the same hash and compiled alike, take part; those that the
// device cannot load (Facts.CheckLoadable) are passed over. feasible may be nil; else it says why a
// variant cannot run. The error wraps ErrNoVariant.
func (db *Database) best(f *device.Family, facts device.Facts, w Workload, feasible func(*device.Variant) error) (Choice, error) {
	k, err := db.about(compiled{f, facts.Compiler})
	if err != nil {
		return Choice{}, err
	}
	s := search{family: f, facts: facts, w: w, feasible: feasible}
	for _, related := range []bool{false, true} {
		if related && w.Suits != nil {
			break
		}
		pools := k.together(s.closest(k, false, related), s.closest(k, true, related))
		for _, far := range []bool{false, true} {
			for _, p := range pools {
				if c, ok := s.among(p, related, far); ok {
					return c, nil
				}
			}
		}
	}
	if w.Suits == nil {
		if c, ok := s.familyDefault(k); ok {
			return c, nil
		}
	}
	return s.untuned(k)
}

// nothing stands for no database.
var nothing = &Database{}

// A search is one choice.
type search struct {
	family   *device.Family
	facts    device.Facts
	w        Workload
	feasible func(*device.Variant) error

	size    int   // the workload's, or what takes its place on a device with more or fewer multiprocessors
	known   bool  // something was tuned for such a workload on such a device
	refused int   // results of the level at hand whose variant is not feasible
	why     error // of the first
}

// runs says why a variant cannot run on the device, or cannot be loaded there.
func (s *search) runs(v *device.Variant) error {
	if err := s.facts.CheckLoadable(s.family, v); err != nil || s.feasible == nil {
		return err
	}
	return s.feasible(v)
}

// fits reports whether a variant, which has the fixed parameters, can run and, where it
// was measured at another size, suits the problem's shape.
func (s *search) fits(c *candidate, measured bool) bool {
	if err := s.runs(c.variant); err != nil {
		s.refused, s.why = s.refused+1, cmp.Or(s.why, err)
		return false
	}
	return measured || s.w.Similar == nil || s.w.Similar(c.variant) == nil
}

// closest are the results of this class of device, or of its kin, for the workload's fixed
// parameters, or for those that differ in one; nil where there are none.
func (s *search) closest(k *knowledge, kin, related bool) (nearest *pool) {
	pools := k.pools
	if related {
		pools = k.relatives(s.family, s.w.Fixed)
	}
	for _, p := range pools {
		if p.is(&s.facts) == kin || kin && !p.kin(&s.facts) || !p.same(s.w.Fixed) {
			continue
		}
		if nearest == nil || s.closer(p, nearest) {
			nearest = p
		}
	}
	return nearest
}

// closer reports whether the results of p say more than those of q: by the number of multiprocessors,
// then by how much the workload differs, then by the sizes.
func (s *search) closer(p, q *pool) bool {
	if c := cmp.Compare(p.apart(&s.facts), q.apart(&s.facts)); c != 0 {
		return c < 0
	}
	if p.steps != q.steps {
		return p.steps < q.steps
	}
	return p.distance(s.w.Size) < q.distance(s.w.Size)
}

// among chooses from the closest results, near the size or at any.
func (s *search) among(closest *pool, related, far bool) (Choice, bool) {
	if closest == nil {
		return Choice{}, false
	}
	s.known = s.known || !related
	s.size = closest.alike(&s.facts, s.w.Size)
	if c, ok := s.exact(closest); ok {
		return c, true
	}
	if c, ok := s.between(closest, far); ok {
		return c, true
	}
	if c, ok := s.nearest(closest, far); ok || !far {
		return c, ok
	}
	return s.deviceDefault(closest)
}

// choice tells of a candidate and of what was passed over.
func (s *search) choice(v *device.Variant, level string, e evidence) Choice {
	e.family, e.size, e.refused, e.why = s.family, s.size, s.refused, s.why
	e.asked, e.predicted, e.driver, e.sms = s.w.Size, s.w.Why, s.facts.Driver, s.facts.SMs
	e.kin = e.pool != nil && !e.pool.is(&s.facts)
	return Choice{v, level, e}
}

// closeTo is how much slower than a stale winner a runner-up may be that stands in.
const closeTo = 1.1

// best is the winner where it is feasible, else the fastest that is. Where the winner
// is stale, the fastest counts only close to it.
func (s *search) best(t *tunedSize) (c *candidate, won bool) {
	measured := t.size == s.size
	if t.winner != nil && s.fits(t.winner, measured) {
		return t.winner, true
	}
	for i := range t.usable {
		c := &t.usable[i]
		if t.winner == nil && c.nanos > closeTo*t.winnerNanos {
			return nil, false
		}
		if c != t.winner && s.fits(c, measured) {
			return c, false
		}
	}
	return nil, false
}

func (s *search) exact(p *pool) (Choice, bool) {
	s.refused, s.why = 0, nil
	for i := range p.sizes {
		if t := &p.sizes[i]; t.size == s.size {
			c, won := s.best(t)
			if c == nil {
				return Choice{}, false
			}
			return s.choice(c.variant, Exact, evidence{pool: p, low: t, won: won}), true
		}
	}
	return Choice{}, false
}

// between interpolates or, of results far away, extrapolates a factor of two and more beyond
// all sizes.
func (s *search) between(p *pool, far bool) (Choice, bool) {
	s.refused, s.why = 0, nil
	sizes := s.speaking(p)
	if len(sizes) < 2 || s.size < 1 || sizes[0].size < 1 {
		return Choice{}, false
	}
	hi := 0
	for hi < len(sizes) && sizes[hi].size < s.size {
		hi++
	}
	level := Interpolated
	switch {
	case !far && (hi == len(sizes) || hi == 0):
		return Choice{}, false
	case hi == len(sizes) && s.size >= 2*sizes[hi-1].size:
		hi, level = hi-1, Extrapolated
	case hi == 0 && 2*s.size <= sizes[0].size:
		hi, level = 1, Extrapolated
	case hi == len(sizes) || hi == 0:
		return Choice{}, false
	}
	x := s.spanning(&sizes[hi-1], &sizes[hi])
	if x.common == 0 {
		return Choice{}, false
	}
	var best *candidate
	least, n := math.Inf(1), 0
	for c, t := range x.all() {
		if !s.fits(c, false) {
			continue
		}
		n++
		if t < least || t == least && c.variant.Label < best.variant.Label {
			best, least = c, t
		}
	}
	if best == nil {
		return Choice{}, false
	}
	held, lead := x.low.winner, math.Log1p(tied)
	if beyond := max(x.at-1, -x.at); beyond > 0 {
		lead *= 1 + 2*beyond
		if x.at > 1 {
			held = x.high.winner
		}
	} else if held != nil && (x.high.winner == nil || x.high.winner.variant != held.variant) {
		held = nil
	}
	if held != nil && s.fits(held, false) && x.log(held.variant) <= least+lead {
		best = held
	}
	return s.choice(best.variant, level, evidence{pool: p, low: x.low, high: x.high, count: n}), true
}

// tied is the share by which a measured time is taken to be off by chance.
const tied = 0.05

// spanning is the span of two tuned sizes for the workload.
func (s *search) spanning(low, high *tunedSize) span {
	return spanning(s.w.target(s.facts.SMs), s.size, low, high)
}

// speaking are the sizes of a pool whose results tell something of the workload's.
func (s *search) speaking(p *pool) []tunedSize {
	silent := func(t tunedSize) bool { return !s.w.Speaks(t.size) }
	if s.w.Speaks == nil || !slices.ContainsFunc(p.sizes, silent) {
		return p.sizes
	}
	return slices.DeleteFunc(slices.Clone(p.sizes), silent)
}

func (s *search) nearest(p *pool, far bool) (Choice, bool) {
	s.refused, s.why = 0, nil
	sizes := s.speaking(p)
	if s.size < 1 || len(sizes) == 0 {
		return Choice{}, false
	}
	var t *tunedSize
	var best *candidate
	farthest := math.Ln2 + 1e-9
	if !far {
		farthest = math.Ln2 - 1e-9 // from twice a size on, growth tells more
	}
	between := sizes[0].size < s.size && s.size < sizes[len(sizes)-1].size
	for i := range sizes {
		x := &sizes[i]
		if x.size < 1 || x.size == s.size || (between || !far) && math.Abs(logRatio(x.size, s.size)) > farthest ||
			t != nil && math.Abs(logRatio(x.size, s.size)) > math.Abs(logRatio(t.size, s.size)) {
			continue
		}
		if c, _ := s.best(x); c != nil {
			t, best = x, c
		}
	}
	if t == nil {
		return Choice{}, false
	}
	return s.choice(s.bySpread(best, t).variant, Nearest, evidence{pool: p, low: t}), true
}

// bySpread is the best at a size near the workload's or, where by the spread of parts another takes less time
// at the workload's size by more than measured times are off, that other.
func (s *search) bySpread(best *candidate, t *tunedSize) *candidate {
	if s.w.Spread == nil {
		return best
	}
	to := s.w.target(s.facts.SMs)
	here := func(c *candidate) float64 { return to.even(c, t) + to.uneven(c) }
	least := here(best) - math.Log1p(tied)
	for i := range t.usable {
		if c := &t.usable[i]; here(c) < least && s.fits(c, false) {
			best, least = c, here(c)
		}
	}
	return best
}

func (s *search) deviceDefault(p *pool) (Choice, bool) {
	if s.refused, s.why = 0, nil; s.w.Suits != nil {
		return Choice{}, false
	}
	for i := range p.rounders {
		if c := &p.rounders[i]; s.fits(c, false) {
			return s.choice(c.variant, DeviceDefault, evidence{pool: p, ratio: math.Exp(c.log)}), true
		}
	}
	return Choice{}, false
}

// familyDefault is the best all-rounder of all classes of the device's kind.
func (s *search) familyDefault(k *knowledge) (Choice, bool) {
	var room [16]*pool
	pools, classes := room[:0], 0
	for _, p := range k.pools {
		if p.class.kind == s.facts.Kind && p.same(s.w.Fixed) {
			pools = append(pools, p)
			if !p.is(&s.facts) {
				classes++
			}
		}
	}
	var best *candidate
	least := math.Inf(1)
	for _, p := range pools {
		for i := range p.rounders {
			c, sum := &p.rounders[i], 0.0
			for _, q := range pools {
				sum += q.slowdown(c.variant)
			}
			if mean := sum / float64(len(pools)); (mean < least || mean == least && c.variant.Label < best.variant.Label) && s.fits(c, false) {
				best, least = c, mean
			}
		}
	}
	if best == nil {
		return Choice{}, false
	}
	return s.choice(best.variant, FamilyDefault, evidence{count: classes, ratio: math.Exp(least)}), true
}

// untuned is what suits the problem's shape, or the safe point.
func (s *search) untuned(k *knowledge) (Choice, error) {
	f := s.family
	if v := s.w.Suits; v != nil && s.runs(v) == nil {
		return s.choice(v, Predicted, evidence{}), nil
	}
	var first error
	for _, x := range k.order {
		if !has(f, x.variant, s.w.Fixed) {
			continue
		}
		if err := s.runs(x.variant); err != nil {
			if first == nil { // the safe point's tells most
				first = fmt.Errorf("%s: %w", x.variant.Label, err)
			}
			continue
		}
		return s.choice(x.variant, Safe, evidence{fixed: s.w.Fixed, name: s.name(), won: s.known, count: x.apart}), nil
	}
	switch {
	case len(k.order) == 0:
		return Choice{}, fmt.Errorf("%s: %w: the family has no variants", f.Name, ErrNoVariant)
	case first == nil:
		v := k.order[0].variant
		first = fmt.Errorf("%s: %w", v.Label, f.CheckWorkload(v, s.w.Fixed))
	}
	workload := fixedString(s.w.Fixed)
	if workload != "" {
		workload += " "
	}
	return Choice{}, fmt.Errorf("%s: %w %sat size %d on %s: %w", f.Name, ErrNoVariant, workload, s.w.Size, s.facts, first)
}

// has reports whether a variant has the fixed parameters: device.Family.CheckWorkload without words.
func has(f *device.Family, v *device.Variant, fixed map[string]string) bool {
	for i, p := range f.Params {
		if want, ok := fixed[p]; ok && v.Values[i] != want {
			return false
		}
	}
	return true
}

// name is what people call the device.
func (s *search) name() string {
	if s.facts.Name == "" {
		return s.facts.String()
	}
	return s.facts.Name
}

// logRatio is log(a/b) of two sizes.
func logRatio(a, b int) float64 { return math.Log(float64(a) / float64(b)) }
