// Package measure times a job by protocol mp1:
//
//  1. One run that does not count, which takes lazy loading and page faults. A run longer than a
//     second counts, because these add less than the noise.
//  2. Warm-up by time, not by count.
//  3. Each sample starts from Reset, so that no run profits from the answers of the run before.
//     Where the size of the L2 cache is known, as on GPUs, samples are cold: they overwrite twice the
//     cache before their run, and have a single run. Elsewhere they are hot: they run the sequence once
//     untimed first, if runs are short enough for the cache to matter.
//  4. Events stand round the whole launch sequence; short hot sequences are repeated
//     between the events until the interval is long enough to read.
//  5. Sampling stops when the samples agree, when more of them change nothing,
//     or at a cap on time. The statistic is the median.
//
// A probe stands before each sample: a fill of the same memory, which always is the same
// work for the device. A sample is discarded when the probe took half as long again as
// the fastest so far: the clock was low, or another process computed. Where no flush serves as the probe, the
// second of two fills does, which finds its memory in the cache whatever the run before left there. On a host, where
// a process is seldom stopped for as short a time as the probe takes, OtherLoad asks the system what others compute.
//
// Kernels of a host share their work out evenly, so the processor time that this process takes, over its threads, is their
// time whatever others compute (Options.Threads). It leaves out waits for a core, which the clock has.
package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// Options of a measurement. The zero value is protocol mp1 in full.
type Options struct {
	Warmup     time.Duration    // run at least this long before sampling; default 25 ms
	Cap        time.Duration    // stop sampling after this long, a first run that counts included; default 500 ms
	Samples    int              // stop after this many samples; default 1000
	MinSamples int              // samples needed even beyond Cap; default 3
	Interval   time.Duration    // least time between the events; default 200 µs
	Bound      time.Duration    // stop after one sample slower than this; 0 for never
	Now        func() time.Time // the clock that Warmup and Cap are read from; default time.Now
	NoiseFloor float64          // relative MAD at which samples agree; default 0.005
	Threads    int              // above 0, on a host: times are the processor time of this process over so many threads
}

// The fixed numbers of mp1.
const (
	enough    = 10                    // samples before they may be said to agree
	shortRun  = 20 * time.Microsecond // below this, runs are repeated
	longRun   = time.Second           // above this, the first run counts
	cacheRun  = 50 * time.Millisecond // above this, a run's start in a hot cache does not matter
	maxRepeat = 1 << 20

	probeBytes = 1 << 20               // bytes that the probe fills where no flush of the L2 cache serves as the probe
	probeSlack = 1.5                   // a sample is disturbed if its probe took more than so many times the fastest
	probeError = 20 * time.Microsecond // error of events and clocks
	maxAgain   = 3                     // most samples that are discarded for one that is kept
)

// Reasons to stop.
const (
	StopStable  = "stable"  // the samples agree
	StopPlateau = "plateau" // twice the samples agree no better
	StopCap     = "cap"     // time ran out
	StopCount   = "count"   // as many samples as asked
	StopSlow    = "slow"    // slower than the bound
)

