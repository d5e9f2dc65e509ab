package qubo

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/host"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/semidefinite"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// boundedResult is the result of an instance for x, with the semidefinite bound where that is the best.
func boundedResult(t *testing.T, inst *problem.Instance, x []uint64) *Result {
	t.Helper()
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{inst: inst, p: p, out: newResult(inst, Options{})}
	r.setZeros(preprocess.Reduce(p, inst.Fixed, true, nil, qubotest.NeverStop))
	if r.bests.red.VariablesLeft() > 0 {
		y := r.bests.red.Project(0, x)
		r.improve(0, r.bests.red.Parts[0].Problem.Value(y), y, 0)
	}
	m, err := semidefinite.NewModel(p, inst.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	err = m.NewSearch(func() error { return nil }).Run(func(bound int64, dual []float64) error {
		r.dual, r.dualBound = dual, bound
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Certify(t.Context(), "qubo/host"); err != nil {
		t.Fatal(err)
	}
	return r.out
}

// drawBounded draws an instance of up to 11 variables: of any form and sense, with integers or floats, in narrow and
// wide ranges, with fixed variables.
func drawBounded(r *rand.Rand) *problem.Instance {
	n := r.IntN(12)
	inst := qubotest.Instance(r, n, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[r.IntN(3)], r.IntN(2) == 0)
	if inst.Real != nil && r.IntN(2) == 0 { // of no common unit, far apart
		stretch := func(list []float64) {
			for k := range list {
				list[k] *= math.Exp(3 * r.NormFloat64())
			}
		}
		stretch(inst.Real.Linear)
		for i := range n {
			for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
				if j := int(inst.Col[k]); j < i {
					inst.Real.Pair[k] *= math.Exp(3 * r.NormFloat64())
					for l := inst.Start[j]; l < inst.Start[j+1]; l++ {
						if int(inst.Col[l]) == i {
							inst.Real.Pair[l] = inst.Real.Pair[k]
						}
					}
				}
			}
		}
	}
	for i := range n {
		if r.IntN(6) == 0 {
			inst.Fix(i, r.IntN(2) == 0)
		}
	}
	return inst
}

// enumerated is the best solution by enumeration, and its value without rounding.
func enumerated(inst *problem.Instance) (at []uint64, value *big.Float) {
solutions:
	for bits := range uint64(1) << inst.N {
		x := []uint64{bits}
		for i, v := range inst.Fixed {
			if v >= 0 && problem.Bit(x, i) != uint64(v) {
				continue solutions
			}
		}
		v := new(big.Float)
		if inst.Int != nil {
			v.SetInt64(inst.ValueInt(x))
		} else {
			v = inst.Exact(x)
		}
		if value == nil || v.Cmp(value) == map[problem.Sense]int{problem.Maximize: 1, problem.Minimize: -1}[inst.Sense] {
			at, value = x, v
		}
	}
	return at, value
}

// Bounds hold for the best solution in exact arithmetic, and verification proves them from the instance.
func TestSemidefiniteBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 21))
	kinds := map[BoundKind]int{}
	for k := range 2500 {
		inst := drawBounded(r)
		x, value := enumerated(inst)
		out := boundedResult(t, inst, x)
		kinds[out.BoundKind]++
		bound, ok := out.Bound.Rat()
		if inst.Real != nil {
			bound = new(big.Rat).SetFloat64(out.Bound.Float()) // of which the decimals are short for
		}
		exact, _ := value.Rat(nil)
		if worse := map[problem.Sense]int{problem.Maximize: -1, problem.Minimize: 1}[inst.Sense]; !ok || bound.Cmp(exact) == worse {
			t.Fatalf("instance %d, %s: the %s bound is %s, the best value %v", k, inst, out.BoundKind, out.Bound, value)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(inst, text)
		if err != nil || v.Err() != nil || v.BoundChecked != (out.BoundKind == BoundSemidefinite) || v.Proven != out.Proven {
			t.Fatalf("instance %d, %s: %v, %+v\n%s", k, inst, err, v, text)
		}
	}
	if kinds[BoundSemidefinite] < 800 {
		t.Errorf("bounds by kind: %v", kinds)
	}
}

