package tempering

import (
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Open makes qubo/temper ready on every device, with rounded coefficients where no variant holds
// those of p.
func Open(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	q, c, err := search.ChooseRounding(p, o, chooseVariant, search.NarrowDeltas)
	if err != nil {
		return search.OpenedEngine{}, err
	}
	e := search.OpenedEngine{Label: c.Variant.Label, Reason: c.Reason(), Used: map[string]search.Rules{"temper": withRules(o.Rules, q.N)}}
	var closes []func() error
	e.Close = func() (err error) {
		for _, give := range closes {
			err = errors.Join(err, give())
		}
		return err
	}
	for _, each := range o.Devices {
		t, err := newTemper(each, c.Variant, q, settings{})
		if err != nil {
			return search.OpenedEngine{}, errors.Join(err, e.Close())
		}
		e.Members, closes = append(e.Members, t), append(closes, t.Close)
	}
	return e.For(p, q), nil
}

// chooseVariant picks a variant: one with room for cluster moves where those may pay, unless
// another was asked for by name or measured at this size.
func chooseVariant(facts device.Facts, p *problem.Normal, o search.Setup) (tuned.Choice, error) {
	needs := needsOf(p)
	asked := func(v *device.Variant) error { return needs.takenBy(v, facts, false) }
	return search.ChooseVariant(&qubo.Temper, facts, o, asked, func() (tuned.Workload, error) { return needs.workload(facts) })
}

// takenBy returns an error where a variant cannot take the problem on a device, with memory for
// cluster moves or without.
func (s requirements) takenBy(v *device.Variant, facts device.Facts, clusters bool) error {
	f, err := s.layoutFor(v)
	if err != nil {
		return err
	}
	return f.checkFits(facts, s.n, clusters)
}

// workload is the description by which a variant is chosen for the problem.
func (s requirements) workload(facts device.Facts) (tuned.Workload, error) {
	suits, err := variantFor(facts, s)
	if err != nil {
		return tuned.Workload{}, err
	}
	return tuned.Workload{Fixed: map[string]string{"weight": qubo.Temper.Value(suits, "weight")}, Size: s.n,
		Comparable: func(v *device.Variant, _ int) error {
			if block, few := qubo.Temper.Int(v, "block"), s.threads(); block < few && !s.clusters() {
				return fmt.Errorf("%s: the tuner counts visits of all blocks, ladders without cluster moves need sweeps: %d threads or more", v.Label, few)
			}
			return s.takenBy(v, facts, s.clusters())
		},
		Prior: tuned.Prior{Variant: suits, Why: "slots of one size where weights allow, and threads that suit so many variables"}}, nil
}

// Workload is the description by which a variant is chosen for lattices with weights of a type.
func (Subject) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	s := needsOf(drawTorus(fixed["weight"], size, 1))
	s.n = size
	return s.workload(f)
}

// PrefersReplicaExchange reports whether replica exchange, which reads lists of neighbours, is faster than tabu
// search, which reads rows of a matrix: where variables have few neighbours for the number of
// variables.
func PrefersReplicaExchange(p *problem.Normal) bool {
	degree := len(p.Col) / max(1, p.N)
	return degree <= 64 && 8*degree <= p.N
}

// HasVariant reports whether a label is of a variant of qubo/temper.
func HasVariant(label string) bool { return qubo.Temper.Variant(label) != nil }
