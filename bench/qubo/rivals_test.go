package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// small is the instance of orFile, and a triangle with a tail as a cut.
func small(t *testing.T) (qubo, cut *quboproblem.Instance) {
	t.Helper()
	qubo, err := solver.ReadFrom(strings.NewReader(orFile), "or.txt", solver.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cut, err = solver.ReadFrom(strings.NewReader("4 4\n1 2 1\n2 3 1\n1 3 1\n3 4 5\n"), "cut", solver.ReadOptions{Format: "rudy"})
	if err != nil {
		t.Fatal(err)
	}
	return qubo, cut
}

// A rival's solution is evaluated here, and one of the wrong size, or unlike its
// history, refused.
func TestRivalsAreChecked(t *testing.T) {
	inst, _ := small(t)
	row := result.Binary{Known: 1}
	if err := checkRival(&row, inst, reply{Seconds: 2, Solution: "10"}); err != nil || row.Value != 1 || row.Met != 2 || !row.Success {
		t.Errorf("%+v, %v", row, err)
	}
	row = result.Binary{Known: 1}
	history := []result.Improvement{{Seconds: 0.1, Value: 0}, {Seconds: 0.5, Value: 1}}
	if err := checkRival(&row, inst, reply{Seconds: 2, Solution: "01", History: history}); err != nil || row.Met != 0.5 || row.Best != 0.5 {
		t.Errorf("%+v, %v", row, err)
	}
	row = result.Binary{Known: 2}
	if err := checkRival(&row, inst, reply{Seconds: 2, Solution: "01"}); err != nil || row.Success || row.Met != 0 {
		t.Errorf("%+v, %v", row, err)
	}
	for _, bad := range []reply{{Solution: "1"}, {Solution: "102"}, {Solution: "1x"}, {Solution: "11", History: history}} {
		if checkRival(&row, inst, bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	file, err := writeTerms(inst)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(file))
	if b, err := os.ReadFile(file); err != nil || len(b) != 3*16 {
		t.Errorf("%d bytes of terms, expected 3 of 16 (%v)", len(b), err)
	}
}

// Rivals that are not there are named, with why.
func TestMissingRivalsAreNamed(t *testing.T) {
	list, missing := (&rivals{python: "no-such-python"}).available(t.Context())
	if len(list) != 0 || !strings.Contains(missing["the packages of no-such-python"], "not found") || !strings.Contains(missing["MQLib"], "-mqlib") {
		t.Errorf("%d rivals, missing %v", len(list), missing)
	}
	rows := result.Summarize([]result.Binary{{Name: "MQLib", Missing: "why"}, {Name: "x", Instance: "i", Attempt: result.Attempt{Met: 1}}})
	if len(rows) != 1 || rows[0].Name != "x" {
		t.Errorf("a rival that is missing counts as a run: %+v", rows)
	}
}

func TestParseMQLib(t *testing.T) {
	r, err := parseMQLib("10,BURER2002,\"a,b[1].txt\",7,10.01,[3:0.25;7:1.5]\n\nSolution:\n-1 1 1\n")
	if err != nil || r.Seconds != 10.01 || r.Solution != "011" || len(r.History) != 2 || r.History[1] != (result.Improvement{Seconds: 1.5, Value: 7}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := parseMQLib("1,X,\"f\",0,1,[]\n\nSolution:\n0 1\n"); err != nil || len(r.History) != 0 || r.Solution != "01" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{"", "Illegal heuristic code X\n", "1,X,\"f\",0,1,[]\n", "1,X,\"f\",0,1,[a:b]\n\nSolution:\n0 1\n", "1,X,\"f\",0,1,[]\n\nSolution:\n2\n"} {
		if _, err := parseMQLib(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A command that answers as MQLib does is run for every heuristic, on a graph
// where the instance is a cut.
func TestMQLibIsRun(t *testing.T) {
	qubo, cut := small(t)
	folder := t.TempDir()
	command := filepath.Join(folder, "mqlib")
	// It echoes its arguments into a file, and answers with the second solution.
	answer := "#!/bin/sh\necho \"$@\" >>" + folder + "/args\ncat \"$4\" >>" + folder + "/args\n" +
		"printf '1,%s,\"f\",1,0.5,[1:0.125]\\n\\nSolution:\\n0 1\\n' $2\n"
	if err := os.WriteFile(command, []byte(answer), 0o700); err != nil {
		t.Fatal(err)
	}
	b := &bench{Bench: experiment.Bench[result.Binary]{Ctx: context.Background(), Start: time.Now(), Settings: experiment.Settings{Budget: time.Hour}, File: &result.Experiment[result.Binary]{}},
		rivals: &rivals{python: "no-such-python", mqlib: mqlib{command}}, settings: settings{seeds: 1, limit: time.Second}}
	list, _ := b.rivals.available(b.Ctx)
	if len(list) != len(mqlibHeuristics) {
		t.Fatalf("%d rivals, expected %d", len(list), len(mqlibHeuristics))
	}
	for _, c := range []struct {
		inst *quboproblem.Instance
		kind string
	}{{qubo, "-fQ"}, {cut, "-fM"}} {
		file, err := list[0].write(c.inst)
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(filepath.Dir(file))
		if err := b.rivalRuns(problem{name: "a", known: 1}, c.inst, list[0], file); err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile(filepath.Join(folder, "args"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(args), "-h BURER2002 "+c.kind+" "+file+" -r 1 -s 1 -nv -ps") {
			t.Errorf("run with %s", args)
		}
		back, err := solver.Read(file, solver.ReadOptions{Format: filepath.Ext(file)[1:]})
		if err != nil || back.N != c.inst.N || back.Form != c.inst.Form || back.Value([]uint64{2}) != c.inst.Value([]uint64{2}) {
			t.Errorf("%s was written as %s (%v)", c.inst, back, err)
		}
	}
	if row := b.File.Rows[0]; row.Failed != "" || row.Value != 1 || row.Met != 0.125 {
		t.Errorf("%+v", row)
	}
	if row := b.File.Rows[1]; !strings.Contains(row.Failed, "2 characters, expected 4") {
		t.Errorf("a solution of two of four variables: %+v", row)
	}
}
