package problem_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// plain is the value of x by the definition of the form, from a dense matrix.
func plain(inst *problem.Instance, x []uint64) float64 {
	linear, pair := func(i int) float64 { return inst.Real.Linear[i] }, func(k int64) float64 { return inst.Real.Pair[k] }
	sum := 0.0
	if inst.Int != nil {
		linear, pair = func(i int) float64 { return float64(inst.Int.Linear[i]) }, func(k int64) float64 { return float64(inst.Int.Pair[k]) }
		sum = float64(inst.Int.Offset)
	} else {
		sum = inst.Real.Offset
	}
	at := func(i int) float64 {
		v := float64(problem.Bit(x, i))
		if inst.Form == problem.Ising {
			v = 2*v - 1
		}
		return v
	}
	for i := range inst.N {
		if inst.Form != problem.MaxCut {
			sum += linear(i) * at(i)
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			j := int(inst.Col[k])
			switch {
			case j > i && inst.Form == problem.MaxCut:
				sum += pair(k) * math.Abs(at(i)-at(j))
			case j > i:
				sum += pair(k) * at(i) * at(j)
			}
		}
	}
	return sum
}

func TestForms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 600 {
		n := 1 + r.IntN(9)
		form := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[k%3]
		inst := qubotest.Instance(r, n, form, k%2 == 0)
		p, err := inst.Normal()
		if err != nil {
			t.Fatal(err)
		}
		if !p.Exact {
			t.Fatalf("%v: eighths were rounded", inst)
		}
		x := qubotest.Solution(r, n)
		want := plain(inst, x)
		if got := inst.Value(x); got != want {
			t.Fatalf("%v: value %v, want %v", inst, got, want)
		}
		v := p.Value(x)
		if got := p.Original(v); got != want {
			t.Fatalf("%v: value %v by the normal form, want %v", inst, got, want)
		}
		if got := p.Objective(want); got != v {
			t.Fatalf("%v: objective %d of value %v, want %d", inst, got, want, v)
		}
		delta := make([]int64, n)
		p.Deltas(x, delta)
		for i := range n {
			y := slices.Clone(x)
			y[i/64] ^= 1 << (i % 64)
			if got := p.Value(y) - v; got != delta[i] {
				t.Fatalf("%v: delta %d of variable %d, want %d", inst, delta[i], i, got)
			}
			if max(delta[i], -delta[i]) > p.Spans().Delta {
				t.Fatalf("%v: delta %d, expected at most %d", inst, delta[i], p.Spans().Delta)
			}
		}
		for _, to := range []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut} {
			other, err := inst.As(to)
			if err != nil {
				t.Fatal(err)
			}
			y := slices.Clone(x)
			if other.N > n {
				y[n/64] |= 1 << (n % 64) // the added node, on the side of 1
			}
			if got := other.Value(y); got != want {
				t.Fatalf("%v as %s: value %v, want %v", inst, to, got, want)
			}
			if negative := other.To(problem.Maximize).To(problem.Minimize); negative.Value(y) != other.To(problem.Minimize).Value(y) {
				t.Fatalf("%v: negating twice changes values", inst)
			}
			back, err := other.As(form)
			if err != nil {
				t.Fatal(err)
			}
			if got := back.Value(y); got != want {
				t.Fatalf("%v by way of %s: value %v, want %v", inst, to, got, want)
			}
		}
	}
}

func TestScaling(t *testing.T) {
	for _, c := range []struct {
		values []float64
		exact  bool
		scale  float64
	}{
		{[]float64{1, 2}, true, 1},
		{[]float64{0.5, -3.25}, true, 4},
		{[]float64{0.1, 2.35}, true, 100},
		{[]float64{1e6 + 0.1, 2.35}, true, 100},
		{[]float64{math.Pi, 1e-9}, true, 1e15},
		{[]float64{math.Pi, 1e9}, false, 1 << 24},
		{[]float64{1e300, 1}, false, 0},
		{[]float64{5e-324}, false, 0},
	} {
		u, scale, exact := problem.Scaled(&problem.Terms[float64]{Linear: c.values})
		if exact != c.exact || c.scale > 0 && scale != c.scale {
			t.Errorf("%v: exact %v, want %v (scale %v)", c.values, exact, c.exact, scale)
		}
		for k, v := range c.values {
			back := float64(u.Linear[k]) / scale
			if exact && back != v {
				t.Errorf("%v: %v became %v", c.values, v, back)
			}
			if math.Abs(back-v) > 0.51/scale {
				t.Errorf("%v: %v became %v with scale %v", c.values, v, back, scale)
			}
		}
	}
}

func TestCoarse(t *testing.T) {
	inst := qubotest.Instance(rand.New(rand.NewPCG(3, 4)), 9, problem.QUBO, true)
	for k := range inst.Int.Pair {
		inst.Int.Pair[k] *= 1e9
	}
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	q := p.Coarse(1 << 20)
	if d := q.Spans().Delta; d > 1<<20 || d < 1<<17 {
		t.Errorf("delta up to %d, want at most 2^20 and not far below", d)
	}
	if p.Coarse(math.MaxInt64) != p {
		t.Error("what fits was rounded")
	}
}
