package autotune_test

import (
	"slices"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// named is a subject under another name.
type named struct {
	*fake.Subject
	family *device.Family
}

func (n named) Family() *device.Family { return n.family }

// rename is a subject of another name; runs move the clock, or take their time where there is none.
func rename(name string, variants int, clock *fake.Clock) subject.Subject {
	s := &fake.Subject{Plants: make([]string, variants), Clock: clock, Cost: func(v, _ int) time.Duration { return time.Duration(2-v%2) * time.Millisecond }}
	f := *s.Family()
	f.Name = name
	return named{s, &f}
}

// TestAll tunes what users asked for first, then what is untuned; all share the budget, and
// refreshing leaves out what the database does not know.
func TestAll(t *testing.T) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
	tasks := []autotune.Task{{Subject: rename("toy/known", 2, clock)}, {Subject: rename("toy/new", 2, clock)}, {Subject: rename("toy/asked", 2, clock), Wanted: true}}
	for i := range tasks {
		tasks[i].Sizes = []int{10}
	}
	var order []string
	ended := func(s autotune.Summary, err error) {
		if err != nil {
			t.Errorf("%s: %v", s.Family, err)
		}
		order = append(order, s.Family)
	}
	o := autotune.Options{Device: d, Facts: d.F, Seed: 1, Budget: 30 * time.Second, Now: clock.Now}
	known, err := autotune.TuneAll(t.Context(), tasks[:1], o, ended)
	if err != nil || known.Len() != 1 {
		t.Fatalf("%d entries, %v", known.Len(), err)
	}
	order, o.Database = nil, known
	all, err := autotune.TuneAll(t.Context(), tasks, o, ended)
	if want := []string{"toy/asked", "toy/new", "toy/known"}; err != nil || !slices.Equal(order, want) || all.Len() != 3 {
		t.Errorf("%v with %d entries, %v; want %v", order, all.Len(), err, want)
	}
	if known.Len() != 1 {
		t.Error("the database passed in was changed")
	}
	if n, of := autotune.CountUntuned(all, tasks[0].Subject, d.F); n != 2 || of != 3 { // sizes 100 and 1000
		t.Errorf("%d of %d sizes are untuned, want 2 of 3", n, of)
	}
	order, o.Refresh = nil, true
	if _, err := autotune.TuneAll(t.Context(), tasks, o, ended); err != nil || !slices.Equal(order, []string{"toy/known"}) {
		t.Errorf("refreshed %v, %v, want toy/known alone", order, err)
	}
}

// The whole budget of several families is kept, and none is left out for the first's sake.
func TestAllShareTheBudget(t *testing.T) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
	tasks := []autotune.Task{{Subject: rename("toy/a", 200, clock)}, {Subject: rename("toy/b", 200, clock)}}
	begin := clock.Now()
	var sums []autotune.Summary
	_, err := autotune.TuneAll(t.Context(), tasks, autotune.Options{Device: d, Facts: d.F, Budget: 4 * time.Second, Now: clock.Now}, func(s autotune.Summary, _ error) {
		sums = append(sums, s)
	})
	if err != nil || len(sums) != 2 || clock.Now().Sub(begin) > 5*time.Second {
		t.Fatalf("%d summaries after %v, %v", len(sums), clock.Now().Sub(begin), err)
	}
	for _, s := range sums {
		if s.Stopped != search.OverBudget || s.Tried == 0 {
			t.Errorf("%s: %s after %v with %d tried", s.Family, s.Stopped, s.Elapsed, s.Tried)
		}
	}
}

// Parts have each workload once, and about as much to do.
func TestPart(t *testing.T) {
	tasks := []autotune.Task{{Subject: rename("toy/a", 40, nil)}, {Subject: rename("toy/b", 20, nil)}, {Subject: rename("toy/c", 20, nil)}, {Subject: rename("toy/alone", 1, nil)}}
	for k, want := range [][]string{{"toy/a", "toy/alone"}, {"toy/b", "toy/c"}} {
		var names []string
		for _, task := range autotune.PartOfTasks(tasks, &tuned.Database{}, device.Facts{}, k, 2) {
			names = append(names, task.Subject.Family().Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("part %d has %v, want %v", k, names, want)
		}
	}
}

// A refresh measures all that a file keeps, what leaves no choice of variants too.
func TestRefreshWithoutChoice(t *testing.T) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
	tasks := []autotune.Task{{Subject: rename("toy/a", 4, clock), Sizes: []int{10}}, {Subject: rename("toy/alone", 1, clock), Sizes: []int{10}}}
	o := autotune.Options{Device: d, Facts: d.F, Seed: 1, Now: clock.Now}
	kept, err := autotune.TuneAll(t.Context(), tasks, o, func(autotune.Summary, error) {})
	if err != nil || kept.Len() != 2 {
		t.Fatalf("%d entries, %v", kept.Len(), err)
	}
	o.Database, o.Refresh, o.Budget = kept, true, 30*time.Second
	tried := map[string]int{}
	_, err = autotune.TuneAll(t.Context(), tasks, o, func(s autotune.Summary, _ error) { tried[s.Family] = s.Tried })
	if err != nil || tried["toy/a"] == 0 || tried["toy/alone"] == 0 {
		t.Errorf("tried %v, %v", tried, err)
	}
}
