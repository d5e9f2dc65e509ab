package worker_test

import (
	"testing"
	"time"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// counting counts the instances that it makes to be timed, which are larger than its cases.
type counting struct {
	*fake.Subject
	made []uint64 // seeds
}

func (c *counting) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	if size == 10 {
		c.made = append(c.made, seed)
	}
	return c.Subject.Instance(fixed, size, seed)
}

// Instances that a final times by turns are made once each; the one not used for the longest time goes
// first, and where memory is short none is kept beside the new one.
func TestInstancesAreKept(t *testing.T) {
	for _, c := range []struct {
		name  string
		roomy func() bool
		seeds []uint64
		made  int
	}{
		{"by turns", nil, []uint64{1, 1, 2, 2, 1, 2, 1}, 2},
		{"a fourth", nil, []uint64{1, 2, 3, 1, 4, 1, 3, 2}, 5}, // 2 goes for 4, and comes again
		{"short of memory", func() bool { return false }, []uint64{1, 1, 2, 2, 1, 2}, 4},
	} {
		s := &counting{Subject: &fake.Subject{Plants: plants}}
		b := &worker.Bench{Device: &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}, Subjects: []subject.Subject{s}, Roomy: c.roomy}
		for _, seed := range c.seeds {
			r := request("", trial.ActionMeasure)
			r.Seed, r.Effort = seed, worker.Effort{Samples: 1, Warmup: time.Microsecond}
			if got := b.RunTrial(t.Context(), r); got.Status != trial.OK || got.Seed != seed {
				t.Fatalf("%s: seed %d: %s %s", c.name, seed, got.Status, got.Error)
			}
		}
		if len(s.made) != c.made {
			t.Errorf("%s: instances made of seeds %d, want %d of them", c.name, s.made, c.made)
		}
	}
}

// The cases are answered again after a variant's first measurement, and an instance drawn anew after each.
func TestVerifiedAfterTiming(t *testing.T) {
	for plant, want := range map[string]trial.Status{"": trial.OK, "learnt": trial.Verify} { // which knows the cases by heart
		b := &worker.Bench{Device: &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}, Subjects: []subject.Subject{&fake.Subject{Plants: plants}}}
		for k, cases := range []int{2, 0} {
			r := request(plant, trial.ActionMeasure)
			r.Effort = worker.Effort{Samples: 1, Warmup: time.Microsecond}
			if got := b.RunTrial(t.Context(), r); got.Status != want || got.Cases != cases {
				t.Errorf("%q, measurement %d: %s %s, %d cases, expected %d", plant, k+1, got.Status, got.Error, got.Cases, cases)
			}
		}
	}
}

// A GPU is warmed up for 25 ms and, where it timed something less than a second ago, for 5; a host for 25.
func TestShortWarmup(t *testing.T) {
	for kind, want := range map[string][]bool{device.CUDA: {false, true, false}, device.Host: {false, false, false}} {
		clock, calls := time.Unix(1e9, 0), 0
		b := &worker.Bench{Device: &fake.Device{F: device.Facts{Kind: kind, Name: "fake"}}, Subjects: []subject.Subject{&fake.Subject{Plants: plants}},
			Now: func() time.Time { calls++; clock = clock.Add(time.Millisecond); return clock }}
		for k, short := range want {
			if k == 2 {
				clock = clock.Add(time.Second)
			}
			calls = 0
			r := request("", trial.ActionMeasure)
			r.Effort = worker.Effort{Samples: 1}
			if got := b.RunTrial(t.Context(), r); got.Status != trial.OK {
				t.Fatalf("%s: %s %s", kind, got.Status, got.Error)
			}
			if calls < 5 || (calls < 25) != short {
				t.Errorf("%s, measurement %d: the clock was read %d times, once a ms; expected a short warm-up %v", kind, k+1, calls, short)
			}
		}
	}
}
