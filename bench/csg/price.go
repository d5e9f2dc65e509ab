package main

import (
	"cmp"
	"errors"
	"fmt"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// timePrices solves every distribution of the literature, or those of -distributions, at 20, 22, 24, 28, 30 and 32 agents, as
// far as asked: by prices, seeds 1 to 3; by tiles and by the solver's choice, seed 1. The
// values are int32 and drawn by the device. Seconds are those of the device's work once it
// is open; in "sent" stand those of drawing. All algorithms find the same value. Of 30
// agents and more each runs once, and tiles run for the first distribution alone: their time
// does not depend on the values.
func (b *bench) timePrices() error {
	least := 20
	if b.from > 0 {
		least = b.from
	}
	names := b.drawn
	if names == nil {
		names = solver.Distributions()
	}
	for _, n := range []int{20, 22, 24, 28, 30, 32} {
		if n < least || n > b.agents {
			continue
		}
		var tiles, chosen, better float64
		for _, name := range names {
			if b.OutOfTime() {
				fmt.Println("the budget is spent")
				return nil
			}
			prices, err := b.priceRow(name, n, 1, solver.ByPrices, "")
			if err != nil {
				return err
			}
			for seed := uint64(2); seed <= 3; seed++ {
				if _, err := b.priceRow(name, n, seed, solver.ByPrices, ""); err != nil {
					return err
				}
			}
			if tiles == 0 || n < 30 {
				row, err := b.priceRow(name, n, 1, solver.Apart, prices.Value)
				if err != nil {
					return err
				}
				tiles = row.Median()
			}
			choice, err := b.priceRow(name, n, 1, "", prices.Value)
			if err != nil {
				return err
			}
			chosen += choice.Median()
			if prices.Failed == "" {
				better += min(prices.Median(), tiles)
			} else {
				better += tiles
			}
		}
		fmt.Printf("%d agents, %d distributions: the choice took %.3f s, the better of both %.3f s, ratio %.3f\n", n, len(names), chosen, better, chosen/better)
	}
	return nil
}

// priceRow solves an instance by one algorithm, or by the solver's choice where algorithm is
// empty, and adds the row. value is the optimum that another algorithm found, or empty.
func (b *bench) priceRow(name string, n int, seed uint64, algorithm solver.Method, value string) (result.Row, error) {
	row := result.Row{Name: name, Agents: n, Seed: seed, Method: string(algorithm), Value: value}
	runs := 3
	if n >= 30 {
		runs = 1
	}
	for range runs {
		inst, err := solver.NewDrawn(name, n, seed, problem.Int32)
		if err != nil {
			return row, err
		}
		r, err := solver.Solve(b.Ctx, inst, solver.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}, Algorithm: string(algorithm)}})
		if err != nil && !errors.Is(err, solve.ErrInfeasible) {
			row.Failed = err.Error()
			break
		}
		row.Value = cmp.Or(row.Value, string(r.Value))
		if string(r.Value) != row.Value {
			row.Failed = fmt.Sprintf("found %s, %s before", r.Value, row.Value)
		}
		row.Variant, row.Splittings = r.Variant, r.Splittings
		if algorithm == "" {
			row.Method = "choice: " + r.Algorithm
		}
		row.Runs = append(row.Runs, r.Seconds.Prepare+r.Seconds.Solve)
		row.Sent = append(row.Sent, r.Seconds.Prepare)
	}
	fmt.Printf("%-26s n=%d seed %d %-14s %10.2f ms (%.2f of them drawing values) %s %s\n", name, n, seed, row.Method, row.Median()*1e3, result.Median(row.Sent)*1e3, row.Value, row.Failed)
	b.AddRow(row)
	return row, nil
}
