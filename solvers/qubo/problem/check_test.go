package problem_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// triangle is an instance of three variables with all pairs.
func triangle() *problem.Instance {
	return &problem.Instance{N: 3, Form: problem.QUBO, Sense: problem.Maximize, Start: []int64{0, 2, 4, 6}, Col: []int32{1, 2, 0, 2, 0, 1},
		Int: &problem.Terms[int64]{Linear: []int64{1, -2, 3}, Pair: []int64{4, 5, 4, -6, 5, -6}}}
}

// Malformed instances are errors that name the fault and its place.
func TestCheck(t *testing.T) {
	if err := triangle().Check(); err != nil {
		t.Fatal(err)
	}
	real := func(inst *problem.Instance, bad float64) *problem.Terms[float64] {
		inst.Int = nil
		inst.Real = &problem.Terms[float64]{Linear: []float64{1, 2, 3}, Pair: []float64{1, 1, 1, bad, 1, bad}}
		return inst.Real
	}
	for name, c := range map[string]struct {
		spoil func(inst *problem.Instance)
		want  string
	}{
		"one side":   {func(i *problem.Instance) { i.Start, i.Col, i.Int.Pair = []int64{0, 1, 1, 1}, []int32{1}, []int64{7} }, "the pair of variables 0 and 1 is stored with variable 0 alone"},
		"lower side": {func(i *problem.Instance) { i.Start, i.Col, i.Int.Pair = []int64{0, 0, 0, 1}, []int32{1}, []int64{7} }, "the pair of variables 2 and 1 is stored with variable 2 alone"},
		"asymmetric": {func(i *problem.Instance) {
			i.Start, i.Col, i.Int.Pair = []int64{0, 1, 2, 2}, []int32{1, 0}, []int64{2, -5}
		}, "the pair of variables 0 and 1 has the coefficient 2 with variable 0 and -5 with variable 1"},
		"swapped":        {func(i *problem.Instance) { i.Int.Pair[0], i.Int.Pair[1] = 5, 4 }, "has the coefficient 5 with variable 0 and 4 with variable 1"},
		"short pairs":    {func(i *problem.Instance) { i.Int.Pair = i.Int.Pair[:5] }, "Pair: found 5 coefficients, expected 6"},
		"short columns":  {func(i *problem.Instance) { i.Col = i.Col[:5] }, "Start: found numbers from 0 to 6, expected 0 to 5"},
		"short linear":   {func(i *problem.Instance) { i.Int.Linear = i.Int.Linear[:2] }, "Linear: found 2 terms, expected 3"},
		"short start":    {func(i *problem.Instance) { i.Start = i.Start[:3] }, "Start: found 3 numbers, expected 4"},
		"no start":       {func(i *problem.Instance) { i.Start = nil }, "Start: found 0 numbers, expected 4"},
		"start falls":    {func(i *problem.Instance) { i.Start[2] = 1 }, "Start[2]: found 1 after 2"},
		"start beyond":   {func(i *problem.Instance) { i.Start[1] = 9 }, "Start[1]: found 9 after 0"},
		"start below":    {func(i *problem.Instance) { i.Start[1] = -1 }, "Start[1]: found -1 after 0"},
		"no terms":       {func(i *problem.Instance) { i.Int = nil }, "neither integer nor real terms"},
		"both terms":     {func(i *problem.Instance) { i.Real = &problem.Terms[float64]{} }, "both integer and real terms"},
		"column beyond":  {func(i *problem.Instance) { i.Col[1] = 3 }, "variable 0 has a pair with variable 3, expected 0 to 2"},
		"column below":   {func(i *problem.Instance) { i.Col[0] = -1 }, "variable 0 has a pair with variable -1, expected 0 to 2"},
		"diagonal":       {func(i *problem.Instance) { i.Col[0] = 0 }, "variable 0 has a pair with itself"},
		"descending":     {func(i *problem.Instance) { i.Col[0], i.Col[1] = 2, 1 }, "variable 0 has a pair with variable 1 after one with 2"},
		"twice":          {func(i *problem.Instance) { i.Col[1] = 1 }, "variable 0 has a pair with variable 1 after one with 1"},
		"no sense":       {func(i *problem.Instance) { i.Sense = "" }, `Sense: found "", expected maximize or minimize`},
		"other sense":    {func(i *problem.Instance) { i.Sense = "Minimize" }, `Sense: found "Minimize"`},
		"no form":        {func(i *problem.Instance) { i.Form = "" }, `Form: found "", expected qubo, ising or maxcut`},
		"negative":       {func(i *problem.Instance) { i.N = -1 }, "found -1 variables"},
		"linear cut":     {func(i *problem.Instance) { i.Form = problem.MaxCut }, "a maximum cut has no linear terms"},
		"short fixed":    {func(i *problem.Instance) { i.Fixed = []int8{0} }, "Fixed: found 1 numbers, expected one for each of 3"},
		"wrong fixed":    {func(i *problem.Instance) { i.Fixed = []int8{0, 2, -1} }, "Fixed[1]: found 2"},
		"short names":    {func(i *problem.Instance) { i.Names = []string{"a"} }, "found 1 name"},
		"pair of NaN":    {func(i *problem.Instance) { real(i, math.NaN()) }, "found NaN for variables 1 and 2"},
		"infinite pair":  {func(i *problem.Instance) { real(i, math.Inf(-1)) }, "found -Inf for variables 1 and 2"},
		"linear NaN":     {func(i *problem.Instance) { real(i, 1).Linear[2] = math.NaN() }, "Linear[2]: coefficient: found NaN"},
		"offset of +Inf": {func(i *problem.Instance) { real(i, 1).Offset = math.Inf(1) }, "Offset: coefficient: found +Inf"},
	} {
		inst := triangle()
		c.spoil(inst)
		if err := inst.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
	var none *problem.Instance
	if err := none.Check(); err == nil || !strings.Contains(err.Error(), "instance: found nil") {
		t.Errorf("nil: %v", err)
	}
	// As many entries above the diagonal as below, of the same columns and the same
	// coefficient, but of other pairs.
	crossed := &problem.Instance{N: 4, Form: problem.QUBO, Sense: problem.Maximize, Start: []int64{0, 1, 2, 3, 4}, Col: []int32{2, 3, 1, 0},
		Int: &problem.Terms[int64]{Linear: make([]int64, 4), Pair: []int64{5, 5, 5, 5}}}
	if err := crossed.Check(); err == nil || !strings.Contains(err.Error(), "the pair of variables 0 and 2 is stored with variable 0 alone") {
		t.Errorf("crossed: %v", err)
	}
	zeros := triangle()
	real(zeros, 0).Pair[5] = math.Copysign(0, -1) // 0 and -0 are the same number
	if err := zeros.Check(); err != nil {
		t.Error(err)
	}
}

// Drawn instances of all forms pass, also with rows for several cores; one
// coefficient or one column that is changed anywhere is found.
func TestCheckFindsAnyChange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, form := range []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut} {
		for _, n := range []int{0, 1, 2, 9, 300} {
			for _, whole := range []bool{true, false} {
				inst := qubotest.Instance(r, n, form, whole)
				if err := inst.Check(); err != nil {
					t.Fatalf("%v: %v", inst, err)
				}
				for range min(40, len(inst.Col)) {
					k := r.IntN(len(inst.Col))
					spoiled := *inst
					if inst.Int != nil {
						terms := *inst.Int
						terms.Pair = slices.Clone(terms.Pair)
						terms.Pair[k]++
						spoiled.Int = &terms
					} else {
						terms := *inst.Real
						terms.Pair = slices.Clone(terms.Pair)
						terms.Pair[k] = math.Nextafter(terms.Pair[k], 1e9)
						spoiled.Real = &terms
					}
					if spoiled.Check() == nil {
						t.Fatalf("%v: another coefficient of entry %d passes", inst, k)
					}
					spoiled = *inst
					spoiled.Col = slices.Clone(inst.Col)
					if spoiled.Col[k]++; spoiled.Check() == nil {
						t.Fatalf("%v: another column of entry %d passes", inst, k)
					}
				}
			}
		}
	}
}

