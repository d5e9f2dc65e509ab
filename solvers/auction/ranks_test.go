package auction

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Proofs that several ranks grow hold, with their steps in the right places: rank 0 has
// them.
func TestProofsOfRanks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 28))
	searched, odd := 0, 0
	for k := range 4 {
		a := &problem.Auction{Goods: int64(50 + r.IntN(10))}
		for i := range 120 {
			b := problem.Bid{Number: int64(i)}
			for _, g := range r.Perm(int(a.Goods))[:3] {
				b.Goods = append(b.Goods, int64(g))
			}
			slices.Sort(b.Goods)
			b.Price = 15000 + r.Int64N(3000)
			a.Bids = append(a.Bids, b)
		}
		alone, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil {
			t.Fatal(err)
		}
		n := 2 + k%2
		ranks, results := collectivetest.Ranks(n), make([]*Result, n)
		err = collective.OnAll(n, func(rank int) (err error) {
			results[rank], err = Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, Ranks: ranks[rank]}, Proof: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, res := range results {
			if res.Value != alone.Value || !res.Proven {
				t.Errorf("auction %d: rank %d finds %s, proven %t; one process %s", k, rank, res.Value, res.Proven, alone.Value)
			}
		}
		text, err := json.Marshal(results[0])
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(a, text)
		if err != nil || v.Err() != nil || !v.BoundChecked || !v.Proven {
			t.Errorf("auction %d, %d nodes: %v %+v", k, results[0].Nodes, err, v)
		}
		if results[0].Nodes > 10 {
			searched++
			for _, part := range results[0].proof.Parts {
				odd += len(part.Odd)
			}
		}
	}
	if searched < 3 || odd == 0 {
		t.Errorf("%d auctions took more than 10 nodes, expected 3 or more; their proofs have %d odd sets, expected some", searched, odd)
	}
}

// Ranks begin with the same bids: they end at once where these meet the target, and else find the optimum.
func TestRanksWithStart(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(8, 3)), 60, 240)
	best, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if err != nil {
		t.Fatal(err)
	}
	met, beyond := best.Value.Float(), best.Value.Float()+1
	for name, s := range map[string]solve.Settings{
		"met":     {Start: problem.Allocation(best.Winners), Target: &met},
		"beyond":  {Start: problem.Allocation(best.Winners), Target: &beyond},
		"one bid": {Start: problem.Allocation(best.Winners[:1])},
	} {
		ranks, results := collectivetest.Ranks(2), make([]*Result, 2)
		err := collective.OnAll(2, func(rank int) (err error) {
			own := s
			own.Algorithm, own.Ranks = Branch, ranks[rank]
			results[rank], err = Solve(t.Context(), a, Options{Settings: own})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, res := range results {
			if res.Value != best.Value || (name != "met") != res.Proven || res.Stopped {
				t.Errorf("%s, rank %d: found %+v", name, rank, res)
			}
		}
	}
}

// Auctions of few goods are coalition structures, which ranks solve together too.
func TestRanksOfFewGoods(t *testing.T) {
	a, err := Generate("L2", 19, 100, 61)
	if err != nil {
		t.Fatal(err)
	}
	ranks := collectivetest.Ranks(2)
	results := make([]*Result, 2)
	err = collective.OnAll(2, func(k int) (err error) {
		results[k], err = Solve(context.Background(), a, Options{Settings: solve.Settings{Devices: []device.Device{host.Open(1)}, Ranks: ranks[k]}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Value != want.Value || results[1].Value != want.Value || results[0].Algorithm == Branch {
		t.Errorf("found %s and %s by %s, expected %s", results[0].Value, results[1].Value, results[0].Algorithm, want.Value)
	}
}
