package main

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The search scores far above a random order on a drawn space of 768 variants, some of which fail, on two devices, and higher with the
// winner of the other device.
func TestHubScore(t *testing.T) {
	var out bytes.Buffer
	rows, err := replayHub(&out, "testdata/hub", 20, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || !strings.HasSuffix(out.String(), " over 2 spaces\n") {
		t.Fatalf("%d spaces:\n%s", len(rows), &out)
	}
	for _, r := range rows {
		if r.Nothing.Score < 0.8 || r.Nothing.Within < 0.9 || r.Early.Score < 0.8 {
			t.Errorf("%s-%s: score %.2f and, stopped early, %.2f, %.0f %% within 5 %%; expected 0.8, 0.8 and 90 %% at least", r.Kernel, r.Device,
				r.Nothing.Score, r.Early.Score, 100*r.Nothing.Within)
		}
		if r.Kin == nil || r.Kin.Score < r.Nothing.Score-r.Kin.Error-r.Nothing.Error {
			t.Errorf("%s-%s: with kin's winner %+v, from nothing %+v", r.Kernel, r.Device, r.Kin, r.Nothing)
		}
	}
}

// A random order scores 0, and the optimum at once 1.
func TestScoreOfRandom(t *testing.T) {
	list, err := hubSpaces("testdata/hub")
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 200
	for _, s := range list {
		mean := 0.0
		for seed := range uint64(seeds) {
			c := clock{space: s, best: math.Inf(1)}
			for _, i := range rand.New(rand.NewPCG(seed, 3)).Perm(len(s.rows)) {
				if c.expired() {
					break
				}
				c.charge(i, 0)
			}
			mean += c.score() / seeds
		}
		if math.Abs(mean) > 0.1 {
			t.Errorf("%s: a random order scores %.2f", s.name(), mean)
		}
		c := clock{space: s, best: math.Inf(1)}
		c.charge(s.at[s.winner()], 0)
		if x := c.score(); x < 0.9 {
			t.Errorf("%s: the optimum at once scores %.2f", s.name(), x)
		}
	}
}

// The clock charges all runs, or, beyond the bound after a warm-up, four of them: a configuration whose first runs take three times as
// long is not stopped.
func TestClock(t *testing.T) {
	s := &space{rows: []hubRow{{100, []float64{9, 6, 4, 3, 3, 3}, 3}, {100, nil, 0}}, cutoff: 1000, optimum: 3, median: 4}
	c := clock{space: s, best: math.Inf(1)}
	for _, step := range []struct {
		i           int
		bound       float64
		took, after float64
	}{{0, 0, 3, 128}, {1, 0, 0, 228}, {0, 3.5, 3, 356}, {0, 2.5, 3, 478}} {
		if took := c.charge(step.i, step.bound); took != step.took || c.now != step.after {
			t.Errorf("bound %v: took %v, at %v; expected %v at %v", step.bound, took, c.now, step.took, step.after)
		}
	}
	if !c.expired() || c.near != 1 {
		t.Errorf("over %t, near after %d", c.expired(), c.near)
	}
}

func TestHubErrors(t *testing.T) {
	head := `{"params": [{"name": "x", "values": ["1", "2"]}], "cutoff_ms": 9}` + "\n"
	for text, want := range map[string]string{
		head + "0 1 2 3\n1 1 2\n":       "line 3",
		head + "0 1 2 3\n2 1 2 3\n":     "line 3",
		head + "0,0 1 2 3\n":            "line 2",
		head + "0 1 2 3\n0 1 2 3\n":     "two results of x=1",
		head + "0 1 2 -\n1 1 2 3\n":     "fewer than two",
		"no JSON\n":                     "invalid character",
		head + "0 1 2 x\n1 1 2 3\n":     "line 2",
		head + "0 1 2 3\n1 1 nothing 3": "line 3",
	} {
		s := newSpace("", "", true)
		err := s.readCompact(strings.NewReader(text))
		if err == nil {
			err = s.prepare()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	dir := t.TempDir()
	if _, err := replayHub(io.Discard, dir, 1, false); err == nil || !strings.Contains(err.Error(), "has no space") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "A_T4.json"), []byte(`{"schema_version":"2.0.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := replayHub(io.Discard, dir, 1, false); err == nil || !strings.Contains(err.Error(), `"2.0.0"`) {
		t.Errorf("another schema: %v", err)
	}
}
