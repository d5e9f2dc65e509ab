package main

import (
	"context"
	"fmt"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// searchTime is the time of each search of a graph.
const searchTime = 5 * time.Second

// raceGraphs races the search of graphs against GCS-Q (Venkatesh, Macaluso and Klusch, ICCS 2023), ours as
// published, on the same device for the same time: the instances of its paper, complete graphs
// with weights of normal and Laplace distributions, and sparse and planted ones, seed 1.
// Best cuts are searched for by package qubo, as the paper does by quantum annealing.
func (b *bench) raceGraphs() error {
	for _, n := range []int{40, 100, 200, 500, 1000} {
		for _, c := range []struct {
			weights string
			density float64
		}{{"normal", 1}, {"laplace", 1}, {"uniform", 10 / float64(n)}, {"sign", 1}, {"planted", 1}} {
			if n > b.agents {
				return nil
			}
			if b.LacksTimeFor(2 * searchTime) {
				fmt.Println("the budget is spent")
				return nil
			}
			inst, err := anytime.Draw(c.weights, n, c.density, 1)
			if err != nil {
				return err
			}
			name := c.weights
			if c.density < 1 {
				name += ", sparse"
			}
			s := solve.Settings{Devices: []device.Device{b.Dev}, TimeLimit: searchTime, Seed: 1}
			peer := result.Row{Name: name, Agents: n, Method: "gcs-q"}
			start := time.Now()
			blocks, splits, err := topDown(b.Ctx, inst, s)
			if err != nil {
				return err
			}
			peer.Runs = []float64{time.Since(start).Seconds()}
			worth, err := inst.ValueOf(blocks)
			if err != nil {
				return err
			}
			peer.Value, peer.Variant = string(worth), fmt.Sprintf("%d splits", splits)
			r, err := anytime.Solve(b.Ctx, inst, anytime.Options{Settings: s})
			if err != nil {
				return err
			}
			row := result.Row{Name: name, Agents: n, Method: r.Algorithm, Runs: []float64{r.Seconds.Solve}, Value: string(r.Value), Bound: string(r.Bound)}
			for _, h := range r.History {
				if row.Reached == nil && h.Value.Float() >= worth.Float() {
					row.Reached = &h.Seconds
				}
			}
			reached := "never"
			if row.Reached != nil {
				reached = fmt.Sprintf("after %.3f s", *row.Reached)
			}
			fmt.Printf("%-16s n=%-5d gcs-q %12s after %.2f s (%s), anytime %12s after %.2f s, bound %s; gcs-q's value %s\n", name, n,
				peer.Value, peer.Runs[0], peer.Variant, row.Value, row.Runs[0], row.Bound, reached)
			b.AddRow(peer)
			b.AddRow(row)
		}
	}
	return nil
}

// topDown is GCS-Q: from the coalition of all agents on, every coalition is split where its edges
// weigh the least, unless that weight is not below 0, and so are the two parts. A
// coalition gets half of its share, by pairs, of the time that is left; a best cut that is proven takes less.
func topDown(ctx context.Context, inst *anytime.Instance, s solve.Settings) (blocks [][]int, splits int, err error) {
	ends := time.Now().Add(s.TimeLimit)
	all := make([]int, inst.N)
	for i := range all {
		all[i] = i
	}
	pairs := func(c []int) float64 { return float64(len(c)) * float64(len(c)-1) }
	open, left := [][]int{all}, pairs(all)
	for len(open) > 0 {
		c := open[0]
		open = open[1:]
		var sides [2][]int
		if len(c) > 1 {
			share := pairs(c) / left / 2
			left -= pairs(c)
			s.TimeLimit = max(time.Millisecond, time.Duration(share*float64(time.Until(ends))))
			splits++
			r, err := qubo.Solve(ctx, cutOf(inst, c), qubo.Options{Settings: s})
			if err != nil {
				return nil, splits, err
			}
			if r.Value.Float() > 0 {
				for k, i := range c {
					side := r.Solution.At(k)
					sides[side] = append(sides[side], i)
				}
			}
		}
		if len(sides[0]) == 0 || len(sides[1]) == 0 {
			for k := range c {
				c[k]++
			}
			blocks = append(blocks, c)
			continue
		}
		for _, side := range sides {
			open, left = append(open, side), left+pairs(side)
		}
	}
	return blocks, splits, nil
}

// cutOf is the maximum cut of the negated edges inside a coalition.
func cutOf(inst *anytime.Instance, c []int) *problem.Instance {
	p := inst.Program()
	at := make([]int, inst.N)
	for k, i := range c {
		at[i] = k + 1
	}
	b := problem.NewBuilder(len(c))
	b.Form(problem.MaxCut)
	b.Maximize()
	for _, i := range c {
		for k := p.Start[i]; k < p.Start[i+1]; k++ {
			j := int(p.Col[k])
			if at[j] <= at[i] {
				continue
			}
			if p.Int != nil {
				b.PairInt(at[i]-1, at[j]-1, -p.Int.Pair[k])
			} else {
				b.Pair(at[i]-1, at[j]-1, -p.Real.Pair[k])
			}
		}
	}
	cut, err := b.Build()
	if err != nil {
		panic(err) // a part of a valid instance is valid
	}
	return cut
}
