package main

import (
	"strings"
	"testing"

	"coalesce/bench/result"
)

func TestRivalsTable(t *testing.T) {
	row := func(instance, name string, proven bool, took, cpu float64) result.Auction {
		return result.Auction{Name: name, Value: "20",
			Proof: result.Proof{Instance: instance, Known: "20", Bound: 21, Proven: proven, Took: took, CPU: cpu, Threads: 2, Limit: 9, Primal: 0.5}}
	}
	f := &result.Experiment[result.Auction]{Device: "host", Commit: "c", Date: "d", Command: "go run", Unfinished: true, Rows: []result.Auction{
		row("a", "B", true, 6, 3), row("a", branchAndCut, true, 2, 1.5), row("a", "C", false, 9, 9), row("b", branchAndCut, true, 2, 1.5), row("b", "C", false, 9, 9), row("e", branchAndCut, false, 9, 9)}}
	got := rivalsTable(f)
	for _, want := range []string{
		"| a | 20 | 2 | 6 | 9: gap 5.00 % | 3 | 2 | 0.5, 0.5, 0.5 |",
		"| b | 20 | 2 | - | 9: gap 5.00 % | over 4.5 | over 6 | 0.5, -, 0.5 |",
		"| e | 20 | 9: gap 5.00 % | - | - | - | - | 0.5, -, - |",
		"host, 2 threads, limit 9 s, commit c, d: `go run`; ended by its budget.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", got, want)
		}
	}
}
