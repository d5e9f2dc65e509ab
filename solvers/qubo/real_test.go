package qubo

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A kind of real coefficients draws one of n² of an instance.
type kind struct {
	name string
	draw func(r *rand.Rand) float64
}

func kinds() []kind {
	sign := func(r *rand.Rand) float64 { return float64(2*r.IntN(2) - 1) }
	beside := func(penalty float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			return r.NormFloat64() + penalty*float64(max(0, r.IntN(6)-3))*sign(r)
		}
	}
	list := []kind{
		{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }},
		{"hundredths", func(r *rand.Rand) float64 { return float64(r.IntN(41)-20) / 100 }},
		{"tenths and ties", func(r *rand.Rand) float64 { return []float64{0.1, 0.2, -0.3, 0.3, -0.1}[r.IntN(5)] }},
		{"lognormal 5", func(r *rand.Rand) float64 { return sign(r) * math.Exp(5*r.NormFloat64()) }},
		{"lognormal 20", func(r *rand.Rand) float64 { return sign(r) * math.Exp(20*r.NormFloat64()) }},
		{"pareto 0.5", func(r *rand.Rand) float64 { return sign(r) * math.Pow(1-r.Float64(), -2) }},
		{"pareto 0.1", func(r *rand.Rand) float64 { return sign(r) * math.Pow(1-r.Float64(), -10) }},
		{"log-uniform 1e±12", func(r *rand.Rand) float64 { return sign(r) * math.Pow(10, 24*r.Float64()-12) }},
		{"log-uniform 1e±300", func(r *rand.Rand) float64 { return sign(r) * math.Pow(10, 600*r.Float64()-300) }},
		{"subnormals", func(r *rand.Rand) float64 { return float64(r.IntN(1<<20)-1<<19) * 5e-324 }},
		{"subnormals and 1", func(r *rand.Rand) float64 {
			return []float64{float64(r.IntN(1<<20)-1<<19) * 5e-324, sign(r)}[r.IntN(2)]
		}},
		{"largest and 1", func(r *rand.Rand) float64 {
			return []float64{-math.MaxFloat64, math.MaxFloat64, r.NormFloat64(), r.NormFloat64()}[r.IntN(4)]
		}},
		{"penalties of any size", func(r *rand.Rand) float64 { return r.NormFloat64() + 1e18*r.Float64()*float64(r.IntN(2))*sign(r) }},
		{"1e16 and noise", func(r *rand.Rand) float64 { return 1e16*sign(r) + r.NormFloat64() }},
	}
	for _, penalty := range []float64{1e10, 1e12, 1e15, 1e18, 1e20, 1e100, 1e300} {
		list = append(list, kind{fmt.Sprintf("penalties of %g", penalty), beside(penalty)})
	}
	return list
}

// drawnReal draws an instance of real coefficients.
func drawnReal(t *testing.T, r *rand.Rand, n int, k kind, form problem.Form, sense problem.Sense) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(n)
	b.Form(form)
	if b.Maximize(); sense == problem.Minimize {
		b.Minimize()
	}
	for i := range n {
		if form != problem.MaxCut && r.IntN(4) > 0 {
			b.Linear(i, k.draw(r))
		}
		for j := range i {
			if r.IntN(3) > 0 {
				b.Pair(i, j, k.draw(r))
			}
		}
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(3) == 0 {
		inst.Fix(r.IntN(n), r.IntN(2) == 0)
	}
	return inst
}

