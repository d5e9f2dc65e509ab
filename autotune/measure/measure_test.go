package measure_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/measure"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// bed prepares a job whose run number i takes cost(i).
func bed(t *testing.T, facts device.Facts, cost func(i int) time.Duration) (*fake.Device, subject.Job, *fake.Clock, *int) {
	t.Helper()
	clock, runs := &fake.Clock{T: time.Unix(0, 0)}, new(int)
	d := &fake.Device{F: facts, Clock: clock}
	s := &fake.Subject{Plants: []string{""}, Clock: clock, Cost: func(int, int) time.Duration {
		*runs++
		return cost(*runs)
	}}
	r, err := s.Open(d, &s.Family().Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	inst, _ := s.Instance(nil, 10, 1)
	job, err := r.Prepare(inst)
	if err != nil {
		t.Fatal(err)
	}
	return d, job, clock, runs
}

func run(t *testing.T, d device.Device, job subject.Job, o measure.Options) measure.Result {
	t.Helper()
	s, _ := d.NewStream()
	r, err := measure.Run(t.Context(), d, s, job, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func constant(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

var gpu = device.Facts{Kind: device.CUDA, L2: 1 << 10}

func TestStableStopsAtTen(t *testing.T) {
	d, job, clock, runs := bed(t, gpu, constant(time.Millisecond))
	r := run(t, d, job, measure.Options{Now: clock.Now})
	if r.Cold.N != 10 || r.Hot != nil || !r.Clean || r.Stop != measure.StopStable || r.Cold.Median != 1e6 || r.Cold.MAD != 0 {
		t.Errorf("cold %+v, hot %+v, stop %s", r.Cold, r.Hot, r.Stop)
	}
	if *runs != 35 { // 25 of warm-up
		t.Errorf("%d runs, want 35", *runs)
	}
	if d.Buffers != 1 {
		t.Errorf("%d buffers left, want the job's", d.Buffers)
	}
}

func TestNoColdWithoutL2(t *testing.T) {
	d, job, clock, _ := bed(t, device.Facts{Kind: device.Host}, constant(time.Millisecond))
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Cold != nil || r.Hot.N != 10 || r.Stop != measure.StopStable {
		t.Errorf("cold %v, hot %v, stop %s", r.Cold, r.Hot, r.Stop)
	}
}

func TestWarmUpDoesNotCount(t *testing.T) {
	d, job, clock, _ := bed(t, gpu, func(i int) time.Duration {
		if i == 1 {
			return 300 * time.Millisecond // lazy loading
		}
		return time.Millisecond
	})
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Cold.Median != 1e6 || r.Cold.Q3 != 1e6 {
		t.Errorf("cold %+v", r.Cold)
	}
}

func TestShortRunsAreRepeated(t *testing.T) {
	d, job, clock, _ := bed(t, device.Facts{Kind: device.Host}, constant(3*time.Microsecond))
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Hot.Repeat != 128 || r.Hot.Median != 3000 || r.Clean { // 64·3 µs < 200 µs ≤ 128·3 µs
		t.Errorf("hot %+v, clean %t", r.Hot, r.Clean)
	}
	d, job, clock, _ = bed(t, gpu, constant(3*time.Microsecond))
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Cold.Repeat != 1 || r.Cold.Median != 3000 { // the flush before it serves one run
		t.Errorf("cold %+v", r.Cold)
	}
}

// Before each timed run the job is reset, and the L2 cache overwritten by twice its size.
func TestResetAndFlushBeforeEachRun(t *testing.T) {
	d, job, clock, runs := bed(t, gpu, constant(4*time.Second))
	reset, flushed := false, int64(0)
	d.Note = func(what string, bytes int64) {
		switch {
		case what == "fill" && bytes == 8: // of the job
			reset, flushed = true, 0
		case what == "fill":
			flushed += bytes
		case !reset || flushed < 2*gpu.L2:
			t.Errorf("run %d: reset %v, %d bytes flushed after it", *runs+1, reset, flushed)
			fallthrough
		default:
			reset, flushed = false, 0
		}
	}
	if run(t, d, job, measure.Options{Now: clock.Now}); *runs != 3 {
		t.Errorf("%d runs", *runs)
	}
}

// Samples taken while the probe is slow are discarded, though not without end.
func TestDisturbedSamplesAreDiscarded(t *testing.T) {
	for name, slow := range map[string]func(fill int) bool{
		"at times": func(fill int) bool { return fill%3 == 0 },
		"always":   func(fill int) bool { return fill > 2 },
	} {
		fills, disturbed := 0, false
		d, job, clock, _ := bed(t, gpu, func(int) time.Duration {
			if disturbed {
				return 5 * time.Millisecond
			}
			return time.Millisecond
		})
		d.Note = func(what string, bytes int64) {
			if what == "fill" && bytes > 8 {
				fills++
				cost := 100 * time.Microsecond
				if disturbed = slow(fills); disturbed {
					cost *= 3
				}
				clock.T = clock.T.Add(cost)
			}
		}
		r := run(t, d, job, measure.Options{Now: clock.Now})
		if r.Disturbed == 0 || name == "at times" && (r.Cold.Median != 1e6 || r.Cold.Q3 != 1e6) {
			t.Errorf("%s: %d discarded, cold %+v", name, r.Disturbed, r.Cold)
		}
	}
}

// Where nothing flushes the cache, runs leave the probe's memory there or not: that disturbs no sample.
func TestProbeOfWhatRunsLeftInTheCache(t *testing.T) {
	left, slow := false, 0
	d, job, clock, runs := bed(t, device.Facts{Memory: 1 << 30}, func(i int) time.Duration {
		left = i%4 == 0
		return time.Millisecond
	})
	d.Note = func(what string, bytes int64) {
		if what == "fill" && bytes > 8 {
			cost := 30 * time.Microsecond
			if !left || slow > 0 && (*runs == slow || *runs == slow+1) { // a sample has two runs
				cost *= 4
			}
			left = true
			clock.T = clock.T.Add(cost)
		}
	}
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Hot == nil || r.Disturbed != 0 {
		t.Errorf("%d discarded of %+v", r.Disturbed, r.Hot)
	}
	slow = *runs + 31
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Disturbed != 1 {
		t.Errorf("%d discarded where one probe was slow", r.Disturbed)
	}
}

func TestLongRunsAreFew(t *testing.T) {
	d, job, clock, runs := bed(t, gpu, constant(4*time.Second))
	r := run(t, d, job, measure.Options{Now: clock.Now})
	if r.Cold.N != 3 || r.Hot != nil || !r.Clean || r.Stop != measure.StopCap || *runs != 3 {
		t.Errorf("cold %+v, hot %v, stop %s, %d runs", r.Cold, r.Hot, r.Stop, *runs)
	}
	// The first run counts, and its time too.
	d, job, clock, runs = bed(t, gpu, constant(2*time.Second))
	if r := run(t, d, job, measure.Options{Now: clock.Now, MinSamples: 1, Cap: time.Second}); r.Cold.N != 1 || r.Stop != measure.StopCap || *runs != 1 {
		t.Errorf("cold %+v, stop %s, %d runs", r.Cold, r.Stop, *runs)
	}
}

func TestBoundStopsAfterOne(t *testing.T) {
	d, job, clock, runs := bed(t, gpu, constant(4*time.Second))
	r := run(t, d, job, measure.Options{Now: clock.Now, Bound: time.Second})
	if r.Cold.N != 1 || r.Stop != measure.StopSlow || *runs != 1 {
		t.Errorf("cold %+v, stop %s, %d runs", r.Cold, r.Stop, *runs)
	}
}

func TestNoiseGoesOnToPlateauOrCap(t *testing.T) {
	noisy := func(i int) time.Duration {
		return time.Millisecond + time.Duration(i%7)*50*time.Microsecond
	}
	d, job, clock, _ := bed(t, gpu, noisy)
	if r := run(t, d, job, measure.Options{Now: clock.Now}); r.Stop != measure.StopPlateau || r.Cold.N != 40 {
		t.Errorf("stop %s after %d", r.Stop, r.Cold.N)
	}
	d, job, clock, _ = bed(t, gpu, noisy)
	if r := run(t, d, job, measure.Options{Now: clock.Now, Cap: 20 * time.Millisecond}); r.Stop != measure.StopCap || r.Cold.N < 10 || r.Cold.N > 20 {
		t.Errorf("stop %s after %d", r.Stop, r.Cold.N)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d, job, clock, _ := bed(t, gpu, func(i int) time.Duration {
		if i == 30 {
			cancel()
		}
		return time.Millisecond
	})
	s, _ := d.NewStream()
	if _, err := measure.Run(ctx, d, s, job, measure.Options{Now: clock.Now}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFlushNeedsMemory(t *testing.T) {
	d, job, _, _ := bed(t, device.Facts{L2: 1 << 10, Memory: 1 << 10}, constant(1))
	s, _ := d.NewStream()
	if _, err := measure.Run(t.Context(), d, s, job, measure.Options{}); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v", err)
	}
}

func TestStatistics(t *testing.T) {
	s := measure.Statistics([]float64{5, 1, 4, 2, 3}, 2)
	if s.N != 5 || s.Median != 3 || s.Q1 != 2 || s.Q3 != 4 || s.Min != 1 || s.MAD != 1 || s.Repeat != 2 {
		t.Errorf("%+v", s)
	}
	if measure.Statistics(nil, 1) != nil {
		t.Error("statistics of nothing")
	}
}

// On a host times may be the processor time of this process: a run that waits takes none.
func TestProcessorTime(t *testing.T) {
	if measure.ProcessorTime() == 0 {
		t.Skip("this system does not tell the processor time")
	}
	const computes, waits = 4 * time.Millisecond, 30 * time.Millisecond
	d, job, _, _ := bed(t, device.Facts{Kind: device.Host}, func(int) time.Duration {
		for begin := measure.ProcessorTime(); measure.ProcessorTime()-begin < computes; {
		}
		time.Sleep(waits)
		return 0
	})
	for threads, most := range map[int]time.Duration{1: 2 * computes, 2: computes} {
		r := run(t, d, job, measure.Options{Threads: threads, Samples: 5, Warmup: 1})
		if got := time.Duration(r.Hot.Median); got < computes/time.Duration(threads) || got > most {
			t.Errorf("%d threads: %v, expected about %v", threads, got, computes/time.Duration(threads))
		}
	}
}
