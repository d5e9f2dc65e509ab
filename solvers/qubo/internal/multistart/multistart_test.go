package multistart

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"testing"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/evaluate"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

func multistart(t *testing.T, p *problem.Normal, on backend, o Options) *Run {
	t.Helper()
	r, err := o.run(context.Background(), p, on, o.limits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Value(r.X); v != r.Value {
		t.Errorf("found %d, the solution's objective is %d", r.Value, v)
	}
	r.Sampling, r.Seconds = 0, 0 // clocks differ
	for k := range r.History {
		r.History[k].At = 0
	}
	return r
}

// Every variant does what the reference does, serially and in batches, bit for
// bit.
func TestMultistartVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := &qubo.Multistart
	searched := 0
	for k := range f.Variants {
		w := &f.Variants[k]
		kind := f.Value(w, "weight")
		if f.Int(w, "block") > 512 && !emulatedtest.EveryVariant() {
			continue
		}
		v := evaluate.Workload(kind, 1, 1).Prior.Variant
		for _, c := range []struct{ n, batch int }{{0, 1}, {1, 1}, {131, 1}, {67, 4}} {
			if k > 0 && c.n < 2 && !emulatedtest.EveryVariant() {
				continue
			}
			p := qubotest.SquareFor(kind, c.n, uint64(c.n))
			lambda := 0.3
			o := Options{Samples: 40, Lambda: &lambda, Iterations: 6, Batch: c.batch, Seed: 3, Blend: search.BlendNames()[k%3]}
			g, err := openStarterAs(d, s, p, v, w, o.Samples, c.batch)
			if err != nil {
				t.Fatal(err)
			}
			g.blend = o.Blend
			reference := newHostStarter(t.Context(), p, c.batch)
			reference.blend = o.Blend
			found, expected := multistart(t, p, g, o), multistart(t, p, reference, o)
			if !reflect.DeepEqual(found, expected) {
				t.Errorf("%s, n = %d: found %+v, expected %+v", w.Label, c.n, found, expected)
			}
			searched += found.Searched
			g.climber = newHostStarter(t.Context(), p, 1) // the device evaluates, the host ascends
			if divided := multistart(t, p, g, o); !reflect.DeepEqual(divided, expected) {
				t.Errorf("%s, n = %d, ascending on the host: found %+v, expected %+v", w.Label, c.n, divided, expected)
			}
			g.climber = nil
			o.Iterations, o.MaxFlips = 3, 2
			if found, expected := multistart(t, p, g, o), multistart(t, p, reference, o); !reflect.DeepEqual(found, expected) {
				t.Errorf("%s, n = %d, two flips: found %+v, expected %+v", w.Label, c.n, found, expected)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if searched < 40 {
		t.Errorf("%d iterations passed the screen: too few to tell", searched)
	}
}

// λ as printed, max/mean, lets nothing pass, or, of a negative mean,
// everything; the same problem with a λ in [0,1) is screened.
func TestMultistartPrintedLambda(t *testing.T) {
	for _, c := range []struct {
		name string
		diag int64 // added: moves the mean
		want int   // iterations that pass λ as printed, of 40
	}{{"positive mean", 300, 0}, {"negative mean", -100, 40}} {
		p := qubotest.Square(60, 100, 2, 100, 1, 9)
		for i := range p.Diag {
			p.Diag[i] += c.diag
		}
		o := Options{Samples: 100, Iterations: 40, Printed: true}
		r := multistart(t, p, newHostStarter(t.Context(), p, 1), o)
		if (r.Mean > 0) != (c.diag > 0) || r.Start <= 0 {
			t.Fatalf("%s: mean %v, start %d", c.name, r.Mean, r.Start)
		}
		if r.Searched != c.want {
			t.Errorf("%s, λ = %v, T = %v: %d of 40 pass, expected %d", c.name, r.Lambda, r.Threshold, r.Searched, c.want)
		}
		o.Printed = false
		half := 0.5
		o.Lambda = &half
		r = multistart(t, p, newHostStarter(t.Context(), p, 1), o)
		if r.Searched == 0 || r.Searched == 40 {
			t.Errorf("%s, λ = 0.5, T = %v: %d of 40 pass, expected some", c.name, r.Threshold, r.Searched)
		}
	}
	// λ = 1 rejects the best itself: the screen is strict.
	if most := 1000.0; most > screenThreshold(10, 1, most) {
		t.Error("T(1) is below max")
	}
}

// A mean of zero, below zero, or at max leaves a screen that makes sense.
func TestMultistartMeans(t *testing.T) {
	for _, mean := range []float64{-50, 0, 50} {
		for _, lambda := range []float64{0, 0.5, 0.99} {
			if v := screenThreshold(mean, lambda, 100); v < mean || v >= 100 {
				t.Errorf("T(%v) of mean %v and max 100: found %v, expected it between them", lambda, mean, v)
			}
		}
	}
	flat := &problem.Normal{N: 5, Start: make([]int64, 6), Diag: make([]int64, 5), Sense: 1} // mean = max = 0
	o := Options{Samples: 5, Iterations: 8}
	if r := multistart(t, flat, newHostStarter(t.Context(), flat, 1), o); r.Searched != 8 {
		t.Errorf("without coefficients %d of 8 pass, expected all", r.Searched)
	}
	for _, lambda := range []float64{1, -0.1, math.NaN(), math.Inf(1)} {
		o.Lambda = &lambda
		if _, err := o.run(context.Background(), flat, newHostStarter(t.Context(), flat, 1), o.limits(), nil); err == nil {
			t.Errorf("λ = %v is accepted", lambda)
		}
	}
}

// The number of changes follows the loop counter; blending keeps what both
// parents share.
func TestMultistartDiversify(t *testing.T) {
	const n = 200
	p := qubotest.Square(n, 10, 1, 10, 1, 2)
	h := newHostStarter(t.Context(), p, 1)
	start := qubotest.RandomSolutions(n, 256, 4, 8)
	h.begin(start[2])
	m := draw.StrideCount(n)
	seen := map[string]bool{}
	for i := uint64(1); i <= 2*m; i++ {
		x := slices.Clone(start[2])
		h.diversify(x, i, m, 7)
		changes := 0
		for w := range x {
			changes += bits.OnesCount64(x[w] ^ start[2][w])
		}
		stride := int(2 + (i-1)%m)
		if changes != n/stride && changes != n/stride+1 && changes != (n+stride-1)/stride {
			t.Errorf("iteration %d changes %d variables, expected about %d/%d", i, changes, n, stride)
		}
		if key := string(device.Bytes(x)); seen[key] {
			t.Errorf("iteration %d repeats a solution", i)
		} else {
			seen[key] = true
		}
	}
	h.blend = search.BlendNone // the comb alone
	plainly := slices.Clone(start[3])
	h.diversify(plainly, 3, m, 7)
	for j := range n {
		if turned := problem.Bit(start[3], j) != problem.Bit(plainly, j); turned != (j%4 == 0) {
			t.Errorf("without blending variable %d is turned over: %v", j, turned)
		}
	}
	h.blend = search.BlendStart // what is kept is not blended with
	copy(h.slots[0], start[3])
	if err := h.makeBest(0); err != nil || !slices.Equal(h.best, start[2]) {
		t.Errorf("the starting solution is replaced: %v", err)
	}
	h.blend = ""
	x, mixed := slices.Clone(start[3]), 0
	h.diversify(x, 3, m, 7) // every 4th variable from 0 is turned over
	for j := range n {
		a, b, c := problem.Bit(start[2], j), problem.Bit(start[3], j), problem.Bit(x, j)^uint64(1&^min(1, j%4))
		if a == b && c != a {
			t.Errorf("variable %d is %d, both parents have %d", j, c, a)
		}
		if a != b && c == a {
			mixed++
		}
	}
	if mixed < 25 || mixed > 75 {
		t.Errorf("%d variables come from the best where the parents differ, expected about 50", mixed)
	}
}

// The starting solution takes the full symmetric row.
func TestFirstDerivative(t *testing.T) {
	// q = [1 -3; -3 4]: rows sum to -2 and 1; weights are q(i,j) + q(j,i).
	p := &problem.Normal{N: 2, Start: []int64{0, 1, 2}, Col: []int32{1, 0}, Weight: []int64{-6, -6}, Diag: []int64{1, 4}}
	if x := firstDerivative(p); x[0] != 2 {
		t.Errorf("found %b, expected the second variable alone", x[0])
	}
}

// A target, a deadline and the caller end a run; an ascent ends in a local
// optimum.
func TestMultistartEnds(t *testing.T) {
	p := qubotest.Square(80, 100, 1, 100, 1, 4)
	free := multistart(t, p, newHostStarter(t.Context(), p, 1), Options{Iterations: 60})
	gain := make([]int64, p.N)
	p.Deltas(free.X, gain)
	if slices.Max(gain) > 0 {
		t.Errorf("a flip still gains %d", slices.Max(gain))
	}
	target := free.History[1].Value
	if r := multistart(t, p, newHostStarter(t.Context(), p, 1), Options{Iterations: 60, Target: &target}); r.Value != target || len(r.History) != 2 {
		t.Errorf("target %d: found %d after %d improvements", target, r.Value, len(r.History))
	}
	if r := multistart(t, p, newHostStarter(t.Context(), p, 1), Options{Deadline: time.Now()}); r.Iterations != 0 {
		t.Errorf("after the deadline: %d iterations", r.Iterations)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	// Sampling and ascents end too: a solution of these samples takes a microsecond.
	began := time.Now()
	if r, err := (Options{Samples: math.MaxInt}).run(ctx, p, newHostStarter(ctx, p, 1), search.Options{}, nil); err != nil || r.Iterations != 0 || len(r.History) != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	zero := outcome{}
	large := qubotest.Square(600, 100, 1, 100, 1, 4)
	if newHostStarter(ctx, large, 1).ascend(make([]uint64, problem.Words(large.N)), &zero, math.MaxInt64); zero.flips != 63 {
		t.Errorf("an ascent of a context that has ended: found %d flips, expected 63", zero.flips)
	}
}

// As a search it reports rising values, and with a number of flips it depends
// on the seed alone.
func TestMultistartSearch(t *testing.T) {
	p := qubotest.Square(70, 100, 1, 100, 1, 6)
	for _, d := range []device.Device{emulatedtest.Open(t), host.Open(1)} {
		var ends []search.Work
		var lists [2][]int64
		for k := range lists {
			w, err := multistartSearch{d, Options{Batch: 4, Iterations: math.MaxInt}}.Search(context.Background(), p, search.Options{Began: time.Now(), Work: 60, Seed: 5},
				func(v int64, x []uint64, _ time.Duration) {
					if p.Value(x) != v {
						t.Errorf("%s: told %d, the solution's objective is %d", d.Facts(), v, p.Value(x))
					}
					lists[k] = append(lists[k], v)
				})
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, w)
		}
		if !slices.IsSorted(lists[0]) || len(lists[0]) < 2 || !slices.Equal(lists[0], lists[1]) || ends[0] != ends[1] || ends[0].Flips == 0 {
			t.Errorf("%s: %v after %+v, again %v after %+v", d.Facts(), lists[0], ends[0], lists[1], ends[1])
		}
	}
}

// Rates are of objectives that are right.
func TestEvaluation(t *testing.T) {
	inst, err := draw.Palubeckis(60, 50, 7)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := EvaluateVariants(inst)
	if err != nil || len(labels) < 12 {
		t.Fatalf("%d variants hold %s: %v", len(labels), inst, err)
	}
	e, err := OpenEvaluation(emulatedtest.Open(t), inst, "tile=64,batch=64,stages=3,warp=32,weight=int8", 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []func() (time.Duration, error){e.Values, e.TimeGains, e.TimeSamples} {
		if _, err := run(); err != nil {
			t.Error(err)
		}
		if err := e.Check(5); err != nil {
			t.Error(err)
		}
	}
	if e.Multiplications() != 5*60*61/2 {
		t.Errorf("work is %v", e.Multiplications())
	}
	if err := e.on.begin(make([]uint64, 1)); err != nil { // other solutions than the objectives are of
		t.Fatal(err)
	}
	if e.Check(5) == nil {
		t.Error("objectives of other solutions pass")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