// rational is the value of x by the definition of the form.
func rational(inst *problem.Instance, x []uint64) *big.Rat {
	sum := new(big.Rat)
	add := func(c float64, whole int64, times int) {
		if inst.Int != nil {
			sum.Add(sum, new(big.Rat).SetInt64(whole*int64(times)))
		} else if times != 0 {
			term := new(big.Rat).SetFloat64(c)
			sum.Add(sum, term.Mul(term, big.NewRat(int64(times), 1)))
		}
	}
	coefficient := func(list func() ([]float64, []int64), k int) (c float64, w int64) {
		real, whole := list()
		if real != nil {
			return real[k], 0
		}
		return 0, whole[k]
	}
	linear := func() ([]float64, []int64) {
		if inst.Real != nil {
			return inst.Real.Linear, nil
		}
		return nil, inst.Int.Linear
	}
	pair := func() ([]float64, []int64) {
		if inst.Real != nil {
			return inst.Real.Pair, nil
		}
		return nil, inst.Int.Pair
	}
	at := func(i int) int { return int(problem.Bit(x, i)) }
	if inst.Real != nil {
		add(inst.Real.Offset, 0, 1)
	} else {
		add(0, inst.Int.Offset, 1)
	}
	for i := range inst.N {
		one := at(i)
		if inst.Form == problem.Ising {
			one = 2*one - 1
		}
		c, w := coefficient(linear, i)
		add(c, w, one)
		for k := inst.Start[i]; k < inst.Start[i+1] && int(inst.Col[k]) < i; k++ {
			both := one * at(int(inst.Col[k]))
			switch inst.Form {
			case problem.Ising:
				both = one * (2*at(int(inst.Col[k])) - 1)
			case problem.MaxCut:
				both = one ^ at(int(inst.Col[k]))
			}
			c, w := coefficient(pair, int(k))
			add(c, w, both)
		}
	}
	return sum
}

// allValues are the values of all solutions that agree with the fixed variables, the best first; of
// mirror images one.
func allValues(inst *problem.Instance) (list []*big.Rat) {
	fixed := slices.ContainsFunc(inst.Fixed, func(v int8) bool { return v >= 0 })
	for x := range uint64(1) << inst.N {
		agrees := fixed || !inst.IsSymmetric() || x&1 == 0
		for i, v := range inst.Fixed {
			agrees = agrees && (v < 0 || x>>i&1 == uint64(v))
		}
		if agrees {
			list = append(list, rational(inst, []uint64{x}))
		}
	}
	slices.SortFunc(list, func(a, b *big.Rat) int {
		if inst.Sense == problem.Minimize {
			return a.Cmp(b)
		}
		return b.Cmp(a)
	})
	return list
}

