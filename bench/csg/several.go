package main

import (
	"context"
	"fmt"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	solver "coalesce/solvers/csg"
)

// several solves the same int32 values by tiles on one device, on two, and so on: 26, 30 and
// 33 agents, as far as asked. Seconds are those of the solve once the values lie on the
// devices; every answer is certified, and all devices' values are the same.
func (b *bench) several() error {
	all := append([]device.Device{b.Dev}, b.Others...)
	for _, n := range []int{26, 30, 33} {
		if n > b.agents {
			break
		}
		inst, err := solver.NewInstance(scattered(n), fmt.Sprintf("scattered, %d agents", n))
		if err != nil {
			return err
		}
		value := ""
		for count := 1; count <= len(all); count++ {
			row := result.Row{Name: "several", Agents: n, Devices: count}
			runs := 5
			if n > 30 {
				runs = 2
			}
			var prepare time.Duration
			for range runs + 1 {
				r, err := solver.Solve(context.Background(), inst, solver.Options{Devices: all[:count], Algorithm: string(solver.Apart)})
				if err != nil {
					return err
				}
				if value == "" {
					value = string(r.Value)
				}
				if string(r.Value) != value {
					row.Failed = fmt.Sprintf("found %s, %s before", r.Value, value)
				}
				row.Variant, row.Method, row.Splittings = r.Variant, r.Algorithm, r.Splittings
				row.Runs = append(row.Runs, r.Seconds.Solve)
				prepare = time.Duration(r.Seconds.Prepare * float64(time.Second))
				if n > 30 && len(row.Runs) == runs {
					break
				}
			}
			if n <= 30 {
				row.Runs = row.Runs[1:] // the first run finds the clocks low
			}
			fmt.Printf("%-12s n=%d on %d %10.4f ms %10.3e splittings/s, values sent in %v, worth %s, %s\n", row.Name, n, count, row.Median()*1e3, row.Rate(), prepare.Round(time.Millisecond), value, row.Variant)
			b.Add(row)
		}
	}
	return nil
}

// scattered are values that are quickly drawn: those of the coalitions' numbers
// times the golden ratio, modulo 2^32.
func scattered(n int) []int32 {
	values := make([]int32, 1<<n)
	cores.Split(len(values), 1<<16, func(from, to int) {
		for c := from; c < to; c++ {
			values[c] = int32(uint32(c) * 2654435761 >> 12)
		}
	})
	values[0] = 0
	return values
}
