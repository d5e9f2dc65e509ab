package qubo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coalesce/runtime/device"
)

// An engine is one way to search.
type engine struct {
	name    string // in Options.Engine
	about   string
	kinds   []string // of device that it runs on
	variant bool     // takes Options.Variant
	several bool     // takes Options.Others
	// open makes a search of one problem ready; what it takes is given back by
	// close, which may be nil.
	open func(d device.Device, p *normal, o Options) (opened, error)
}

// An opened engine is ready to search one problem.
type opened struct {
	search
	label  string           // the variant's; empty: there is none
	reason string           // why that variant
	used   map[string]Rules // of each engine that searches, the defaults filled in
	close  func() error
}

// engines are the ways to search, best first.
func engines() []engine {
	everywhere := []string{device.CUDA, device.Emulated, device.Host}
	plain := func(s search) func(device.Device, *normal, Options) (opened, error) {
		return func(device.Device, *normal, Options) (opened, error) { return opened{search: s}, nil }
	}
	return []engine{
		{name: "portfolio", about: "temper for sparse problems, bulk for others, and beside it a portfolio of searches on the host", kinds: everywhere[:1], variant: true, several: true, open: openTeam},
		{name: "bulk", about: "hundreds of tabu searches that share a pool, a block or a cluster of blocks each", kinds: everywhere[:2], variant: true, several: true, open: openBulkEngine},
		{name: "temper", about: "replica exchange with cluster moves, 32 replicas a block, for sparse problems", kinds: everywhere[:2], variant: true, several: true, open: openTemperEngine},
		{name: "host", about: "a portfolio of searches that share a pool, on all cores", kinds: everywhere, open: openHostEngine},
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
		case o.Engine == "" && (!runs || o.Variant != "" && !e.variant || len(o.Others) > 0 && !e.several):
		case o.Engine == "":
			return plan{e, fmt.Sprintf("the best on %s: %s", facts, e.about)}, nil
		case o.Engine != e.name:
		case !runs:
			return plan{}, fmt.Errorf("engine %s runs on %s, not on %s", e.name, strings.Join(e.kinds, ", "), facts)
		case o.Variant != "" && !e.variant:
			return plan{}, fmt.Errorf("variant %q: engine %s has no variants", o.Variant, e.name)
		case len(o.Others) > 0 && !e.several:
			return plan{}, fmt.Errorf("engine %s runs on one device, found %d", e.name, 1+len(o.Others))
		default:
			return plan{e, "asked for by name"}, nil
		}
	}
	if o.Engine != "" {
		return plan{}, fmt.Errorf("engine %q: expected one of %s", o.Engine, strings.Join(Engines(), ", "))
	}
	if len(o.Others) > 0 {
		return plan{}, fmt.Errorf("no engine runs on several devices like %s", facts)
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