// honest holds an answer against the best value: the value is the exact sum rounded once, and the
// bound is not on the wrong side of the best.
func honest(t *testing.T, what string, inst *problem.Instance, r *Result, best *big.Rat) {
	t.Helper()
	own := rational(inst, r.Solution.Words())
	if f, _ := own.Float64(); f != r.Value.Float() {
		t.Fatalf("%s: the value %v of a solution that is worth %v", what, r.Value, f)
	}
	report := r.Report
	if r.Bound == "" || report.Gap == nil {
		t.Fatalf("%s: no bound (%s)", what, r.Proof)
	}
	bound := new(big.Rat).SetFloat64(r.Bound.Float())
	wrong := bound.Cmp(best)
	if inst.Sense == problem.Minimize {
		wrong = -wrong
	}
	if wrong < 0 {
		f, _ := best.Float64()
		t.Fatalf("%s: the bound %v, the best is %v", what, r.Bound, f)
	}
	if err := report.CheckClaims(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if r.Proven && *report.Gap > math.Ldexp(math.Abs(r.Value.Float()), -50) {
		t.Fatalf("%s: proven with the gap %v of %v", what, *report.Gap, r.Value)
	}
	if r.Proven != report.Proven || r.Proof == "" {
		t.Fatalf("%s: proven %v, the report says %v, because %q", what, r.Proven, report.Proven, r.Proof)
	}
}

// The best solutions of few variables are found and proven, whatever the coefficients are.
func TestFewReals(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 2))
	d := host.Open(2)
	defer d.Close()
	tries := 24
	if testing.Short() {
		tries = 6
	}
	for _, k := range kinds() {
		for try := range tries {
			form, sense := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try%3], []problem.Sense{problem.Maximize, problem.Minimize}[try/3%2]
			n := 1 + r.IntN(7)
			inst := drawnReal(t, r, n, k, form, sense)
			all := allValues(inst)
			for _, o := range []Options{{}, {Unreduced: true}, {Solutions: 1 + r.IntN(6)}, {Solutions: 1 << n}} {
				what := fmt.Sprintf("%s, %v, %+v", k.name, inst, o)
				o.TimeLimit = 10 * time.Second
				got, err := Solve(t.Context(), inst, on(d, o))
				if f, _ := all[0].Float64(); math.IsInf(f, 0) {
					if !errors.Is(err, problem.ErrCoefficient) {
						t.Fatalf("%s: the best is beyond float64: %v", what, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if beyond := new(big.Rat).Abs(all[0]); beyond.Cmp(new(big.Rat).SetFloat64(math.MaxFloat64)) > 0 {
					if got.Proven || got.Bound != "" { // no float64 is a bound
						t.Fatalf("%s: the bound %v, proven %v", what, got.Bound, got.Proven)
					}
					continue
				}
				honest(t, what, inst, got, all[0])
				if own := rational(inst, got.Solution.Words()); own.Cmp(all[0]) != 0 {
					best, _ := all[0].Float64()
					t.Fatalf("%s: the value %v, the best is %v", what, got.Value, best)
				}
				if !got.Proven {
					t.Fatalf("%s: not proven: %s", what, got.Proof)
				}
				if last := got.History[len(got.History)-1]; last.Value.String() != got.Value.String() {
					t.Fatalf("%s: the history ends with %v, the value is %v", what, last.Value, got.Value)
				}
				if len(got.Solutions) != min(o.Solutions, len(all)) {
					t.Fatalf("%s: %d solutions of %d", what, len(got.Solutions), len(all))
				}
				for at, s := range got.Solutions {
					if rational(inst, s.Bits.Words()).Cmp(all[at]) != 0 {
						want, _ := all[at].Float64()
						t.Fatalf("%s: solution %d is worth %v, want %v", what, at, s.Value, want)
					}
				}
				text, err := got.MarshalJSON()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				v, err := Verify(inst, text)
				if err != nil || v.Err() != nil || !v.Proven {
					t.Fatalf("%s: %v, %v, proven %v", what, err, v.Err(), v.Proven)
				}
			}
		}
	}
}

// Of every solution the value is between what its objective says at least and at most, and a better
// one has no smaller objective than rounding explains.
func TestRoundingIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 34))
	rounded := 0
	for _, k := range kinds() {
		for try := range 12 {
			form, sense := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try%3], []problem.Sense{problem.Maximize, problem.Minimize}[try/3%2]
			inst := drawnReal(t, r, 1+r.IntN(7), k, form, sense)
			p, err := inst.Normal()
			if err != nil {
				t.Fatal(err)
			}
			if p.Over > 0 {
				rounded++
			}
			sign := map[problem.Sense]int{problem.Maximize: 1, problem.Minimize: -1}[sense]
			var best *big.Rat
			top, of := int64(math.MinInt64), int64(0) // the largest objective, and that of the best
			for x := range uint64(1) << inst.N {
				bits := []uint64{x}
				value, objective := rational(inst, bits), p.Value(bits)
				if top = max(top, objective); best == nil || sign*value.Cmp(best) > 0 {
					best, of = value, objective
				}
				least, most := inst.AmountOf(p, objective).Float(), inst.BoundOf(p, objective).Float()
				beyond := func(f float64, side int) bool { // f is further to a side than the value
					return math.IsInf(f, side) || !math.IsInf(f, 0) && side*new(big.Rat).SetFloat64(f).Cmp(value) >= 0
				}
				nearest, _ := value.Float64()
				if !beyond(most, sign) || p.Over > 0 && !beyond(least, -sign) || p.Over == 0 && least != nearest {
					t.Fatalf("%s, %v: %b is worth %v, its objective says %v to %v", k.name, inst, x, nearest, least, most)
				}
			}
			if of < top-p.RoundingWindow() {
				t.Fatalf("%s, %v: the best has the objective %d, another %d, the window is %d", k.name, inst, of, top, p.RoundingWindow())
			}
		}
	}
	if rounded < 20 {
		t.Errorf("%d instances were rounded: the numbers are too even", rounded)
	}
}

