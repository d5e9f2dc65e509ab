package csg

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// optimum is the exact value of the best structure, nil where all are forbidden:
// the dynamic program in big rationals.
func optimum(inst *problem.Instance) *big.Float {
	best := make([]*big.Float, inst.Len())
	best[0] = problem.NewExact()
	for c := uint64(1); c < inst.Len(); c++ {
		best[c] = problem.ExactValue(inst, c)
		for s := (c - 1) & c; s > 0; s = (s - 1) & c {
			if best[s] == nil || best[c&^s] == nil {
				continue
			}
			if sum := problem.NewExact().Add(best[s], best[c&^s]); best[c] == nil || sum.Cmp(best[c]) > 0 {
				best[c] = sum
			}
		}
	}
	return best[inst.GrandCoalition()]
}

// What is proven holds in exact arithmetic: no structure is worth more than Bound,
// and Value lies within Gap of the best.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 3))
	draws := map[string]func() float64{
		"uniform":   r.Float64,
		"negative":  func() float64 { return -r.Float64() },
		"both":      r.NormFloat64,
		"wide":      func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(60)-30) },
		"denormal":  func() float64 { return math.Ldexp(r.Float64(), -140-r.IntN(8)) },
		"ties":      func() float64 { return float64(r.IntN(3)) / 8 },
		"rounded":   func() float64 { return math.Floor(r.Float64()*1e9) / 10 },
		"forbidden": func() float64 { return []float64{math.Inf(-1), r.Float64()}[r.IntN(2)] },
	}
	gaps := 0
	for name, next := range draws {
		for _, value := range []problem.Value{problem.Float32, problem.Float64} {
			for k := range 60 {
				n := 1 + k%6
				inst, err := draw.ByCoalition(value, n, func(uint64) float64 { return next() })
				if err != nil {
					t.Fatal(err)
				}
				found, err := Reference(inst, DP)
				best := optimum(inst)
				if best == nil {
					if !errors.Is(err, solve.ErrInfeasible) || !found.Proven || found.Value != "" {
						t.Errorf("%s, %s, %d agents: found %v and %v, expected a proof that all structures are forbidden", name, value, n, found.Value, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s, %s, %d agents: %v", name, value, n, err)
				}
				bound := problem.NewExact().SetFloat64(found.Bound.Float())
				if *found.Gap == 0 {
					bound, _ = problem.NewExact().SetString(found.Certificate.Sum)
				} else {
					gaps++
				}
				lack := problem.NewExact().Sub(best, problem.NewExact().SetFloat64(found.Value.Float()))
				if best.Cmp(bound) > 0 && *found.Gap > 0 || lack.Cmp(problem.NewExact().SetFloat64(*found.Gap+math.Abs(found.Value.Float())*0x1p-53)) > 0 {
					t.Errorf("%s, %s, %d agents: found %s, at most %s, gap %g; the best is %s", name, value, n, found.Value, found.Bound, *found.Gap, best.Text('g', 20))
				}
			}
		}
	}
	if gaps == 0 {
		t.Error("no instance was left with a gap")
	}
}

// Sums of float32 that are rounded: {1}, {2}, {3} is worth 6 more than what is found.
func TestRoundedSumsLeaveAGap(t *testing.T) {
	inst, err := problem.NewInstance([]float32{0, 16777220, 16777222, 0, 2, 16777216, 3, 0}, "rounded")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	if r.Bound.Float() < 33554444 || *r.Gap < 33554444-r.Value.Float() {
		t.Errorf("found %s, at most %s, gap %g; a structure is worth 33554444", r.Value, r.Bound, *r.Gap)
	}
	whole, err := problem.NewInstance([]float64{0, 3, 4.5, 7, 1, 9, 2, 8}, "halves")
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Reference(whole, DP); err != nil || *r.Gap != 0 || r.Bound != r.Value {
		t.Errorf("halves: found %s, at most %s, gap %g: %v", r.Value, r.Bound, *r.Gap, err)
	}
}
