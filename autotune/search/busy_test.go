package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A busyBench is a host on which other processes compute half of the time: a trial then takes up to
// several times as long, all of its samples alike, and a glance has time for a single sample.
type busyBench struct{ bench }

func (b *busyBench) RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error) {
	t, err := b.bench.RunExperiment(ctx, a)
	if s := t.Hot; s != nil && b.rng.IntN(2) == 0 {
		slow := math.Exp(1.5 * b.rng.Float64())
		for _, ns := range []*int64{&s.Median, &s.Q1, &s.Q3, &s.Min, &s.MAD} {
			*ns = int64(float64(*ns) * slow)
		}
		if s.N = 4; a.Brief {
			s.N = 1
		}
	}
	return t, err
}

// drawnTimes are variants' times in milliseconds, whose logarithms scatter by so much, and a bench that takes them.
func drawnTimes(key uint64, variants int, scatter float64) ([]float64, *bench) {
	rng := rand.New(rand.NewPCG(key, 9))
	times := make([]float64, variants)
	for x := range times {
		times[x] = math.Exp(scatter * rng.NormFloat64())
	}
	b := newBench(func(v *device.Variant, _ int) time.Duration { return time.Duration(1e6 * times[v.Hash]) })
	b.rng = rand.New(rand.NewPCG(key, 10))
	return times, b
}

// A neighbourBench is a host whose cores are slowed by what the system does not tell of, such as another machine on
// the same processor: of half of the trials up to three quarters of the samples.
type neighbourBench struct{ bench }

func (b *neighbourBench) RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error) {
	t, err := b.bench.RunExperiment(ctx, a)
	if s := t.Hot; s != nil && b.rng.IntN(2) == 0 {
		slow := 1 + 0.6*b.rng.Float64()
		for _, ns := range []*int64{&s.Median, &s.Q3} {
			*ns = int64(float64(*ns) * slow)
		}
		s.MAD = max(s.MAD, (s.Q3-s.Median)/2)
	}
	return t, err
}

// Where a part of the samples is slowed, the others tell which variant is the fastest.
func TestNeighbours(t *testing.T) {
	const keys, variants = 300, 4
	f := family(variants)
	wrong := 0
	for key := range uint64(keys) {
		times, quiet := drawnTimes(key, variants, 0.2)
		b := &neighbourBench{*quiet}
		b.noise = 0.01
		p := plan(&b.bench, f)
		p.Sizes, p.Seed = []int{20}, key
		o, err := Run(t.Context(), b, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Sizes) == 0 || times[o.Sizes[0].Winner.Hash] > 1.05*slices.Min(times) {
			wrong++
		}
	}
	if t.Logf("%d of %d keys have no winner, or one over 5 %% slower than the fastest", wrong, keys); wrong > keys/50 {
		t.Errorf("%d of %d keys, expected 2 %% at most", wrong, keys)
	}
}

// An unsteadyBench is a host whose trials, all samples of one alike, take off times as long.
type unsteadyBench struct {
	bench
	off func(*rand.Rand) float64
}

func (b *unsteadyBench) RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error) {
	t, err := b.bench.RunExperiment(ctx, a)
	if s := t.Hot; s != nil {
		off := b.off(b.rng)
		for _, ns := range []*int64{&s.Median, &s.Q1, &s.Q3, &s.Min, &s.MAD} {
			*ns = int64(float64(*ns) * off)
		}
	}
	return t, err
}

// Where trials are unsteady, few winners are over 5 % slower than the fastest: sizes at which rounds do not tell have
// none.
func TestUnsteadyTrials(t *testing.T) {
	const keys, variants = 1000, 5
	f := family(variants)
	for _, c := range []struct {
		name           string
		off            func(*rand.Rand) float64
		decided, wrong int // in percent, at least and at most
	}{
		{"5 % more or less, by chance", func(r *rand.Rand) float64 { return math.Exp(0.05 * r.NormFloat64()) }, 90, 2},
		{"a third less, one of four", func(r *rand.Rand) float64 {
			return math.Exp(0.02*r.NormFloat64()) * (1 - float64(1-min(1, r.IntN(4)))/3)
		}, 30, 10},
	} {
		decided, wrong := 0, 0
		for key := range uint64(keys) {
			times, quiet := drawnTimes(key, variants, 0.08)
			b := &unsteadyBench{*quiet, c.off}
			b.noise = 0.02
			p := plan(&b.bench, f)
			p.Sizes, p.Seed = []int{20}, key
			o, err := Run(t.Context(), b, p)
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Sizes) > 0 {
				decided++
				if times[o.Sizes[0].Winner.Hash] > 1.05*slices.Min(times) {
					wrong++
				}
			}
		}
		t.Logf("%s: %d of %d keys decided, %d of them for a winner over 5 %% slower than the fastest", c.name, decided, keys, wrong)
		if 100*decided < c.decided*keys || 100*wrong > c.wrong*decided {
			t.Errorf("%s: expected %d %% to be decided, and %d %% of the winners to be as slow, at most", c.name, c.decided, c.wrong)
		}
	}
}