// Bounds hold where variables are many: several blocks, each of which is enumerated.
func TestBoundsOfManyReals(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 22))
	d := host.Open(2)
	defer d.Close()
	const blocks, size = 4, 7
	for _, k := range kinds() {
		for try := range 3 {
			form, sense := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try], []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)]
			b, best := problem.NewBuilder(blocks*size), new(big.Rat)
			b.Form(form)
			if b.Maximize(); sense == problem.Minimize {
				b.Minimize()
			}
			for block := range blocks {
				part := drawnReal(t, r, size, k, form, sense)
				part.Fixed = nil
				best.Add(best, allValues(part)[0])
				for i := range size {
					if part.Real != nil {
						b.Linear(block*size+i, part.Real.Linear[i])
					} else {
						b.LinearInt(block*size+i, part.Int.Linear[i])
					}
					for at := part.Start[i]; at < part.Start[i+1]; at++ {
						if j := int(part.Col[at]); j < i && part.Real != nil {
							b.Pair(block*size+i, block*size+j, part.Real.Pair[at])
						} else if j < i {
							b.PairInt(block*size+i, block*size+j, part.Int.Pair[at])
						}
					}
				}
			}
			inst, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {Unreduced: true, Work: 20000}, {Solutions: 3, Work: 20000}} {
				what := fmt.Sprintf("%s, %v, %+v", k.name, inst, o)
				got, err := Solve(t.Context(), inst, on(d, o))
				if errors.Is(err, problem.ErrCoefficient) && k.name == "largest and 1" {
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if k.name == "largest and 1" && got.Bound == "" {
					continue
				}
				honest(t, what, inst, got, best)
				if own := rational(inst, got.Solution.Words()); o.Work == 0 && (!got.Proven || own.Cmp(best) != 0) {
					t.Errorf("%s: proven %v, value %v (%s)", what, got.Proven, got.Value, got.Proof)
				}
			}
		}
	}
}

// A chain is solved by preprocessing. The best is known: every coupling is satisfied.
func TestBoundOfAChain(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 1))
	for _, k := range kinds() {
		if k.name == "largest and 1" {
			continue
		}
		const n = 60
		b, best := problem.NewBuilder(n), new(big.Rat)
		b.Form(problem.Ising)
		b.Maximize()
		for i := range n - 1 {
			c := k.draw(r)
			b.Pair(i, i+1, c)
			best.Add(best, new(big.Rat).Abs(new(big.Rat).SetFloat64(c)))
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		got := solved(t, inst, Options{})
		honest(t, k.name, inst, got, best)
		if !got.Proven {
			t.Errorf("%s: not proven, the gap %v of %v", k.name, *got.Report.Gap, got.Value)
		}
	}
}

// Real problems whose variables follow from two others, but for a few, are proven as those of integers are: the best
// of each is also found by summing over the values of the variables in its middle, in rationals.
func TestProofsOfSparseReals(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 21))
	d := host.Open(2)
	defer d.Close()
	for _, k := range kinds() {
		if k.name == "largest and 1" {
			continue
		}
		for try := range 6 {
			// Trees hang on the variables of a dense middle, which are the first ones.
			form, sense := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try%3], []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)]
			n, middle := 26+r.IntN(15), 1+r.IntN(7)
			b, parent := problem.NewBuilder(n), make([]int, n)
			b.Form(form)
			if b.Maximize(); sense == problem.Minimize {
				b.Minimize()
			}
			for i := range n {
				if form != problem.MaxCut && r.IntN(4) > 0 {
					b.Linear(i, k.draw(r))
				}
				if parent[i] = -1; i >= middle {
					parent[i] = r.IntN(i)
					b.Pair(parent[i], i, k.draw(r))
					continue
				}
				for j := range i {
					b.Pair(j, i, k.draw(r))
				}
			}
			inst, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, try %d, %d variables, %d in the middle", k.name, try, n, middle)
			got, err := Solve(t.Context(), inst, on(d, Options{}))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			best := bestOfTrees(inst, parent, middle)
			honest(t, what, inst, got, best)
			if rational(inst, got.Solution.Words()).Cmp(best) != 0 || !got.Proven {
				t.Errorf("%s: value %v, gap %v, proven %v: %s", what, got.Value, *got.Report.Gap, got.Proven, got.Proof)
			}
			rounded, err := Solve(t.Context(), inst, on(d, Options{Unreduced: true, Work: 5000}))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			honest(t, what, inst, rounded, best)
		}
	}
}

