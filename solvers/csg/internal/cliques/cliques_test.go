package cliques

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// random draws a graph whose nodes have an edge with a chance, of weights from least to most.
func random(n int, chance float64, least, most int64, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 7))
	w := make([]int64, n*n)
	has := make([]bool, n*n)
	for i := range n {
		for j := range i {
			if r.Float64() < chance {
				w[i*n+j] = least + r.Int64N(most-least+1)
				w[j*n+i], has[i*n+j], has[j*n+i] = w[i*n+j], true, true
			}
		}
	}
	g := &Graph{N: n, Start: make([]int64, n+1)}
	for i := range n {
		for j := range n {
			if has[i*n+j] {
				g.Col, g.Weight = append(g.Col, int32(j)), append(g.Weight, w[i*n+j])
			}
		}
		g.Start[i+1] = int64(len(g.Col))
	}
	return g
}

// best is the most that a partition is worth, of all.
func best(g *Graph) int64 {
	label := make([]int32, g.N)
	most := g.Value(singletons(g.N))
	var place func(i int, blocks int32)
	place = func(i int, blocks int32) {
		if i == g.N {
			most = max(most, g.Value(label))
			return
		}
		for c := range blocks + 1 {
			label[i] = c
			place(i+1, max(blocks, c+1))
		}
	}
	place(0, 0)
	return most
}

// The search finds what enumeration finds, and the conflicts bound it: with ties, zeros,
// weights of one sign, and without nodes or edges.
func TestSearchFindsTheBest(t *testing.T) {
	for n := range 9 {
		for seed := range uint64(4) {
			for _, c := range []struct {
				chance      float64
				least, most int64
			}{{1, -100, 100}, {0.6, -2, 2}, {0.5, -9, 1}, {0.7, -1, 9}, {1, -5, -1}, {1, 1, 5}, {0, 0, 1}} {
				g := random(n, c.chance, c.least, c.most, seed)
				want := best(g)
				s := NewSearch(g)
				w := s.Worker(rand.New(rand.NewPCG(seed, 1)))
				for range 20 {
					w.Run(never)
				}
				value, label, _ := s.Best()
				if value != want || g.Value(label) != value {
					t.Fatalf("n = %d, %+v, seed %d: found %d, worth %d, expected %d", n, c, seed, value, g.Value(label), want)
				}
				if p := g.Prices(rand.New(rand.NewPCG(1, 1)), never); p != nil {
					sum := 0.0
					for _, x := range p {
						sum += x
					}
					if sum < float64(want) || !g.ProvesBound(p) {
						t.Fatalf("n = %d, %+v, seed %d: the prices %v are below %d", n, c, seed, p, want)
					}
				}
				if bound := g.PositiveSum() - g.ConflictBound(1<<20, never); bound < want {
					t.Fatalf("n = %d, %+v, seed %d: the bound %d is below %d", n, c, seed, bound, want)
				}
			}
		}
	}
}

// Conflicts that share no edge prove a partition optimal: a cycle of four with one negative
// edge, and a triangle beside it.
func TestConflictsProve(t *testing.T) {
	weight := map[[2]int32]int64{{0, 1}: 5, {1, 2}: 4, {2, 3}: 6, {0, 3}: -9, {3, 4}: 7, {4, 5}: 8, {3, 5}: -2}
	g := &Graph{N: 6, Start: make([]int64, 7)}
	for i := range int32(6) {
		for j := range int32(6) {
			if w, ok := weight[[2]int32{min(i, j), max(i, j)}]; ok && i != j {
				g.Col, g.Weight = append(g.Col, j), append(g.Weight, w)
			}
		}
		g.Start[i+1] = int64(len(g.Col))
	}
	if lost := g.ConflictBound(1<<20, never); lost != 4+2 || g.PositiveSum()-lost != best(g) {
		t.Errorf("found conflicts of %d and the best %d of %d, expected 6 to be lost", lost, best(g), g.PositiveSum())
	}
	if lost := g.ConflictBound(1<<20, func() bool { return true }); lost != 0 {
		t.Errorf("ended at once, found conflicts of %d", lost)
	}
	if lost := g.ConflictBound(1, never); lost > 6 {
		t.Errorf("ended early, found conflicts of %d", lost)
	}
}

