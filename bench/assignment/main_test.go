package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
)

func quick(t *testing.T) settings {
	return settings{Settings: experiment.Settings{Device: "host", Out: t.TempDir(), Budget: time.Hour}, sizes: []int{40}, seeds: 2, runs: 2, spend: time.Second, slow: time.Minute}
}

// An experiment writes a row for every contender, instance and seed.
func TestExperimentWritesRows(t *testing.T) {
	s := quick(t)
	s.kinds = []string{"uniform", "machol"}
	if !run(context.Background(), s, []string{"host"}, nil) {
		t.Fatal("the experiment failed")
	}
	f, err := result.Load[result.Solve](filepath.Join(s.Out, "assignment-host.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2*6 {
		t.Errorf("%d rows, expected those of 6 classes and 2 seeds", len(f.Rows))
	}
	for _, r := range f.Rows {
		if r.Failed != "" || r.Name != "host" || r.Rows != 40 || len(r.Runs) == 0 || len(r.Runs) != len(r.Checks) || r.Optimum == "" {
			t.Errorf("row %+v", r)
		}
		if r.Kind == "machol" && r.Optimum != "11480" { // n(n+1)(n+2)/6
			t.Errorf("Machol-Wien: found the optimum %s", r.Optimum)
		}
	}
}

// Points are solved by every family asked for, with one optimum.
func TestPointsWriteRows(t *testing.T) {
	s := quick(t)
	s.families = []string{"host", "reference"}
	if !run(context.Background(), s, []string{"points"}, nil) {
		t.Fatal("the experiment failed")
	}
	f, err := result.Load[result.Solve](filepath.Join(s.Out, "assignment-points.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2*3*2 {
		t.Errorf("%d rows, expected those of 2 seeds, 3 scatters and 2 families", len(f.Rows))
	}
	for _, r := range f.Rows {
		if r.Failed != "" || r.Rows != 40 || len(r.Runs) == 0 || len(r.Checks) != len(r.Runs) || r.Optimum == "" {
			t.Errorf("row %+v", r)
		}
	}
}

// A contender with another optimum than the known one fails.
func TestOptimaAreCompared(t *testing.T) {
	p := problem{kind: "uniform", n: 1000, spans: side, value: assignmentproblem.Int32}
	if got := p.knownOptimum(1); got != "1171" || p.knownOptimum(2) != "" {
		t.Errorf("%s is known to have the optimum %q", p, got)
	}
	i := &instance{problem: p, seed: 1, optimum: p.knownOptimum(1)}
	row := result.Solve{Optimum: "1172"}
	if err := i.checkOptimum(&row, 0); err == nil || !strings.Contains(err.Error(), "found the optimum 1172, expected 1171") {
		t.Errorf("found %v", err)
	}
	if row.Optimum = "1171"; i.checkOptimum(&row, 0) != nil {
		t.Error("the known optimum is refused")
	}
	i.value, i.optimum, row.Optimum = assignmentproblem.Float64, "1.5", "1.5000000001"
	if err := i.checkOptimum(&row, 0); err != nil {
		t.Errorf("floats a rounding apart: %v", err)
	}
}

func TestSlowContendersAreLeftOut(t *testing.T) {
	h := timings{}
	p := problem{kind: "uniform", n: 1000, spans: side, value: assignmentproblem.Int32}
	h.record("x", p, 1)
	p.n = 10000
	if why := h.reasonToSkip("x", p, 100*time.Second); !strings.Contains(why, "expected to take 316 s or more") {
		t.Errorf("found %q", why)
	}
	if why := h.reasonToSkip("x", p, 1000*time.Second); why != "" {
		t.Errorf("left out: %s", why)
	}
	if p.spans = million; h.reasonToSkip("x", p, 100*time.Second) == "" {
		t.Error("a wider range is expected to be faster")
	}
	p.spans = costRange{"2", func(int) int64 { return 2 }}
	if h.reasonToSkip("x", p, time.Second) != "" {
		t.Error("left out for a wider range's time")
	}
}

func TestExternalRivals(t *testing.T) {
	var list rivalCommands
	if list.Set("name") == nil || list.Set("=command") == nil {
		t.Error("a rival without a name or command is taken")
	}
	if err := list.Set(`echo=printf loading\n0.5\n0.25\t{rows}{cols}{devices}\n`); err != nil {
		t.Fatal(err)
	}
	inst, err := solver.Generate("uniform", 2, 3, 9, 1, assignmentproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{problem: problem{n: 2, spans: side}, Instance: inst}
	p := rivals{external: list} // without a folder: a file would be an error
	r, err := p.solve("echo", i, 4, 2, 0)
	if err != nil || len(r.Seconds) != 2 || r.Seconds[1] != 0.25 || r.Total != "234" {
		t.Errorf("found %+v, %v", r, err)
	}
	if err := p.external.Set("cat=cat {file}"); err != nil {
		t.Fatal(err)
	}
	i.Instance = &assignmentproblem.Instance{Rows: 2, Cols: 2}
	if _, err := p.solve("cat", i, 1, 1, 0); err == nil || !strings.Contains(err.Error(), "on devices only") {
		t.Errorf("a file of costs that only devices have: %v", err)
	}
}
