package packing

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// pairs is a problem of bids for two goods each: odd sets of goods bound its packings.
func pairs(r *rand.Rand, goods, bids int) *Problem {
	p := &Problem{Prices: make([]int64, bids), Cliques: make([][]int32, goods)}
	for j := range bids {
		p.Prices[j] = 50 + r.Int64N(50)
		for _, g := range r.Perm(goods)[:2] {
			p.Cliques[g] = append(p.Cliques[g], int32(j))
		}
	}
	return p
}

// Every row of odd numbers of cliques holds for every packing, is violated by what it was
// found from, and its cliques are cliques.
func TestOddRows(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	found := 0
	for range 300 {
		p := pairs(r, 7+r.IntN(5), 14+r.IntN(10))
		if r.IntN(2) == 0 {
			p = drawn(r, 16+r.IntN(10), 14)
		}
		n := len(p.Prices)
		g := newGraph(n, p.Cliques)
		x := make([]float64, n)
		for j := range n {
			if r.IntN(2) == 0 {
				x[j] = 0.5
			}
		}
		var cliques []row
		for _, c := range p.Cliques {
			cliques = append(cliques, row{Bids: c})
		}
		for _, row := range g.oddRows(context.Background(), cliques, x, 20) {
			found++
			in := make([]int, n)
			for _, c := range row.Odd {
				for k, j := range c {
					in[j]++
					for _, i := range c[:k] {
						if !g.conflict[i].has(int(j)) {
							t.Fatalf("bids %d and %d of a clique do not conflict", i, j)
						}
					}
				}
			}
			sum := 0.0
			sub := &Problem{Prices: make([]int64, n), Cliques: p.Cliques}
			for j := range n {
				if (in[j] > 1) != slices.Contains(row.Bids, int32(j)) {
					t.Fatalf("bid %d is in %d of the cliques, the row is %v", j, in[j], row.Bids)
				}
				if in[j] > 1 {
					sum += x[j]
					sub.Prices[j] = 1
				}
			}
			if most := enumerated(sub); most > row.maxWinners() || sum <= float64(row.maxWinners()) {
				t.Fatalf("a row allows %d bids: a packing has %d, columns add up to %v", row.maxWinners(), most, sum)
			}
		}
	}
	if found < 50 {
		t.Errorf("found %d rows, expected 50 or more", found)
	}
}

// Five bids that conflict in a ring: cliques alone bound them by 2.5 and odd sets by 2.
func TestRing(t *testing.T) {
	p := &Problem{Prices: []int64{10, 10, 10, 10, 10}}
	for j := range int32(5) {
		p.Cliques = append(p.Cliques, []int32{j, (j + 1) % 5})
	}
	tr, top := rooted(t, p)
	if top.bound != 20 || !slices.ContainsFunc(tr.rows, func(r row) bool { return r.Odd != nil && r.maxWinners() == 2 && len(r.Bids) == 5 }) {
		t.Errorf("bound %d, rows %v", top.bound, tr.rows)
	}
}

// The root alone against the enumeration: odd rows close most gaps of bids for pairs of goods.
func TestOddRowsBoundPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	odd, gaps := 0, 0
	for range 100 {
		p := pairs(r, 9, 22)
		tr, top := rooted(t, p)
		want := enumerated(p)
		if top.bound < want {
			t.Fatalf("bound %d, best %d: %+v", top.bound, want, p)
		}
		if top.bound > want {
			gaps++
		}
		if slices.ContainsFunc(tr.rows, func(r row) bool { return r.Odd != nil }) {
			odd++
		}
	}
	if odd < 50 || gaps > odd*2/3 {
		t.Errorf("of 100 roots %d have odd rows and %d a gap", odd, gaps)
	}
}

// rooted solves a problem's root, without packings found before.
func rooted(t *testing.T, p *Problem) (*tree, *node) {
	t.Helper()
	n := len(p.Prices)
	tr := &tree{priceScale: newScale(p.Prices, 200), g: newGraph(n, p.Cliques), prices: p.Prices, best: -1, key: make([]float64, n)}
	tr.setCover(p)
	top := &node{live: tr.g.empty(), bound: p.shareBound()}
	for j := range n {
		top.live.add(j)
		tr.key[j] = float64(p.Prices[j])
	}
	if err := tr.root(context.Background(), p, top, &Result{}); err != nil {
		t.Fatal(err)
	}
	return tr, top
}
