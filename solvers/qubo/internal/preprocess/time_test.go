package preprocess

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// A reduction that time ends is sound: with what is fixed, or none at all.
func TestReductionEndsWithTime(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	p := qubotest.Torus(r, 30)
	for calls := range 12 {
		left := calls
		stop := func() bool { left--; return left < 0 }
		for _, given := range [][]int8{nil, append([]int8{1}, slices.Repeat([]int8{-1}, p.N-1)...)} {
			left = calls
			red := Reduce(p, given, false, nil, stop)
			var best [][]uint64
			value := red.Constant
			for _, c := range red.Parts {
				x := draw.RandomSolution(r, c.Problem.N)
				best = append(best, x)
				value += c.Problem.Value(x)
			}
			x := red.Restore(best)
			if got := p.Value(x); got != value {
				t.Errorf("after %d looks: value %d, the parts make %d", calls, got, value)
			}
			if given != nil && problem.Bit(x, 0) != 1 {
				t.Errorf("after %d looks: what was given is not kept", calls)
			}
		}
	}
}
