package problem

import (
	"math"
	"math/rand/v2"
	"testing"
)

// units agrees with arithmetic that does not look at bits.
func TestUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		shift := r.IntN(120) - 60
		c := &certificateCheck{shift: shift, sign: 1}
		x := math.Ldexp(float64(r.Int64N(1<<53)-1<<52), r.IntN(130)-90)
		scaled := math.Ldexp(x, shift)
		if math.Abs(scaled) >= 1<<61 {
			continue
		}
		got, rounded := c.units(x)
		if want := math.RoundToEven(scaled); float64(got) != want || (rounded == 1) != (want != scaled) {
			t.Fatalf("%v * 2^%d: found %d (rounded %d), expected %v", x, shift, got, rounded, want)
		}
	}
}
