package auction

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// proved is the verdict on a branch and cut's result, with its proof.
func proved(t *testing.T, a *problem.Auction) (*Result, *solve.Verdict, string) {
	t.Helper()
	res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}, Proof: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(a, text)
	if err != nil || v.Err() != nil {
		t.Fatalf("%v %v: %.2000s", err, v.Err(), text)
	}
	return res, v, string(text)
}

func TestProofsOfCATS(t *testing.T) {
	for _, name := range []string{"L2_g24_b100_s61.txt", "paths_g25_b100_s31.txt", "arbitrary_g20_b100_s11.txt", "scheduling_g20_b100_s51.txt"} {
		a, err := Read("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if res, v, _ := proved(t, a); !v.BoundChecked || !v.Proven {
			t.Errorf("%s: %d nodes, %v", name, res.Nodes, v.Messages)
		}
	}
}

func TestProofsOfRandomAuctions(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	searched := 0
	for k := range 40 {
		if k >= 20 && searched >= 8 || testing.Short() && k >= 12 && searched >= 5 {
			break
		}
		a := regional(r, 30+r.IntN(60), 100+r.IntN(200))
		if k%2 == 1 {
			a = scattered(r, 24+r.IntN(6), 70+r.IntN(30), 4)
		}
		if k%4 == 0 {
			for i := range a.Bids {
				a.Bids[i].Bidder = string(rune('a' + i%7))
			}
			a.Limits = map[string]int{"a": 2}
			a.Reserves = []problem.Reserve{{Price: 900, Goods: []int64{0}}, {Price: 2000, Goods: []int64{1, 2}}}
		}
		res, v, _ := proved(t, a)
		if !v.BoundChecked || !v.Proven {
			t.Errorf("auction %d, %d nodes: %v", k, res.Nodes, v.Messages)
		}
		if res.Nodes > 1 {
			searched++
		}
	}
	if searched < 5 {
		t.Errorf("%d auctions were searched, expected 5 or more", searched)
	}
}

// scattered is an auction of bids for so many goods each, or somewhat fewer where these are
// many: of two goods each, odd sets of cliques bound it, of more it takes a search.
func scattered(r *rand.Rand, goods, bids, size int) *problem.Auction {
	a := &problem.Auction{Source: "scattered", Goods: int64(goods)}
	for i := range bids {
		b := problem.Bid{Number: int64(i)}
		for _, g := range r.Perm(goods)[:size-r.IntN(size/2)] {
			b.Goods = append(b.Goods, int64(g))
			b.Price += 3000 + r.Int64N(1000)
		}
		slices.Sort(b.Goods)
		a.Bids = append(a.Bids, b)
	}
	return a
}

// Proofs with odd sets hold, and changed ones are refused.
func TestProofsOfOddSets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(65, 66))
	refused := 0
	for range 20 {
		if refused >= 12 {
			break
		}
		a := scattered(r, 24, 60, 2)
		_, v, text := proved(t, a)
		if !v.BoundChecked || !v.Proven {
			t.Fatal(v.Messages)
		}
		for _, c := range []struct {
			change func(p *replay.Part)
			found  string
		}{
			{func(p *replay.Part) {}, ""},
			{func(p *replay.Part) { p.Odd[0] = p.Odd[0][1:] }, "expected an odd number"},
			{func(p *replay.Part) { p.Odd[0] = p.Odd[0][:1] }, "expected an odd number"},
			{func(p *replay.Part) { p.Odd[0][0] = 1 << 20 }, "found clique 1048576 in odd set 0"},
			{func(p *replay.Part) { p.Odd[0][0] = -1 }, "found clique -1 in odd set 0"},
			{func(p *replay.Part) { p.Root.Stages[0].Prices[0] = -1 - 1<<20 }, "odd sets as a number below 0"},
			{func(p *replay.Part) { p.Root.Stages[0].Prices[0] = math.MinInt64 }, "odd sets as a number below 0"},
		} {
			var whole map[string]json.RawMessage
			var x replay.Proof
			if err := errors.Join(json.Unmarshal([]byte(text), &whole), json.Unmarshal(whole["proof"], &x)); err != nil {
				t.Fatal(err)
			}
			p := largest(&x)
			if len(p.Odd) == 0 {
				continue
			}
			c.change(p)
			var err error
			if whole["proof"], err = json.Marshal(x); err != nil {
				t.Fatal(err)
			}
			changed, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			switch v, err := Verify(a, changed); {
			case err != nil:
				t.Fatal(err)
			case c.found == "" && (v.Err() != nil || !v.Proven):
				t.Error(v.Messages)
			case c.found != "" && (v.Err() == nil || !strings.Contains(v.Err().Error(), c.found)):
				t.Errorf("%v, expected %q", v.Err(), c.found)
			case c.found != "":
				refused++
			}
		}
	}
	if refused < 12 {
		t.Errorf("%d changed proofs were refused, expected 12 or more", refused)
	}
}

