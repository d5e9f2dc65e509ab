package packing

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// drawn is a problem with ties, prices of 0 and less, bids without rivals, and at times
// one clique of all.
func drawn(r *rand.Rand, bids, goods int) *Problem {
	p := &Problem{Prices: make([]int64, bids), Cliques: make([][]int32, goods)}
	per := 1 + r.IntN(4)
	spread := []int64{1, 3, 30, 1_000_000_007}[r.IntN(4)]
	for j := range bids {
		p.Prices[j] = r.Int64N(spread*int64(1+per)) - spread/4
		for range r.IntN(per + 1) {
			if goods == 0 {
				continue
			}
			c := r.IntN(goods)
			if k := len(p.Cliques[c]); k == 0 || p.Cliques[c][k-1] != int32(j) {
				p.Cliques[c] = append(p.Cliques[c], int32(j))
			}
		}
	}
	if r.IntN(20) == 0 {
		var all []int32
		for j := range bids {
			all = append(all, int32(j))
		}
		p.Cliques = append(p.Cliques, all)
	}
	return p
}

// enumerated is the best value, by leaving out and taking each bid.
func enumerated(p *Problem) int64 {
	n := len(p.Prices)
	g := newGraph(n, p.Cliques)
	after := make([]int64, n+1) // of all bids from one on
	for j := n - 1; j >= 0; j-- {
		after[j] = after[j+1] + max(0, p.Prices[j])
	}
	best := int64(0)
	in := g.empty()
	var visit func(j int, value int64)
	visit = func(j int, value int64) {
		best = max(best, value)
		if j == n || value+after[j] <= best {
			return
		}
		if p.Prices[j] > 0 && !in.intersects(g.conflict[j]) {
			in.add(j)
			visit(j+1, value+p.Prices[j])
			in.remove(j)
		}
		visit(j+1, value)
	}
	visit(0, 0)
	return best
}

// check recomputes a result's value and holds its winners against the problem.
func check(t *testing.T, p *Problem, res *Result) {
	t.Helper()
	taken := map[int]bool{}
	sum := int64(0)
	for _, w := range res.Winners {
		if taken[w] {
			t.Fatalf("bid %d wins twice", w)
		}
		taken[w] = true
		sum += p.Prices[w]
	}
	for _, c := range p.Cliques {
		held := map[int32]bool{}
		for _, j := range c {
			if taken[int(j)] {
				held[j] = true
			}
		}
		if len(held) > 1 {
			t.Fatalf("a clique holds the winners %v", held)
		}
	}
	if sum != res.Value || res.Bound < res.Value || res.LPBound < res.Bound {
		t.Fatalf("value %d of winners worth %d, bound %d, relaxation %d", res.Value, sum, res.Bound, res.LPBound)
	}
}

func TestAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	nodes := int64(0)
	for k := range 3000 {
		p := drawn(r, r.IntN(26), r.IntN(14))
		want := enumerated(p)
		res, err := Solve(context.Background(), p, Settings{Workers: 1 + k%3})
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		if res.Value != want || !res.Proven() {
			t.Fatalf("problem %d: value %d, bound %d, the best is %d: %+v", k, res.Value, res.Bound, want, p)
		}
		nodes += res.Nodes
	}
	t.Logf("%d nodes", nodes)
}

// Linear programs and the tree alone, against the enumeration of every packing.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 82))
	deep := 0
	for k := range 2000 {
		n, m := 12+r.IntN(24), 7+r.IntN(14)
		p := &Problem{Prices: make([]int64, n), Cliques: make([][]int32, m)}
		scale := []int64{1, 10, 1_000_003}[r.IntN(3)]
		for j := range n {
			size := 2 + r.IntN(2)
			for _, c := range r.Perm(m)[:size] {
				p.Cliques[c] = append(p.Cliques[c], int32(j))
			}
			p.Prices[j] = int64(size)*5*scale + r.Int64N(2*scale+1)
		}
		want := enumerated(p)
		res, err := Solve(context.Background(), p, Settings{Workers: 1 + k%3, bare: true})
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		if res.Value != want || !res.Proven() {
			t.Errorf("problem %d: value %d, bound %d, expected %d", k, res.Value, res.Bound, want)
		}
		if res.Nodes > 2 {
			deep++
		}
	}
	if deep < 100 {
		t.Errorf("%d problems took more than two nodes, expected 100 or more", deep)
	}
}

