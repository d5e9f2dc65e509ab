package autotune_test

import (
	"slices"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// One variant is the faster below 500, another above, and times jump there, which no interpolation
// foresees: tuning between sizes of different winners closes in on 500.
func TestBetween(t *testing.T) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
	s := &fake.Subject{Plants: make([]string, 3), Clock: clock, Cost: func(v, size int) time.Duration {
		if v == 0 && size < 500 || v == 1 && size >= 500 {
			return time.Millisecond
		}
		return 1500 * time.Microsecond
	}}
	task := autotune.Task{Subject: s, Fixed: s.Workloads()[:1], Sizes: []int{100, 1000}}
	ended := func(_ autotune.Summary, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	o := autotune.Options{Device: d, Facts: d.F, Seed: 1, Budget: 30 * time.Second, Now: clock.Now}
	var err error
	if o.Database, err = autotune.TuneAll(t.Context(), []autotune.Task{task}, o, ended); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for range 20 {
		tasks := autotune.CrossoverSizes([]autotune.Task{{Subject: s}}, o.Database, d.F)
		if len(tasks) == 0 {
			break
		}
		if len(tasks) != 1 || len(tasks[0].Fixed) != 1 || len(tasks[0].Sizes) != 1 {
			t.Fatalf("after %v: %d tasks, the first %v at %v; want one size of one workload", sizes, len(tasks), tasks[0].Fixed, tasks[0].Sizes)
		}
		sizes = append(sizes, tasks[0].Sizes...)
		if o.Database, err = autotune.TuneAll(t.Context(), tasks, o, ended); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{316, 562, 421, 486, 523, 504}; !slices.Equal(sizes, want) {
		t.Errorf("tuned %v, want %v", sizes, want)
	}
	for size, want := range map[int]int{490: 0, 505: 1} {
		w, _, err := autotune.DescribeWorkload(s, task.Fixed[0], d.F, size)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.Database.Choose(s.Family(), d.F, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Variant != &s.Family().Variants[want] {
			t.Errorf("size %d: chose %s, want %s", size, c.Variant.Label, s.Family().Variants[want].Label)
		}
	}
}

// Nothing is between two sizes that one winner is as good as the fastest at, nor where the two follow
// each other, nor for other classes of devices.
func TestNothingBetween(t *testing.T) {
	clock := &fake.Clock{T: time.Unix(0, 0)}
	d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}, Clock: clock}
	ended := func(_ autotune.Summary, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		sizes []int
		loss  time.Duration // of the second variant above 500
		class string
		want  int
	}{
		"another wins":     {[]int{100, 1000}, 300 * time.Microsecond, "fake", 1},
		"as good as that":  {[]int{100, 1000}, 15 * time.Microsecond, "fake", 0},
		"one follows on":   {[]int{499, 500}, 300 * time.Microsecond, "fake", 0},
		"close":            {[]int{490, 510}, 300 * time.Microsecond, "fake", 0},
		"of other devices": {[]int{100, 1000}, 300 * time.Microsecond, "other", 0},
	} {
		var s subject.Subject = &fake.Subject{Plants: make([]string, 2), Clock: clock, Cost: func(v, size int) time.Duration {
			switch {
			case v == 1 && size >= 500:
				return time.Millisecond
			case v == 0 && size < 500:
				return 900 * time.Microsecond
			}
			return time.Millisecond + c.loss
		}}
		o := autotune.Options{Device: d, Facts: d.F, Seed: 1, Budget: 30 * time.Second, Now: clock.Now}
		db, err := autotune.TuneAll(t.Context(), []autotune.Task{{Subject: s, Fixed: s.Workloads()[:1], Sizes: c.sizes}}, o, ended)
		if err != nil || db.Len() != 2 {
			t.Fatalf("%s: %d entries, %v", name, db.Len(), err)
		}
		facts := d.F
		facts.Name = c.class
		if got := autotune.CrossoverSizes([]autotune.Task{{Subject: s}}, db, facts); len(got) != c.want {
			t.Errorf("%s: %d tasks, want %d: %v", name, len(got), c.want, got)
		}
	}
}
