package tuned

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/runtime/device"
)

// A Workload is what a variant is chosen for, and what its problem says of variants.
type Workload struct {
	// Fixed are parameters that the problem decides, {"value": "int32"}, and
	// what else tells problems apart: {"range": "wide"}.
	Fixed map[string]string
	Size  int // of the instance, in the family's own measure
	Prior Prior

	// HasRoom reports whether a variant can run at another size: one that cannot has no result there for that reason, not
	// for being slow. It may be nil: not known.
	HasRoom func(v *device.Variant, size int) bool
	// Comparable says why a variant's result at another size tells nothing of this instance. It may be nil: all results tell.
	Comparable func(v *device.Variant, size int) error
	// WaveCost is the logarithm of how much longer a variant takes at a size, on so many multiprocessors, because its last
	// wave of work is not full (WaveQuantization). It may be nil: times grow without steps.
	WaveCost func(v *device.Variant, size, sms int) float64
}

// A Prior is the variant that a problem's shape suits best, where no result tells; the zero value is none.
type Prior struct {
	Variant *device.Variant
	Why     string // for people
}

// Levels of a choice: what it rests on.
const (
	Exact         = "exact"          // this size was tuned
	Interpolated  = "interpolated"   // predicted from the tuned sizes around it
	Nearest       = "nearest"        // predicted from the nearest tuned size, beyond which there is none
	FamilyDefault = "family default" // predicted from devices that run other code
	Predicted     = "predicted"      // not tuned: what suits the problem's shape
	Safe          = "safe"           // not tuned: the manifest's safe point
	ByName        = "asked"          // the user named the variant
)

// ErrNoVariant is wrapped when no variant of the family can run the workload.
var ErrNoVariant = errors.New("no variant fits")

