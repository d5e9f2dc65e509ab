package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/measure"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
)

// A seed says which workloads: of every problem, at sizes that nothing was tuned at.
func TestDraw(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "card", Major: 9, SMs: 132, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024}
	var here []subject.Subject
	for _, s := range tunedSubjects() {
		if autotune.RunsOn(s, facts) {
			here = append(here, s)
		}
	}
	shipped, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	list := drawWorkloads(here, shipped.Entries(), facts, "a", 40, 1)
	again, other := drawWorkloads(here, shipped.Entries(), facts, "a", 40, 1), drawWorkloads(here, shipped.Entries(), facts, "b", 40, 1)
	if len(list) != 40 || !slices.EqualFunc(list, again, workload.equals) || slices.EqualFunc(list, other, workload.equals) {
		t.Errorf("%d workloads, expected 40, the same for one seed and others for another", len(list))
	}
	for seed := range 10 { // no solve chooses variants of rows of bits, pairs or float32 at sizes that are tuned
		for _, w := range drawWorkloads(here, shipped.Entries(), facts, fmt.Sprint(seed), 40, 1) {
			if _, chosen, err := autotune.DescribeWorkload(w.subject, w.fixed, facts, w.size); err != nil || !chosen {
				t.Errorf("%s %v, size %d: solves choose no variant for it, %v", w.subject.Family().Name, w.fixed, w.size, err)
			}
		}
	}
	drawn := map[string]int{}
	for k, w := range list {
		name, _, _ := strings.Cut(w.subject.Family().Name, "/")
		drawn[name]++
		if slices.ContainsFunc(list[:k], w.equals) {
			t.Errorf("%s %v, size %d twice", w.subject.Family().Name, w.fixed, w.size)
		}
		for _, e := range shipped.Entries() {
			if e.Family == w.subject.Family().Name && e.Size == w.size && maps.Equal(e.Fixed, w.fixed) {
				t.Errorf("%s %v, size %d was tuned", e.Family, e.Fixed, e.Size)
			}
		}
	}
	if all := len(problems.List()); len(drawn) != all {
		t.Errorf("workloads of %v, expected all %d problems", drawn, all)
	}
}

// Parts have every workload once.
func TestDealt(t *testing.T) {
	list := make([]workload, 11)
	for k := range list {
		list[k].size = k
	}
	seen := map[int]int{}
	for _, part := range []string{"1/3", "2/3", "3/3"} {
		mine, err := partOf(list, part)
		if err != nil || len(mine) < 3 {
			t.Fatalf("part %s: %d workloads, %v", part, len(mine), err)
		}
		for _, w := range mine {
			seen[w.size]++
		}
	}
	for k := range list {
		if seen[k] != 1 {
			t.Errorf("workload %d is in %d parts", k, seen[k])
		}
	}
	if all, err := partOf(list, ""); err != nil || len(all) != len(list) {
		t.Errorf("%d workloads without a part, %v", len(all), err)
	}
	for _, part := range []string{"0/3", "4/3", "1", "x/3", "-1/3"} {
		if _, err := partOf(list, part); err == nil {
			t.Errorf("part %s is taken", part)
		}
	}
}

// Of algorithms each instance counts as much, however long it takes, and where two take turns to be ahead
// the noise says so.
func TestTypical(t *testing.T) {
	a, b := [][]float64{{1}, {100}, {2}, {8}}, [][]float64{{2}, {50}, {4}, {4}}
	if x, y := typicalTime(a), typicalTime(b); math.Abs(x/y-1) > 1e-12 || totalTime(a) <= totalTime(b) {
		t.Errorf("typical %v and %v, total %v and %v", x, y, totalTime(a), totalTime(b))
	}
	if x, y := relativeGap(2, 3), relativeGap(3, 2); x != 0.5 || x != y {
		t.Errorf("apart %v and %v, expected a half", x, y)
	}
	if x := ratioNoise(a, a); x != 0 {
		t.Errorf("noise %v of one variant's times", x)
	}
	if x := ratioNoise(a, b); math.Abs(x-(math.Exp(2*math.Ln2/math.Sqrt(3))-1)) > 1e-12 { // the logarithm's deviation is 2 ln 2/√3
		t.Errorf("noise %v", x)
	}
}

