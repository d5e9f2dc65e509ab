package problem_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// Scaling of floats: exact where it says so, rounded to the nearest where not,
// within range, and as small as exactness allows.
func TestScalingOfFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		rows := 1 + r.IntN(40)
		costs := make([]float64, rows*rows)
		digits, low, spread := r.IntN(54), r.IntN(2000)-1070, 1+r.IntN(70)
		if r.IntN(4) == 0 { // products of large units and small costs are 0
			low, spread = -1070, 2030
		}
		for k := range costs {
			if r.IntN(3) > 0 {
				costs[k] = math.Ldexp(float64(r.Int64N(1<<digits)-1<<digits/2), min(low+r.IntN(spread), 960))
			}
		}
		inst := enginetest.MatrixOf(t, rows, costs...)
		inst.Maximize = r.IntN(2) == 0
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		exact, odd := true, false
		for k, c := range costs {
			got := p.Cost(k/rows, k%rows)
			scaled := new(big.Float).SetPrec(200).Mul(big.NewFloat(c), big.NewFloat(p.Scale))
			difference := new(big.Float).Sub(scaled, new(big.Float).SetInt64(got))
			off, _ := difference.Float64()
			exact = exact && difference.Sign() == 0
			odd = odd || got&1 == 1
			if math.Abs(off) > 0.5 || got < p.Min || got > p.Max {
				t.Fatalf("%v * %v became %d, of %d to %d", c, p.Scale, got, p.Min, p.Max)
			}
		}
		if exact != p.Exact {
			t.Fatalf("scaling by %v: found exact %v, expected %v", p.Scale, p.Exact, exact)
		}
		if exact && !odd && p.Max-p.Min > 0 {
			t.Fatalf("scaling by %v: found even numbers alone", p.Scale)
		}
		if most := max(p.Max, -p.Min); most > problem.MaxScaled(rows) || !exact && most < problem.MaxScaled(rows)/4 && math.Abs(p.Scale) < 0x1p999 {
			t.Fatalf("scaling by %v: found up to %d, expected the most below %d", p.Scale, most, problem.MaxScaled(rows))
		}
	}
}

// A limit below the unit of large costs is rounded: the certificate says so, and its
// gap covers that the better of two matchings may have been left.
func TestRoundedLimits(t *testing.T) {
	limit := 1.9999999
	inst, err := problem.NewInstance(1, 2, []float64{2, 1099511627776.5}, "a limit below the unit")
	if err != nil {
		t.Fatal(err)
	}
	inst.Limit = &limit
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	if !p.LimitRounded() {
		t.Fatal("the limit is a multiple of the unit: the case says nothing")
	}
	unit := 1 / p.Scale
	u := []int64{p.Limit}
	cert, err := problem.Check(inst, []int32{0}, problem.Duals{U: u, V: []int64{0, 0}, Scale: p.Scale})
	if err != nil {
		t.Fatal(err)
	}
	if cert.Exact || cert.Rounded != 1 || cert.Gap < unit || cert.Gap < 2-limit {
		t.Errorf("exact %v, %d rounded, gap %g: expected a gap of %g at least", cert.Exact, cert.Rounded, cert.Gap, max(unit, 2-limit))
	}
}

func TestNoInstance(t *testing.T) {
	var none *problem.Instance
	if err := none.Check(); err == nil {
		t.Error("no instance checks")
	}
	if _, err := problem.Normalise(none); err == nil {
		t.Error("no instance is brought to a normal form")
	}
}
