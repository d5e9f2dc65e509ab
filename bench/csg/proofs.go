package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// proofTime is the time of each solve of proveGraphs.
const proofTime = 9 * time.Second

// proveGraphs shows which kinds of graphs are proven, and how far the bound of others is from the best structure found, seed 1: complete graphs and sparse ones of random weights, and five kinds of more
// structure. Every answer is checked; the seconds of that are in "checked".
func (b *bench) proveGraphs() error {
	for _, n := range []int{40, 60, 100, 200} {
		for _, kind := range []string{"normal", "sign", "normal, sparse", "sign, sparse", "planted", "groups", "points", "neighbours", "social"} {
			if n > b.agents {
				return nil
			}
			if b.LacksTimeFor(proofTime) {
				fmt.Println("the budget is spent")
				return nil
			}
			inst, err := graphOf(kind, n)
			if err != nil {
				return err
			}
			r, err := anytime.Solve(b.Ctx, inst, anytime.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}, TimeLimit: proofTime, Seed: 1}})
			if err != nil {
				return err
			}
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			start := time.Now()
			v, err := anytime.Verify(inst, text)
			if err == nil {
				err = v.Err()
			}
			if err != nil {
				return fmt.Errorf("%s, %d agents: %w", kind, n, err)
			}
			row := result.Row{Name: kind, Agents: n, Seed: 1, Method: r.Algorithm, Runs: []float64{r.Seconds.Solve}, Value: string(r.Value), Bound: string(r.Bound), Proven: r.Proven, Checked: time.Since(start).Seconds()}
			fmt.Printf("%-16s n=%-4d %12s of at most %12s (%.4f), proven %-5t after %6.2f s, checked in %.2f s\n", kind, n, row.Value, row.Bound, r.Bound.Float()/r.Value.Float(), row.Proven, row.Runs[0], row.Checked)
			b.AddRow(row)
		}
	}
	return nil
}

// graphOf is a graph of a kind; sparse ones have 4 edges an agent.
func graphOf(kind string, n int) (*anytime.Instance, error) {
	if weights, sparse := strings.CutSuffix(kind, ", sparse"); sparse {
		return anytime.Draw(weights, n, 8/float64(n-1), 1)
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var edges []string
	add := func(i, j int, weight float64) { edges = append(edges, fmt.Sprintf("%d %d %v", i+1, j+1, weight)) }
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = r.Float64(), r.Float64()
	}
	apart := func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) }
	switch kind {
	case "groups": // of about 20, a fifth of the signs turned
		group := make([]int, n)
		for i := range group {
			group[i] = r.IntN(max(2, n/20))
		}
		for i := range n {
			for j := range i {
				add(i, j, map[bool]float64{true: 1, false: -1}[(group[i] == group[j]) != (r.IntN(5) == 0)])
			}
		}
	case "points": // of a square: near ones belong together
		for i := range n {
			for j := range i {
				add(i, j, math.Round(3000-10000*apart(i, j))/100)
			}
		}
	case "neighbours": // points and their 4 nearest, normal weights
		met := map[[2]int]bool{}
		for i := range n {
			near := make([]int, n)
			for j := range near {
				near[j] = j
			}
			slices.SortFunc(near, func(a, b int) int { return int(math.Copysign(1, apart(i, a)-apart(i, b))) })
			for _, j := range near[1:5] {
				if pair := [2]int{min(i, j), max(i, j)}; !met[pair] {
					met[pair] = true
					add(i, j, math.Round(1e4*r.NormFloat64())/1e3)
				}
			}
		}
	case "social": // new agents meet 4 of many edges; a fifth of the signs is negative
		ends := []int{0, 1, 2, 3}
		for i := 4; i < n; i++ {
			var met []int
			for len(met) < 4 {
				if j := ends[r.IntN(len(ends))]; !slices.Contains(met, j) {
					met = append(met, j)
				}
			}
			for _, j := range met {
				add(i, j, map[bool]float64{true: -1, false: 1}[r.IntN(5) == 0])
				ends = append(ends, i, j)
			}
		}
	default:
		return anytime.Draw(kind, n, 1, 1)
	}
	text := fmt.Sprintf("%d %d\n%s\n", n, len(edges), strings.Join(edges, "\n"))
	return anytime.ReadFrom(strings.NewReader(text), kind+".rud", anytime.ReadOptions{Format: "rudy"})
}
