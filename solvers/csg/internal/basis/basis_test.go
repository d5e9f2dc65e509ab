package basis_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/csg/internal/basis"
)

// Pivots until no coalition exceeds its prices leave prices that add up to no less than the best partition is worth, and to what the
// basis gives when it is factored from scratch.
func TestPivots(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 9))
	pivots := 0
	for round := range 200 {
		n := 1 + r.IntN(7)
		values, best := make([]float64, 1<<n), make([]float64, 1<<n)
		b := basis.New(n, 7)
		list := func(set int) (agents []uint8) {
			for i := range n {
				if set>>i&1 == 1 {
					agents = append(agents, uint8(i))
				}
			}
			return agents
		}
		for set := 1; set < len(values); set++ {
			values[set] = float64((20 + r.IntN(20)) * bits.OnesCount(uint(set)))
			for part := set; part > 0; part = (part - 1) & set {
				best[set] = max(best[set], values[part]+best[set&^part])
			}
		}
		for i := range n {
			b.Set(i, []uint8{uint8(i)}, values[1<<i])
		}
		if !b.Factor() || !b.Feasible() {
			t.Fatalf("%d: single agents are no basis", round)
		}
		for {
			enters, most := 0, 1e-9
			for set := 1; set < len(values); set++ {
				cost := values[set]
				for _, i := range list(set) {
					cost -= b.Prices[i]
				}
				if cost > most {
					enters, most = set, cost
				}
			}
			if enters == 0 {
				break
			}
			if _, ok := b.Enter(list(enters), values[enters], most); !ok {
				t.Fatalf("%d: no pivot for %b", round, enters)
			}
		}
		sum, again := 0.0, 0.0
		for _, y := range b.Prices {
			sum += y
		}
		if !b.Factor() || !b.Feasible() {
			t.Fatalf("%d: the last basis is singular or not feasible", round)
		}
		for _, y := range b.Prices {
			again += y
		}
		if sum < best[len(best)-1]-1e-6 || math.Abs(sum-again) > 1e-6 {
			t.Fatalf("%d: prices add up to %v, factored anew to %v, and a partition is worth %v", round, sum, again, best[len(best)-1])
		}
		pivots += b.Pivots
	}
	if pivots < 500 {
		t.Errorf("found %d pivots, expected more", pivots)
	}
}