// Any prices of at least 0 give a bound that holds.
func TestBoundHoldsForAnyPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		p := drawn(r, 1+r.IntN(16), 1+r.IntN(8))
		for j := range p.Prices {
			p.Prices[j] = max(1, p.Prices[j])
		}
		want := enumerated(p)
		g := newGraph(len(p.Prices), p.Cliques)
		tr := &tree{g: g, prices: p.Prices, priceScale: newScale(p.Prices, len(p.Cliques))}
		live := g.empty()
		for j := range g.n {
			live.add(j)
		}
		var rows []row
		for _, c := range p.Cliques {
			rows = append(rows, row{Bids: c})
		}
		b := tr.newRelaxation(&node{live: live}, live.members(), rows)
		b.solver.Solve(context.Background(), -1, 0)
		b.bound(live, 0)
		for range 20 {
			bound := b.boundOfPrices(live, 0)
			if bound>>tr.shift < want {
				t.Fatalf("bound %d, best %d: %+v", bound>>tr.shift, want, p)
			}
			// No bid that is fixed is in a packing better than the best but one.
			left := g.empty()
			copy(left, live)
			b.fixByReducedPrices(left, bound, want-1)
			sub := &Problem{Prices: append([]int64(nil), p.Prices...), Cliques: p.Cliques}
			for j := range g.n {
				if !left.has(j) {
					sub.Prices[j] = 0
				}
			}
			if got := enumerated(sub); got != want {
				t.Fatalf("fixing takes the best from %d to %d", want, got)
			}
			for i := range b.y {
				if r.IntN(3) == 0 {
					b.y[i] = r.Int64N(tr.most<<tr.shift + 1)
				}
			}
		}
	}
}

func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		whole := &Problem{}
		want := int64(0)
		for range 1 + r.IntN(4) {
			p := drawn(r, r.IntN(14), r.IntN(8))
			want += enumerated(p)
			shift := int32(len(whole.Prices))
			whole.Prices = append(whole.Prices, p.Prices...)
			for _, c := range p.Cliques {
				var moved []int32
				for _, j := range c {
					moved = append(moved, j+shift)
				}
				whole.Cliques = append(whole.Cliques, moved)
			}
		}
		res, err := Solve(context.Background(), whole, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, whole, res)
		if res.Value != want || !res.Proven() {
			t.Fatalf("value %d, bound %d, the parts add up to %d", res.Value, res.Bound, want)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	p := drawn(r, 900, 60)
	for j := range p.Prices {
		p.Prices[j] = 1000 + r.Int64N(300)
	}
	for _, limit := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		res, err := Solve(ctx, p, Settings{})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		t.Logf("%v: value %d, bound %d, %d nodes", limit, res.Value, res.Bound, res.Nodes)
	}
}

// TestEqualPrices solves packings whose bids all pay the same, or as much as they have goods, and checks small
// ones by enumeration: their relaxations have many optima.
func TestEqualPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	for k := range 300 {
		bids, goods := 1+r.IntN(22), 1+r.IntN(12)
		p := equalPrices(r, bids, goods, 1+r.IntN(min(4, goods)), k%2 == 0)
		res, err := Solve(context.Background(), p, Settings{Workers: 1 + k%2, bare: k%3 == 0})
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		if want := enumerated(p); res.Value != want || !res.Proven() {
			t.Fatalf("found %d of at most %d, expected %d", res.Value, res.Bound, want)
		}
	}
	// One of 60 goods and 1,000 bids of 3 goods each: 20 bids share out all goods.
	p := equalPrices(r, 1000, 60, 3, true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := Solve(ctx, p, Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if check(t, p, res); res.Value != 20 || !res.Proven() {
		t.Errorf("found %d of at most %d, expected 20", res.Value, res.Bound)
	}
}

// equalPrices draws bids for so many goods each, of price 1, or for at most so many, of their numbers of goods.
func equalPrices(r *rand.Rand, bids, goods, per int, unit bool) *Problem {
	p := &Problem{Prices: make([]int64, bids), Cliques: make([][]int32, goods)}
	for j := range bids {
		size := per
		if !unit {
			size = 1 + r.IntN(per)
		}
		for _, g := range r.Perm(goods)[:size] {
			p.Cliques[g] = append(p.Cliques[g], int32(j))
		}
		p.Prices[j] = 1
		if !unit {
			p.Prices[j] = int64(size)
		}
	}
	return p
}
