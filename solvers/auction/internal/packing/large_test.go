package packing

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestBeyondLimits solves small problems as if a search held few bids and a linear program few rows, and compares
// values and bounds with enumeration.
func TestBeyondLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 2))
	proven, limited := 0, 0
	for k := range 2000 {
		p := drawn(r, 1+r.IntN(22), r.IntN(12))
		if k%3 == 0 {
			goods := 1 + r.IntN(12)
			p = equalPrices(r, 1+r.IntN(22), goods, 1+r.IntN(min(3, goods)), k%2 == 0)
		}
		set := Settings{Workers: 1, Log: k%4 == 0}
		if k%5 != 0 {
			set.bidsHeld = 1 + r.IntN(12)
		}
		if k%5 != 1 {
			set.rowsHeld, set.bare = 1+r.IntN(4), true
		}
		if k%7 == 0 {
			for j, price := range p.Prices {
				if price > 0 {
					set.Start = []int{j}
					break
				}
			}
		}
		res, err := Solve(context.Background(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		want := enumerated(p)
		if res.Value > want || res.Bound < want || res.Limited == "" && !res.Proven() {
			t.Fatalf("%d: found %d of at most %d (%q), expected %d", k, res.Value, res.Bound, res.Limited, want)
		}
		if res.Proven() {
			proven++
		}
		if res.Limited != "" {
			limited++
		}
	}
	if proven < 1000 || limited == 0 {
		t.Errorf("%d proven, %d limited", proven, limited)
	}
	t.Logf("%d proven, %d limited", proven, limited)
}

// TestManyParts solves 40,000 bids for 20,000 pairs of goods: the dearer of each pair of bids wins.
func TestManyParts(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 3))
	p, want := &Problem{}, int64(0)
	for k := range int32(20000) {
		a, b := 1+r.Int64N(1000), 1+r.Int64N(1000)
		p.Prices = append(p.Prices, a, b)
		p.Cliques = append(p.Cliques, []int32{2 * k, 2*k + 1})
		want += max(a, b)
	}
	res, err := Solve(context.Background(), p, Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if check(t, p, res); res.Value != want || !res.Proven() {
		t.Errorf("found %d of at most %d, expected %d", res.Value, res.Bound, want)
	}
}
