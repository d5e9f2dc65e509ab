package lns

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// best is the most that a partition of n agents is worth, by dynamic programming.
func best(n int, value func(uint64) float64) float64 {
	f, worth := make([]float64, 1<<n), make([]float64, 1<<n)
	for set := range worth[1:] {
		worth[set+1] = value(uint64(set + 1))
	}
	for set := uint64(1); set < 1<<n; set++ {
		f[set] = math.Inf(-1)
		low := set & -set
		for sub := set &^ low; ; sub = (sub - 1) & (set &^ low) {
			f[set] = max(f[set], worth[low|sub]+f[set&^low&^sub])
			if sub == 0 {
				break
			}
		}
	}
	return f[1<<n-1]
}

// The search finds the optimum of small instances of any kind, forbidden coalitions and ties among
// them; what it holds is a partition, is worth what it says, and becomes no worse within a part.
func TestSearch(t *testing.T) {
	drawn := func(mask uint64) float64 {
		return rand.New(rand.NewPCG(mask, 5)).Float64() * float64(bits.OnesCount64(mask))
	}
	for name, value := range map[string]func(uint64) float64{
		"uniform":  drawn,
		"negative": func(m uint64) float64 { return -drawn(m) },
		"ties":     func(m uint64) float64 { return float64(bits.OnesCount64(m)) },
		"square":   func(m uint64) float64 { return float64(bits.OnesCount64(m) * bits.OnesCount64(m)) },
		"forbidden": func(m uint64) float64 {
			if bits.OnesCount64(m) > 1 && m%3 == 0 {
				return math.Inf(-1)
			}
			return drawn(m)
		},
	} {
		for _, n := range []int{0, 1, 2, 3, 7, 12, 16} {
			want := best(n, value)
			s := New(n, value, rand.New(rand.NewPCG(1, uint64(n))))
			_, found := s.Best()
			for step := 0; found < want-1e-9 && step < 3000; step++ {
				_, before := s.Best()
				better := s.Step()
				blocks, total := s.Best()
				if better && total <= before {
					t.Fatalf("%s, n = %d: a better structure is worth %v, before %v", name, n, total, before)
				}
				var union uint64
				sum := 0.0
				for _, b := range blocks {
					if b == 0 || union&b != 0 {
						t.Fatalf("%s, n = %d: block %b after %b", name, n, b, union)
					}
					union |= b
					sum += value(b)
				}
				if union != 1<<n-1 || !(math.Abs(sum-total) < 1e-9 || sum == total) {
					t.Fatalf("%s, n = %d: %b are worth %v, not %v", name, n, union, sum, total)
				}
				found = max(found, total)
			}
			if math.Abs(found-want) > 1e-9 {
				t.Errorf("%s, n = %d: found %v, expected %v", name, n, found, want)
			}
		}
	}
}
