package main

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// priceTable has each distribution's time by prices, by tiles and by the solver's choice,
// at each size, and the sums of each size.
func priceTable(f *result.File) string {
	out := "| distribution | agents | prices | of these, sending values | tiles | the solver's choice | choice / the better of both |\n|---|---:|---:|---:|---:|---:|---:|\n"
	chosen, better := map[int]float64{}, map[int]float64{}
	var sizes []int
	for _, r := range f.Rows {
		if r.Method != "price" {
			continue
		}
		find := func(method string) *result.Row {
			for k := range f.Rows {
				if x := &f.Rows[k]; x.Name == r.Name && x.Agents == r.Agents && strings.HasPrefix(x.Method, method) {
					return x
				}
			}
			return nil
		}
		tiles, choice := find("apart"), find("choice: ")
		if tiles == nil || choice == nil {
			continue
		}
		best, prices, sent := tiles.Median(), "none: "+r.Failed, ""
		if r.Failed == "" && len(r.Runs) > 0 {
			best, prices, sent = min(best, r.Median()), seconds(r.Median()), "not recorded"
			if len(r.Sent) > 0 {
				sent = seconds(result.Median(r.Sent))
			}
		}
		out += fmt.Sprintf("| %s | %d | %s | %s | %s | %s, %s | %.2f |\n", r.Name, r.Agents, prices, sent, seconds(tiles.Median()),
			strings.TrimPrefix(choice.Method, "choice: "), seconds(choice.Median()), choice.Median()/best)
		if !slices.Contains(sizes, r.Agents) {
			sizes = append(sizes, r.Agents)
		}
		chosen[r.Agents] += choice.Median()
		better[r.Agents] += best
	}
	for _, n := range sizes {
		out += fmt.Sprintf("| all of these | %d | | | | %s | %.3f |\n", n, seconds(chosen[n]), chosen[n]/better[n])
	}
	return strings.TrimSuffix(out, "\n")
}

// groupTable has the times of one device and of several.
func groupTable(f *result.File) string {
	out := "| agents | devices | time | fastest, slowest run | splittings/s | times as fast as one |\n|---:|---:|---:|---:|---:|---:|\n"
	for _, r := range f.Rows {
		one := slices.IndexFunc(f.Rows, func(x result.Row) bool { return x.Agents == r.Agents && x.Devices == 1 })
		if one < 0 || r.Failed != "" || len(r.Runs) == 0 {
			continue
		}
		out += fmt.Sprintf("| %d | %d | %s | %s, %s | %s | %.2f |\n", r.Agents, r.Devices, seconds(r.Median()), seconds(slices.Min(r.Runs)), seconds(slices.Max(r.Runs)),
			rate(r.Rate()), f.Rows[one].Median()/r.Median())
	}
	return strings.TrimSuffix(out, "\n")
}
