package autotune

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

func TestShare(t *testing.T) {
	f := &device.Family{Params: []string{"value"}}
	for _, v := range []string{"int32", "int32", "int32", "int64", "int64", "float32"} {
		f.Variants = append(f.Variants, device.Variant{Values: []string{v}})
	}
	w := func(v string) map[string]string { return map[string]string{"value": v} }
	for _, c := range []struct {
		fixed []map[string]string
		want  float64
	}{
		{[]map[string]string{w("int32"), w("int64")}, 13.0 / 25},
		{[]map[string]string{w("int64")}, 1},
		{[]map[string]string{w("float32"), w("int64")}, 1.0 / 13}, // one variant leaves no choice
		{[]map[string]string{w("float32")}, 1},
		{[]map[string]string{w("float32"), w("float32")}, 0.5},
		{nil, 0},
	} {
		if got := timeShare(f, device.Facts{}, c.fixed); got != c.want {
			t.Errorf("share of %v: %v, expected %v", c.fixed, got, c.want)
		}
	}
}

func TestChoices(t *testing.T) {
	f := &device.Family{Params: []string{"value"}}
	for _, v := range []string{"int32", "int32", "float32"} {
		f.Variants = append(f.Variants, device.Variant{Values: []string{v}})
	}
	w := func(v string) map[string]string { return map[string]string{"value": v} }
	if got := workloadsWithChoice(f, device.Facts{}, []map[string]string{w("float32"), w("int32")}); len(got) != 1 || got[0]["value"] != "int32" {
		t.Errorf("one of two workloads leaves a choice: %v", got)
	}
	if got := workloadsWithChoice(f, device.Facts{}, []map[string]string{w("float32")}); len(got) != 1 {
		t.Errorf("the only workload, which leaves no choice: %v", got)
	}
}

// ofFamily is a subject of which a sharing asks the family alone.
type ofFamily struct {
	subject.Subject
	f *device.Family
}

func (o ofFamily) Family() *device.Family { return o.f }

// The family on which least was spent comes next, with what has no winner first; algorithms take part
// when every family of kernels has had its time, and several at once.
func TestNext(t *testing.T) {
	s := &budgetedRun{}
	for _, of := range []struct {
		name, target     string
		workloads, sizes int
	}{{"many", "cuda", 3, 2}, {"choice", "", 1, 2}, {"one", "cuda", 1, 5}} {
		f := &device.Family{Name: of.name, Target: of.target}
		for w := range of.workloads {
			s.units = append(s.units, &budgetedWorkload{
				Task:  Task{Subject: ofFamily{f: f}, Fixed: []map[string]string{{"value": fmt.Sprint(w)}}},
				order: slices.Repeat([]int{1}, of.sizes),
				known: make([]bool, of.sizes),
				done:  make([]bool, of.sizes),
			})
		}
	}
	s.units[0].known[0], s.units[4].known[2] = true, true
	s.units[4].done[4] = true // by an earlier run
	took, cost := map[string]time.Duration{}, map[string]time.Duration{"many": 2, "one": 7, "choice": 3}
	var got []string
	algorithms := false
	for steps := s.steps(); len(steps) > 0; {
		i := nextStep(steps, took, algorithms)
		one, f := steps[i], steps[i].Subject.Family()
		got = append(got, fmt.Sprintf("%s/%s.%d", f.Name, one.Fixed[0]["value"], one.at))
		took[f.Name] += cost[f.Name] * time.Second
		algorithms = ofAlgorithms(f)
		steps = slices.Delete(steps, i, i+1)
	}
	want := "many/1.0 one/0.0 many/2.0 many/0.1 many/1.1 one/0.1 many/2.1 one/0.3 choice/0.0 choice/0.1 " +
		"many/0.0 one/0.2" // which have winners
	if text := strings.Join(got, " "); text != want {
		t.Errorf("sizes are decided in the order\n%s, expected\n%s", text, want)
	}
}

