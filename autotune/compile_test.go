package autotune_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A compiler takes its time, and refuses some variants.
type compiler struct {
	takes   time.Duration
	refuses string // part of a label

	mu        sync.Mutex
	compiled  map[string]int // calls by label
	running   int
	most      int // running at a time
	cancelled int
}

func (c *compiler) compile(ctx context.Context, _ *device.Family, v *device.Variant) error {
	c.mu.Lock()
	c.compiled[v.Label]++
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	defer func() { c.mu.Lock(); c.running--; c.mu.Unlock() }()
	select {
	case <-ctx.Done():
		c.mu.Lock()
		c.cancelled++
		c.mu.Unlock()
		return ctx.Err()
	case <-time.After(c.takes):
	}
	if strings.Contains(v.Label, c.refuses) {
		return fmt.Errorf("%s: expected a ';'", v.Label)
	}
	return nil
}

// loaded is a device that notes which variants it loads.
type loaded struct {
	fake.Device
	labels map[string]bool
}

func (d *loaded) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	d.labels[v.Label] = true
	return d.Device.Load(f, v)
}

// compiledTune tunes 20 variants, whose trials take about as long as a compilation, with so many compilers.
func compiledTune(t *testing.T, c *compiler, compilers int, budget time.Duration) (autotune.Summary, *loaded) {
	t.Helper()
	c.compiled = map[string]int{}
	d := &loaded{fake.Device{F: device.Facts{Kind: device.CUDA, Name: "fake", Major: 9, SMs: 1, SharedPerBlock: 1 << 10}}, map[string]bool{}}
	s := &fake.Subject{Plants: make([]string, 20), Cost: func(v, _ int) time.Duration { return time.Duration(50+(v*7)%20) * time.Millisecond }}
	s.Family().Target = device.CUDA
	_, sum, err := autotune.Tune(t.Context(), autotune.Options{
		Subject: s, Sizes: []int{100}, Device: d, Seed: 1, Budget: budget, Compile: c.compile, Compilers: compilers,
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	return sum, d
}

// Variants are compiled while the device measures others: by one compiler at a time, each once, and the tune takes less time by what the
// device does not wait for. The winner is the same. A variant that does not compile is a failed trial, and never loaded.
func TestCompilesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := &compiler{refuses: "v=3,"}
		without, _ := compiledTune(t, free, 1, 0)
		for compilers := range 3 {
			c := &compiler{takes: time.Second, refuses: "v=3,"}
			sum, d := compiledTune(t, c, compilers+1, 0)
			if c.most > compilers+1 || c.running > 0 {
				t.Errorf("%d compilers at a time, expected %d, and %d are left at the end", c.most, compilers+1, c.running)
			}
			for label, n := range c.compiled {
				if n > 1 || d.labels[label] == strings.Contains(label, "v=3,") {
					t.Errorf("%s: compiled %d times, loaded %t", label, n, d.labels[label])
				}
			}
			of := sum.Compiled
			if of.Variants != 20 || of.Time != 20*time.Second || of.Waited > of.Time/2 {
				t.Errorf("%d compilers: %+v, expected 20 variants in 20 s and waits for less than half of it", compilers+1, of)
			}
			if sum.Elapsed-of.Waited != without.Elapsed {
				t.Errorf("%d compilers: %v, of which %v are waits; without compiling %v", compilers+1, sum.Elapsed, of.Waited, without.Elapsed)
			}
			if len(sum.Winners) != 1 || sum.Winners[0].Variant != without.Winners[0].Variant {
				t.Errorf("winners %+v, expected %+v", sum.Winners, without.Winners)
			}
			if len(sum.Failures) != 1 || sum.Failures[0].Status != trial.Compile || !strings.Contains(sum.Failures[0].Error, "expected a ';'") {
				t.Errorf("failures %+v", sum.Failures)
			}
		}
	})
}

// At the end of a tune its compilers end too. No variant fails by that.
func TestCompilingEndsWithTheTune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &compiler{takes: time.Hour, refuses: "none"}
		begin := time.Now()
		sum, _ := compiledTune(t, c, 2, 10*time.Second)
		if took := time.Since(begin); took > time.Minute || c.cancelled == 0 || c.running > 0 || len(sum.Failures) > 0 {
			t.Errorf("after %v: %d cancelled, %d still running, failures %+v", took, c.cancelled, c.running, sum.Failures)
		}
	})
}
