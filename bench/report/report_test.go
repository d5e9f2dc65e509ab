package main

import (
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/bench/result"
)

const root = "../.."

func TestDocumentsAreWhatTheResultsGive(t *testing.T) {
	files, err := buildFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		have, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Errorf("%v: run `go run ./bench/report`", err)
		} else if string(have) != want {
			t.Errorf("%s is not what bench/results gives: run `go run ./bench/report`", path)
		}
	}
	kept, err := filepath.Glob(filepath.Join(root, figureFolder, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if files[figureFolder+"/"+filepath.Base(path)] == "" {
			t.Errorf("%s is drawn by nothing: delete it", path)
		}
	}
}

func TestFill(t *testing.T) {
	regions := map[string]string{"a": "new\n"}
	used := map[string]bool{}
	got, err := fillRegions("x <!-- begin a -->\nold\n<!-- end a --> y", regions, used)
	if want := "x <!-- begin a -->\nnew\n<!-- end a --> y"; err != nil || got != want || !used["a"] {
		t.Errorf("fill gave %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"<!-- begin a", "<!-- begin a -->\n", "<!-- begin b --><!-- end b -->"} {
		if _, err := fillRegions(bad, regions, used); err == nil {
			t.Errorf("fill(%q) found no error", bad)
		}
	}
}

func TestSplittingsCountsEveryCoalition(t *testing.T) {
	for n := 1; n <= 12; n++ {
		want := 0.0
		for c := 1; c < 1<<n; c++ {
			want += float64(int(1)<<(bits.OnesCount(uint(c))-1) - 1)
		}
		if got := splittingCount(n); got != want {
			t.Errorf("splittings(%d) = %v, counted %v", n, got, want)
		}
	}
}

// For two assets only C = 11b is split: ψ = 0 … 3 makes all four subsets, and
// the whole is the one too large.
func TestWrongCardinality(t *testing.T) {
	if got := wrongCardinality(2, false); got != 25 {
		t.Errorf("two assets: %v %%, want 25", got)
	}
	if got := wrongCardinality(2, true); got != 0 {
		t.Errorf("two assets, as printed: %v %%, want 0", got)
	}
}

// Lanes are counted one by one here: every coalition, the 32 combinations of
// its 5 lowest members, and the lines of 32 values they lie on.
func TestLinesAgainstEnumeration(t *testing.T) {
	const n, k = 10, 7
	sum, count := 0, 0
	for c := uint(0); c < 1<<n; c++ {
		if bits.OnesCount(c) != k {
			continue
		}
		low, rest := uint(0), c
		for range 5 {
			low |= rest & -rest
			rest &= rest - 1
		}
		seen := map[uint]bool{}
		for s := low; ; s = (s - 1) & low {
			seen[s/32] = true
			if s == 0 {
				break
			}
		}
		sum, count = sum+len(seen), count+1
	}
	if got, want := linesPerLoad(n, k), float64(sum)/float64(count); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("lines(%d, %d) = %v, counted %v", n, k, got, want)
	}
}

func TestCurveMarksWhatWasNotRun(t *testing.T) {
	f := &result.File{Rows: []result.Row{
		{Name: "a", Agents: 11, Runs: []float64{6}}, {Name: "a", Agents: 10, Runs: []float64{3, 2, 9}}, {Name: "a", Agents: 12, Failed: "no"},
	}}
	got := timeCurve(f, "a", 13).points
	want := []chartPoint{{10, 3, false}, {11, 6, false}, {12, 12, true}, {13, 24, true}}
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestChartEscapesAndDraws(t *testing.T) {
	svg := chart{title: "a < b", log: true, lines: []series{{"s", []chartPoint{{1, 1, false}, {2, 10, true}}}}}.svg()
	for _, want := range []string{"a &lt; b", "stroke-dasharray", `class="hole"`, "prefers-color-scheme"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the chart lacks %q", want)
		}
	}
}

func TestUnits(t *testing.T) {
	for give, want := range map[float64]string{2e-5: "20 µs", 0.25: "250 ms", 20: "20.00 s", 7200: "2.0 h"} {
		if got := formatSeconds(give); got != want {
			t.Errorf("seconds(%v) = %q, want %q", give, got, want)
		}
	}
	if got := formatRate(3.6e11); got != "3.60e11" {
		t.Errorf("rate = %q", got)
	}
}
