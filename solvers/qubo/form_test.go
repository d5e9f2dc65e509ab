package qubo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is the value of x by the definition of the form, from a dense matrix.
func plain(inst *Instance, x []uint64) float64 {
	linear, pair := func(i int) float64 { return inst.Real.Linear[i] }, func(k int64) float64 { return inst.Real.Pair[k] }
	sum := 0.0
	if inst.Int != nil {
		linear, pair = func(i int) float64 { return float64(inst.Int.Linear[i]) }, func(k int64) float64 { return float64(inst.Int.Pair[k]) }
		sum = float64(inst.Int.Offset)
	} else {
		sum = inst.Real.Offset
	}
	at := func(i int) float64 {
		v := float64(bit(x, i))
		if inst.Form == Ising {
			v = 2*v - 1
		}
		return v
	}
	for i := range inst.N {
		if inst.Form != MaxCut {
			sum += linear(i) * at(i)
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			j := int(inst.Col[k])
			switch {
			case j > i && inst.Form == MaxCut:
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
		form := []Form{QUBO, Ising, MaxCut}[k%3]
		inst := drawn(r, n, form, k%2 == 0)
		p, err := inst.normal()
		if err != nil {
			t.Fatal(err)
		}
		if !p.exact {
			t.Fatalf("%v: eighths were rounded", inst)
		}
		x := solution(r, n)
		want := plain(inst, x)
		if got := inst.Value(x); got != want {
			t.Fatalf("%v: value %v, want %v", inst, got, want)
		}
		v := p.value(x)
		if got := p.original(v); got != want {
			t.Fatalf("%v: value %v by the normal form, want %v", inst, got, want)
		}
		if got := p.objective(want); got != v {
			t.Fatalf("%v: objective %d of value %v, want %d", inst, got, want, v)
		}
		delta := make([]int64, n)
		p.deltas(x, delta)
		for i := range n {
			y := slices.Clone(x)
			y[i/64] ^= 1 << (i % 64)
			if got := p.value(y) - v; got != delta[i] {
				t.Fatalf("%v: delta %d of variable %d, want %d", inst, delta[i], i, got)
			}
			if max(delta[i], -delta[i]) > p.spans().delta {
				t.Fatalf("%v: delta %d, expected at most %d", inst, delta[i], p.spans().delta)
			}
		}
		for _, to := range []Form{QUBO, Ising, MaxCut} {
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
			if negative := other.To(Maximize).To(Minimize); negative.Value(y) != other.To(Minimize).Value(y) {
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
		u, scale, exact := scaled(&Terms[float64]{Linear: c.values})
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
	inst := drawn(rand.New(rand.NewPCG(3, 4)), 9, QUBO, true)
	for k := range inst.Int.Pair {
		inst.Int.Pair[k] *= 1e9
	}
	p, err := inst.normal()
	if err != nil {
		t.Fatal(err)
	}
	q := p.coarse(1 << 20)
	if d := q.spans().delta; d > 1<<20 || d < 1<<17 {
		t.Errorf("delta up to %d, want at most 2^20 and not far below", d)
	}
	if p.coarse(math.MaxInt64) != p {
		t.Error("what fits was rounded")
	}
}
