package evaluate

import (
	"errors"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

func checkEvaluate(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, count int) {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(d, s, v, p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(e.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	list := qubotest.RandomSolutions(p.N, e.Side, count, uint64(count))
	var flat []uint64
	for _, x := range list {
		flat = append(flat, x...)
	}
	var scope device.Scope
	defer scope.Close()
	var x, twice, gain device.Buffer
	if err := scope.AllocAll(d, device.BufferFor(&x, int64(8*len(flat))), device.BufferFor(&twice, int64(8*count)), device.BufferFor(&gain, int64(e.Side*count*e.GainBytes()))); err != nil {
		t.Fatal(err)
	}
	if err := s.Upload(x, 0, device.Bytes(flat)); err != nil {
		t.Fatal(err)
	}
	values := make([]byte, 8*count)
	if err := errors.Join(e.EnqueueValues(s, x, count, twice), s.Download(values, twice, 0)); err != nil {
		t.Fatal(err)
	}
	again, gains := make([]byte, 8*count), make([]byte, e.Side*count*e.GainBytes())
	if err := errors.Join(e.EnqueueGains(s, x, count, twice, gain), s.Download(again, twice, 0), s.Download(gains, gain, 0)); err != nil {
		t.Fatal(err)
	}
	want := make([]int64, p.N)
	for k, x := range list {
		expected := p.Value(x)
		if a, b := e.Objective(values[8*k:]), e.Objective(again[8*k:]); a != expected || b != expected {
			t.Fatalf("%s: n = %d, solution %d of %d: values says %d, gains %d, expected %d", v.Label, p.N, k, count, a, b, expected)
		}
		p.Deltas(x, want)
		for i := range p.N {
			if g := e.GainAt(gains, k*e.Side+i); g != want[i] {
				t.Fatalf("%s: n = %d, solution %d of %d, variable %d: gain %d, expected %d", v.Label, p.N, k, count, i, g, want[i])
			}
		}
	}
}

// Every sampled variant gives the objectives and gains of the coefficients, exactly.
func TestEvaluateVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&qubo.Evaluate) {
		kind := qubo.Evaluate.Value(v, "weight")
		cases := []struct{ n, count int }{{0, 2}, {1, 3}, {130, 129}}
		if kind == Int8 || emulatedtest.EveryVariant() {
			cases = append(cases, struct{ n, count int }{260, 67}) // three steps of columns
		}
		for _, c := range cases {
			checkEvaluate(t, d, v, qubotest.SquareFor(kind, c.n, uint64(c.n)), c.count)
		}
	}
}

// A type takes what it holds exactly, and says why not more.
func TestEvaluateHolds(t *testing.T) {
	for _, c := range []struct {
		p    *problem.Normal
		want string
	}{
		{qubotest.Square(40, 127, 1, 10, 1, 1), Int8},
		{qubotest.Square(40, 127, 1000, 10, 1, 1), Int8},
		{qubotest.Square(40, 1000, 1, 10, 1, 1), Int32},
		{qubotest.Square(40, 127, 1<<24, 10, 1, 1), Float64},
		{qubotest.Square(40, 1<<30, 1, 10, 1, 1), Float64},
	} {
		if kind, err := NarrowestKind(c.p); kind != c.want {
			t.Errorf("%+v: found %q (%v), expected %q", c.p.Spans(), kind, err, c.want)
		}
	}
	if _, err := NarrowestKind(qubotest.Square(40, 1<<50, 1, 10, 1, 1)); err == nil || !strings.Contains(err.Error(), "2^53") {
		t.Errorf("coefficients of 2^50: found %v, expected none that holds them", err)
	}
	if err := CheckCoefficients(qubotest.Square(4, 1, 1, 1, 1, 1), "int7", problem.Spans{}, 1); err == nil {
		t.Error("a type int7 is accepted")
	}
}

func TestUnit(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		want    int64
	}{{nil, 1}, {[]int64{0}, 1}, {[]int64{-4, 6}, 2}, {[]int64{9, -12, 15}, 3}, {[]int64{7, 8}, 1}} {
		if g := UnitOf((&problem.Normal{Weight: c.weights})); g != c.want {
			t.Errorf("unit of %v: found %d, expected %d", c.weights, g, c.want)
		}
	}
}

// From results at 4,200 variables, where 264 tiles of 128 fill 132 multiprocessors evenly and win by 1 %, tiles
// of 64 are predicted faster at 4,559, where a third round of tiles of 128 is almost empty.
func TestSteps(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "card", Major: 9, SMs: 132, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	const large, small = "tile=128,batch=128,stages=3,warp=32,weight=int32", "tile=64,batch=64,stages=3,warp=32,weight=int32"
	result := func(label string, nanos int64) tuned.Result {
		return tuned.Result{Variant: label, Hash: tuned.Hash(qubo.Evaluate.Variant(label).Hash), Nanos: nanos, Q1: nanos, Q3: nanos, Samples: 5}
	}
	db, err := tuned.New(tuned.Entry{Family: "qubo/evaluate", Class: facts.Class(), Fixed: map[string]string{"weight": Int32}, Size: 4200,
		Protocol: tuned.Protocol, Winner: large, Results: []tuned.Result{result(large, 1000000), result(small, 1010000)}})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{4200: large, 4190: large, 4559: small} {
		c, err := db.Choose(&qubo.Evaluate, facts, Workload(Int32, n, 1000), nil)
		if err != nil || c.Variant.Label != want {
			t.Errorf("%d variables: %v (%s), %v, expected %s", n, c.Variant, c.Reason(), err, want)
		}
	}
}
