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

// At the sizes and workloads that were drawn for H100s, whose best variants bench/results has, H200s' data choose
// these or others that were measured to be nearly as fast. Of choices that nobody measured there nothing is known.
func TestDrawn(t *testing.T) {
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	const name = "NVIDIA H100 80GB HBM3"
	facts := device.Facts{Kind: device.CUDA, Name: name, Major: 9, SMs: 132, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024, Memory: 80 << 30, Free: 78 << 30}
	files, err := filepath.Glob("../results/tuning-*.json")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{sources: []source{{name: "shipped", db: shipped.Without(name)}}}
	b.Facts = facts
	subjects := subjects()
	known, unknown, over5, over10 := 0, 0, 0, 0
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
		if file.Device != name {
			continue
		}
		for _, row := range file.Rows {
			at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == row.Family })
			if at < 0 || row.Best == "" {
				continue
			}
			w := workload{subjects[at], row.Fixed, row.Size}
			if _, chosen, err := autotune.Describe(w.subject, w.fixed, facts, w.size); err != nil || !chosen {
				continue // drawn before such sizes were left out
			}
			choices, err := b.choices(w)
			if err != nil {
				t.Errorf("%s %v, size %d: %v", row.Family, row.Fixed, row.Size, err)
				continue
			}
			c, regret := choices[0], 0.0
			if c.Variant != row.Best {
				same := slices.IndexFunc(row.Chosen, func(x result.Chosen) bool { return x.Variant == c.Variant })
				if same < 0 {
					unknown++
					continue
				}
				regret = row.Chosen[same].Regret
			}
			known++
			if regret > 0.05 {
				over5++
				t.Logf("%s %v, size %d: %.1f %%, noise %.1f (%s)", row.Family, row.Fixed, row.Size, 100*regret, 100*row.Noise, c.Level)
			}
			if regret > 0.1 {
				over10++
			}
		}
	}
	t.Logf("%d rows, %d of them over 5 %% more than the best and %d over 10 %%; of %d others nothing is known", known, over5, over10, unknown)
	if known < 150 || 100*over5 > 6*known || 100*over10 > 2*known {
		t.Error("expected 150 rows or more, at most 6 % of them over 5 % and 2 % over 10 %")
	}
}