// Regrets are of the best, and a forced slow winner has one.
func TestRegret(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	facts := d.Facts()
	subjects := slices.DeleteFunc(csg.Subjects(), func(s subject.Subject) bool { return s.Family().Name != "csg/hosttiles" })
	w := workload{subjects[0], map[string]string{"value": "int32"}, 14}
	b := &bench{settings: settings{rounds: 2}, subjects: subjects}
	b.Bench = experiment.Bench[result.Choice]{Ctx: t.Context(), Dev: d, Facts: facts, Start: time.Now()}
	all := w.candidates(facts)
	slow := all[len(all)-1]
	forced, err := tuned.New(tuned.Entry{Family: w.subject.Family().Name, Class: facts.Class(), Fixed: w.fixed, Size: w.size, Protocol: tuned.Protocol,
		Winner: slow.Label, Results: []tuned.Result{{Variant: slow.Label, Hash: tuned.Hash(slow.Hash), Nanos: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	b.sources = []source{{"forced", forced, forced}}
	var row result.Choice
	if err := b.timeRegrets(w, &row); err != nil {
		t.Fatal(err)
	}
	if len(row.Chosen) != 2 || row.Chosen[0].Variant != slow.Label || row.Chosen[0].Level != tuned.Exact || row.Chosen[1].Level != tuned.Safe || row.Variants != len(all) {
		t.Errorf("row %+v, expected the forced variant and the safe one", row)
	}
	for _, c := range row.Chosen {
		if c.Regret < 0 || (c.Variant == row.Best) != (c.Regret == 0) || c.Seconds < row.Seconds {
			t.Errorf("%+v beside the best %s, %v s", c, row.Best, row.Seconds)
		}
	}
}

// Where times depend on the instance each round has its own, and an unsure regret asks for more of them.
func TestRegretOfVaried(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	all := csg.Subjects()
	sub := &varied{Subject: all[slices.IndexFunc(all, func(s subject.Subject) bool { return s.Family().Name == "csg/hosttiles" })], seeds: map[uint64]bool{}}
	const rounds = 3
	b := &bench{settings: settings{rounds: rounds}, sources: []source{{name: "none", db: &tuned.Database{}}}}
	b.Bench = experiment.Bench[result.Choice]{Ctx: t.Context(), Dev: d, Facts: d.Facts(), Start: time.Now()}
	var row result.Choice
	if err := b.timeRegrets(workload{sub, map[string]string{"value": "int32"}, 10}, &row); err != nil {
		t.Fatal(err)
	}
	if n := len(sub.seeds); n < rounds || n > patience*rounds || row.Best == "" || len(row.Chosen) != 2 {
		t.Errorf("%d instances, expected %d to %d; row %+v", n, rounds, patience*rounds, row)
	}
}

// varied is a subject whose times depend on the instance.
type varied struct {
	subject.Subject
	seeds map[uint64]bool // of what was drawn
}

func (*varied) Varied() {}

func (v *varied) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	v.seeds[seed] = true
	return v.Subject.Instance(fixed, size, seed)
}

// Jobs are kept for other times; where the device has no room for one more, the others are closed first.
func TestKeptJobs(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	all := csg.Subjects()
	w := workload{all[slices.IndexFunc(all, func(s subject.Subject) bool { return s.Family().Name == "csg/hosttiles" })], map[string]string{"value": "int32"}, 14}
	room := &roomy{Subject: w.subject, most: 2}
	w.subject = room
	b := &bench{Bench: experiment.Bench[result.Choice]{Ctx: t.Context(), Dev: d, Facts: d.Facts()}}
	v := w.candidates(b.Facts)[0]
	jobs := boundVariants{b: b, w: w, keep: true}
	for k, made := range []int{1, 2, 2, 2, 3, 3, 4} { // the third instance has no room beside two
		if _, err := jobs.time(v, []int{0, 1, 0, 1, 2, 2, 0}[k], measure.Options{Cap: time.Millisecond, MinSamples: 1}); err != nil || room.made != made {
			t.Fatalf("time %d: %d jobs made, expected %d, %v", k, room.made, made, err)
		}
	}
	if err := jobs.close(); err != nil || room.open != 0 {
		t.Errorf("%d jobs open, %v", room.open, err)
	}
	room.most = 0
	if _, err := jobs.time(v, 0, measure.Options{}); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v without room for one", err)
	}
}

// roomy is a subject on a device with room for so many jobs at most.
type roomy struct {
	subject.Subject
	subject.Runner
	open, made, most int
}

func (r *roomy) Open(d device.Device, v *device.Variant) (runner subject.Runner, err error) {
	r.Runner, err = r.Subject.Open(d, v)
	return r, err
}

func (r *roomy) Prepare(inst subject.Instance) (subject.Job, error) {
	if r.open == r.most {
		return nil, device.ErrMemory
	}
	j, err := r.Runner.Prepare(inst)
	r.open++
	r.made++
	return closing{j, func() { r.open-- }}, err
}

type closing struct {
	subject.Job
	then func()
}

func (c closing) Close() error {
	c.then()
	return c.Job.Close()
}

func TestSummary(t *testing.T) {
	rows := []result.Choice{{Noise: 0.01, Chosen: []result.MeasuredChoice{{By: "safe", Regret: 0.5}, {By: "shipped", Regret: 0.11, Noise: 0.12}}},
		{Noise: 0.03, Chosen: []result.MeasuredChoice{{By: "safe", Regret: 0.04}, {By: "shipped", Regret: 0}}}}
	want := "safe             regret: median 27.0 %, worst 50.0 %; within 3 %: 0, within 10 %: 1 of 2\n" +
		"shipped          regret: median 5.5 %, worst 11.0 %; within 3 %: 2, within 10 %: 2 of 2\n" +
		"                 noise of one variant timed twice: median 2.0 %, worst 3.0 %\n"
	if got := summaryLines(rows); got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}
