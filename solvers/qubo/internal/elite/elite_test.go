package elite

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
)

func TestPool(t *testing.T) {
	p := qubotest.Torus(rand.New(rand.NewPCG(12, 12)), 10)
	e := NewPool(p, 3, 1+p.N/500)
	if !e.Mirror {
		t.Error("a maximum cut is not seen to have the value of its complement")
	}
	x := func(ones ...int) []uint64 {
		x := make([]uint64, 2)
		for _, i := range ones {
			x[i/64] |= 1 << (i % 64)
		}
		return x
	}
	for k, c := range []struct {
		value       int64
		x           []uint64
		taken, best bool
	}{
		{5, x(1), true, true}, {5, x(1), false, false}, {3, x(2, 3), true, false}, {4, x(4), true, false},
		{2, x(5), false, false}, {9, x(6), true, true}, {1, x(7), false, false}, {4, x(4), false, false},
	} {
		if taken, best := e.Add(c.value, c.x); taken != c.taken || best != c.best {
			t.Errorf("%d: taken %v, best %v", k, taken, best)
		}
	}
	whole := x()
	e.complement(whole)
	if taken, _ := e.Add(20, whole); !taken || HammingDistance(e.Elites[0].X, x()) != 0 {
		t.Error("a complement was not turned to the side of the others")
	}
	values := fmt.Sprint(e.Elites[0].Value, e.Elites[1].Value, e.Elites[2].Value)
	if values != "20 9 5" {
		t.Errorf("pool holds %s", values)
	}
	e.KeepBest()
	if _, _, ok := e.DrawPair(rand.New(rand.NewPCG(1, 1))); ok || len(e.Elites) != 1 {
		t.Error("renew kept more than the best")
	}
}

// TestCross holds combined solutions against the coefficients and against the
// best side of each component.
func TestCross(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for name, p := range qubotest.SparseCases() {
		pool := NewPool(p, DefaultSize, 1+p.N/500)
		c := NewCrosser(p, pool.Mirror)
		for range 50 {
			x, y := draw.RandomSolution(r, p.N), draw.RandomSolution(r, p.N)
			before, other := p.Value(x), p.Value(y)
			gained := c.Cross(x, y)
			if v := p.Value(x); v != before+gained || v < max(before, other) {
				t.Fatalf("%s: %d and %d made %d, which gained %d", name, before, other, v, gained)
			}
		}
	}
	// Each of many small components has its best side in one of two solutions.
	p := qubotest.Sparse(60, func(int) int64 { return r.Int64N(9) - 4 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := 0; k < 60; k += 3 {
			pairs[[2]int{k, k + 1}], pairs[[2]int{k + 1, k + 2}] = r.Int64N(9)-4, r.Int64N(9)-4
		}
		return pairs
	}())
	x, y := draw.RandomSolution(r, p.N), draw.RandomSolution(r, p.N)
	var want int64
	for k := 0; k < 60; k += 3 {
		part := func(x []uint64) int64 {
			only := make([]uint64, 1)
			only[0] = x[0] & (7 << k)
			return p.Value(only)
		}
		want += max(part(x), part(y))
	}
	NewCrosser(p, false).Cross(x, y)
	if v := p.Value(x); v < want {
		t.Errorf("combined to %d, the better sides make %d", v, want)
	}
}
