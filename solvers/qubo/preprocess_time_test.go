package qubo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A reduction that time ends is sound: with what is fixed, or none at all.
func TestReductionEndsWithTime(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	p := drawTorus(r, 30)
	for calls := range 12 {
		left := calls
		stop := func() bool { left--; return left < 0 }
		for _, given := range [][]int8{nil, append([]int8{1}, slices.Repeat([]int8{-1}, p.n-1)...)} {
			left = calls
			red := reduce(p, given, false, stop)
			var best [][]uint64
			value := red.constant
			for _, c := range red.parts {
				x := randomBits(r, c.p.n)
				best = append(best, x)
				value += c.p.value(x)
			}
			x := red.restore(best)
			if got := p.value(x); got != value {
				t.Errorf("after %d looks: value %d, the parts make %d", calls, got, value)
			}
			if given != nil && bit(x, 0) != 1 {
				t.Errorf("after %d looks: what was given is not kept", calls)
			}
		}
	}
}
