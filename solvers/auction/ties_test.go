package auction

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// Of equal bids the first wins. The value is that of the reference, and the proof holds.
func TestFirstOfEqualBidsWins(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 4))
	for round := range inputtest.Draws(1000) {
		a := regional(r, 3+r.IntN(6), 4+r.IntN(9))
		for i := range a.Bids {
			if k := r.IntN(i + 1); r.IntN(3) == 0 {
				a.Bids[i].Goods, a.Bids[i].Price = a.Bids[k].Goods, a.Bids[k].Price
			}
		}
		a.SellAll = r.IntN(4) == 0
		want, err := Reference(a)
		if err != nil {
			continue // no bids sell every good
		}
		for _, algorithm := range []string{Branch, Bidders} {
			res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: algorithm}, Proof: algorithm == Branch})
			if err != nil || res.Value != want.Value || !res.Proven {
				t.Fatalf("auction %d, %q: found %v, %v, expected %s", round, algorithm, res, err, want.Value)
			}
			if algorithm == Branch {
				text, err := json.Marshal(res)
				if err != nil {
					t.Fatal(err)
				}
				if v, err := Verify(a, text); err != nil || v.Err() != nil || !v.BoundChecked {
					t.Fatalf("auction %d, %s: %v, %+v", round, text, err, v)
				}
			}
			for _, w := range res.Winners {
				first := slices.IndexFunc(a.Bids, func(b problem.Bid) bool {
					return b.Price == a.Bids[w].Price && slices.Equal(b.Goods, a.Bids[w].Goods)
				})
				if first != w {
					t.Fatalf("auction %d, %q: bid %d wins, and %d before it asks for the same at its price", round, algorithm, w, first)
				}
			}
		}
	}
}
