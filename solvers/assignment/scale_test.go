package assignment

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Scaling of floats: exact where it says so, rounded to the nearest where not,
// within range, and as small as exactness allows.
func TestScalingOfFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		rows := 1 + r.IntN(40)
		costs := make([]float64, rows*rows)
		digits, low, spread := r.IntN(54), r.IntN(2000)-1070, 1+r.IntN(70)
		for k := range costs {
			if r.IntN(3) > 0 {
				costs[k] = math.Ldexp(float64(r.Int64N(1<<digits)-1<<digits/2), min(low+r.IntN(spread), 960))
			}
		}
		inst := matrixOf(t, rows, costs...)
		inst.Maximize = r.IntN(2) == 0
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		exact, odd := true, false
		for k, c := range costs {
			got := p.cost(k/rows, k%rows)
			scaled := new(big.Float).SetPrec(200).Mul(big.NewFloat(c), big.NewFloat(p.scale))
			off, _ := new(big.Float).Sub(scaled, new(big.Float).SetInt64(got)).Float64()
			exact = exact && off == 0
			odd = odd || got&1 == 1
			if math.Abs(off) > 0.5 || got < p.least || got > p.most {
				t.Fatalf("%v * %v became %d, of %d to %d", c, p.scale, got, p.least, p.most)
			}
		}
		if exact != p.exact {
			t.Fatalf("scaling by %v: found exact %v, expected %v", p.scale, p.exact, exact)
		}
		if exact && !odd && p.most-p.least > 0 {
			t.Fatalf("scaling by %v: found even numbers alone", p.scale)
		}
		if most := max(p.most, -p.least); most > maxScaled(rows) || !exact && most < maxScaled(rows)/4 && math.Abs(p.scale) < 0x1p999 {
			t.Fatalf("scaling by %v: found up to %d, expected the most below %d", p.scale, most, maxScaled(rows))
		}
	}
}
