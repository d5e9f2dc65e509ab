package main

import (
	"slices"
	"strings"
	"time"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

// targets are the instances of which the time to the best known value counts.
func targets() []problem {
	return slices.Concat(orlib(), smaller(), palubeckis(), cuts())
}

// target times engines, or the device's best, to the best known value, seeds 1
// on: from the coefficients in memory to the verified solution.
func (b *bench) target() error {
	return b.each(targets(), "solve", func(p problem, inst *solver.Instance) error {
		engines := b.settings.engines
		if len(engines) == 0 {
			engines = []string{""}
		}
		for _, engine := range engines {
			for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
				if b.late() {
					return errLate
				}
				b.solve(p, inst, engine, seed)
			}
		}
		return nil
	})
}

func (b *bench) solve(p problem, inst *solver.Instance, engine string, seed uint64) {
	row := result.Binary{Name: engine, Instance: p.name, N: inst.N, Seed: seed, Known: p.known}
	began := time.Now()
	r, err := solver.Solve(b.ctx, b.dev, inst, solver.Options{TimeLimit: b.settings.limit, Target: &p.known, Seed: seed, Engine: engine, Variant: b.settings.variant})
	row.Seconds = time.Since(began).Seconds()
	if err != nil {
		row.Failed = err.Error()
		b.add(row)
		return
	}
	row.Name, row.Variant, _ = strings.Cut(r.Variant, " ")
	row.Value, row.Flips = inst.Value(r.Solution.Words()), r.Work.Flips
	for _, h := range r.History {
		row.History = append(row.History, result.Improvement{Seconds: h.Seconds, Value: h.Value.Float()})
		row.Best = h.Seconds
	}
	if r.Met != nil {
		row.Met = *r.Met
	}
	b.add(row)
}
