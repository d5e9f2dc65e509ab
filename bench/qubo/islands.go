package main

import (
	"slices"
	"sync"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
)

// window is how long searches run for a count of their flips, their start counted in.
const window = 3 * time.Second

// islands sets all devices together beside one each, which run at the same time: the flips of
// a window, and the time to the best known value of every seed.
func (b *bench) islands() error {
	all := append([]device.Device{b.Dev}, b.Others...)
	return b.each(targets(), "solve", func(p problem, inst *solver.Instance) error {
		for _, each := range [][][]device.Device{alone(all), {all}} {
			if b.Late() {
				return experiment.ErrLate
			}
			b.attempts(each, func(devices []device.Device, k int) result.Binary {
				row := b.attempt(p, inst, try{devices: devices, seed: uint64(1 + k), limit: window})
				row.What = "flips"
				return row
			})
		}
		limit := b.settings.limitFor(inst.N)
		for _, each := range [][][]device.Device{{all}, alone(all)} {
			for first := 1; first <= b.settings.seeds; first += len(each) {
				if b.Late() {
					return experiment.ErrLate
				}
				b.attempts(each[:min(len(each), b.settings.seeds-first+1)], func(devices []device.Device, k int) result.Binary {
					return b.attempt(p, inst, try{devices: devices, seed: uint64(first + k), limit: limit, target: true})
				})
			}
		}
		return nil
	})
}

// alone are devices one by one.
func alone(all []device.Device) [][]device.Device { return slices.Collect(slices.Chunk(all, 1)) }

// attempts makes runs at the same time, each on its own devices, and adds their rows.
func (b *bench) attempts(each [][]device.Device, run func(devices []device.Device, k int) result.Binary) {
	rows := make([]result.Binary, len(each))
	var group sync.WaitGroup
	for k, devices := range each {
		group.Go(func() { rows[k] = run(devices, k) })
	}
	group.Wait()
	for _, row := range rows {
		b.add(row)
	}
}
