package bounds

import (
	"context"
	"math/big"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
)

// scattered is bids for so many goods each.
func scattered(r *rand.Rand, goods, bids, size int) (*packing.Problem, []problem.Bid) {
	p := &packing.Problem{Cliques: make([][]int32, goods)}
	var asked []problem.Bid
	for j := range bids {
		p.Prices = append(p.Prices, int64(1000*size+r.IntN(2000)))
		b := problem.Bid{Price: p.Prices[j]}
		for _, g := range r.Perm(goods)[:size] {
			p.Cliques[g] = append(p.Cliques[g], int32(j))
			b.Goods = append(b.Goods, int64(g))
		}
		asked = append(asked, b)
	}
	return p, asked
}

// A tree whose children are bounded together comes to the optimum, in fewer nodes, and its proof
// holds; where bounds fail, or some rows' prices are of no use, it comes to the optimum too.
func TestTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var calls atomic.Int64
	counted := func(ctx context.Context, c *packing.Children) *packing.Bounds {
		calls.Add(1)
		return BoundOnHost(ctx, c)
	}
	failing := func(ctx context.Context, c *packing.Children) *packing.Bounds {
		switch calls.Add(1) % 3 {
		case 0:
			return nil
		case 1:
			b := BoundOnHost(ctx, c) // of less than all rows' prices
			for k := range b.Y {
				clear(b.Y[k][:len(b.Y[k])/2])
			}
			return b
		}
		return BoundOnHost(ctx, c)
	}
	nodes := [2]int64{}
	for k := range 3 {
		p, bids := scattered(r, 30, 85, 3+k%2)
		plain, err := packing.Solve(t.Context(), p, packing.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		nodes[0] += plain.Nodes
		for n, bounder := range []packing.Bounder{counted, failing} {
			got, err := packing.Solve(t.Context(), p, packing.Settings{Workers: 1 + k%2, Bounds: bounder, Log: true})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				nodes[1] += got.Nodes
			}
			bound, err := replay.New(got).Bound(bids, got.Winners)
			if got.Value != plain.Value || !got.Proven() || err != nil || bound.Cmp(big.NewInt(got.Value)) != 0 {
				t.Errorf("problem %d, bounder %d: %d of %d, proven: %t, by the proof at most %v, %v", k, n, got.Value, plain.Value, got.Proven(), bound, err)
			}
		}
	}
	if calls.Load() < 10 || nodes[1] >= nodes[0] {
		t.Errorf("%d nodes' children were bounded, %d nodes in all, expected 10 or more and less than the %d without", calls.Load(), nodes[1], nodes[0])
	}
}