// Times at sizes that were decided before join the results there, the fastest first; the winner stays, unless the
// size was decided again.
func TestCrossedResultsJoin(t *testing.T) {
	f := &device.Family{Name: "toy", Params: []string{"v"}}
	for _, label := range []string{"v=a", "v=b", "v=c"} {
		f.Variants = append(f.Variants, device.Variant{Label: label, Values: []string{label[2:]}, Hash: 7, Safe: label == "v=b"})
	}
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	have := tuned.Entry{Family: "toy", Class: device.Facts{}.Class(), Fixed: map[string]string{}, Size: 20, Protocol: tuned.Protocol, Time: begin, Winner: "v=a",
		Results: []tuned.Result{{Variant: "v=a", Hash: 7, Nanos: 40}, {Variant: "v=b", Hash: 7, Nanos: 80}}}
	measured := func(v int, nanos int64) search.Measured {
		return search.Measured{Variant: &f.Variants[v], Sample: trial.Sample{N: 5, Median: nanos, Q1: nanos, Q3: nanos}, Work: 4}
	}
	kept := func(v string, nanos int64) tuned.Result {
		return tuned.Result{Variant: v, Hash: 7, Nanos: nanos, Q1: nanos, Q3: nanos, Samples: 5, Work: 4}
	}
	for _, c := range []struct {
		crossed search.SizeOutcome
		winner  string
		want    []tuned.Result
		won     []Winner
	}{
		{search.SizeOutcome{Results: []search.Measured{measured(2, 60)}},
			"v=a", []tuned.Result{have.Results[0], kept("v=c", 60), have.Results[1]}, nil},
		{search.SizeOutcome{Results: []search.Measured{measured(2, 20), measured(0, 50)}, Winner: &f.Variants[2]},
			"v=c", []tuned.Result{kept("v=c", 20), kept("v=a", 50), have.Results[1]},
			[]Winner{{Fixed: have.Fixed, Size: 20, Variant: "v=c", Time: 20, SafeTime: 80, Speedup: 4, Rate: 2e8, Measured: 2}}},
	} {
		db, err := tuned.New(have)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{Options: Options{Now: func() time.Time { return begin.Add(time.Hour) }}, family: f, sum: Summary{Counts: map[trial.Status]int{}}}
		unknown := c.crossed
		c.crossed.Size, unknown.Size = 20, 30
		for _, e := range r.recordOutcome(search.Outcome{Stopped: search.Done, Crossed: []search.SizeOutcome{c.crossed, unknown}}, db, have.Fixed) {
			if err := db.Put(e); err != nil {
				t.Fatal(err)
			}
		}
		e := db.Entries()[0]
		if len(db.Entries()) != 1 || e.Winner != c.winner || !slices.Equal(e.Results, c.want) || !e.Time.After(begin) {
			t.Errorf("entry %+v, expected the winner %s and the results %+v", e, c.winner, c.want)
		}
		if !reflect.DeepEqual(r.sum.Winners, c.won) {
			t.Errorf("winners %+v, expected %+v", r.sum.Winners, c.won)
		}
	}
}

// A search whose time runs out may repeat less than it goes on from: what that kept of a size stays, and what another
// day kept goes.
func TestKeptResultsStay(t *testing.T) {
	f := &device.Family{Name: "toy", Params: []string{"v"}}
	for _, label := range []string{"v=a", "v=b"} {
		f.Variants = append(f.Variants, device.Variant{Label: label, Values: []string{label[2:]}, Hash: 7, Safe: label == "v=b"})
	}
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	have := tuned.Entry{Family: "toy", Class: device.Facts{}.Class(), Fixed: map[string]string{}, Size: 20, Protocol: tuned.Protocol, Time: begin, Winner: "v=a",
		Results: []tuned.Result{{Variant: "v=a", Hash: 7, Nanos: 40}, {Variant: "v=b", Hash: 7, Nanos: 80}}}
	fresh := search.Measured{Variant: &f.Variants[1], Sample: trial.Sample{N: 5, Median: 30}}
	for since, want := range map[time.Time][]string{{}: {"v=b"}, begin.Add(500 * time.Millisecond): {"v=b", "v=a"}, begin.Add(time.Minute): {"v=b"}} {
		db, err := tuned.New(have)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{Options: Options{Now: func() time.Time { return begin.Add(time.Hour) }}, family: f, since: since, sum: Summary{Counts: map[trial.Status]int{}}}
		var got []string
		for _, e := range r.recordOutcome(search.Outcome{Stopped: search.OverBudget,
			Sizes: []search.SizeOutcome{{Size: 20, Winner: &f.Variants[1], Results: []search.Measured{fresh}}}}, db, have.Fixed) {
			for _, have := range e.Results {
				got = append(got, have.Variant)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("trials since %v: results of %v, expected %v", since, got, want)
		}
	}
}
