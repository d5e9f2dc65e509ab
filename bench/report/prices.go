package main

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// priceTable has each distribution's time by prices and by tiles, at each size.
func priceTable(f *result.File) string {
	out := "| distribution | agents | prices | tiles | ratio | fastest, slowest run by prices |\n|---|---:|---:|---:|---:|---:|\n"
	for _, r := range f.Rows {
		if r.Method != "price" {
			continue
		}
		at := slices.IndexFunc(f.Rows, func(x result.Row) bool { return x.Name == r.Name && x.Agents == r.Agents && x.Method == "apart" })
		if at < 0 {
			continue
		}
		tiles := f.Rows[at]
		if r.Failed != "" || len(r.Runs) == 0 {
			out += fmt.Sprintf("| %s | %d | none: %s | %s | | |\n", r.Name, r.Agents, r.Failed, seconds(tiles.Median()))
			continue
		}
		out += fmt.Sprintf("| %s | %d | %s | %s | %.2f | %s, %s |\n", r.Name, r.Agents, seconds(r.Median()), seconds(tiles.Median()),
			r.Median()/tiles.Median(), seconds(slices.Min(r.Runs)), seconds(slices.Max(r.Runs)))
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
