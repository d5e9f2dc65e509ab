package csg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNoNumbers: as the plain comparison does, NEON leaves sums out that are no number, and
// a coalition whose own value is none keeps it. Nothing in the program makes such values.
func TestNoNumbers(t *testing.T) {
	u := vectorUnits[float64]()[0]
	const k, high = 6, 2
	r := rand.New(rand.NewPCG(1, 2))
	f := make([]float64, 1<<(k+high))
	for i := range f {
		if f[i] = r.Float64() - 0.5; r.IntN(8) == 0 {
			f[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
		}
	}
	want := slices.Clone(f)
	Direct(want, k+high)
	levels(u, f, k, high)
	for s := 1; s < len(f); s++ {
		if f[s] != want[s] && !(math.IsNaN(f[s]) && math.IsNaN(want[s])) {
			t.Fatalf("coalition %b: %v, want %v", s, f[s], want[s])
		}
	}
}