// Where all terms can be as good as each may be, a search that finds this is proven, as with integers. Bounds
// hold where they cannot.
func TestSignBoundOfReals(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 23))
	d := host.Open(2)
	defer d.Close()
	rounded := 0
	for try := range 40 {
		form, sense := []problem.Form{problem.Ising, problem.MaxCut}[try%2], []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)]
		n, sign := 26+r.IntN(15), 1.0
		if sense == problem.Minimize {
			sign = -1
		}
		b, side, best := problem.NewBuilder(n), make([]float64, n), new(big.Rat)
		b.Form(form)
		if b.Maximize(); sense == problem.Minimize {
			b.Minimize()
		}
		for i := range n {
			side[i] = float64(2*r.IntN(2) - 1)
			for j := range i {
				v := sign * math.Abs(r.NormFloat64()) * side[i] * side[j]
				if form == problem.MaxCut {
					v = -v
				}
				b.Pair(i, j, v)
				if form == problem.Ising || v*sign > 0 {
					best.Add(best, new(big.Rat).Abs(new(big.Rat).SetFloat64(v)))
				}
			}
		}
		if best.Mul(best, new(big.Rat).SetFloat64(sign)); try%4 < 2 && form == problem.Ising {
			v := r.NormFloat64() // any sign: the mirror image is as good
			b.Linear(0, v)
			best.Add(best, new(big.Rat).SetFloat64(sign*math.Abs(v)))
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		p, err := inst.Normal()
		if err != nil {
			t.Fatal(err)
		}
		if p.Over > 0 {
			rounded++
		}
		what := fmt.Sprintf("try %d, %s", try, form)
		got, err := Solve(t.Context(), inst, on(d, Options{Work: 1 << 20}))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		honest(t, what, inst, got, best)
		if !got.Proven || rational(inst, got.Solution.Words()).Cmp(best) != 0 {
			t.Errorf("%s: value %v, bound %v, proven %v: %s", what, got.Value, got.Bound, got.Proven, got.Proof)
		}
	}
	if rounded < 30 {
		t.Errorf("%d instances were rounded: too few to tell", rounded)
	}
	for _, k := range kinds() {
		for try := range 12 {
			inst := drawnReal(t, r, 1+r.IntN(7), k, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try%3], []problem.Sense{problem.Maximize, problem.Minimize}[try/3%2])
			if inst.Real == nil {
				continue
			}
			bound, best := inst.SignBound().Float(), allValues(inst)[0]
			if math.IsInf(bound, 0) {
				continue
			}
			if c := new(big.Rat).SetFloat64(bound).Cmp(best); inst.Sense == problem.Maximize && c < 0 || inst.Sense == problem.Minimize && c > 0 {
				t.Fatalf("%s: the bound %v of %v", k.name, bound, best)
			}
		}
	}
}

// Integers times a power of two are proven where the integers are, with the same bound.
func TestScaledIntegersAreProvenAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 24))
	d := host.Open(2)
	defer d.Close()
	proven := 0
	for try := range 60 {
		n, shift := 26+r.IntN(15), []int{-1060, -40, -1, 7, 900}[try%5]
		form := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[try%3]
		whole, real := problem.NewBuilder(n), problem.NewBuilder(n)
		whole.Form(form)
		real.Form(form)
		for range n + r.IntN(n) {
			if i, j := r.IntN(n), r.IntN(n); i != j {
				v := int64(r.IntN(2001) - 1000)
				whole.PairInt(min(i, j), max(i, j), v)
				real.Pair(min(i, j), max(i, j), math.Ldexp(float64(v), shift))
			}
		}
		answers := make([]*Result, 2)
		for k, b := range []*problem.Builder{whole, real} {
			b.Maximize()
			inst, err := b.Build()
			if err == nil {
				answers[k], err = Solve(t.Context(), inst, on(d, Options{Work: 20000}))
			}
			if err != nil {
				t.Fatalf("try %d: %v", try, err)
			}
		}
		a, b := answers[0], answers[1]
		if a.Proven {
			proven++
		}
		if b.Proven != a.Proven || b.Value.Float() != math.Ldexp(a.Value.Float(), shift) || b.Bound.Float() != math.Ldexp(a.Bound.Float(), shift) {
			t.Errorf("try %d, %s times 2^%d: value %v, bound %v, proven %v, of integers %v, %v, %v", try, form, shift, b.Value, b.Bound, b.Proven, a.Value, a.Bound, a.Proven)
		}
	}
	if proven < 20 {
		t.Errorf("%d of the integers' answers were proven: too few to tell", proven)
	}
}