// Altered proofs of bounds are refuted.
func TestAlteredBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 22))
	for altered := 0; altered < 1000; {
		inst := drawBounded(r)
		x, _ := enumerated(inst)
		out := boundedResult(t, inst, x)
		if out.BoundKind != BoundSemidefinite {
			continue
		}
		dual := out.Dual
		for how := range 8 {
			c := *out
			c.Dual = append([]float64(nil), dual...)
			at := r.IntN(len(dual))
			move := func(by int64) { // another bound, with its gap
				bound, _ := c.Bound.Rat()
				bound.Add(bound, big.NewRat(by*map[problem.Sense]int64{problem.Maximize: 1, problem.Minimize: -1}[inst.Sense], 1))
				c.SetBound(solve.Number(bound.FloatString(0)))
			}
			switch {
			case how == 0:
				c.Dual = c.Dual[1:]
			case how == 1:
				c.Dual = append(c.Dual, 1)
			case how == 2:
				c.BoundKind = BoundCoefficients
			case how == 3:
				c.Dual = nil
			case how == 4 && dual[at] > 0:
				c.Dual[at] *= -1
			case how == 5 && inst.Int != nil:
				move(1)
			case how == 6 && inst.Int != nil && *c.Gap >= 1:
				move(-1)
			case how == 7 && dual[at] > 0:
				c.Dual[at] = 0.5*dual[at] - 1
			default:
				continue
			}
			altered++
			text, err := json.Marshal(&c)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(inst, text); err != nil || v.Err() == nil || v.Proven {
				// numbers may prove the same bound once more, of a variable whose number was larger than needed
				if how == 7 && err == nil && v.BoundChecked {
					continue
				}
				t.Fatalf("alteration %d of a proof for %s is accepted: %v, %+v\n%s", how, inst, err, v, text)
			}
		}
	}
}

// A solve improves its bound while it searches, says its kind, and carries a proof. With a target, a limit on work, or without
// the part bound, it does not.
func TestBoundBesideSearch(t *testing.T) {
	inst, err := Palubeckis(60, 80, 77)
	if err != nil {
		t.Fatal(err)
	}
	target := 1e9
	for name, c := range map[string]struct {
		o    Options
		kind BoundKind
	}{
		"plain":     {Options{}, BoundSemidefinite},
		"unreduced": {Options{Unreduced: true}, BoundSemidefinite},
		"several":   {Options{Solutions: 3}, BoundSemidefinite},
		"fixed":     {Options{Fix: []string{"3=1", "5=0"}}, BoundSemidefinite},
		"multi":     {Options{Settings: solve.Settings{Algorithm: "multistart"}}, BoundSemidefinite},
		"target":    {Options{Settings: solve.Settings{Target: &target}}, BoundCoefficients},
		"work":      {Options{Work: 50000}, BoundCoefficients},
		"without":   {Options{Without: []string{"bound"}}, BoundCoefficients},
	} {
		var bounds []float64
		// A slow machine gets the time that a semidefinite bound needs.
		ctx, end := context.WithCancel(t.Context())
		c.o.TimeLimit = 30 * time.Second
		if c.kind == BoundCoefficients {
			c.o.TimeLimit = 2 * time.Second
		}
		c.o.Progress = func(now solve.Incumbent) {
			bounds = append(bounds, now.Bound.Float())
			if c.kind == BoundSemidefinite && now.Bound.Float() <= 1.25*now.Value.Float() {
				end()
			}
		}
		d := host.Open(2)
		out, err := Solve(ctx, inst, on(d, c.o))
		d.Close()
		end()
		if err != nil {
			t.Fatal(err)
		}
		if out.BoundKind != c.kind || (out.Dual != nil) != (c.kind == BoundSemidefinite) {
			t.Errorf("%s: found a bound of the kind %s with %d numbers, expected %s", name, out.BoundKind, len(out.Dual), c.kind)
		}
		for k, b := range bounds {
			if b < out.Value.Float() || k > 0 && b > bounds[k-1] {
				t.Errorf("%s: the bound was %v after %v; the value is %s", name, b, bounds[:k], out.Value)
			}
		}
		if c.kind == BoundSemidefinite && (bounds[len(bounds)-1] == bounds[0] || out.Bound.Float() > 1.25*out.Value.Float()) {
			t.Errorf("%s: the bounds were %v, the value is %s", name, bounds, out.Value)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || v.Err() != nil || v.BoundChecked != (c.kind == BoundSemidefinite) {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
}

// A value that meets the semidefinite bound is proven, and ends the search: cuts of graphs most of whose pairs agree with one cut.
func TestBoundEndsSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 23))
	for k := range 3 {
		const n = 90
		side := make([]bool, n)
		b := problem.NewBuilder(n)
		b.Form(problem.MaxCut)
		b.Maximize()
		for i := range n {
			side[i] = r.IntN(2) == 0
			for j := range i {
				w := 1 + r.Int64N(9)
				if (side[i] == side[j]) != (r.IntN(8) == 0) {
					w = -w
				}
				b.PairInt(j, i, w)
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out := solved(t, inst, Options{Settings: solve.Settings{TimeLimit: 20 * time.Second}})
		if !out.Proven || out.Stopped || out.BoundKind != BoundSemidefinite || !strings.Contains(out.Proof, "semidefinite") || *out.Gap != 0 || time.Since(began) > 15*time.Second {
			t.Errorf("instance %d: %s with the %s bound %s after %v: %s", k, out.Value, out.BoundKind, out.Bound, time.Since(began), out.Proof)
		}
		if text := fmt.Sprint(out.Notes); strings.Contains(text, "best so far") {
			t.Errorf("instance %d: the notes are %s", k, text)
		}
	}
}