// On a busy host few winners are crowned that are slower than what they replace, with a budget or
// without one; on a quiet host the fastest is found.
func TestBusyHost(t *testing.T) {
	const keys, variants = 1000, 7
	f := family(variants)
	for _, c := range []struct {
		budget time.Duration
		busy   bool
		wrong  float64 // of the keys at most, in percent
	}{{0, false, 0}, {500 * time.Millisecond, false, 0}, {0, true, 1}, {500 * time.Millisecond, true, 1}} {
		decided, wrong, found, gain := 0, 0, 0, 0
		for key := range uint64(keys) {
			times, quiet := drawnTimes(key, variants, 0.4)
			b := &busyBench{*quiet}
			b.noise = 0.02
			run := Bench(b)
			if !c.busy {
				run = &b.bench
			}
			p := plan(&b.bench, f)
			p.Sizes, p.Seed, p.Budget, p.Grace = []int{20}, key, c.budget, c.budget
			o, err := Run(t.Context(), run, p)
			if err != nil {
				t.Fatal(err)
			}
			least := slices.Min(times)
			slow := times[0] > 1.2*least
			if slow {
				gain++
			}
			if len(o.Sizes) == 0 {
				continue
			}
			decided++
			won := times[o.Sizes[0].Winner.Hash]
			if won > 1.05*times[0] {
				wrong++
			}
			if slow && won < 1.05*least {
				found++
			}
		}
		t.Logf("busy %v, budget %v: %d of %d keys decided, %d for a winner over 5 %% slower than the safe point; of %d whose safe point is over a fifth slower than the best, %d have a winner within 5 %% of that",
			c.busy, c.budget, decided, keys, wrong, gain, found)
		if 100*float64(wrong) > c.wrong*keys || !c.busy && (found < gain || decided < keys) {
			t.Errorf("busy %v, budget %v: expected at most %.0f %% wrong and, where it is quiet, all others right", c.busy, c.budget, c.wrong)
		}
	}
}

// Samples that scatter by more than NoiseLimit crown no winner, nor do those during which other processes
// took more of the cores: a size without any has none, which the outcome tells. Where the plan allows as much,
// the faster wins.
func TestNoiseCrownsNone(t *testing.T) {
	f := family(2)
	for name, disturb := range map[string]func(b *bench){
		"scatter":        func(b *bench) { b.noise = 0.15 },
		"others":         func(b *bench) { b.others = func(*device.Variant) float64 { return 0.2 } },
		"others at safe": func(b *bench) { b.others = func(v *device.Variant) float64 { return 0.9 * float64(1-v.Hash) } },
	} {
		b := newBench(func(v *device.Variant, _ int) time.Duration { return time.Millisecond / time.Duration(1+v.Hash) })
		disturb(b)
		p := plan(b, f)
		p.Sizes, p.Previous = []int{20}, map[int]string{20: f.Variants[0].Label}
		o, err := Run(t.Context(), b, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Sizes) > 0 || !slices.Equal(o.Noisy, p.Sizes) {
			t.Errorf("%s: winners %v, noisy %v, expected no winner", name, o.Sizes, o.Noisy)
		}
		p.Noise = 1
		if o, err = Run(t.Context(), b, p); err != nil || len(o.Sizes) != 1 || o.Sizes[0].Winner != &f.Variants[1] {
			t.Errorf("%s, any noise allowed: winners %v, noisy %v, error %v", name, o.Sizes, o.Noisy, err)
		}
	}
	// A slow variant's times do not matter.
	b := newBench(func(v *device.Variant, _ int) time.Duration { return time.Millisecond / time.Duration(1+v.Hash) })
	b.others = func(v *device.Variant) float64 { return 0.3 * float64(1-v.Hash) }
	p := plan(b, f)
	p.Sizes = []int{20}
	if o, err := Run(t.Context(), b, p); err != nil || len(o.Sizes) != 1 || o.Sizes[0].Winner != &f.Variants[1] {
		t.Errorf("other processes took 30 %% of what takes twice as long: winners %v, noisy %v, error %v", o.Sizes, o.Noisy, err)
	}
}

// A scatterBench is a kernel whose runs take other times by chance, as the order in which blocks meet decides
// how much they do: samples scatter by far more than their median.
type scatterBench struct{ bench }

func (b *scatterBench) RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error) {
	t, err := b.bench.RunExperiment(ctx, a)
	if s := t.Hot; s != nil {
		if s.N = 40; a.Brief {
			s.N = 5
		}
		s.MAD = int64(0.07 * float64(s.Median))
		s.Q1, s.Q3 = s.Median-s.MAD, s.Median+s.MAD
	}
	return t, err
}

// A variant that is 6 % faster than the safe point wins though samples scatter by 7 %, and one as fast does not.
func TestScatteredSamples(t *testing.T) {
	const keys = 500
	f := family(3)
	for faster, limits := range map[float64][2]int{0.06: {80, 100}, 0: {0, 5}} { // won, in percent of the keys
		won, open := 0, 0
		for key := range uint64(keys) {
			b := &scatterBench{*newBench(func(v *device.Variant, _ int) time.Duration {
				if v.Hash == 1 {
					return time.Duration((1 - faster) * 2e6)
				}
				return 2 * time.Millisecond
			})}
			b.rng, b.noise = rand.New(rand.NewPCG(key, 11)), 0.02
			p := plan(&b.bench, f)
			p.Sizes, p.Seed = []int{20}, key
			o, err := Run(t.Context(), b, p)
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Sizes) == 0 {
				open++
			} else if o.Sizes[0].Winner.Hash != 0 {
				won++
			}
		}
		t.Logf("%.0f %% faster than the safe point: another won in %.1f %% of %d keys, %d were not decided", 100*faster, 100*float64(won)/keys, keys, open)
		if open > keys/100 {
			t.Error("expected 1 % not to be decided, at most")
		}
		if won < limits[0]*keys/100 || won > limits[1]*keys/100 {
			t.Errorf("expected %d to %d %%", limits[0], limits[1])
		}
	}
}
