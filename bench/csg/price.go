package main

import (
	"context"
	"errors"
	"fmt"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// price solves every distribution of the literature at 20, 22, 24, 28 and 30 agents, as far as
// asked, by prices, by tiles, and by the solver's choice: int32 values, seed 1. Seconds
// are those of the solve once the values are in the host's memory: opening the device
// and sending them is in them. All algorithms find the same value.
func (b *bench) price() error {
	for _, n := range []int{20, 22, 24, 28, 30} {
		if n > b.agents {
			break
		}
		for _, name := range solver.Distributions() {
			if b.Late() {
				fmt.Println("the budget is spent")
				return nil
			}
			inst, err := solver.GenerateAs(name, n, 1, solver.Int32)
			if err != nil {
				return err
			}
			value := ""
			for _, algorithm := range []solver.Method{solver.ByPrices, solver.Apart, ""} {
				row := result.Row{Name: name, Agents: n, Method: string(algorithm)}
				for range 3 {
					r, err := solver.Solve(context.Background(), inst, solver.Options{Devices: []device.Device{b.Dev}, Algorithm: string(algorithm)})
					if err != nil && !errors.Is(err, solve.ErrInfeasible) {
						row.Failed = err.Error()
						break
					}
					if value == "" {
						value = string(r.Value)
					}
					if string(r.Value) != value {
						row.Failed = fmt.Sprintf("found %s, %s before", r.Value, value)
					}
					row.Variant, row.Splittings = r.Variant, r.Splittings
					if algorithm == "" {
						row.Method = "choice: " + r.Algorithm
					}
					row.Runs = append(row.Runs, r.Seconds.Prepare+r.Seconds.Solve)
				}
				fmt.Printf("%-26s n=%d %-14s %10.2f ms %s %s\n", name, n, row.Method, row.Median()*1e3, value, row.Failed)
				b.add(row)
			}
		}
	}
	return nil
}
