package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// priceTable has each distribution's time by prices for every seed, by tiles and by the
// solver's choice, at each size, and medians and sums of each size. Drawing the values is a
// column of its own. Where tiles ran for one distribution alone, their time stands for all.
func priceTable(f *result.File) string {
	find := func(name string, agents int, seed uint64, method string) *result.Row {
		for k := range f.Rows {
			if x := &f.Rows[k]; (name == "" || x.Name == name) && x.Agents == agents && x.Seed == seed && strings.HasPrefix(x.Method, method) {
				return x
			}
		}
		return nil
	}
	solving := func(r *result.Row) float64 { return r.Median() - result.Median(r.Sent) }
	out := "| distribution | agents | drawing | prices, seeds 1, 2, 3 | tiles | the solver's choice | choice / the better of both |\n|---|---:|---:|---:|---:|---:|---:|\n"
	type sum struct {
		prices         []float64
		chosen, better float64
	}
	sums := map[int]*sum{}
	var sizes []int
	for k := range f.Rows {
		r := &f.Rows[k]
		if r.Method != "price" || r.Seed != 1 {
			continue
		}
		tiles, choice := find(r.Name, r.Agents, 1, "apart"), find(r.Name, r.Agents, 1, "choice: ")
		tiles = cmp.Or(tiles, find("", r.Agents, 1, "apart"))
		if tiles == nil || choice == nil {
			continue
		}
		total := sums[r.Agents]
		if total == nil {
			total = new(sum)
			sums[r.Agents], sizes = total, append(sizes, r.Agents)
		}
		best := solving(tiles)
		var prices []string
		for seed := uint64(1); seed <= 3; seed++ {
			x := find(r.Name, r.Agents, seed, "price")
			if x == nil || x.Failed != "" || len(x.Runs) == 0 {
				prices = append(prices, "none")
				continue
			}
			prices, total.prices = append(prices, formatSeconds(solving(x))), append(total.prices, solving(x))
			if seed == 1 {
				best = min(best, solving(x))
			}
		}
		out += fmt.Sprintf("| %s | %d | %s | %s | %s | %s, %s | %.2f |\n", r.Name, r.Agents, formatSeconds(result.Median(choice.Sent)), strings.Join(prices, ", "), formatSeconds(solving(tiles)),
			strings.TrimPrefix(choice.Method, "choice: "), formatSeconds(solving(choice)), solving(choice)/best)
		total.chosen += solving(choice)
		total.better += best
	}
	for _, n := range sizes {
		total := sums[n]
		if len(total.prices) == 0 {
			continue
		}
		out += fmt.Sprintf("| all of these | %d | | median %s, worst %s | | %s | %.3f |\n", n, formatSeconds(result.Median(total.prices)), formatSeconds(slices.Max(total.prices)), formatSeconds(total.chosen), total.chosen/total.better)
	}
	return out
}

// groupTable has the times of one device and of several.
func groupTable(f *result.File) string {
	out := "| agents | devices | time | fastest, slowest run | splittings/s | times as fast as one |\n|---:|---:|---:|---:|---:|---:|\n"
	for _, r := range f.Rows {
		one := slices.IndexFunc(f.Rows, func(x result.Row) bool { return x.Agents == r.Agents && x.Devices == 1 })
		if one < 0 || r.Failed != "" || len(r.Runs) == 0 {
			continue
		}
		out += fmt.Sprintf("| %d | %d | %s | %s, %s | %s | %.2f |\n", r.Agents, r.Devices, formatSeconds(r.Median()), formatSeconds(slices.Min(r.Runs)), formatSeconds(slices.Max(r.Runs)),
			formatRate(r.Rate()), f.Rows[one].Median()/r.Median())
	}
	return out
}

// largeTable has single solves of many agents, whose values the devices draw.
func largeTable(f *result.File) string {
	out := "| agents | distribution | algorithm | devices | drawing | time | splittings/s |\n|---:|---|---|---:|---:|---:|---:|\n"
	for _, r := range f.Rows {
		solving, pace := r.Median()-result.Median(r.Sent), ""
		if r.Splittings > 0 {
			pace = formatRate(r.Splittings / solving)
		}
		out += fmt.Sprintf("| %d | %s | `%s` | %d | %s | %s | %s |\n", r.Agents, r.Name, r.Method, r.Devices, formatSeconds(result.Median(r.Sent)), formatSeconds(solving), pace)
	}
	return out
}
