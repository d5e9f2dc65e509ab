package main

import (
	"strings"
	"testing"

	"coalesce/bench/result"
)

// A row that was not run says so, beside what the paper printed.
func TestMultistartTable(t *testing.T) {
	rows := []result.Binary{
		{Instance: "a", Known: 200, Printed: result.Published{Value: 198, Seconds: 4.7}, Attempt: result.Attempt{Value: 199, Best: 0.5, Seconds: 2, Flips: 7}},
		{Instance: "b", Known: 100, Printed: result.Published{Value: 99, Seconds: 3}, NotGiven: true},
	}
	out := multistartTable(rows)
	for _, want := range []string{"| a | 200 | 198 | 1.00 | 4.7 | none | 199 | 0.500 | 0.5 | 2 | 7 |", "| b | 100 | 99 | 1.00 | 3 | none | not given |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Runs that miss the target count as slower than all that reach it.
func TestTargetTable(t *testing.T) {
	row := func(met float64) result.Binary {
		return result.Binary{Name: "x", Instance: "a", Known: 100, Attempt: result.Attempt{Value: 99, Met: met, Seconds: 10, Flips: 50}}
	}
	if out := targetTable([]result.Binary{row(3), row(0), row(1)}); !strings.Contains(out, "| 2 of 3 | 3 | 2 | 3 | 1.0000 | 5 |") {
		t.Errorf("two of three:\n%s", out)
	}
	if out := targetTable([]result.Binary{row(3), row(0), row(0)}); !strings.Contains(out, "| 1 of 3 | - | 3 | 3 |") {
		t.Errorf("one of three:\n%s", out)
	}
}

func TestReadmeTargets(t *testing.T) {
	row := func(instance string, met float64) result.Binary {
		return result.Binary{Name: "x", Instance: instance, Known: 100, Attempt: result.Attempt{Value: 100, Met: met}}
	}
	miss := row("G14", 0)
	miss.Value = 99
	out := readmeTargets(&result.Experiment[result.Binary]{Device: "a GPU", Rows: []result.Binary{row("G14", 3), row("G15", 1), miss}})
	if !strings.Contains(out, ", 2 of them | a GPU | 2 of 3 | 1 | 3 | 1.000 |") {
		t.Errorf("found\n%s", out)
	}
	miss.Name = "y"
	if out := readmeTargets(&result.Experiment[result.Binary]{Device: "a GPU", Rows: []result.Binary{miss}}); !strings.Contains(out, ", 1 of them | a GPU | 0 of 1 | - | - | 1.000 |") {
		t.Errorf("no run reaches it:\n%s", out)
	}
	if out := readmeTargets(&result.Experiment[result.Binary]{Device: "a GPU", Rows: []result.Binary{row("G14", 3), miss}}); !strings.Contains(out, "| 1 of 2 |") {
		t.Errorf("of two solvers:\n%s", out)
	}
}

func TestEvaluateTable(t *testing.T) {
	row := func(what string, seconds float64) result.Binary {
		return result.Binary{N: 7, Variant: "v", Timed: result.Timed{What: what, Count: 10, Runs: []float64{seconds}, Work: 4}}
	}
	out := evaluateTable([]result.Binary{row("values", 2), row("gains", 3), {N: 7, Timed: result.Timed{What: "host", Count: 1, Runs: []float64{5}}}})
	if !strings.Contains(out, "| 7 | 10 | v | 2000 | 3000 | - | 50 | 2 |") {
		t.Errorf("found\n%s", out)
	}
}

func TestProgressOfRuns(t *testing.T) {
	all := binaryResults{"paper": {Device: "D", Rows: []result.Binary{{Instance: "bqp2500-1", Known: 100, Attempt: result.Attempt{Value: 100, Seconds: 1},
		History: []result.Improvement{{Seconds: 0.01, Value: 90}, {Seconds: 0.1, Value: 100}}},
		{Instance: "p5000.4", NotGiven: true}}}}
	drawn := quboFigures(all)
	if len(drawn) != 1 || !strings.Contains(drawn["qubo-paper-3"], "bqp2500-1") {
		t.Errorf("drawn: %v", drawn)
	}
	tables := quboTables(all)
	if !strings.Contains(tables["qubo-progress"], "qubo-paper-3.svg") || strings.Contains(tables["qubo-progress"], "qubo-paper-4") || !strings.Contains(tables["qubo-lambda"], "nothing was measured") {
		t.Errorf("tables: %v", tables)
	}
}

// Runs of a group count together, by solver; a group that no run reached has no
// figure.
func TestSuccessByGroup(t *testing.T) {
	row := func(instance, name string, met float64) result.Binary {
		return result.Binary{Name: name, Instance: instance, Known: 100, Attempt: result.Attempt{Value: 99, Met: met, Seconds: 10}, N: 9}
	}
	rows := []result.Binary{row("G1", "x", 0.1), row("G1", "x", 0.2), row("G2", "x", 0), row("G2", "x", 1), row("G2", "y", 0), row("WK2000_1", "x", 0),
		{Instance: "G3", NotGiven: true}}
	out := successTable(rows)
	for _, want := range []string{"| G-set, random | x | 2 | 4 | 3 | 75.0 | 1 | 0 | 1.0000 |", "| G-set, random | y | 1 | 1 | 0 | 0.0 | 0 | 1 |", "| K2000 | x | 1 | 1 | 0 | 0.0 |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	all := binaryResults{"target": {Device: "D", Rows: rows}, "target-host": {Device: "H", Rows: rows[:1]}}
	pictures := quboFigures(all)
	svg := pictures["qubo-target-g-set-random"]
	if len(pictures) != 2 || !strings.Contains(svg, "x, 3 of 4 runs") || !strings.Contains(svg, "y, 0 of 1 runs") || strings.Contains(svg, "<circle") {
		t.Errorf("%d figures, the first: %s", len(pictures), svg)
	}
	if !strings.Contains(pictures["qubo-target-host-g-set-random"], "x, 1 of 1 runs") {
		t.Error("the host has no figure of its own")
	}
	tables := quboTables(all)
	if !strings.Contains(tables["qubo-success"], "(../figures/qubo-target-g-set-random.svg)") || strings.Contains(tables["qubo-success"], "k2000") || strings.Contains(tables["qubo-success-host"], "| K2000") {
		t.Errorf("regions: %s\n%s", tables["qubo-success"], tables["qubo-success-host"])
	}
}

// What is left out has a row, an instance a column.
func TestAblationTable(t *testing.T) {
	row := func(instance, without string, met float64) result.Binary {
		return result.Binary{Name: "x", Instance: instance, Without: without, Known: 100, Attempt: result.Attempt{Value: 100, Met: met, Seconds: 10}}
	}
	out := ablationTable([]result.Binary{row("a", "", 1), row("a", "", 3), row("a", "", 2), row("a", "tabu", 4), row("a", "tabu", 0), row("b", "", 5)})
	for _, want := range []string{"| x | none | 2 (3), 3 of 3 | 5 (5), 1 of 1 |", "| x | tabu | - (4), 1 of 2 | - |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Rivals that could not be run are named below the table.
func TestMissingRivals(t *testing.T) {
	out := rivalTable([]result.Binary{{Name: "x", Missing: "why"}, {Name: "y", Instance: "a", Known: 1, Attempt: result.Attempt{Value: 1, Met: 2, Seconds: 2}}})
	if !strings.Contains(out, "| a | 1 | y | 1 of 1 |") || !strings.Contains(out, "Not run: x (why).") {
		t.Errorf("found\n%s", out)
	}
}

// One device and several stand beside each other, by instance.
func TestSeveralTable(t *testing.T) {
	row := func(instance string, devices int, met float64) result.Binary {
		return result.Binary{Name: "x", Instance: instance, Devices: devices, Known: 9, Attempt: result.Attempt{Value: 9, Met: met, Seconds: met}}
	}
	all := binaryResults{"target": {Rows: []result.Binary{row("a", 0, 4), row("b", 0, 5)}}, "target-x2": {Rows: []result.Binary{row("a", 2, 3)}}}
	out := severalTable(all)
	one, two := strings.Index(out, "| a | 9 | x | 1 of 1 | 4 |"), strings.Index(out, "| a | 9 | x on 2 | 1 of 1 | 3 |")
	if one < 0 || two < one || strings.Contains(out, "| b |") {
		t.Errorf("found\n%s", out)
	}
}

func TestRatesTable(t *testing.T) {
	out := ratesTable([]result.Binary{{Instance: "drawn", N: 7, Variant: "v", Timed: result.Timed{Count: 4, Work: 80, Runs: []float64{2e-5}}}})
	if !strings.Contains(out, "| drawn | 7 | v | 4 | 4e+06 | 1 |") {
		t.Errorf("found\n%s", out)
	}
}

func TestIslandsTable(t *testing.T) {
	row := func(what string, devices int, flips int64, met float64) result.Binary {
		return result.Binary{Name: "qubo/portfolio", Instance: "G35", N: 2000, Devices: devices, Timed: result.Timed{What: what},
			Attempt: result.Attempt{Flips: flips, Seconds: 2, Limit: 10, Met: met, Success: met > 0}}
	}
	got := islandsTable([]result.Binary{row("flips", 0, 200, 0), row("flips", 0, 180, 0), row("flips", 2, 380, 0), row("", 2, 9, 1), row("", 0, 9, 3), row("", 0, 9, 0), row("", 0, 9, 2)})
	if want := "| G35 | 2000 | 100, 90 | 190 | 190 | 1.000 | 2 of 3 | 3 | 1 of 1 | 1 |"; !strings.Contains(got, want) {
		t.Errorf("found\n%swithout %s", got, want)
	}
}
