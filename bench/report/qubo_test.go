package main

import (
	"strings"
	"testing"

	"coalesce/bench/result"
)

// A row that was not run says so, beside what the paper printed.
func TestMultistartTable(t *testing.T) {
	rows := []result.Binary{
		{Instance: "a", Known: 200, Printed: result.Printed{Value: 198, Seconds: 4.7}, Value: 199, Best: 0.5, Seconds: 2, Flips: 7},
		{Instance: "b", Known: 100, Printed: result.Printed{Value: 99, Seconds: 3}, NotGiven: true},
	}
	out := multistartTable(rows)
	for _, want := range []string{"| a | 200 | 198 | 1.00 | 4.7 | 199 | 0.500 | 0.5 | 2 | 7 |", "| b | 100 | 99 | 1.00 | 3 | not given |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Runs that miss the target count as slower than all that reach it.
func TestTargetTable(t *testing.T) {
	row := func(met float64) result.Binary {
		return result.Binary{Name: "x", Instance: "a", Known: 100, Value: 99, Met: met, Seconds: 10, Flips: 50}
	}
	if out := targetTable([]result.Binary{row(3), row(0), row(1)}); !strings.Contains(out, "| 2 of 3 | 3 | 2 | 3 | 1.0000 | 5 |") {
		t.Errorf("two of three:\n%s", out)
	}
	if out := targetTable([]result.Binary{row(3), row(0), row(0)}); !strings.Contains(out, "| 1 of 3 | - | 3 | 3 |") {
		t.Errorf("one of three:\n%s", out)
	}
}

func TestEvaluateTable(t *testing.T) {
	row := func(what string, seconds float64) result.Binary {
		return result.Binary{N: 7, Variant: "v", What: what, Count: 10, Runs: []float64{seconds}, Work: 4}
	}
	out := evaluateTable([]result.Binary{row("values", 2), row("gains", 3), {N: 7, What: "host", Count: 1, Runs: []float64{5}}})
	if !strings.Contains(out, "| 7 | 10 | v | 2000 | 3000 | - | 50 | 2 |") {
		t.Errorf("found\n%s", out)
	}
}

func TestProgressOfRuns(t *testing.T) {
	all := binaries{"paper": {Device: "D", Rows: []result.Binary{{Instance: "bqp2500-1", Known: 100, Value: 100, Seconds: 1,
		History: []result.Improvement{{Seconds: 0.01, Value: 90}, {Seconds: 0.1, Value: 100}}}, {Instance: "p5000.4", NotGiven: true}}}}
	drawn := quboFigures(all)
	if len(drawn) != 1 || !strings.Contains(drawn["qubo-paper-3"], "bqp2500-1") {
		t.Errorf("drawn: %v", drawn)
	}
	tables := quboTables(all)
	if !strings.Contains(tables["qubo-progress"], "qubo-paper-3.svg") || strings.Contains(tables["qubo-progress"], "qubo-paper-4") || !strings.Contains(tables["qubo-lambda"], "nothing was measured") {
		t.Errorf("tables: %v", tables)
	}
}
