package stableset

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// drawn is a random graph's problem: vertices gain, and pairs cost at least as much.
func drawn(n int, share float64, gain int64, seed uint64) *problem.Normal {
	r := rand.New(rand.NewPCG(seed, 0))
	pairs := map[[2]int]int64{}
	for i := range n {
		for j := range i {
			if r.Float64() < share {
				pairs[[2]int{j, i}] = -gain - int64(r.IntN(3))
			}
		}
	}
	return qubotest.Sparse(n, func(int) int64 { return gain }, pairs)
}

// mirror is the problem of 1 - x, but for a constant.
func mirror(p *problem.Normal) *problem.Normal {
	q := *p
	q.Diag = slices.Clone(p.Diag)
	for i := range q.Diag {
		_, weight := p.Row(i)
		for _, w := range weight {
			q.Diag[i] += w
		}
		q.Diag[i] = -q.Diag[i]
	}
	return &q
}

// TestMovesKeepCounts compares counts and lists with those of a set, computed anew.
func TestMovesKeepCounts(t *testing.T) {
	for _, n := range []int{3, 64, 130, 200} {
		for name, m := range map[string]moves{"swaps": newSwaps(n), "penalties": newPenalties(n)} {
			w := newWalk(newGraph(drawn(n, 0.2, 2, uint64(n))), 1, 1, m)
			for k := range 3000 {
				w.step(w)
				size, top := 0, 0
				for v := range n {
					count := 0
					for u := range n {
						if u != v && contains(w.set, u) && contains(w.row(v), u) {
							count++
						}
					}
					in := contains(w.set, v)
					if in {
						size++
					}
					if in && count > 0 || contains(w.free, v) != (!in && count == 0) || contains(w.single, v) != (!in && count == 1) || contains(w.double, v) != (!in && count == 2) {
						t.Fatalf("%s, %d vertices, step %d: vertex %d, in the set %t, has %d neighbours: listed free %t, single %t, double %t", name, n, k, v, in, count,
							contains(w.free, v), contains(w.single, v), contains(w.double, v))
					}
				}
				for _, x := range w.topSet {
					top += bits.OnesCount64(x)
				}
				if size != w.size || top != w.top || size > top {
					t.Fatalf("%s, %d vertices, step %d: size %d for %d, top %d for %d", name, n, k, w.size, size, w.top, top)
				}
			}
		}
	}
}

// TestFindsLargestSets compares with every solution of small problems, mirrored ones too.
func TestFindsLargestSets(t *testing.T) {
	for seed := range uint64(40) {
		p := drawn(4+int(seed)%15, 0.1+0.02*float64(seed), 1+int64(seed%3), seed)
		for _, p := range []*problem.Normal{p, mirror(p)} {
			if !Is(p) {
				if len(p.Col) > 0 {
					t.Fatalf("seed %d: not taken for stable sets", seed)
				}
				continue
			}
			best := qubotest.Optimum(p, nil)
			r := qubotest.RunSearch(t, Search{Cores: 2}, p, search.Options{Seed: seed, Work: 4000})
			if r.Best() != best {
				t.Errorf("seed %d: %d, by all solutions %d", seed, r.Best(), best)
			}
		}
	}
}

// TestPenaltiesOnly holds problems that are not those of stable sets apart.
func TestPenaltiesOnly(t *testing.T) {
	for name, change := range map[string]func(p *problem.Normal){
		"a pair gains":          func(p *problem.Normal) { p.Weight[0] = 1 },
		"a penalty is too weak": func(p *problem.Normal) { p.Weight[0] = -1 },
		"gains differ":          func(p *problem.Normal) { p.Diag[0] = 1 },
	} {
		p := drawn(30, 0.3, 2, 1)
		if !Is(p) {
			t.Fatal("a problem of stable sets is not taken for one")
		}
		if change(p); Is(p) {
			t.Errorf("where %s, a problem is taken for one of stable sets", name)
		}
	}
}

// TestSearchIsRepeatable runs twice with a limit on work, and once with a start and a target.
func TestSearchIsRepeatable(t *testing.T) {
	p := drawn(300, 0.1, 1, 5)
	first := qubotest.RunSearch(t, Search{Cores: 3}, p, search.Options{Seed: 3, Work: 200000})
	again := qubotest.RunSearch(t, Search{Cores: 3}, p, search.Options{Seed: 3, Work: 200000})
	if !slices.Equal(first.Values, again.Values) {
		t.Errorf("improvements %v, then %v", first.Values, again.Values)
	}
	target := first.Best()
	start := make([]uint64, problem.Words(p.N))
	for k := range start {
		start[k] = ^uint64(0) // not stable
	}
	start[len(start)-1] &= 1<<(p.N%64) - 1
	found := qubotest.RunSearch(t, Search{Cores: 2}, p, search.Options{Seed: 3, Target: &target, Start: start, Began: time.Now(), Deadline: time.Now().Add(time.Minute)})
	if found.Best() != target || found.Values[0] != p.Value(start) {
		t.Errorf("from %d to %d, expected from %d to %d", found.Values[0], found.Best(), p.Value(start), target)
	}
}

func BenchmarkSteps(b *testing.B) {
	g := newGraph(drawn(1500, 0.11, 1, 1))
	for name, m := range map[string]moves{"swaps": newSwaps(1500), "penalties": newPenalties(1500)} {
		b.Run(name, func(b *testing.B) {
			w := newWalk(g, 1, 1, m)
			for range b.N {
				w.step(w)
			}
		})
	}
}