func (o *Options) defaults() {
	if o.Warmup == 0 {
		o.Warmup = 25 * time.Millisecond
	}
	if o.Cap == 0 {
		o.Cap = 500 * time.Millisecond
	}
	if o.Samples == 0 {
		o.Samples = 1000
	}
	if o.MinSamples == 0 {
		o.MinSamples = 3
	}
	o.MinSamples = min(o.MinSamples, o.Samples)
	if o.Interval == 0 {
		o.Interval = 200 * time.Microsecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NoiseFloor == 0 {
		o.NoiseFloor = 0.005
	}
}

// A Result has the measured times: Cold where the device's L2 size is known, else Hot. The other is nil.
type Result struct {
	Cold, Hot *trial.Sample
	Stop      string // why the sampling ended
	Disturbed int    // samples that were discarded
	// Clean says that the job's outputs are those of one run after Reset.
	Clean bool
}

// Run measures a prepared job on a stream of d.
func Run(ctx context.Context, d device.Device, s device.Stream, job subject.Job, opts Options) (Result, error) {
	opts.defaults()
	m := &meter{ctx: ctx, s: s, job: job, opts: opts, repeat: 1}
	if l2 := d.Facts().L2; l2 > 0 {
		flush, err := d.Alloc(2 * l2)
		if err != nil {
			return Result{}, fmt.Errorf("flush buffer: %w", err)
		}
		defer flush.Free()
		m.flush, m.probe = flush, flush
	} else {
		probe, err := d.Alloc(probeBytes)
		if err != nil {
			return Result{}, fmt.Errorf("probe buffer: %w", err)
		}
		defer probe.Free()
		m.probe = probe
	}
	r, err := m.measure()
	r.Disturbed = m.discarded
	return r, err
}

type meter struct {
	ctx    context.Context
	s      device.Stream
	job    subject.Job
	opts   Options
	flush  device.Buffer // nil: samples are hot
	repeat int           // runs a sample; 1 of cold samples
	warm   bool          // run once untimed before a sample; false of cold samples

	probe     device.Buffer
	quiet     time.Duration // the fastest probe
	disturbed bool          // the probe of the last sample was slow
	discarded int
}

func (m *meter) measure() (Result, error) {
	begin := m.opts.Now()
	cold := m.flush != nil
	first, err := m.sample()
	if err != nil {
		return Result{}, err
	}
	var kept []float64
	if first >= longRun {
		kept = append(kept, float64(first))
	} else {
		if first, err = m.warmUp(first, begin); err != nil {
			return Result{}, err
		}
		begin = m.opts.Now()
	}
	if !cold {
		m.warm = first < cacheRun
		if err := m.settleRepeat(first); err != nil {
			return Result{}, err
		}
	}
	sample, stop, err := m.collect(kept, begin)
	if err != nil {
		return Result{}, err
	}
	r := Result{Hot: sample, Stop: stop, Clean: m.repeat == 1 && !m.warm}
	if cold {
		r.Cold, r.Hot = sample, nil
	}
	return r, nil
}

// warmUp runs until Warmup has gone by since begin; it returns the time of the
// last run.
func (m *meter) warmUp(last time.Duration, begin time.Time) (time.Duration, error) {
	for m.opts.Now().Sub(begin) < m.opts.Warmup {
		t, err := m.sample()
		if err != nil {
			return 0, err
		}
		last = t
	}
	return last, nil
}

// settleRepeat doubles the runs a sample until the interval is long enough.
func (m *meter) settleRepeat(once time.Duration) error {
	if once >= shortRun {
		return nil
	}
	for m.repeat < maxRepeat {
		t, err := m.sample()
		if err != nil {
			return err
		}
		if t*time.Duration(m.repeat) >= m.opts.Interval {
			return nil
		}
		m.repeat *= 2
	}
	return nil
}

// collect samples until a reason to stop; begin is when the first of kept began.
func (m *meter) collect(kept []float64, begin time.Time) (*trial.Sample, string, error) {
	for {
		if stop := m.stop(kept, begin); stop != "" {
			return Statistics(kept, m.repeat), stop, nil
		}
		t, err := m.sample()
		if err != nil {
			return nil, "", err
		}
		if m.disturbed && m.discarded < maxAgain*(len(kept)+m.opts.MinSamples) {
			m.discarded++
			continue
		}
		kept = append(kept, float64(t))
	}
}

// stop returns the reason to stop sampling, empty to go on.
func (m *meter) stop(kept []float64, begin time.Time) string {
	n := len(kept)
	switch {
	case n == 0:
		return ""
	case m.opts.Bound > 0 && n == 1 && kept[0] > float64(m.opts.Bound):
		return StopSlow
	case n >= m.opts.Samples:
		return StopCount
	case n >= enough && noise(kept) <= m.opts.NoiseFloor:
		return StopStable
	case n >= 4*enough && n%enough == 0 && noise(kept) > 0.9*noise(kept[:n/2]):
		return StopPlateau
	case n >= m.opts.MinSamples && m.opts.Now().Sub(begin) >= m.opts.Cap:
		return StopCap
	}
	return ""
}

// sample is the time of one run.
func (m *meter) sample() (time.Duration, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	if err := m.job.Reset(m.s); err != nil {
		return 0, fmt.Errorf("reset: %w", err)
	}
	fills := 1
	if m.flush == nil {
		fills = 2
	}
	var probed moment
	for range fills {
		var err error
		if probed, err = m.now(); err != nil {
			return 0, err
		}
		if err := m.s.Fill(m.probe, 0, m.probe.Len(), 0x5a); err != nil {
			return 0, fmt.Errorf("flush: %w", err)
		}
	}
	filled, err := m.now()
	if err != nil {
		return 0, err
	}
	if m.warm {
		if err := m.job.Run(m.s); err != nil {
			return 0, fmt.Errorf("run: %w", err)
		}
	}
	start, err := m.now()
	if err != nil {
		return 0, err
	}
	for range m.repeat {
		if err := m.job.Run(m.s); err != nil {
			return 0, fmt.Errorf("run: %w", err)
		}
	}
	end, err := m.now()
	if err != nil {
		return 0, err
	}
	if err := m.s.Sync(); err != nil {
		return 0, fmt.Errorf("run: %w", err)
	}
	t, err := m.between(start, end, max(1, m.opts.Threads))
	if err != nil {
		return 0, err
	}
	fill, err := m.between(probed, filled, 1)
	if err != nil {
		return 0, err
	}
	if m.quiet == 0 || fill < m.quiet {
		m.quiet = fill
	}
	m.disturbed = fill > time.Duration(probeSlack*float64(m.quiet))+probeError
	return max(t/time.Duration(m.repeat), 1), nil
}

// A moment is an event, or, where samples are processor time, how much of that this process has taken. A host's stream
// has nothing under way when it is asked.
type moment struct {
	event device.Event
	taken time.Duration
}

func (m *meter) now() (at moment, err error) {
	if m.opts.Threads > 0 {
		at.taken = ProcessorTime()
		return at, nil
	}
	if at.event, err = m.s.Record(); err != nil {
		return at, fmt.Errorf("record: %w", err)
	}
	return at, nil
}

// between is the time between two moments, of so many threads at once where it is processor time.
func (m *meter) between(start, end moment, threads int) (time.Duration, error) {
	if m.opts.Threads > 0 {
		return (end.taken - start.taken) / time.Duration(threads), nil
	}
	t, err := end.event.Since(start.event)
	if err != nil {
		return 0, fmt.Errorf("elapsed time: %w", err)
	}
	return t, nil
}

// Statistics summarises samples (nanoseconds a run); nil for none.
func Statistics(samples []float64, repeat int) *trial.Sample {
	if len(samples) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(samples))
	return &trial.Sample{
		N:      len(s),
		Median: nanos(quantile(s, 0.5)),
		Q1:     nanos(quantile(s, 0.25)),
		Q3:     nanos(quantile(s, 0.75)),
		Min:    nanos(s[0]),
		MAD:    nanos(deviation(s)),
		Repeat: repeat,
	}
}

func nanos(x float64) int64 { return int64(math.Round(x)) }

// quantile interpolates linearly between the order statistics of a sorted
// slice (Hyndman and Fan's definition 7).
func quantile(s []float64, q float64) float64 {
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// deviation is the median absolute deviation from the median of a sorted slice.
func deviation(s []float64) float64 {
	med := quantile(s, 0.5)
	dev := make([]float64, len(s))
	for i, x := range s {
		dev[i] = math.Abs(x - med)
	}
	slices.Sort(dev)
	return quantile(dev, 0.5)
}

// noise is the relative median absolute deviation.
func noise(samples []float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	return deviation(s) / max(quantile(s, 0.5), 1)
}
