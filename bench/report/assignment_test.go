package main

import (
	"strings"
	"testing"

	"coalesce/bench/result"
)

func solveRow(name string, n int, seconds ...float64) result.Solve {
	return result.Solve{Name: name, Variant: name, Kind: "uniform", Rows: n, Cols: n, Range: 1e6, Value: "int32", Optimum: "7", Runs: seconds, Checks: seconds, Counts: []byte(`{"passes":2.5,"steps":30,"switch":"ties"}`)}
}

// Seeds of one instance are one line; contenders are columns.
func TestRaceTableMergesSeeds(t *testing.T) {
	rival := solveRow("lapjv", 1000, 0.020)
	rival.Variant, rival.Checks, rival.Counts = "", nil, nil
	failed := solveRow("tree", 1000)
	failed.Failed = "wrong"
	f := &result.Experiment[result.Solve]{Device: "a GPU", Rows: []result.Solve{
		solveRow("core", 1000, 0.002, 0.004), rival, failed, solveRow("core", 1000, 0.001, 0.003), solveRow("core", 5000, 0.012),
	}}
	got := raceTable(f)
	for _, want := range []string{
		"| instance | core | lapjv | tree | target |",
		"| uniform 1000x1000 R=1000000 int32 | 2.5 (1–4) | 20 | failed | 1 | 0.40 | 17, lapjv, a core | 6.80 |",
		"| uniform 5000x5000 R=1000000 int32 | 12 | not run | not run | 6 | 0.50 | 729, HyLAC classical | 60.75 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "\n") != 6 {
		t.Errorf("%d lines:\n%s", strings.Count(got, "\n"), got)
	}
	if counts := countTable(f); !strings.Contains(counts, "| core | 7 | 2.5 | 30 | 0 | 0 | 0 | 0 | 0 | ties |") {
		t.Errorf("counts:\n%s", counts)
	}
	if svg := assignmentFigures(solveResults{"race": f})["assignment-race"]; !strings.Contains(svg, "core") || strings.Contains(svg, "lapjv") {
		t.Error("the figure draws what has two sides or more: core")
	}
}

// Steps take what passes leave: of classical as many passes as it counts, each as long as core's.
func TestScalingTable(t *testing.T) {
	one, two, other := solveRow("core, sharded", 40000, 0.5), solveRow("core", 40000, 0.25), solveRow("classical", 40000, 0.3)
	one.Devices, two.Devices, other.Devices = 1, 2, 2
	one.Counts, two.Counts = []byte(`{"passes":3,"steps":1000,"stages":{"passes":0.3}}`), []byte(`{"passes":3,"steps":500,"stages":{"passes":0.15}}`)
	other.Counts = []byte(`{"passes":2,"steps":1000,"levels":3000}`)
	got := scalingTable(&result.Experiment[result.Solve]{Rows: []result.Solve{solveRow("core", 40000, 0.4), one, two, other}})
	for _, want := range []string{"| core | 2 | 250 | 1.60 | 80 % | 150 | 2.00 | 500 | 200.00 |", "| classical | 2 | 300 | none | none | none | none | 4000 | 50.00 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("found\n%s\nwithout %s", got, want)
		}
	}
}

func TestGrownTable(t *testing.T) {
	one, two, far := solveRow("core", 10000, 0.5), solveRow("core", 14142, 0.6), solveRow("core", 28284, 0.9)
	one.Devices, two.Devices, far.Devices = 1, 2, 4
	one.Range, two.Range, far.Range = 100000, 141420, 282840
	got := grownTable(&result.Experiment[result.Solve]{Rows: []result.Solve{one, two, far}})
	if want := "| core | uniform 10000x10000 R=100000 int32 | 2 | uniform 14142x14142 R=141420 int32 | 500 | 600 | 0.83 |"; !strings.Contains(got, want) || strings.Contains(got, "28284") {
		t.Errorf("found\n%s", got)
	}
}

func TestPointTable(t *testing.T) {
	r := solveRow("core", 1000, 1.5)
	r.Kind, r.Counts = "points, grid", []byte(`{"bids":50000,"steps":70,"repairs":2}`)
	got := pointTable(&result.Experiment[result.Solve]{Rows: []result.Solve{r}})
	if !strings.Contains(got, "| core | 1.50 | 50 | 70 | 3 |") {
		t.Errorf("found\n%s", got)
	}
}

func TestPathTable(t *testing.T) {
	one, many := solveRow("tree", 100, 0.8), solveRow("tree", 100, 0.2)
	one.Variant, many.Variant = "assignment/tree a=1,paths=one", "assignment/tree a=1,paths=many"
	one.Counts, many.Counts = []byte(`{"phases":40,"paths":40}`), []byte(`{"phases":5,"paths":42}`)
	got := pathTable(&result.Experiment[result.Solve]{Rows: []result.Solve{one, many}})
	if !strings.Contains(got, "| tree | 5 | 40 | 42 | 40 | 200 | 800 | 4.00 |") {
		t.Errorf("found\n%s", got)
	}
}

func TestMissingResultsAreSaid(t *testing.T) {
	for name, text := range assignmentTables(solveResults{}) {
		if name != "assignment-sources" && !strings.Contains(text, "nothing was measured yet") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