// A solve that a limit ends has a proof of what its relaxations bound.
func TestProofOfAPartOfTheTree(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 80, 320)
	for _, limit := range []time.Duration{time.Nanosecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, TimeLimit: limit}, Proof: true})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(a, text); err != nil || v.Err() != nil {
			t.Errorf("%v: %v %v", limit, err, v)
		}
	}
}

// largest is the part of most bids, whose tree the tests of wrong proofs change.
func largest(x *replay.Proof) *replay.Part {
	last := &x.Parts[0]
	for k := range x.Parts {
		if len(x.Parts[k].Bids) > len(last.Bids) {
			last = &x.Parts[k]
		}
	}
	return last
}

// leaves calls f with the steps of a tree that have no kids.
func leaves(s *replay.Step, f func(*replay.Step)) {
	if len(s.Kids) == 0 {
		f(s)
	}
	for _, kid := range s.Kids {
		leaves(kid, f)
	}
}

// What is changed in a proof is found out: it is refused, or proves less and that is said.
func TestWrongProofs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some thirty proofs are replayed, one after the other")
	}
	a := scattered(rand.New(rand.NewPCG(45, 24)), 28, 100, 4)
	res, v, text := proved(t, a)
	if !v.Proven || res.Nodes < 3 {
		t.Fatalf("%d nodes, %v", res.Nodes, v.Messages)
	}
	weaker := "comes from a search"
	for n, c := range []struct {
		change func(x *replay.Proof)
		found  string
	}{
		{func(x *replay.Proof) { x.Parts = x.Parts[:len(x.Parts)-1] }, "in no part"},
		{func(x *replay.Proof) { x.Parts[0].Bids[0] = 9999 }, "found bid 9999 in part 0"},
		{func(x *replay.Proof) { x.Parts[0].Bids = append(x.Parts[0].Bids, x.Parts[0].Bids[0]) }, "in one part"},
		{func(x *replay.Proof) { x.Replaced = append(x.Replaced, [2]int32{0, 1}, [2]int32{1, 0}) }, "pair"},
		{func(x *replay.Proof) { largest(x).Root.Stages[0].Prices[1] = -1 }, "found the price -1"},
		{func(x *replay.Proof) { largest(x).Root.Stages[0].Prices[1] = math.MaxInt64 }, "found the price 9223372036854775807"},
		{func(x *replay.Proof) { largest(x).Root.Stages[0].Prices[0] = 1 << 40 }, "found clique 1099511627776"},
		{func(x *replay.Proof) { largest(x).Root.Stages[0].Shift = 99 }, "found the shift 99"},
		{func(x *replay.Proof) { largest(x).Root.Branch[0] = 1 << 30 }, "to branch on"},
		{func(x *replay.Proof) { largest(x).Root.Kids = largest(x).Root.Kids[:0] }, "found 0 kids"},
		{func(x *replay.Proof) { p := largest(x); p.Cliques[0] = p.Bids }, "no good in common"},
		{func(x *replay.Proof) { p := largest(x); p.Cliques[0] = append(p.Cliques[0], 9999) }, "expected one of the part"},
		{func(x *replay.Proof) { largest(x).Root = nil }, "leaves out parts"},
		{func(x *replay.Proof) { largest(x).Root.Kids[0] = &replay.Step{} }, weaker},
		{func(x *replay.Proof) { k := largest(x).Root.Kids; k[len(k)-1] = &replay.Step{} }, weaker},
		{func(x *replay.Proof) { // prices of one leaf that are left out
			changed := false
			leaves(largest(x).Root, func(s *replay.Step) {
				if n := len(s.Stages); n > 0 && !changed {
					s.Stages[n-1].Prices, changed = nil, true
				}
			})
		}, weaker},
		{func(x *replay.Proof) { // prices of each leaf one unit too high
			leaves(largest(x).Root, func(s *replay.Step) {
				for _, stage := range s.Stages {
					for k := 1; k < len(stage.Prices); k += 2 {
						stage.Prices[k] += 1 << 31
					}
				}
			})
		}, weaker},
		{func(x *replay.Proof) { // branching on another bid
			root := largest(x).Root
			root.Branch[0] = largest(x).Bids[0]
		}, weaker},
	} {
		var whole map[string]json.RawMessage
		var x replay.Proof
		if err := json.Unmarshal([]byte(text), &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(whole["proof"], &x); err != nil {
			t.Fatal(err)
		}
		c.change(&x)
		var err error
		if whole["proof"], err = json.Marshal(x); err != nil {
			t.Fatal(err)
		}
		wrong, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(a, wrong)
		if err != nil || v.BoundChecked {
			t.Fatalf("change %d: %v %v, expected %q", n, err, v, c.found)
		}
		said := strings.Join(v.Messages, " ")
		if v.Err() != nil {
			said = v.Err().Error()
		}
		if !strings.Contains(said, c.found) {
			t.Errorf("change %d: %s, expected %q", n, said, c.found)
		}
	}
}
