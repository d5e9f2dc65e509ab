package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"coalesce/bench/result"
	"coalesce/runtime/device"
)

// The search comes near the best of a space of 154 variants in less than a third of the
// trials of a random order, and its winner is within the noise of the best.
func TestSearchBeatsChance(t *testing.T) {
	list, err := records("../results")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		found, err := compareOrders(r, list, 30)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]*searchOrder{}
		for k := range found {
			by[found[k].name] = &found[k]
		}
		searched, random := by["search"], by["random order"]
		if w := searched.worst(); w > 0.01 {
			t.Errorf("%s, size %d: a winner is %.1f %% slower than the best", r.file, r.size, 100*w)
		}
		if len(r.family.Variants) > 100 && 3*searched.quantile(0.5) > random.quantile(0.5) {
			t.Errorf("%s, size %d: %d trials, in a random order %d", r.file, r.size, searched.quantile(0.5), random.quantile(0.5))
		}
		if known := by["search, winner of another size known"]; known != nil && known.quantile(0.9) > len(r.family.Variants)/2 {
			t.Errorf("%s, size %d: %d trials though the winner of another size is known", r.file, r.size, known.quantile(0.9))
		}
	}
}

// A random order of n variants of which k are near the best takes (n+1)/(k+1) trials in
// the mean; in a given order the first of them is counted.
func TestInOrder(t *testing.T) {
	r := &record{family: &device.Family{}, seconds: map[string][]float64{}, best: 1}
	for i, seconds := range []float64{2, 1.031, 1.03, 1, 5} {
		label := fmt.Sprint("a=", i)
		r.family.Variants = append(r.family.Variants, device.Variant{Label: label})
		r.seconds[label] = []float64{seconds, 100, seconds / 2}
	}
	for want, order := range map[int][]int{3: {0, 1, 2, 3, 4}, 1: {3, 0, 1, 2, 4}, 5: {0, 1, 4, 0, 2}, 0: {0, 1, 4}} {
		if got := inOrder(r, order); got.found != want {
			t.Errorf("order %v: %d trials, want %d", order, got.found, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	w := searchOrder{outcomes: []outcome{{found: 5}, {found: 1, regret: 0.25}, {found: 9}, {found: 7, regret: 0.125}, {found: 3}}}
	if w.quantile(0) != 1 || w.quantile(0.5) != 5 || w.quantile(0.9) != 9 || w.quantile(1) != 9 || w.worst() != 0.25 {
		t.Errorf("quantiles %d %d %d, worst %v", w.quantile(0), w.quantile(0.5), w.quantile(1), w.worst())
	}
}

func TestRecordsAreWhole(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"csg-sweep", "csg-tiles"} {
		f := result.File{Rows: []result.Row{{Name: "sweep", Variant: "nosuch=1", Agents: 3, Runs: []float64{1}}}}
		if err := f.Write(dir, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := records(dir); err == nil || !strings.Contains(err.Error(), `has no parameter "nosuch"`) {
		t.Errorf("a variant of another family: %v", err)
	}
	if _, err := records(t.TempDir()); err == nil {
		t.Error("no record: no error")
	}
}

// The page holds what the command prints.
func TestPageIsFresh(t *testing.T) {
	page, err := os.ReadFile("../../docs/results/tuning.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := replayAll(&out, "../results", 200); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- begin replay -->\n")
	if table, _, _ := strings.Cut(rest, "<!-- end replay -->"); table != out.String() {
		t.Errorf("docs/results/tuning.md is stale; go run ./bench/replay prints\n%s", &out)
	}
}
