package qubo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
)

// openTemperEngine makes qubo/temper ready, on each of several devices with
// random numbers of its own, with rounded coefficients where no variant holds
// those of p.
func openTemperEngine(d device.Device, p *normal, o setup) (opened, error) {
	q := p
	if !p.exact {
		q = p.coarse(int32s)
	}
	c, err := temperChoice(d.Facts(), q, o)
	if err != nil && p.spans().delta > narrowest {
		q = p.coarse(narrowest)
		c, err = temperChoice(d.Facts(), q, o)
	}
	if err != nil {
		return opened{}, fmt.Errorf("%w: %w", errUnfit, err)
	}
	e := opened{label: c.Variant.Label, reason: c.Reason, used: map[string]Rules{"temper": temperRulesBy(o.rules, q.n)}}
	var members team
	var closes []func() error
	e.close = func() (err error) {
		for _, give := range closes {
			err = errors.Join(err, give())
		}
		return err
	}
	for k, each := range append([]device.Device{d}, o.others...) {
		t, err := newTemper(each, c.Variant, q, temperRules{})
		if err != nil {
			return opened{}, errors.Join(err, e.close())
		}
		members, closes = append(members, seeded{t, uint64(k)}), append(closes, t.Close)
	}
	if e.search = members; len(members) == 1 {
		e.search = members[0]
	}
	if q != p {
		e.search, e.reason = rounded{e.search, q}, e.reason+"; its coefficients are rounded"
	}
	return e, nil
}

// seeded is a search whose random numbers are not those of others of the seed.
type seeded struct {
	inner  search
	stream uint64
}

func (s seeded) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	if s.stream > 0 {
		o.seed = coins(o.seed, s.stream, 0)
	}
	return s.inner.search(ctx, p, o, found)
}

// temperChoice picks a variant: one with room for cluster moves where those may
// pay, unless it is asked for by name.
func temperChoice(facts device.Facts, p *normal, o setup) (tuned.Choice, error) {
	family, needs := &qubo.Temper, temperNeedsOf(p)
	fits := func(v *device.Variant, clusters bool) error {
		f, err := needs.form(v)
		if err != nil {
			return err
		}
		return f.fits(facts, p.n, clusters)
	}
	asked := func(v *device.Variant) error { return fits(v, false) }
	return choose(family, facts, o, asked, func() (fallback, error) {
		suits, err := temperVariant(facts, needs)
		if err != nil {
			return fallback{}, err
		}
		w := tuned.Workload{Fixed: map[string]string{"weight": family.Value(suits, "weight")}, Size: p.n}
		near := func(v *device.Variant) error { return fits(v, needs.clusters()) }
		return fallback{suits, "slots of one size where weights allow, and threads that suit so many variables", w, near}, nil
	})
}

// sparse reports whether replica exchange with rows of neighbours is ahead of
// tabu search with rows of a matrix: few neighbours, also for so many variables.
func sparse(p *normal) bool {
	degree := len(p.col) / max(1, p.n)
	return degree <= 64 && 8*degree <= p.n
}

// temperLabel reports whether a label is of a variant of qubo/temper.
func temperLabel(label string) bool { return qubo.Temper.Variant(label) != nil }
