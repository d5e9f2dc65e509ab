package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	kernels "coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	solver "coalesce/solvers/qubo"
)

// orFile is a small instance in OR-Library's layout: x1 + x2 - 4 x1 x2.
const orFile = "1\n2 3\n1 1 1\n1 2 -2\n2 2 1\n"

func quick(t *testing.T) settings {
	t.Helper()
	s := settings{Settings: experiment.Settings{Device: "host", Out: t.TempDir(), Budget: time.Hour}, data: t.TempDir(), seeds: 2, runs: 1, count: 3, iteration: 5,
		limit: time.Second, instances: []string{"bqp2500-1", "bqp2500-7"}}
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
	suffix := map[string]string{"host": "-host", "emulated:0,1": "-x2"}[s.Device]
	f, err := result.Load[result.Binary](filepath.Join(s.Out, "qubo-"+name+suffix+".json"))
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
	s.engines = nil
	rows = rowsOf(t, s, "ablation")
	var without []string
	for _, r := range rows[:len(rows)-1] {
		if r.Seed == 1 {
			without = append(without, r.Without)
		}
	}
	if strings.Join(without, " ") != " tabu anneal reheat eliminate multistart contract chain replicas stableset bound planar equations" || len(rows) != 2*13+1 {
		t.Errorf("ablation: %d rows, without %q", len(rows), without)
	}
	s.instances, s.engines, s.rules = s.instances[:1], []string{"host"}, solver.Rules{Pool: 3, Stall: 9}
	for _, r := range rowsOf(t, s, "target") {
		if r.Failed != "" {
			t.Errorf("by rules %s: %s", s.rules, r.Failed)
		}
	}
	s.rules = solver.Rules{Searches: 3}
	if run(context.Background(), s, []string{"target"}) {
		t.Error("the host's searches by a rule that it has not got: no error")
	}
	if run(context.Background(), s, []string{"nothing"}) {
		t.Error("an unknown experiment is run")
	}
}

// Variants answer the cases of their subjects on the emulated device.
func TestVerify(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := quick(t)
	s.Device, s.Sample = "emulated", true
	for _, c := range []struct {
		family *device.Family
		begins string // the label
	}{{&kernels.Bulk, "block=32,items=4,row=int8"}, {&kernels.Multistart, "block=256,state=shared,weight=int8"}} {
		at := slices.IndexFunc(c.family.Variants, func(v device.Variant) bool { return strings.HasPrefix(v.Label, c.begins) })
		if at < 0 {
			t.Fatalf("%s has no variant %s", c.family.Name, c.begins)
		}
		label := c.family.Variants[at].Label
		_, short, _ := strings.Cut(c.family.Name, "/")
		s.engines, s.Variant = []string{short}, label
		rows := rowsOf(t, s, "verify")
		if len(rows) != 1 || rows[0].Name != c.family.Name || rows[0].Variant != label || rows[0].Count < 2 || rows[0].Failed != "" {
			t.Errorf("%s: %+v", label, rows)
		}
	}
}

// Several devices solve together; their rows say so, and stand in a file apart.
func TestSeveralDevices(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := quick(t)
	s.Device, s.instances, s.seeds = "emulated:0,1", []string{"bqp2500-1"}, 1
	rows := rowsOf(t, s, "target")
	if len(rows) != 1 || rows[0].Devices != 2 || rows[0].Value != 1 {
		t.Errorf("%+v", rows)
	}
}

// Islands are one a device, at the same time, and then all together: flips first, then seeds. A
// second call keeps what the first measured and adds what is new.
func TestIslands(t *testing.T) {
	emulatedtest.Open(t) // or skip
	s := quick(t)
	s.Device, s.instances, s.seeds, s.Resume = "emulated:0,1", []string{"bqp2500-1"}, 3, true
	runs := func() (list []string) {
		for _, r := range rowsOf(t, s, "islands") {
			list = append(list, fmt.Sprint(r.What, r.Devices, " ", r.Seed))
			if r.Failed != "" || r.Value != 1 {
				t.Errorf("%+v", r)
			}
		}
		return list
	}
	want := []string{"flips0 1", "flips0 2", "flips2 1", "2 1", "2 2", "2 3", "0 1", "0 2", "0 3"}
	if got := runs(); !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
	s.seeds = 4
	if got := runs(); !slices.Equal(got, append(want, "2 4", "0 4")) {
		t.Errorf("runs %q after those of three seeds, want two more", got)
	}
}