// bestOfTrees is the best value where each variable from middle on has one pair, with its parent, to variables before it.
func bestOfTrees(inst *problem.Instance, parent []int, middle int) (best *big.Rat) {
	better := func(a, b *big.Rat) bool {
		return b == nil || inst.Sense == problem.Minimize && a.Cmp(b) < 0 || inst.Sense != problem.Minimize && a.Cmp(b) > 0
	}
	// The value of some variables alone: differences of values of the whole.
	x := make([]uint64, problem.Words(inst.N))
	at := func(bits ...int) *big.Rat {
		clear(x)
		for _, i := range bits {
			x[i>>6] |= 1 << (i & 63)
		}
		return rational(inst, x)
	}
	none, one := at(), make([]*big.Rat, inst.N)
	pair := make([]*big.Rat, inst.N) // what both a variable and its parent add
	for i := range one {
		one[i] = new(big.Rat).Sub(at(i), none)
	}
	gain := [2][]*big.Rat{make([]*big.Rat, inst.N), make([]*big.Rat, inst.N)} // of the trees below a variable, by its value
	for i := range one {
		gain[0][i], gain[1][i] = new(big.Rat), new(big.Rat)
	}
	for i := inst.N - 1; i >= middle; i-- {
		p := parent[i]
		pair[i] = at(i, p)
		pair[i].Sub(pair[i], none).Sub(pair[i], one[i]).Sub(pair[i], one[p])
		for v := range 2 {
			up := new(big.Rat).Add(gain[1][i], one[i])
			if v == 1 {
				up.Add(up, pair[i])
			}
			if !better(up, gain[0][i]) {
				up = gain[0][i]
			}
			gain[v][p].Add(gain[v][p], up)
		}
	}
	for m := range 1 << middle {
		var bits []int
		for i := range middle {
			if m>>i&1 == 1 {
				bits = append(bits, i)
			}
		}
		sum := at(bits...)
		for i := range middle {
			sum.Add(sum, gain[m>>i&1][i])
		}
		if better(sum, best) {
			best = sum
		}
	}
	return best
}

// One of each group is chosen at the least cost, whatever the penalty is.
func TestPenalties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 18))
	d := host.Open(2)
	defer d.Close()
	const groups, size = 8, 6
	for _, penalty := range []float64{1e6, 1e10, 1e12, 1e15, 1e18, 1e30, 1e300} {
		b := problem.NewBuilder(groups * size)
		b.Minimize()
		whole := new(big.Rat)
		for g := range groups {
			var least *big.Rat
			for i := range size {
				cost := r.NormFloat64() - penalty // which rounds the cost
				b.Linear(g*size+i, cost)
				if c := new(big.Rat).SetFloat64(cost); least == nil || c.Cmp(least) < 0 {
					least = c
				}
				for j := range i {
					b.Pair(g*size+i, g*size+j, 2*penalty)
				}
				for j := range g * size {
					b.Pair(g*size+i, j, r.Float64()*1e-3)
				}
			}
			whole.Add(whole, least)
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), inst, on(d, Options{Settings: solve.Settings{TimeLimit: 500 * time.Millisecond}}))
		if err != nil {
			t.Fatal(err)
		}
		for g := range groups {
			chosen := 0
			for i := range size {
				chosen += got.Solution.At(g*size + i)
			}
			if chosen != 1 {
				t.Errorf("penalties of %g: %d of group %d are chosen, want 1 (value %v)", penalty, chosen, g, got.Value)
			}
		}
		exact := rational(inst, got.Solution.Words())
		if exact.Cmp(whole) < 0 {
			t.Errorf("penalties of %g: the value %v is better than the least costs", penalty, got.Value)
		}
		if excess, _ := exact.Sub(exact, whole).Float64(); excess > 0.05 {
			t.Errorf("penalties of %g: costs are %v above the least", penalty, excess)
		}
	}
}

