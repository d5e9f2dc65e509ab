package main

import (
	"math"
	"slices"
	"strconv"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// timePaper remakes the tables of results of Lewis (2017), and the histories from
// which its figures 3 and 4 are drawn: one solution an iteration. Numbers in -instances are sizes
// of problems drawn in place of them.
func (b *bench) timePaper() error {
	b.ResumeRows()
	return b.eachProblem(slices.Concat(orlibProblems(), palubeckisProblems(), b.drawnProblems()), "multistart", func(p problem, inst *quboproblem.Instance) error {
		return b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1})
	})
}

// timeDivision runs massive multi-start as the paper divides its tasks, the device evaluating and a core of
// the host ascending, and all on the device.
func (b *bench) timeDivision() error {
	b.ResumeRows()
	return b.eachProblem(append(b.swept(), b.drawnProblems()...), "multistart", func(p problem, inst *quboproblem.Instance) error {
		for _, at := range solver.Ascents() {
			if err := b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1, Ascend: at}); err != nil {
				return err
			}
		}
		return nil
	})
}

// drawnProblems are problems of the sizes among -instances.
func (b *bench) drawnProblems() (list []problem) {
	for _, n := range b.drawnSizes() {
		list = append(list, newProblem(strconv.Itoa(n), 0, 0, 0).withDrawing(n, 100, int64(10*n)))
	}
	return list
}

// timeLambdas runs massive multi-start over λ, and with λ as printed.
func (b *bench) timeLambdas() error {
	b.ResumeRows()
	return b.eachProblem(b.swept(), "multistart", func(p problem, inst *quboproblem.Instance) error {
		for _, lambda := range []float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99} {
			if err := b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1, Lambda: &lambda}); err != nil {
				return err
			}
		}
		return b.multistart(p, inst, solver.MultistartOptions{Iterations: b.settings.iteration, Seed: 1, Printed: true})
	})
}

// timeBatches runs massive multi-start over the number of iterations at once, ten
// rounds at least.
func (b *bench) timeBatches() error {
	return b.eachProblem(b.swept(), "multistart", func(p problem, inst *quboproblem.Instance) error {
		for _, at := range []int{1, 16, 132, 1056} {
			o := solver.MultistartOptions{Iterations: max(b.settings.iteration, 10*at), Seed: 1, Batch: at}
			if err := b.multistart(p, inst, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// swept are the problems over which parameters are swept.
func (b *bench) swept() []problem {
	all := slices.Concat(orlibProblems(), smallPalubeckisProblems(), palubeckisProblems())
	if len(b.settings.instances) > 0 {
		return all
	}
	return slices.DeleteFunc(all, func(p problem) bool {
		return !slices.Contains([]string{"bqp2500-1", "bqp2500-3", "bqp2500-6", "bqp2500-9", "p3000.1", "p5000.1", "p6000.3"}, p.name)
	})
}

// ascending says where a run ascends, where that was said.
func ascending(o solver.MultistartOptions) string {
	if o.Ascend == "" {
		return ""
	}
	return "ascend=" + o.Ascend
}

// multistart adds the row of a run, unless an earlier run of the program has it.
func (b *bench) multistart(p problem, inst *quboproblem.Instance, o solver.MultistartOptions) error {
	if slices.ContainsFunc(b.Kept, func(k result.Binary) bool {
		printed := k.Lambda == nil || !(*k.Lambda >= 0 && *k.Lambda < 1)
		return k.Instance == p.name && k.Variant == ascending(o) && k.Batch == max(1, o.Batch) && k.Seed == o.Seed && printed == o.Printed && (o.Lambda == nil || o.Printed || *k.Lambda == *o.Lambda)
	}) {
		return nil
	}
	r, err := solver.Multistart(b.Ctx, b.Dev, inst, o)
	if err != nil {
		return err
	}
	row := result.Binary{Name: "multistart", Variant: ascending(o), Instance: p.name, N: inst.N, Seed: o.Seed, Known: p.known, Printed: p.printed,
		Attempt: result.Attempt{Value: inst.Value(r.X), Seconds: r.Seconds, Flips: r.Flips},
		Multistart: result.Multistart{Lambda: &r.Lambda, Batch: max(1, o.Batch), Iterations: r.Iterations, Searched: r.Searched,
			Mean: r.Mean, Start: float64(r.Start), Sampling: r.Sampling.Seconds()}}
	if math.IsInf(r.Lambda, 0) || math.IsNaN(r.Lambda) { // as printed, of a mean of zero
		row.Lambda = nil
	}
	for _, h := range r.History {
		row.History = append(row.History, result.Improvement{Seconds: h.At.Seconds(), Value: h.Original})
		row.Best = h.At.Seconds()
		if row.Met == 0 && p.known > 0 && h.Original >= p.known {
			row.Met, row.Success = row.Best, true
		}
	}
	b.addRow(row)
	return nil
}
