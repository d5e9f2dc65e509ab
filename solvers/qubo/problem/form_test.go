package problem_test

import (
	"math"
	"math/big"
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
		x := qubotest.RandomSolution(r, n)
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
			other, err := inst.InForm(to)
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
			if negative := other.WithSense(problem.Maximize).WithSense(problem.Minimize); negative.Value(y) != other.WithSense(problem.Minimize).Value(y) {
				t.Fatalf("%v: negating twice changes values", inst)
			}
			back, err := other.InForm(form)
			if err != nil {
				t.Fatal(err)
			}
			if got := back.Value(y); got != want {
				t.Fatalf("%v by way of %s: value %v, want %v", inst, to, got, want)
			}
		}
	}
}

// Coefficients become integers exactly where there is room, with magnitudes that are far
// apart brought nearer to each other.
func TestScaling(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	many := func(size float64) (list []float64) {
		for range 40 {
			list = append(list, size*r.NormFloat64())
		}
		return list
	}
	penalties := func(size float64, noise []float64) []float64 {
		for k := range noise {
			noise[k] += size * float64(k%3)
		}
		return noise
	}
	for name, c := range map[string]struct {
		values []float64
		exact  bool
		ten    float64
		bands  int
	}{
		"whole":               {[]float64{1, 2}, true, 1, 0},
		"quarters":            {[]float64{0.5, -3.25}, true, 1, 0},
		"hundredths":          {[]float64{0.1, 2.35}, true, 100, 0},
		"larger":              {[]float64{1e6 + 0.1, 2.35}, true, 100, 0},
		"fifteen digits":      {[]float64{math.Pi, 1e-9}, true, 1e15, 0},
		"two magnitudes":      {[]float64{math.Pi, 1e9}, true, 1, 1},
		"many numbers":        {many(1), false, 1, 0},
		"a penalty":           {[]float64{1e300, 1}, true, 1, 1},
		"least":               {[]float64{5e-324, 3.5e-323}, true, 1, 0},
		"largest":             {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, true, 1, 1},
		"penalties of 1e15":   {penalties(1e15, many(1)), false, 1, 1},
		"penalties of 1e300":  {penalties(1e300, many(1)), false, 1, 1},
		"multiples":           {[]float64{3e18, 7e18, -4e18, 1, 0.5}, true, 1, 1},
		"three magnitudes":    {[]float64{2e200, -1e200, 3e18, 7e18, 1, 0.5, 1.25}, true, 1, 2},
		"penalties and noise": {append(many(1), 1e18, 2e18, -1e18, 3e18), false, 1, 1},
		"all magnitudes":      {[]float64{1e300, -3e200, 7e100, 1, -1e-100, 2.5e-200, 5e-324}, true, 1, 6},
	} {
		u, s := problem.Scaled(&problem.Terms[float64]{Linear: c.values}, 0)
		if exact := s.Over+s.Under == 0 || s.Ten > 1; exact != c.exact || s.Ten != c.ten || s.Bands != c.bands {
			t.Errorf("%s: exact %v, ten %v, %d bands, want %v, %v, %d", name, exact, s.Ten, s.Bands, c.exact, c.ten, c.bands)
		}
		sum, said := int64(0), new(big.Float).SetPrec(3000)
		for k, v := range c.values {
			if r.IntN(2) == 0 {
				sum += u.Linear[k]
				said.Add(said, new(big.Float).SetFloat64(v))
			}
		}
		apart := new(big.Float).SetPrec(3000).Sub(s.Value(sum), said)
		if most := s.Units(s.Over + s.Under); apart.Abs(apart).Cmp(most) > 0 {
			t.Errorf("%s: %d stands for %v, want %v, at most %v apart", name, sum, s.Value(sum), said, most)
		}
	}
}

