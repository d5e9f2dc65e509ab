package main

import (
	"math"
	"slices"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

// paper remakes the tables of results of Lewis (2017), and the histories from
// which its figures 3 and 4 are drawn: one solution an iteration.
func (b *bench) paper() error {
	return b.each(slices.Concat(orlib(), palubeckis()), "multistart", func(p problem, inst *solver.Instance) error {
		return b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1})
	})
}

// lambda runs massive multi-start over λ, and with λ as printed.
func (b *bench) lambda() error {
	return b.each(b.few(), "multistart", func(p problem, inst *solver.Instance) error {
		for _, lambda := range []float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99} {
			if err := b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1, Lambda: &lambda}); err != nil {
				return err
			}
		}
		return b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1, Printed: true})
	})
}

// batch runs massive multi-start over the number of iterations at once, ten
// rounds at least.
func (b *bench) batch() error {
	return b.each(b.few(), "multistart", func(p problem, inst *solver.Instance) error {
		for _, at := range []int{1, 16, 132, 1056} {
			o := solver.MultistartOptions{Iterations: max(b.settings.iteration, 10*at), Seed: 1, Batch: at}
			if err := b.multistart(p, inst, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// few are the problems over which parameters are swept.
func (b *bench) few() []problem {
	all := slices.Concat(orlib(), smaller(), palubeckis())
	if len(b.settings.instances) > 0 {
		return all
	}
	return slices.DeleteFunc(all, func(p problem) bool {
		return !slices.Contains([]string{"bqp2500-1", "bqp2500-3", "bqp2500-6", "bqp2500-9", "p3000.1", "p5000.1", "p6000.3"}, p.name)
	})
}

func (b *bench) multistart(p problem, inst *solver.Instance, o solver.MultistartOptions) error {
	r, err := solver.Multistart(b.Ctx, b.Dev, inst, o)
	if err != nil {
		return err
	}
	row := result.Binary{Name: "multistart", Instance: p.name, N: inst.N, Seed: o.Seed, Known: p.known, Printed: p.printed, Value: inst.Value(r.X),
		Seconds: r.Seconds, Flips: r.Flips, Lambda: &r.Lambda, Batch: max(1, o.Batch), Iterations: r.Iterations, Searched: r.Searched,
		Mean: r.Mean, Start: float64(r.Start), Sampling: r.Sampling.Seconds()}
	if math.IsInf(r.Lambda, 0) || math.IsNaN(r.Lambda) { // as printed, of a mean of zero
		row.Lambda = nil
	}
	for _, h := range r.History {
		row.History = append(row.History, result.Improvement{Seconds: h.At.Seconds(), Value: h.Original})
		row.Best = h.At.Seconds()
		if row.Met == 0 && h.Original >= p.known {
			row.Met, row.Success = row.Best, true
		}
	}
	b.add(row)
	return nil
}