// A builder adds up what comes in any order, keeps integers as long as all are,
// and remembers the first error.
func TestBuilder(t *testing.T) {
	b := problem.NewBuilder(4)
	b.Linear(0, 5)
	b.Pair(2, 1, -3)
	b.Pair(1, 2, 1)
	b.Linear(0, 2)
	b.PairInt(0, 3, 1<<55+1)
	b.LinearInt(3, -1)
	b.Pair(0, 2, 4)
	b.Pair(2, 0, -4) // nothing is left of this pair
	b.Minimize()
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if inst.Sense != problem.Minimize || inst.Form != problem.QUBO || inst.Int == nil || inst.Pairs() != 2 {
		t.Errorf("built %v", inst)
	}
	for x, want := range map[uint64]int64{0: 0, 1: 7, 6: -2, 9: 7 - 1 + 1<<55 + 1} {
		if got := inst.ValueInt([]uint64{x}); got != want {
			t.Errorf("x = %b: value %d, expected %d", x, got, want)
		}
	}
	b = problem.NewBuilder(2)
	b.Pair(0, 1, 0.5)
	b.Linear(0, 2)
	b.Form(problem.Ising)
	b.Maximize()
	if inst, err = b.Build(); err != nil || inst.Real == nil || inst.Form != problem.Ising || inst.Sense != problem.Maximize || inst.Value([]uint64{3}) != 2.5 {
		t.Errorf("built %v: %v", inst, err)
	}
	for want, use := range map[string]func(b *problem.Builder){
		"neither Maximize nor Minimize":     func(b *problem.Builder) {},
		"found variable 2, expected 0 to 1": func(b *problem.Builder) { b.Linear(2, 1); b.Pair(0, 0, 1) },
		"found variable -1":                 func(b *problem.Builder) { b.PairInt(0, -1, 1) },
		"a pair of variable 1 with itself":  func(b *problem.Builder) { b.Pair(1, 1, 1); b.Linear(9, 1) },
		"found NaN for variables 0 and 1":   func(b *problem.Builder) { b.Pair(0, 1, math.NaN()) },
		"found +Inf for variables 1 and 1":  func(b *problem.Builder) { b.Linear(1, math.Inf(1)) },
		`Form: found "cut", expected`:       func(b *problem.Builder) { b.Form("cut"); b.Maximize() },
		"a maximum cut has no linear terms": func(b *problem.Builder) { b.Form(problem.MaxCut); b.Linear(0, 1); b.Maximize() },
	} {
		b := problem.NewBuilder(2)
		use(b)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if _, err := problem.NewBuilder(-1).Build(); err == nil || !strings.Contains(err.Error(), "found -1 variables") {
		t.Errorf("-1 variables: %v", err)
	}
	b = problem.NewBuilder(1)
	b.LinearInt(0, math.MaxInt64)
	b.Maximize()
	if _, err := b.Build(); !errors.Is(err, problem.ErrCoefficient) {
		t.Errorf("a coefficient of 2^63-1: %v", err)
	}
}

func BenchmarkCheck(b *testing.B) {
	inst := qubotest.Instance(rand.New(rand.NewPCG(1, 1)), 3000, problem.QUBO, true)
	b.SetBytes(12 * int64(len(inst.Col)))
	for b.Loop() {
		if err := inst.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
