package cliques

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// Random graphs, dense and sparse, against all partitions: levels bound the best, and a search of the coalitions left finds it from any partition. What is proven can be proven again; where prices
// are altered, or a worse partition is called the best, it cannot, or the bound still holds.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 7))
	tight := 0
	for k := range inputtest.Draws(2000) {
		n := 1 + r.IntN(8)
		dense := 1 + r.IntN(4)
		g := graphOf(n, func(int, int) int64 {
			if r.IntN(dense) > 0 {
				return 0
			}
			return int64(r.IntN(41) - 20)
		})
		best := best(g)
		x := NewLeveler(g, 1+k%2, uint64(k))
		x.Add(singletons(n))
		for !x.Exact() {
			if !x.Pass(never) {
				t.Fatalf("%d: a pass ended early", k)
			}
		}
		if x.Levels.Bound() < best {
			t.Fatalf("%d: found the bound %d, expected at least %d", k, x.Levels.Bound(), best)
		}
		if x.Levels.Bound() == best {
			tight++
		}
		start := g.Value(singletons(n))
		label, closed := x.Close(start, never)
		if !closed || start < best && (label == nil || g.Value(label) != best) {
			t.Fatalf("%d: found %v, closed %t, expected a partition of value %d", k, label, closed, best)
		}
		if !x.Levels.Proves(g, best, 1) {
			t.Fatalf("%d: found no proof of %d", k, best)
		}
		if start < best && x.Levels.Proves(g, best-1, 1) {
			t.Fatalf("%d: found %d proven, and a partition is worth %d", k, best-1, best)
		}
		lie := x.Levels
		lie.Prices = slices.Clone(lie.Prices)
		at := r.IntN(n)
		lie.Prices[at] = slices.Clone(lie.Prices[at])
		lie.Prices[at][r.IntN(at+1)] -= 1 + r.Int64N(20<<lie.Shift)
		if lie.Closed = false; lie.Proves(g, 0, 1) && lie.Bound() < best {
			t.Fatalf("%d: altered prices bound partitions by %d, and one is worth %d", k, lie.Bound(), best)
		}
	}
	if tight < inputtest.Draws(1950) {
		t.Errorf("found %d bounds that are the best, expected nearly all", tight)
	}
}

// Levels of too few looks are raised, and hold; later passes take them down, and a search of what they leave proves a complete graph of 26 nodes.
func TestPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 8))
	g := graphOf(26, func(int, int) int64 { return int64(1000 * r.NormFloat64()) })
	s := NewSearch(g)
	w := s.Worker(r)
	for range 20 {
		w.Run(never)
	}
	value, label, _ := s.Best()
	x := NewLeveler(g, 1, 1)
	x.limit = 64
	x.Add(label)
	before, raised := g.PositiveSum(), 0
	for !x.Exact() {
		if !x.Pass(never) || x.Levels.Bound() < value || x.Levels.Bound() > before {
			t.Fatalf("found the bound %d, expected %d to %d", x.Levels.Bound(), value, before)
		}
		if !x.Levels.Proves(g, value, 2) {
			t.Fatal("found levels that do not hold")
		}
		if before = x.Levels.Bound(); !x.Exact() {
			raised++
		}
	}
	better, closed := x.Close(value, never)
	if better != nil {
		if g.Value(better) <= value {
			t.Errorf("found %d, expected more than %d", g.Value(better), value)
		}
		value = g.Value(better)
	}
	if !closed || raised == 0 || !x.Levels.Proves(g, value, 2) || x.Levels.Proves(g, value-1, 2) {
		t.Errorf("found %d closed %t, after %d passes of raised levels", value, closed, raised)
	}
	if x := NewLeveler(g, 2, 1); x.Pass(func() bool { return true }) {
		t.Error("a pass that was stopped at once has levels")
	}
}

// A search lists all coalitions whose excess over prices is enough, of sparse graphs those that positive edges connect.
func TestExceed(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 9))
	for k := range 500 {
		n := 1 + r.IntN(7)
		dense := 1 + r.IntN(4)
		g := graphOf(n, func(int, int) int64 {
			if r.IntN(dense) > 0 {
				return 0
			}
			return int64(r.IntN(41) - 20)
		})
		x := NewLeveler(g, 1+k%2, uint64(k))
		for !x.Exact() {
			x.Pass(never)
		}
		prices := x.levels[n-1]
		for _, low := range []int64{1, 0, -3 << x.shift, -20 << x.shift} {
			found, all := x.exceed(prices, low, 1000, 1<<40)
			if !all {
				t.Fatalf("%d: a search ended early", k)
			}
			listed := map[set]bool{}
			for _, s := range found {
				if listed[s] {
					t.Fatalf("%d: found a coalition twice", k)
				}
				listed[s] = true
			}
			whole := &explorer{near: x.near}
			for mask := uint64(1); mask < 1<<n; mask++ {
				s := set{mask}
				excess := x.value(s)
				for i, y := range prices {
					if s.has(i) {
						excess -= y
					}
				}
				want := excess >= low && (x.near == nil || whole.connected(&s, &set{}) == s)
				if want != listed[s] {
					t.Fatalf("%d: coalition %b exceeds its prices by %d of at least %d: found listed %t, expected %t", k, mask, excess, low, listed[s], want)
				}
			}
		}
	}
}
