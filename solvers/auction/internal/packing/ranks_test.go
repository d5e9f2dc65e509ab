package packing

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
)

// onRanks solves a problem on some ranks, the settings' workers each.
func onRanks(ctx context.Context, p *Problem, n int, set Settings) ([]*Result, error) {
	ranks, results := collectivetest.Ranks(n), make([]*Result, n)
	err := collective.OnAll(n, func(k int) (err error) {
		own := set
		own.Ranks = ranks[k]
		if results[k], err = Solve(ctx, p, own); err != nil {
			ranks[k].(interface{ FailAll() }).FailAll()
		}
		return err
	})
	return results, err
}

// triples is a problem of bids for three goods each, of prices near one another, which
// takes a tree.
func triples(r *rand.Rand, goods, bids int) *Problem {
	p := &Problem{Prices: make([]int64, bids), Cliques: make([][]int32, goods)}
	for j := range bids {
		size := 3
		for _, c := range r.Perm(goods)[:size] {
			p.Cliques[c] = append(p.Cliques[c], int32(j))
		}
		p.Prices[j] = int64(size)*5000 + r.Int64N(2001)
	}
	return p
}

func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 2))
	deep := 0
	for k := range 12 { // each way of settings once
		p := triples(r, 24+r.IntN(8), 80+r.IntN(25))
		if k%3 == 0 {
			p = drawn(r, r.IntN(26), r.IntN(14))
		}
		bare := k%2 == 0
		want, err := Solve(context.Background(), p, Settings{bare: bare})
		if err != nil {
			t.Fatal(err)
		}
		results, err := onRanks(context.Background(), p, 2+k%3, Settings{Workers: 1 + k%2, bare: bare, Log: k%4 < 2})
		if err != nil {
			t.Fatal(err)
		}
		for rank, res := range results {
			check(t, p, res)
			if res.Value != want.Value || !res.Proven() || !slices.Equal(res.Winners, results[0].Winners) || res.Nodes != results[0].Nodes {
				t.Errorf("problem %d: rank %d has value %d, bound %d, %d nodes; expected %d", k, rank, res.Value, res.Bound, res.Nodes, want.Value)
			}
			if rank > 0 && res.Proof != nil {
				t.Errorf("problem %d: rank %d has a proof", k, rank)
			}
		}
		if results[0].Nodes > 20 {
			deep++
		}
	}
	if deep < 4 {
		t.Errorf("%d problems took more than 20 nodes, expected 4 or more", deep)
	}
}

// Ranks share the nodes of a search that takes a while.
func TestRanksShareNodes(t *testing.T) {
	var told [3]atomic.Int64                    // nodes, by each
	for goods := 45; goods <= 75; goods += 15 { // a rank that waits for its core may miss a small tree
		p, ranks := triples(rand.New(rand.NewPCG(28, 7)), goods, 4*goods-20), collectivetest.Ranks(3)
		err := collective.OnAll(3, func(k int) error {
			_, err := Solve(context.Background(), p, Settings{Workers: 1, Ranks: ranks[k], Log: true, bare: true, Progress: func(_, _, nodes int64) { told[k].Store(nodes) }})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if told[1].Load() > 0 && told[2].Load() > 0 {
			return
		}
	}
	t.Errorf("ranks 1 and 2 told of %d and %d nodes, expected some each", told[1].Load(), told[2].Load())
}

func TestRanksEnd(t *testing.T) {
	p := triples(rand.New(rand.NewPCG(28, 3)), 120, 800)
	for _, limit := range []time.Duration{0, 50 * time.Millisecond, 600 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		results, err := onRanks(ctx, p, 3, Settings{Workers: 1, Log: true})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		for k, res := range results {
			check(t, p, res)
			if res.Value != results[0].Value || res.Bound != results[0].Bound {
				t.Errorf("%v: rank %d has value %d and bound %d, rank 0 %d and %d", limit, k, res.Value, res.Bound, results[0].Value, results[0].Bound)
			}
		}
	}
}

// Ranks with unlike problems are refused, and the end of one ends all.
func TestRanksFail(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 4))
	problems := []*Problem{triples(r, 30, 90), triples(r, 40, 100)}
	ranks := collectivetest.Ranks(2)
	err := collective.OnAll(2, func(k int) error {
		_, err := Solve(context.Background(), problems[k], Settings{Ranks: ranks[k]})
		if err != nil {
			ranks[k].(interface{ FailAll() }).FailAll()
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "bids where rank 0 has") {
		t.Errorf("unlike problems: %v", err)
	}
	ranks = collectivetest.Ranks(2)
	hard := triples(r, 90, 400) // 10 s and more
	var leaves sync.Once
	err = collective.OnAll(2, func(k int) error {
		_, err := Solve(context.Background(), hard, Settings{Ranks: ranks[k], Workers: 1, Progress: func(_, _, nodes int64) {
			if k == 1 && nodes > 0 { // in the middle of the tree
				leaves.Do(ranks[1].(interface{ FailAll() }).FailAll)
			}
		}})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "a rank has left") {
		t.Errorf("a rank that left: %v", err)
	}
}