// Prices prove exactly where the matrix is positive definite: of the weights of a triangle of
// equal edges the largest eigenvalue is twice the weight.
func TestProves(t *testing.T) {
	g := &Graph{N: 3, Start: []int64{0, 2, 4, 6}, Col: []int32{1, 2, 0, 2, 0, 1}, Weight: []int64{6, 6, 6, 6, 6, 6}}
	for _, c := range []struct {
		prices []float64
		proves bool
	}{{[]float64{6.001, 6.001, 6.001}, true}, {[]float64{5.999, 5.999, 5.999}, false}, {[]float64{6, 6, 6}, false}, {[]float64{100, 100, 1}, true},
		{[]float64{100, 100, -1}, false}, {[]float64{math.NaN(), 9, 9}, false}, {[]float64{math.Inf(1), 9, 9}, false}, {[]float64{9, 9}, false}} {
		if got := g.ProvesBound(c.prices); got != c.proves {
			t.Errorf("%v: proven %t", c.prices, got)
		}
	}
	g.Weight = []int64{1 << 53, 0, 1 << 53, 0, 0, 0}
	if g.ProvesBound([]float64{0x1p53, 0x1p53, 1}) {
		t.Error("weights that float64 rounds were proven")
	}
	found := random(60, 1, -9, 9, 3).Prices(rand.New(rand.NewPCG(1, 1)), never)
	if found == nil {
		t.Error("found no prices")
	}
}

// A node that stands for a block weighs the same as its members, and moves keep the value.
func TestStates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		g := random(20, 0.5, -9, 9, r.Uint64())
		label := make([]int32, g.N)
		for i := range label {
			label[i] = r.Int32N(5)
		}
		count := renumberBlocks(label)
		inside := g.Value(label)
		small := g.contract(label, count)
		merged := make([]int32, count)
		for c := range merged {
			merged[c] = r.Int32N(2)
		}
		whole := make([]int32, g.N)
		for i, c := range label {
			whole[i] = merged[c]
		}
		if got, want := inside+small.Value(merged), g.Value(whole); got != want {
			t.Fatalf("blocks merged are worth %d, expected %d", got, want)
		}
		s := newState(g, slices.Clone(label), r)
		for k := range 30 {
			s.sweep(float64(k%7), never)
			if s.value != g.Value(s.label) {
				t.Fatalf("after sweep %d the value is %d, expected %d", k, s.value, g.Value(s.label))
			}
		}
		before := s.value
		s.descend(never)
		if s.value < before || s.value != g.Value(s.label) || s.sweep(0, never) {
			t.Fatalf("descended from %d to %d, which is worth %d, or further", before, s.value, g.Value(s.label))
		}
	}
}

// A sweep ends a few nodes after it was told to stop, and so does a descent: in a complete graph of
// thousands of nodes a whole sweep takes a good part of a second on a busy machine.
func TestSweepsStop(t *testing.T) {
	g := random(200, 1, 1, 5, 9) // every node gains by joining others
	moved := func(run func(s *state, stop func() bool)) (count int) {
		s := newState(g, singletons(g.N), rand.New(rand.NewPCG(1, 2)))
		calls := 0
		run(s, func() bool { calls++; return calls > 2 })
		if s.value != g.Value(s.label) {
			t.Fatalf("the value is %d, expected %d", s.value, g.Value(s.label))
		}
		for i, c := range s.label {
			if int(c) != i {
				count++
			}
		}
		return count
	}
	for what, count := range map[string]int{
		"sweep":   moved(func(s *state, stop func() bool) { s.sweep(0, stop) }),
		"descent": moved(func(s *state, stop func() bool) { s.descend(stop) }),
		"anneal":  moved(func(s *state, stop func() bool) { s.anneal(8, 1, 0.1, stop) }),
	} {
		if count > 2*16 {
			t.Errorf("%s: %d of %d nodes have moved after it was told to stop, expected at most 32", what, count, g.N)
		}
	}
}