// VariantByLabel is the variant with a label, where it has the workload's fixed parameters
// and feasible, which may be nil, does not say why it cannot run.
func VariantByLabel(f *device.Family, label string, w Workload, feasible func(*device.Variant) error) (Choice, error) {
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

// predictFastest picks the variant of f with the least predicted time, of those measured at the tuned sizes next to the workload's:
// at this size, or at one on each side, or at the nearest where all lie on one side. Between two sizes times are
// interpolated (span). A result counts where its variant can run and, at another size, is comparable.
//
// The results are those of the nearest class of device for the nearest workload (resultsFor). They may be of another class, at
// the size that gives each multiprocessor as much work, or of a workload that differs in one fixed parameter, another range
// or type of values, with variants that differ alike. A prior goes before other workloads' results, and those of devices that run other
// code. Where no result counts, the choice is the prior or the safe point or, where that does not fit, the variant that does and
// differs from it in the fewest parameters.
//
// Only variants with the workload's fixed parameters, and only results whose
// variant is in the binary with the same hash and compiled alike, take part; those that the
// device cannot load (Facts.CheckLoadable) are passed over. feasible may be nil; else it says why a
// variant cannot run. The error wraps ErrNoVariant.
func (db *Database) predictFastest(f *device.Family, facts device.Facts, w Workload, feasible func(*device.Variant) error) (Choice, error) {
	k, err := db.knowledgeOf(compiledFamily{f, facts.Compiler})
	if err != nil {
		return Choice{}, err
	}
	s := search{family: f, facts: facts, w: w, feasible: feasible}
	if s.pool = k.resultsFor(f, &facts, w.Fixed, w.Prior.Variant != nil); s.pool != nil {
		if c, ok := s.fastest(); ok {
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

	pool    *pool // results that serve the workload; nil: none
	refused int   // results that do not count
	why     error // of the first
}

// checkRunnable says why a variant cannot run on the device, or cannot be loaded there.
func (s *search) checkRunnable(v *device.Variant) error {
	if err := s.facts.CheckLoadable(s.family, v); err != nil || s.feasible == nil {
		return err
	}
	return s.feasible(v)
}

// counts reports whether a variant's result at a tuned size tells of the workload: the variant can run and, where that is
// another size, is comparable.
func (s *search) counts(v *device.Variant, t *tunedSize) bool {
	err := s.checkRunnable(v)
	if err == nil && t.size != s.w.Size && s.w.Comparable != nil {
		err = s.w.Comparable(v, t.size)
	}
	if err != nil {
		s.refused, s.why = s.refused+1, cmp.Or(s.why, err)
	}
	return err == nil
}

// first is the first tuned size with a result that counts, in steps of 1 or -1 from an index on; nil: none.
func (s *search) first(from, step int) *tunedSize {
	for i := from; i >= 0 && i < len(s.pool.sizes); i += step {
		t := &s.pool.sizes[i]
		for j := range t.usable {
			if s.counts(t.usable[j].variant, t) {
				return t
			}
		}
	}
	return nil
}

// around are the tuned sizes next to the workload's with results that count, both the same where it is this size or all lie
// on one side; nil: none.
func (s *search) around() (low, high *tunedSize) {
	at, _ := slices.BinarySearchFunc(s.pool.sizes, s.w.Size, func(t tunedSize, size int) int { return cmp.Compare(t.size, size) })
	high = s.first(at, 1)
	if high != nil && high.size == s.w.Size {
		return high, high
	}
	low = s.first(at-1, -1)
	return cmp.Or(low, high), cmp.Or(high, low)
}

// fastest is the variant with the least predicted time; false where no result counts.
func (s *search) fastest() (Choice, bool) {
	low, high := s.around()
	if low == nil {
		return Choice{}, false
	}
	s.refused, s.why = 0, nil
	x := s.w.interpolate(s.facts.SMs, low, high)
	var best *device.Variant
	least, n := math.Inf(1), 0
	for c, t := range x.candidates() {
		n++
		t -= x.winnerBonus(c.variant)
		if (t < least || t == least && c.variant.Label < best.Label) && s.eligible(c.variant, &x) {
			best, least = c.variant, t
		}
	}
	level := Nearest
	switch {
	case !s.pool.class.sameCode(classFor(&s.facts)):
		level = FamilyDefault
	case low != high:
		level = Interpolated
	case low.size == s.w.Size && low.trusted():
		level = Exact
	}
	return s.choice(best, level, evidence{low: low, high: high, won: low.winner == best, count: n}), true
}

// eligible reports whether one of a variant's results at the two sizes counts.
func (s *search) eligible(v *device.Variant, x *interpolation) bool {
	return x.low.find(v) != nil && s.counts(v, x.low) || x.high != x.low && x.high.find(v) != nil && s.counts(v, x.high)
}

// choice explains a candidate, and the variants passed over.
func (s *search) choice(v *device.Variant, level string, e evidence) Choice {
	e.family, e.refused, e.why, e.pool = s.family, s.refused, s.why, s.pool
	e.asked, e.prior, e.driver, e.here = s.w.Size, s.w.Prior.Why, s.facts.Driver, classFor(&s.facts)
	return Choice{v, level, e}
}

// untuned is what suits the problem's shape, or the safe point.
func (s *search) untuned(k *knowledge) (Choice, error) {
	f := s.family
	if v := s.w.Prior.Variant; v != nil && s.checkRunnable(v) == nil {
		return s.choice(v, Predicted, evidence{}), nil
	}
	var first error
	for _, x := range k.order {
		if !hasFixedParams(f, x.variant, s.w.Fixed) {
			continue
		}
		if err := s.checkRunnable(x.variant); err != nil {
			if first == nil { // the safe point's tells most
				first = fmt.Errorf("%s: %w", x.variant.Label, err)
			}
			continue
		}
		return s.choice(x.variant, Safe, evidence{fixed: s.w.Fixed, name: s.name(), won: s.pool != nil, count: x.differ}), nil
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

// hasFixedParams reports whether a variant has the fixed parameters: device.Family.CheckWorkload without words.
func hasFixedParams(f *device.Family, v *device.Variant, fixed map[string]string) bool {
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

// logRatio is log(a/b) of two counts; 0 counts as 1.
func logRatio(a, b int) float64 { return math.Log(float64(max(1, a)) / float64(max(1, b))) }
