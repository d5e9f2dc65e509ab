package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/bench/result"
	"coalesce/runtime/device"
)

// bench/results has the best variants of sizes and workloads drawn for a class of GPU. The data of the other class choose
// them, or variants measured as nearly as fast; the data of both classes do so more often. Of choices that nobody measured
// there, and of families without data, nothing is known.
func TestDrawn(t *testing.T) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		memory        int64
		own           bool // with the class's own data too
		over5, over10 int  // rows at most, in percent
	}{
		{"NVIDIA H100 80GB HBM3", 80 << 30, false, 6, 2},
		{"NVIDIA H100 80GB HBM3", 80 << 30, true, 5, 2},
		{"NVIDIA H200", 140 << 30, false, 8, 3},
		{"NVIDIA H200", 140 << 30, true, 2, 1},
	} {
		facts := device.Facts{Kind: device.CUDA, Name: c.name, Major: 9, SMs: 132, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024, Memory: c.memory, Free: c.memory - 2<<30}
		b := &bench{sources: []source{{name: "shipped", db: shipped}}}
		if !c.own {
			b.sources[0].db = shipped.WithoutClass(c.name)
		}
		b.Facts = facts
		known, unknown, over5, over10 := 0, 0, 0, 0
		for _, row := range drawnFor(t, facts) {
			choices, err := b.sourceChoices(row.workload)
			if err != nil {
				t.Errorf("%s %v, size %d: %v", row.Family, row.Fixed, row.Size, err)
				continue
			}
			picked, regret := choices[0], 0.0
			if picked.Level == tuned.Safe { // the family's kernels are newer than the class's data
				unknown++
				continue
			}
			if picked.Variant != row.Best {
				same := slices.IndexFunc(row.Chosen, func(x result.MeasuredChoice) bool { return x.Variant == picked.Variant })
				if same < 0 {
					unknown++
					continue
				}
				regret = row.Chosen[same].Regret
			}
			known++
			if regret > 0.05 {
				over5++
				t.Logf("%s %v, size %d: %.1f %%, noise %.1f (%s)", row.Family, row.Fixed, row.Size, 100*regret, 100*row.Noise, picked.Level)
			}
			if regret > 0.1 {
				over10++
			}
		}
		t.Logf("%s, own data %v: %d rows, %d of them over 5 %% more than the best and %d over 10 %%; of %d others nothing is known", c.name, c.own, known, over5, over10, unknown)
		if known < 150 || 100*over5 > c.over5*known || 100*over10 > c.over10*known {
			t.Errorf("%s, own data %v: expected 150 rows or more, at most %d %% of them over 5 %% and %d %% over 10 %%", c.name, c.own, c.over5, c.over10)
		}
	}
}

// A drawnRow is a row of bench/results and its workload.
type drawnRow struct {
	result.Choice
	workload
}

// drawnFor are the rows that were drawn for and measured on a class of GPU, at sizes that are still tuned.
func drawnFor(t *testing.T, facts device.Facts) (rows []drawnRow) {
	files, err := filepath.Glob("../results/tuning-*.json")
	if err != nil {
		t.Fatal(err)
	}
	subjects := tunedSubjects()
	for _, path := range files {
		var file struct {
			Device string
			Rows   []result.Choice
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if file.Device != facts.Name {
			continue
		}
		for _, row := range file.Rows {
			at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == row.Family })
			if at < 0 || row.Best == "" {
				continue
			}
			w := workload{subjects[at], row.Fixed, row.Size}
			if _, chosen, err := autotune.DescribeWorkload(w.subject, w.fixed, facts, w.size); err == nil && chosen { // others were drawn before such sizes were left out
				rows = append(rows, drawnRow{row, w})
			}
		}
	}
	return rows
}
