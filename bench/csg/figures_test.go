package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/emulated/emulatedtest"
)

// A figure has every curve at every size, and goes on where it stopped.
func TestFigures(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := experiment.Settings{Device: "emulated", Out: t.TempDir(), Budget: time.Hour}
	file := func(from, agents int) *result.File {
		if !run(context.Background(), s, []string{"figures", "sequential"}, from, agents, nil, nil, nil) {
			t.Fatal("the experiments failed")
		}
		f, err := result.Load[result.Row](filepath.Join(s.Out, "csg-figures.json"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := file(5, 5)
	names := map[string]bool{}
	for _, r := range first.Rows {
		names[r.Name] = true
		if r.Agents != 5 || len(r.Runs) != 10 || !r.Succeeded() {
			t.Errorf("row %+v", r)
		}
	}
	if len(names) != 8 || len(first.Rows) != 8 {
		t.Errorf("%d rows of the curves %v, expected 8", len(first.Rows), names)
	}
	s.Resume = true
	second := file(5, 6)
	if len(second.Rows) != 2*8 || second.Rows[0].Runs[0] != first.Rows[0].Runs[0] {
		t.Errorf("%d rows, the first took %v, before %v", len(second.Rows), second.Rows[0].Runs[0], first.Rows[0].Runs[0])
	}
	f, err := result.Load[result.Row](filepath.Join(s.Out, "csg-sequential.json"))
	if err != nil || len(f.Rows) != 4 || f.Rows[0].Splittings != 90 || f.Rows[1].Splittings >= 90 { // (3^5+1)/2 - 2^5
		t.Errorf("sequential programs: %+v, %v", f, err)
	}
}
