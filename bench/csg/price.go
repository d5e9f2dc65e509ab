package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// price solves every distribution of the literature at 20, 22, 24, 28 and 30 agents, as far as
// asked, by prices, by tiles, and by the solver's choice: int32 values, seed 1. Seconds
// are those of the solve once the values are in the host's memory: opening the device
// and sending them is in them. All algorithms find the same value. Of 30 agents each runs
// once, as tiles take seconds.
func (b *bench) price() error {
	least := 20
	if b.from > 0 {
		least = b.from
	}
	for _, n := range []int{20, 22, 24, 28, 30} {
		if n < least || n > b.agents {
			continue
		}
		runs := 3
		if n >= 30 {
			runs = 1
		}
		var chosen, better float64
		for _, name := range solver.Distributions() {
			if b.Late() {
				fmt.Println("the budget is spent")
				return nil
			}
			inst, err := solver.GenerateAs(name, n, 1, solver.Int32)
			if err != nil {
				return err
			}
			value, fastest := "", math.Inf(1)
			for _, algorithm := range []solver.Method{solver.ByPrices, solver.Apart, ""} {
				row := result.Row{Name: name, Agents: n, Method: string(algorithm)}
				for range runs {
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
					row.Sent = append(row.Sent, r.Seconds.Prepare)
				}
				if algorithm == "" {
					chosen, better = chosen+row.Median(), better+fastest
				} else if row.Failed == "" {
					fastest = min(fastest, row.Median())
				}
				fmt.Printf("%-26s n=%d %-14s %10.2f ms (%.2f of them sending values) %s %s\n", name, n, row.Method, row.Median()*1e3, result.Median(row.Sent)*1e3, value, row.Failed)
				b.Add(row)
			}
		}
		fmt.Printf("%d agents, all distributions: the choice took %.3f s, the better of both %.3f s, ratio %.3f\n", n, chosen, better, chosen/better)
	}
	return nil
}
