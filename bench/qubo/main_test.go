package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

// orFile is a small instance in OR-Library's layout: x1 + x2 - 4 x1 x2.
const orFile = "1\n2 3\n1 1 1\n1 2 -2\n2 2 1\n"

func quick(t *testing.T) settings {
	t.Helper()
	s := settings{device: "host", data: t.TempDir(), out: t.TempDir(), seeds: 2, runs: 1, count: 3, iteration: 5,
		limit: time.Second, budget: time.Minute, instances: []string{"bqp2500-1", "bqp2500-7"}}
	if err := os.WriteFile(filepath.Join(s.data, "bqp2500-1.txt"), []byte(orFile), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func rowsOf(t *testing.T, s settings, name string) []result.Binary {
	t.Helper()
	if !run(context.Background(), s, []string{name}) {
		t.Fatalf("%s failed", name)
	}
	f, err := result.Load[result.Binary](filepath.Join(s.out, "qubo-"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return f.Rows
}

// Every instance asked for has its rows; one that is not there says so.
func TestExperimentsWriteRows(t *testing.T) {
	s := quick(t)
	rows := rowsOf(t, s, "paper")
	if len(rows) != 2 || rows[0].Value != 1 || rows[0].Iterations != 5 || len(rows[0].History) == 0 || rows[0].Printed.Value != 1513037 || !rows[1].NotGiven {
		t.Errorf("paper: %+v", rows)
	}
	if rows := rowsOf(t, s, "lambda"); len(rows) != 10 || *rows[1].Lambda != 0.1 || !rows[9].NotGiven {
		t.Errorf("lambda: %+v", rows)
	}
	if rows := rowsOf(t, s, "batch"); len(rows) != 5 || rows[1].Batch != 16 {
		t.Errorf("batch: %+v", rows)
	}
	s.engines = []string{"host"}
	rows = rowsOf(t, s, "target")
	if len(rows) != 3 || rows[0].Value != 1 || rows[0].Met != 0 || rows[1].Seed != 2 { // the best known is that of the true file
		t.Errorf("target: %+v", rows)
	}
	if run(context.Background(), s, []string{"nothing"}) {
		t.Error("an unknown experiment is run")
	}
}

// A gap is a share of the best known.
func TestGap(t *testing.T) {
	if g := (result.Binary{Known: 200, Value: 199}).Gap(); g != 0.5 {
		t.Errorf("found %v %%, expected 0.5", g)
	}
}

// The 21 instances of the paper are there, four of them as nothing but numbers.
func TestPaperInstances(t *testing.T) {
	b := &bench{}
	var missing []string
	for _, p := range append(orlib(), palubeckis()...) {
		if p.printed.Value >= p.known || p.printed.Value < 0.99*p.known {
			t.Errorf("%s: printed %v, best known %v", p.name, p.printed.Value, p.known)
		}
		if strings.HasPrefix(p.name, "p") && p.drawn.n == 0 {
			if _, err := b.read(p); !errors.Is(err, errNotGiven) {
				t.Errorf("%s: %v", p.name, err)
			}
			missing = append(missing, p.name)
		}
	}
	if strings.Join(missing, " ") != "p6000.2 p7000.3" {
		t.Errorf("not drawn: %v", missing)
	}
}

// A peer's solution is evaluated here, and one of the wrong size refused.
func TestPeersAreChecked(t *testing.T) {
	inst, err := solver.ReadFrom(strings.NewReader(orFile), "or.txt", solver.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	row := result.Binary{Known: 1}
	if err := take(&row, inst, reply{Seconds: 2, Solution: "10"}); err != nil || row.Value != 1 || row.Met != 2 {
		t.Errorf("%+v, %v", row, err)
	}
	for _, bad := range []string{"1", "102", "1x"} {
		if take(&row, inst, reply{Solution: bad}) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	file, err := terms(inst)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	if b, err := os.ReadFile(file); err != nil || len(b) != 3*16 {
		t.Errorf("%d bytes of terms, expected 3 of 16 (%v)", len(b), err)
	}
}
