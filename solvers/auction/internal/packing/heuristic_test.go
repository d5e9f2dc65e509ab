package packing

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// A heuristic gives sets of bids that conflict, of bids in any order and
// of none, and gets packings; values, bounds and winners stay right.
func TestHeuristic(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	for k := range 600 {
		p := drawn(r, 4+r.IntN(24), 3+r.IntN(10))
		want := enumerated(p)
		seed := r.Uint64()
		heuristic := func(ctx context.Context, c *Conflicts, x Exchange) {
			own := rand.New(rand.NewPCG(seed, 1))
			for first := true; first || ctx.Err() == nil; first = false {
				var bids []int32
				for j := range c.Prices {
					if own.IntN(3) == 0 {
						bids = append(bids, int32(j))
					}
				}
				own.Shuffle(len(bids), func(a, b int) { bids[a], bids[b] = bids[b], bids[a] })
				x.Give(bids)
				taken := map[int32]bool{}
				for _, j := range x.Take() {
					taken[j] = true
				}
				for a, b := range c.Pairs {
					if taken[a] && taken[b] {
						t.Errorf("problem %d: took the bids %d and %d, which conflict", k, a, b)
					}
				}
			}
		}
		set := Settings{Workers: 1 + k%2, Heuristic: heuristic, bare: true, Log: k%3 == 0}
		res, err := Solve(context.Background(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		if res.Value != want || !res.Proven() {
			t.Fatalf("problem %d: value %d, bound %d, the best is %d: %+v", k, res.Value, res.Bound, want, p)
		}
	}
}

// What a heuristic gives is reported at once, and the tree's best is taken once. The heuristic ends
// with the tree.
func TestHeuristicIsHeard(t *testing.T) {
	p := triples(rand.New(rand.NewPCG(5, 2)), 40, 120)
	whole, err := Solve(context.Background(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex // the tree and the heuristic both report
	reported, ended := int64(0), false
	set := Settings{Workers: 1, bare: true, Progress: func(value, _, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		reported = max(reported, value)
	}}
	set.Heuristic = func(ctx context.Context, c *Conflicts, x Exchange) {
		best := make([]int32, len(whole.Winners))
		for k, w := range whole.Winners {
			best[k] = int32(w)
		}
		if len(c.Prices) != len(p.Prices) {
			t.Errorf("one part has %d bids, expected all %d", len(c.Prices), len(p.Prices))
		}
		x.Take()
		if !x.Give(best) || x.Give(best) || x.Take() != nil {
			t.Error("expected that the best packing is better once, and that it is not taken back")
		}
		cancel()
		<-ctx.Done()
		ended = true
	}
	res, err := Solve(ctx, p, set)
	if err != nil {
		t.Fatal(err)
	}
	check(t, p, res)
	if res.Value != whole.Value || reported != res.Value || !ended {
		t.Errorf("found %d, reported %d, the best is %d; the search ended: %t", res.Value, reported, whole.Value, ended)
	}
}

// The bids that stay are worth at least the sum of all prices, less the lesser price of each
// conflicting pair.
func TestGivenBidsLoseNoMoreThanTheirConflicts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		p := drawn(r, 2+r.IntN(40), 1+r.IntN(12))
		for j := range p.Prices {
			p.Prices[j] = max(1, p.Prices[j])
		}
		tr := &tree{g: newGraph(len(p.Prices), p.Cliques), prices: p.Prices, best: -1}
		x := tr.exchange()
		in := map[int32]bool{}
		var bids []int32
		worth := int64(0)
		for j, price := range p.Prices {
			if r.IntN(2) == 0 {
				bids, in[int32(j)] = append(bids, int32(j)), true
				worth += price
			}
		}
		c := tr.g.conflicts(p.Prices)
		pairs := 0
		for a, b := range c.Pairs {
			if pairs++; in[a] && in[b] {
				worth -= min(p.Prices[a], p.Prices[b])
			}
		}
		if x.Give(bids); tr.best < worth || pairs != c.Count {
			t.Fatalf("bids worth %d became a packing of %d; %d pairs, counted %d", worth, tr.best, pairs, c.Count)
		}
	}
}

// In a graph of many bids, whose conflicts are few, lists of the words that are not 0 make the same packings.
func TestWordsMakeTheSamePackings(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	p := pairs(r, 1500, longSets+100)
	g := newGraph(len(p.Prices), p.Cliques)
	live := g.empty()
	for j := range g.n {
		live.add(j)
	}
	listed, plain := newImprover(g, p.Prices, 1), newImprover(g, p.Prices, 1)
	if listed.words == nil {
		t.Fatal("no lists of words")
	}
	plain.words = nil
	for j := range g.n {
		listed.key[j] = r.Float64()
	}
	copy(plain.key, listed.key)
	a, worth := listed.fill(live, nil)
	if b, other := plain.fill(live, nil); worth != other || !slices.Equal(a, b) {
		t.Errorf("found %d bids worth %d with lists and %d worth %d without", len(a), worth, len(b), other)
	}
}