// Files of real coefficients, and of as many solutions as there are.
func TestRealFiles(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	for _, c := range []struct {
		file      string
		solutions int
		value     float64
		x         string
		values    []float64
	}{
		{"real6.npy", 0, -2.9502047357684305, "", nil},
		{"penalty.npy", 0, -2.5, "010", nil},
		{"two.qubo", 4, -1, "", []float64{-1, -1, 0, 1}},
		{"penalty.npy", 5, -2.5, "010", []float64{-2.5, -1.25, -0.75, 0, 1e18}},
	} {
		inst, err := Read("testdata/"+c.file, ReadOptions{Sense: problem.Minimize})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), inst, on(d, Options{Solutions: c.solutions}))
		if err != nil {
			t.Fatal(err)
		}
		if got.Value.Float() != c.value || c.x != "" && got.Solution.String() != c.x || !got.Proven {
			t.Errorf("%s: %v of %s, proven %v, want %v of %s", c.file, got.Value, got.Solution, got.Proven, c.value, c.x)
		}
		var values []float64
		for _, s := range got.Solutions {
			values = append(values, s.Value.Float())
		}
		if !slices.Equal(values, c.values) {
			t.Errorf("%s: solutions worth %v, want %v", c.file, values, c.values)
		}
	}
}

// Integers that are too large to be added up in int64 are solved as what they are.
func TestLargeIntegers(t *testing.T) {
	for _, text := range []string{
		"p qubo 0 3 3 3\n0 0 -1\n1 1 -2\n2 2 -4\n0 1 1000000000000000000\n0 2 1000000000000000000\n1 2 3000000000000000000\n",
		"p qubo 0 3 3 2\n0 0 -1000000000000000000\n1 1 -999999999999999872\n2 2 -4\n0 1 2000000000000000000\n1 2 -200\n",
	} {
		inst, err := ReadFrom(strings.NewReader(text), "a.qubo", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, best := solved(t, inst, Options{}), allValues(inst)[0]
		honest(t, text, inst, got, best)
		if !got.Proven || rational(inst, got.Solution.Words()).Cmp(best) != 0 {
			t.Errorf("%s: %v of %s, proven %v", text, got.Value, got.Solution, got.Proven)
		}
	}
	b := problem.NewBuilder(2)
	b.Minimize()
	b.LinearInt(0, 1<<60+1)
	if _, err := b.Build(); !errors.Is(err, problem.ErrCoefficient) || !strings.Contains(err.Error(), "1152921504606846977") {
		t.Errorf("an integer that float64 does not hold: %v", err)
	}
}

// A target of real coefficients is met by solutions that are at least as good, also beside penalties.
func TestRealTargets(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(8, 8))
	for _, k := range kinds() {
		inst := drawnReal(t, r, 6, k, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[r.IntN(3)], []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)])
		best, _ := allValues(inst)[0].Float64()
		if math.IsInf(best, 0) {
			continue
		}
		beyond := math.Nextafter(best+math.Abs(best)*0x1p-40, math.Inf(1))
		if inst.Sense == problem.Minimize {
			beyond = math.Nextafter(best-math.Abs(best)*0x1p-40, math.Inf(-1))
		}
		for target, met := range map[float64]bool{best: true, beyond: false} {
			got, err := Solve(t.Context(), inst, on(d, Options{Settings: solve.Settings{Target: &target}}))
			if err != nil {
				t.Fatal(err)
			}
			if reached := got.Met != nil; reached != met {
				t.Errorf("%s, %v: target %v, best %v: value %v, met %v", k.name, inst, target, best, got.Value, reached)
			}
		}
	}
}

// Many solutions of many variables are distinct, and as many as asked for.
func TestManySolutions(t *testing.T) {
	for _, c := range []struct {
		n, solutions, distance int
		real                   bool
	}{{40, 300, 1, true}, {40, 300, 1, false}, {30, 20, 3, true}, {64, 40, 2, false}} {
		b := problem.NewBuilder(c.n)
		b.Maximize()
		for i := range c.n {
			if c.real {
				b.Linear(i, 1+float64(i)/7)
			} else {
				b.LinearInt(i, int64(1+i))
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		got := solved(t, inst, Options{Settings: solve.Settings{TimeLimit: 2 * time.Second}, Solutions: c.solutions, Distance: c.distance})
		if len(got.Solutions) != c.solutions {
			t.Errorf("%d variables: %d solutions, want %d", c.n, len(got.Solutions), c.solutions)
		}
		pair := solutions{n: c.n}
		for k, s := range got.Solutions {
			for _, u := range got.Solutions[:k] {
				if pair.distance(s.Bits.Words(), u.Bits.Words()) < c.distance {
					t.Fatalf("%d variables: two solutions differ in too few", c.n)
				}
			}
		}
	}
}
