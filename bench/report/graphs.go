package main

import (
	"fmt"
	"slices"

	"coalesce/bench/result"
	"coalesce/solvers/solve"
)

// graphTable has what GCS-Q and the search found on each graph in the same time.
func graphTable(f *result.File) string {
	out := "| weights | agents | GCS-Q | search | more, % | bound | GCS-Q takes | the search has its value after |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
	for _, r := range f.Rows {
		at := slices.IndexFunc(f.Rows, func(x result.Row) bool { return x.Method != "gcs-q" && x.Name == r.Name && x.Agents == r.Agents })
		if r.Method != "gcs-q" || at < 0 {
			continue
		}
		found, reached := f.Rows[at], "never"
		if found.Reached != nil {
			reached = formatSeconds(*found.Reached)
		}
		peer := solve.Number(r.Value).Float()
		out += fmt.Sprintf("| %s | %d | %s | %s | %.2f | %s | %s, %s | %s |\n", r.Name, r.Agents, r.Value, found.Value,
			100*(solve.Number(found.Value).Float()-peer)/peer, found.Bound, formatSeconds(r.Median()), r.Variant, reached)
	}
	return out
}
