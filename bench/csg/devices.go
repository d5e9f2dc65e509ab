package main

import (
	"cmp"
	"fmt"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	solver "coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// timeDevices solves the same int32 values, drawn by the devices, on one device, two, four and
// eight: 26, 30 and 33 agents by tiles, 34 by prices, as far as asked. Seconds are those of
// the solve once the values lie on the devices; every answer is certified, and all devices'
// values are the same.
func (b *bench) timeDevices() error {
	all := append([]device.Device{b.Dev}, b.Others...)
	for _, asked := range []struct {
		agents, runs int
		algorithm    solver.Method
	}{{26, 5, solver.Apart}, {30, 5, solver.Apart}, {33, 1, solver.Apart}, {34, 3, solver.ByPrices}} {
		if asked.agents > b.agents {
			break
		}
		value := ""
		for count := 1; count <= len(all) && !b.OutOfTime(); count *= 2 {
			row := result.Row{Name: "several", Agents: asked.agents, Devices: count}
			for run := range asked.runs + 1 {
				inst, err := solver.NewDrawn("uniform", asked.agents, 1, problem.Int32)
				if err != nil {
					return err
				}
				r, err := solver.Solve(b.Ctx, inst, solver.Options{Settings: solve.Settings{Devices: all[:count], Algorithm: string(asked.algorithm)}})
				if err != nil {
					return err
				}
				value = cmp.Or(value, string(r.Value))
				if string(r.Value) != value {
					row.Failed = fmt.Sprintf("found %s, %s before", r.Value, value)
				}
				row.Variant, row.Method, row.Splittings = r.Variant, r.Algorithm, r.Splittings
				if run == 0 && asked.runs > 1 {
					continue // the first run finds the clocks low
				}
				row.Runs, row.Sent = append(row.Runs, r.Seconds.Solve), append(row.Sent, r.Seconds.Prepare)
				if asked.runs == 1 {
					break
				}
			}
			fmt.Printf("%-12s n=%d on %d %10.4f ms %10.3e splittings/s, values drawn in %.3f s, worth %s, %s\n", row.Name, asked.agents, count, row.Median()*1e3, row.Rate(), result.Median(row.Sent), value, row.Variant)
			b.AddRow(row)
		}
	}
	return nil
}

// scatteredValues are values that are quickly drawn: those of the coalitions' numbers
// times the golden ratio, modulo 2^32.
func scatteredValues(n int) []int32 {
	values := make([]int32, 1<<n)
	cores.Split(len(values), 1<<16, func(from, to int) {
		for c := from; c < to; c++ {
			values[c] = int32(uint32(c) * 2654435761 >> 12)
		}
	})
	values[0] = 0
	return values
}
