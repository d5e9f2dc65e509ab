package main

import (
	"slices"
	"sync"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	quboproblem "coalesce/solvers/qubo/problem"
)

// window is how long searches run for a count of their flips, their start counted in.
const window = 3 * time.Second

// compareIslands sets all devices together beside one each, which run at the same time: the flips of
// a window, and the time to the best known value of every seed.
func (b *bench) compareIslands() error {
	b.ResumeRows()
	all := append([]device.Device{b.Dev}, b.Others...)
	return b.eachProblem(targetProblems(), "solve", func(p problem, inst *quboproblem.Instance) error {
		for _, each := range [][][]device.Device{alone(all), {all}} {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			b.attempts(p, inst, each, runSettings{seed: 1, limit: window})
		}
		limit := b.settings.limitFor(inst.N)
		for _, each := range [][][]device.Device{{all}, alone(all)} {
			for first := 1; first <= b.settings.seeds; first += len(each) {
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				b.attempts(p, inst, each[:min(len(each), b.settings.seeds-first+1)], runSettings{seed: uint64(first), limit: limit, target: true})
			}
		}
		return nil
	})
}

// alone are devices one by one.
func alone(all []device.Device) [][]device.Device { return slices.Collect(slices.Chunk(all, 1)) }

// attempts makes runs at the same time, each on its own devices and with the next seed, and adds
// their rows; runs whose rows an earlier call measured are left out.
func (b *bench) attempts(p problem, inst *quboproblem.Instance, each [][]device.Device, t runSettings) {
	rows := make([]*result.Binary, len(each))
	var group sync.WaitGroup
	for k, devices := range each {
		one := t
		one.devices, one.seed = devices, t.seed+uint64(k)
		if slices.ContainsFunc(b.Kept, func(r result.Binary) bool {
			return r.Instance == p.name && r.Seed == one.seed && (r.What == "") == t.target && max(1, r.Devices) == len(devices)
		}) {
			continue
		}
		group.Go(func() {
			row := b.runOnce(p, inst, one)
			if !t.target {
				row.What = "flips"
			}
			rows[k] = &row
		})
	}
	group.Wait()
	for _, row := range rows {
		if row != nil {
			b.addRow(*row)
		}
	}
}