// A sample has every value of every parameter.
func TestSampleOfVariants(t *testing.T) {
	for _, f := range kernels.Families() {
		list := experiment.Verification{Sample: true}.Variants(f)
		if len(list) == 0 || len(list) > len(f.Variants)/2+4 {
			t.Errorf("%s: %d of %d variants are a sample", f.Name, len(list), len(f.Variants))
		}
		values := func(list []*device.Variant) map[string]bool {
			seen := map[string]bool{}
			for _, v := range list {
				for p, value := range v.Values {
					seen[f.Params[p]+"="+value] = true
				}
			}
			return seen
		}
		if sample, all := values(list), values(experiment.Verification{}.Variants(f)); len(sample) != len(all) {
			t.Errorf("%s: the sample has %d values of parameters, all have %d", f.Name, len(sample), len(all))
		}
	}
}

// Limits hold from so many variables on, the longest such number first.
func TestLimits(t *testing.T) {
	s := settings{limit: time.Second}
	if err := s.limits.Set("5000=60s,3000=20s"); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]time.Duration{2999: time.Second, 3000: 20 * time.Second, 5000: time.Minute, 20000: time.Minute} {
		if got := s.limitFor(n); got != want {
			t.Errorf("%d variables: %v, expected %v", n, got, want)
		}
	}
	if text := s.limits.String(); text != "5000=1m0s,3000=20s" {
		t.Errorf("printed as %q", text)
	}
	for _, bad := range []string{"5000", "x=1s", "5000=0s", "5000=1"} {
		if new(timeLimits).Set(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Every cut of the G-set has a value that can be, and a class.
func TestCuts(t *testing.T) {
	list := targetProblems()
	groups := map[string]int{}
	for _, p := range list {
		if p.known <= 0 || p.known != float64(int(p.known)) {
			t.Errorf("%s: best known %v", p.name, p.known)
		}
		groups[result.InstanceClass(p.name)]++
	}
	for group, count := range map[string]int{"bqp2500": 10, "Palubeckis": 21, "K2000": 1, "G-set, tori": 17, "G-set, planar": 23, "G-set, random": 30} {
		if groups[group] != count {
			t.Errorf("%d instances of %s, expected %d", groups[group], group, count)
		}
	}
	b := &bench{settings: settings{instances: []string{"G5*", "bqp2500-1"}}}
	if !b.isSelected("G55") || !b.isSelected("bqp2500-1") || b.isSelected("G6") || b.isSelected("bqp2500-10") {
		t.Error("patterns of instances do not choose what they say")
	}
}

// A gap is a share of the best known.
func TestGap(t *testing.T) {
	if g := (result.Binary{Known: 200, Attempt: result.Attempt{Value: 199}}).Gap(); g != 0.5 {
		t.Errorf("found %v %%, expected 0.5", g)
	}
}

// The 21 instances of the paper are there, four of them as nothing but numbers.
func TestPaperInstances(t *testing.T) {
	b := &bench{}
	var missing []string
	for _, p := range append(orlibProblems(), palubeckisProblems()...) {
		if p.printed.Value >= p.known || p.printed.Value < 0.99*p.known {
			t.Errorf("%s: printed %v, best known %v", p.name, p.printed.Value, p.known)
		}
		if strings.HasPrefix(p.name, "p") && p.drawn.n == 0 {
			if _, err := b.openInstance(p); !errors.Is(err, errNotGiven) {
				t.Errorf("%s: %v", p.name, err)
			}
			missing = append(missing, p.name)
		}
	}
	if strings.Join(missing, " ") != "p6000.2 p7000.3" {
		t.Errorf("not drawn: %v", missing)
	}
}
