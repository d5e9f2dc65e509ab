package qubo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/verify"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// drawSquare draws a problem: coefficients up to `largest` times unit, a share
// of the pairs.
func drawSquare(n int, largest, unit, diag int64, share float64, seed uint64) *normal {
	r := rand.New(rand.NewPCG(seed, 5))
	p := &normal{n: n, diag: make([]int64, n), scale: 1, sense: 1, exact: true, start: make([]int64, n+1)}
	w := make([]int64, n*n)
	for i := range n {
		p.diag[i] = r.Int64N(2*diag+1) - diag
		for j := range i {
			if r.Float64() < share {
				w[i*n+j] = unit * (r.Int64N(2*largest+1) - largest)
				w[j*n+i] = w[i*n+j]
			}
		}
	}
	for i := range n {
		for j := range n {
			if v := w[i*n+j]; v != 0 {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, v)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// kinds are problems that each type of coefficients holds exactly.
func problemFor(kind string, n int, seed uint64) *normal {
	switch kind {
	case int8Weights:
		return drawSquare(n, 127, 2, 1000, 0.8, seed)
	case int32Weights:
		return drawSquare(n, 200000, 3, 100000, 0.7, seed)
	case float32Weights:
		return drawSquare(n, 500, 1, 100000, 0.9, seed)
	}
	return drawSquare(n, 1<<35, 1, 1<<40, 0.6, seed)
}

// solutions of side bits each, the first of zeros, the second of ones.
func drawSolutions(n, side, count int, seed uint64) [][]uint64 {
	r := rand.New(rand.NewPCG(seed, 6))
	list := make([][]uint64, count)
	for k := range list {
		list[k] = make([]uint64, side/64)
		for i := range n {
			if k == 1 || k > 1 && r.IntN(2) == 1 {
				list[k][i>>6] |= 1 << (i & 63)
			}
		}
	}
	return list
}

func checkEvaluate(t *testing.T, d device.Device, v *device.Variant, p *normal, count int) {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	e, err := openEvaluator(d, s, v, p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(e.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	list := drawSolutions(p.n, e.side, count, uint64(count))
	var flat []uint64
	for _, x := range list {
		flat = append(flat, x...)
	}
	x, err1 := put(d, s, rawBytes(flat))
	twice, err2 := d.Alloc(int64(8 * count))
	gain, err3 := d.Alloc(int64(e.side * count * e.gainBytes()))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	values := make([]byte, 8*count)
	if err := errors.Join(e.values(s, x, count, twice), s.Download(values, twice, 0)); err != nil {
		t.Fatal(err)
	}
	again, gains := make([]byte, 8*count), make([]byte, e.side*count*e.gainBytes())
	if err := errors.Join(e.gains(s, x, count, twice, gain), s.Download(again, twice, 0), s.Download(gains, gain, 0)); err != nil {
		t.Fatal(err)
	}
	want := make([]int64, p.n)
	for k, x := range list {
		expected := p.value(x)
		if a, b := e.objective(values[8*k:]), e.objective(again[8*k:]); a != expected || b != expected {
			t.Fatalf("%s: n = %d, solution %d of %d: values says %d, gains %d, expected %d", v.Label, p.n, k, count, a, b, expected)
		}
		p.deltas(x, want)
		for i := range p.n {
			if g := e.gain(gains, k*e.side+i); g != want[i] {
				t.Fatalf("%s: n = %d, solution %d of %d, variable %d: gain %d, expected %d", v.Label, p.n, k, count, i, g, want[i])
			}
		}
	}
	if err := errors.Join(x.Free(), twice.Free(), gain.Free()); err != nil {
		t.Error(err)
	}
}

// Every variant gives the objectives and gains of the coefficients, exactly.
func TestEvaluateVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range evaluateSample(&qubo.Evaluate) {
		kind := qubo.Evaluate.Value(v, "weight")
		cases := []struct{ n, count int }{{0, 2}, {1, 3}, {130, 129}}
		if kind == int8Weights || emulatedtest.Every {
			cases = append(cases, struct{ n, count int }{260, 67}) // three steps of columns
		}
		for _, c := range cases {
			checkEvaluate(t, d, v, problemFor(kind, c.n, uint64(c.n)), c.count)
		}
	}
}

// evaluateSample shows every shape of a block, every width of a warp, every
// number of stages and every type; all variants where every is set.
func evaluateSample(f *device.Family) []*device.Variant {
	var list []*device.Variant
	seen := map[string]bool{}
	for i := range f.Variants {
		v := &f.Variants[i]
		fresh := emulatedtest.Every
		for _, key := range []string{f.Value(v, "tile") + "x" + f.Value(v, "batch"), "warp " + f.Value(v, "warp"), "stages " + f.Value(v, "stages"), f.Value(v, "weight")} {
			fresh, seen[key] = fresh || !seen[key], true
		}
		if fresh {
			list = append(list, v)
		}
	}
	return list
}

// A type takes what it holds exactly, and says why not more.
func TestEvaluateHolds(t *testing.T) {
	for _, c := range []struct {
		p    *normal
		want string
	}{
		{drawSquare(40, 127, 1, 10, 1, 1), int8Weights},
		{drawSquare(40, 127, 1000, 10, 1, 1), int8Weights},
		{drawSquare(40, 1000, 1, 10, 1, 1), int32Weights},
		{drawSquare(40, 127, 1<<24, 10, 1, 1), float64Weights},
		{drawSquare(40, 1<<30, 1, 10, 1, 1), float64Weights},
	} {
		if kind, err := c.p.narrowest(); kind != c.want {
			t.Errorf("%+v: found %q (%v), expected %q", c.p.spans(), kind, err, c.want)
		}
	}
	if _, err := drawSquare(40, 1<<50, 1, 10, 1, 1).narrowest(); err == nil || !strings.Contains(err.Error(), "2^53") {
		t.Errorf("coefficients of 2^50: found %v, expected none that holds them", err)
	}
	if err := drawSquare(4, 1, 1, 1, 1, 1).holds("int7", spans{}, 1); err == nil {
		t.Error("a type int7 is accepted")
	}
}

func TestUnit(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		want    int64
	}{{nil, 1}, {[]int64{0}, 1}, {[]int64{-4, 6}, 2}, {[]int64{9, -12, 15}, 3}, {[]int64{7, 8}, 1}} {
		if g := (&normal{weight: c.weights}).unit(); g != c.want {
			t.Errorf("unit of %v: found %d, expected %d", c.weights, g, c.want)
		}
	}
}

// Every case of the tuner's subjects is answered right by a variant of each
// type, and a wrong answer is noticed.
func TestDenseSubjects(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sub := range []tunableDense{{&qubo.Evaluate}, {&qubo.Multistart}} {
		for _, fixed := range sub.Fixed() {
			f := sub.Family()
			if kind := fixed["weight"]; !emulatedtest.Every && (kind == int32Weights || kind == float32Weights) {
				continue
			}
			at := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
				return f.Fits(&v, fixed) == nil && f.Value(&v, "tile") != "128" && f.Value(&v, "block") != "1024"
			})
			if at < 0 {
				t.Fatalf("%s has no variant for %v", f.Name, fixed)
			}
			v := &f.Variants[at]
			cases, err := sub.Cases(fixed)
			if err != nil {
				t.Fatal(err)
			}
			run, err := sub.Open(d, v)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := verify.Cases(context.Background(), d, s, sub, v, run, cases); err != nil || n != len(cases) {
				t.Errorf("%s %s: %d of %d cases: %v", f.Name, v.Label, n, len(cases), err)
			}
			job, err := run.Prepare(cases[4].Instance)
			if err != nil {
				t.Fatal(err)
			}
			if err := verify.Once(s, job); err != nil {
				t.Error(err)
			}
			job.(*denseJob).p.diag[0]++
			if f == &qubo.Evaluate && job.Check(s) == nil {
				t.Errorf("%s %s: another problem's objectives pass", f.Name, v.Label)
			}
			if err := job.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
