package qubo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
)

// An engine is one way to search.
type engine struct {
	name    string // in Options.Engine
	about   string
	kinds   []string // of device that it runs on
	variant bool     // takes Options.Variant
	// open makes a search of one problem ready; what it takes is given back by
	// close, which may be nil.
	open func(d device.Device, p *normal, o Options) (opened, error)
}

// An opened engine is ready to search one problem.
type opened struct {
	search
	label  string // the variant's; empty: there is none
	reason string // why that variant
	close  func() error
}

// engines are the ways to search, best first.
func engines() []engine {
	everywhere := []string{device.CUDA, device.Emulated, device.Host}
	plain := func(s search) func(device.Device, *normal, Options) (opened, error) {
		return func(device.Device, *normal, Options) (opened, error) { return opened{search: s}, nil }
	}
	return []engine{
		{name: "portfolio", about: "bulk, and beside it a portfolio of searches on the host", kinds: everywhere[:1], variant: true, open: openTeam},
		{name: "bulk", about: "hundreds of tabu searches that share a pool, a block each", kinds: everywhere[:2], variant: true, open: openBulkEngine},
		{name: "host", about: "a portfolio of searches that share a pool, on all cores", kinds: everywhere, open: plain(hostSearch{})},
		{name: "multistart", about: "massive multi-start (Lewis 2017)", kinds: everywhere, open: openMultistartEngine},
		{name: "reference", about: "one-flip tabu search as plainly as it can be written", kinds: everywhere, open: plain(referenceSearch{})},
	}
}

// Engines are the names that Options.Engine takes.
func Engines() []string {
	var names []string
	for _, e := range engines() {
		names = append(names, e.name)
	}
	return names
}

// A plan is what searches an instance.
type plan struct {
	engine engine
	reason string
}

// planFor plans for a device: the engine asked for, or the best that runs there.
func planFor(facts device.Facts, o Options) (plan, error) {
	for _, e := range engines() {
		runs := slices.Contains(e.kinds, facts.Kind)
		switch {
		case o.Engine == "" && (!runs || o.Variant != "" && !e.variant):
		case o.Engine == "":
			return plan{e, fmt.Sprintf("the best on %s: %s", facts, e.about)}, nil
		case o.Engine != e.name:
		case !runs:
			return plan{}, fmt.Errorf("engine %s runs on %s, not on %s", e.name, strings.Join(e.kinds, ", "), facts)
		case o.Variant != "" && !e.variant:
			return plan{}, fmt.Errorf("variant %q: engine %s has no variants", o.Variant, e.name)
		default:
			return plan{e, "asked for by name"}, nil
		}
	}
	if o.Engine != "" {
		return plan{}, fmt.Errorf("engine %q: expected one of %s", o.Engine, strings.Join(Engines(), ", "))
	}
	return plan{}, fmt.Errorf("variant %q: no engine on %s has variants", o.Variant, facts)
}

// rounded is a search of a problem with rounded coefficients, for engines of
// narrow types. Values are those of the problem itself.
type rounded struct {
	inner search
	p     *normal
}

func (s rounded) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	limits, best := o, int64(math.MinInt64)
	o.target = nil
	if o.elite != nil {
		o.elite = func(_ int64, x []uint64) { limits.elite(p.value(x), x) }
	}
	return s.inner.search(ctx, s.p, o, func(_ int64, x []uint64, at time.Duration) {
		v := p.value(x)
		if v <= best {
			return
		}
		best = v
		found(v, x, at)
		if limits.met(v) {
			stop()
		}
	})
}

// openBulkEngine makes qubo/bulk ready, with rounded coefficients where no
// variant holds those of p.
func openBulkEngine(d device.Device, p *normal, o Options) (opened, error) {
	q := p
	if !p.exact { // rounded anyway: to what fits the fast types
		q = p.coarse(int32s)
	}
	v, reason, err := bulkChoice(q, o)
	for _, limit := range []int64{int32s, narrowest} {
		if err != nil && p.spans().delta > limit {
			q = p.coarse(limit)
			v, reason, err = bulkChoice(q, o)
		}
	}
	if err != nil {
		return opened{}, fmt.Errorf("%w: %w", errUnfit, err)
	}
	b, err := newBulk(d, v, q, nil)
	if err != nil {
		return opened{}, err
	}
	e := opened{search: b, label: v.Label, reason: reason, close: b.Close}
	if q != p {
		e.search, e.reason = rounded{b, q}, e.reason+"; its coefficients are rounded"
	}
	return e, nil
}

// Bounds on deltas that variants exist for: those with rows of int32, and all.
const (
	int32s    = 1 << 29
	narrowest = 1 << 22
)

// errUnfit is of an engine that cannot hold a problem: another searches it.
var errUnfit = errors.New("no variant holds the problem")

// bulkChoice picks the variant that o asks for, or the one for the problem.
func bulkChoice(p *normal, o Options) (*device.Variant, string, error) {
	if o.Variant == "" {
		v, err := bulkVariant(p)
		return v, "the narrowest rows and the least room to spare", err
	}
	v := qubo.Bulk.Variant(o.Variant)
	if v == nil {
		return nil, "", fmt.Errorf("%s has no variant %q; it has %d, such as %q", qubo.Bulk.Name, o.Variant, len(qubo.Bulk.Variants), qubo.Bulk.Variants[0].Label)
	}
	_, err := bulkFormOf(v, p, p.spans())
	return v, "asked for by name", err
}

// Memory is how many bytes solving an instance on the host takes besides the
// instance, about.
func (inst *Instance) Memory() int64 {
	n, entries := int64(inst.N), int64(len(inst.Col))
	need := 64 * n
	if inst.Form != QUBO || inst.Sense == Minimize || inst.Real != nil {
		need += 8 * entries
	}
	if inst.Real != nil {
		need += 8 * entries
	}
	if n > 1 && float64(entries) >= denseFrom*float64(n)*float64(n-1) {
		return need + 2*n*n
	}
	return need + 12*entries
}

// until is the deadline of a share of the time that is left; zero: none.
func until(deadline time.Time, share float64) time.Time {
	if deadline.IsZero() {
		return deadline
	}
	return time.Now().Add(time.Duration(share * float64(time.Until(deadline))))
}