// Numbers below the least normal float64 are as exact as others.
func TestDenormal(t *testing.T) {
	const tiny = 5e-324
	for form, want := range map[problem.Form][]float64{
		problem.QUBO:   {0, 3 * tiny, -5 * tiny, 6 * tiny},
		problem.Ising:  {10 * tiny, 0, -16 * tiny, 6 * tiny},
		problem.MaxCut: {0, 8 * tiny, 8 * tiny, 0},
	} {
		inst := &problem.Instance{N: 2, Form: form, Sense: problem.Maximize, Start: []int64{0, 1, 2}, Col: []int32{1, 0},
			Real: &problem.Terms[float64]{Linear: []float64{3 * tiny, -5 * tiny}, Pair: []float64{8 * tiny, 8 * tiny}}}
		if form == problem.MaxCut {
			inst.Real.Linear = []float64{0, 0}
		}
		p, err := inst.Normal()
		if err != nil {
			t.Fatal(err)
		}
		if !p.Exact || p.Lost != 0 {
			t.Errorf("%s: exact %v, %d coefficients lost", form, p.Exact, p.Lost)
		}
		for x, value := range want {
			bits := []uint64{uint64(x)}
			objective := p.Value(bits)
			if got := p.Original(objective); got != value || inst.Value(bits) != value {
				t.Errorf("%s: value %v of %02b by the normal form, %v by the instance, want %v", form, got, x, inst.Value(bits), value)
			}
			if got := p.Objective(value); got != objective {
				t.Errorf("%s: objective %d of %v, want %d", form, got, value, objective)
			}
		}
	}
}

// What is rounded is rounded to what is worse: no objective promises more than the
// value keeps, and what becomes 0 is counted.
func TestRoundedIsNotBetter(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 5))
	lost := int64(0)
	for range 500 {
		n := 2 + r.IntN(5)
		inst := qubotest.Instance(r, n, []problem.Form{problem.QUBO, problem.MaxCut}[r.IntN(2)], true)
		inst.Int, inst.Real = nil, &problem.Terms[float64]{Linear: make([]float64, n), Pair: make([]float64, len(inst.Col))}
		inst.Sense = []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)]
		huge := r.IntN(2) * 900
		number := func() float64 {
			return []float64{float64(r.IntN(9)-4) * 5e-324, math.Ldexp(r.Float64()-0.5, huge), math.Ldexp(r.Float64()-0.5, huge-60)}[r.IntN(3)]
		}
		for i := range n {
			if inst.Form == problem.QUBO {
				inst.Real.Linear[i] = number()
			}
			for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
				if j := int(inst.Col[k]); j > i {
					inst.Real.Pair[k] = number()
					at, _ := slices.BinarySearch(inst.Col[inst.Start[j]:inst.Start[j+1]], int32(i))
					inst.Real.Pair[inst.Start[j]+int64(at)] = inst.Real.Pair[k]
				}
			}
		}
		p, err := inst.Normal()
		if err != nil {
			t.Fatal(err)
		}
		if lost += p.Lost; p.Exact {
			continue
		}
		base := exactly(inst, 0)
		for x := range uint64(1) << n {
			gain := new(big.Float).SetPrec(3000).Sub(exactly(inst, x), base)
			if inst.Sense == problem.Minimize {
				gain.Neg(gain)
			}
			said := new(big.Float).SetPrec(3000).Sub(p.Sum(p.Value([]uint64{x})), p.Sum(0))
			if inst.Sense == problem.Minimize {
				said.Neg(said)
			}
			if said.Cmp(gain) > 0 {
				t.Fatalf("%v: the objective of %b promises %v, its value is %v better than that of all zeros", inst, x, said, gain)
			}
		}
	}
	if lost == 0 {
		t.Error("no coefficient became 0: the numbers are too even")
	}
}

// exactly is the value of x, without rounding.
func exactly(inst *problem.Instance, x uint64) *big.Float {
	sum := new(big.Float).SetPrec(3000)
	add := func(v float64, times uint64) {
		if times == 1 {
			sum.Add(sum, new(big.Float).SetFloat64(v))
		}
	}
	for i := range inst.N {
		add(inst.Real.Linear[i], x>>i&1)
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			if j := int(inst.Col[k]); j > i && inst.Form == problem.MaxCut {
				add(inst.Real.Pair[k], x>>i&1^x>>j&1)
			} else if j > i {
				add(inst.Real.Pair[k], x>>i&1&(x>>j&1))
			}
		}
	}
	return sum
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
	q := p.Coarsened(1 << 20)
	if d := q.Spans().Delta; d > 1<<20 || d < 1<<17 {
		t.Errorf("delta up to %d, want at most 2^20 and not far below", d)
	}
	if p.Coarsened(math.MaxInt64) != p {
		t.Error("what fits was rounded")
	}
}
