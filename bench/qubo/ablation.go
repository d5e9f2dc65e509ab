package main

import (
	"slices"

	"coalesce/bench/experiment"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// timeAblations runs the device's best engine, or those of -engines, to the best
// known value with nothing left out and with each of its parts left out in turn:
// the searches of the host, the operators of qubo/bulk, the members of the team.
// Runs that differ in that alone follow one another.
func (b *bench) timeAblations() error {
	engines := b.settings.engines
	if len(engines) == 0 {
		engines = []string{map[string]string{device.CUDA: "portfolio", device.Emulated: "bulk"}[b.Facts.Kind]}
		if engines[0] == "" {
			engines[0] = "host"
		}
	}
	return b.eachProblem(b.telling(), "ablation", func(p problem, inst *quboproblem.Instance) error {
		for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
			for _, engine := range engines {
				for _, part := range append([]string{""}, solver.PartNames(engine)...) {
					if b.OutOfTime() {
						return experiment.ErrLate
					}
					b.addRun(p, inst, engine, part, seed)
				}
			}
		}
		return nil
	})
}

// telling are instances that take a while on the device, dense and sparse.
func (b *bench) telling() []problem {
	all := targetProblems()
	if len(b.settings.instances) > 0 {
		return all
	}
	names := []string{"p5000.1", "p7000.1", "WK2000_1", "G22", "G35", "G32"}
	if b.Facts.Kind == device.Host {
		names = []string{"bqp2500-2", "bqp2500-9", "G10", "G32", "G43", "G51"}
	}
	return slices.DeleteFunc(all, func(p problem) bool { return !slices.Contains(names, p.name) })
}
