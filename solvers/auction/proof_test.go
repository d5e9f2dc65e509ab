package auction

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/solve"
)

// proved is the verdict on a branch and cut's result, with its proof.
func proved(t *testing.T, a *Auction) (*Result, *solve.Verdict, string) {
	t.Helper()
	res, err := Solve(context.Background(), a, Options{Algorithm: Branch})
	if err != nil {
		t.Fatal(err)
	}
	res.WithProof = true
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

// The proofs of auctions that need no search are complete.
func TestProofsOfCATS(t *testing.T) {
	for _, name := range []string{"L2_g24_b100_s61.txt", "paths_g25_b100_s31.txt"} {
		a, err := Read("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if res, v, _ := proved(t, a); !v.BoundChecked || !v.Proven {
			t.Errorf("%s: %d nodes, %v", name, res.Nodes, v.Messages)
		}
	}
}

// What proofs of random auctions bound is never less than the optimum: Verify would find
// the winners worth more. Many are complete.
func TestProofsOfRandomAuctions(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	complete, open := 0, 0
	for k := range 40 {
		a := regional(r, 30+r.IntN(60), 100+r.IntN(200))
		if k%4 == 0 {
			for i := range a.Bids {
				a.Bids[i].Bidder = string(rune('a' + i%7))
			}
			a.Most = map[string]int{"a": 2}
			a.Reserves = []Reserve{{Price: 900, Goods: []int64{0}}, {Price: 2000, Goods: []int64{1, 2}}}
		}
		if _, v, _ := proved(t, a); v.BoundChecked {
			complete++
		} else {
			open++
		}
	}
	if complete < 10 {
		t.Errorf("%d proofs are complete, %d not", complete, open)
	}
}

// What is changed in a proof is found out.
func TestWrongProofs(t *testing.T) {
	a, err := Read("testdata/paths_g25_b100_s31.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _, text := proved(t, a)
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(x *replay.Proof)
		found  string
	}{
		{func(x *replay.Proof) { x.Parts = x.Parts[1:] }, "in no part"},
		{func(x *replay.Proof) { x.Parts[0].Bids[0] = 9999 }, "found bid 9999 in part 0"},
		{func(x *replay.Proof) { x.Parts[0].Bids = append(x.Parts[0].Bids, x.Parts[0].Bids[0]) }, "in one part"},
		{func(x *replay.Proof) { x.Parts[0].Stages[0].Prices[0].Amount = "-1" }, `found the price "-1"`},
		{func(x *replay.Proof) { x.Parts[0].Stages[0].Shift = 99 }, "found the shift 99"},
		{func(x *replay.Proof) {
			last := x.Parts[len(x.Parts)-1]
			last.Stages[0].Prices[0].Bids = last.Bids
		}, "no good in common"},
		{func(x *replay.Proof) {
			last := x.Parts[len(x.Parts)-1]
			last.Stages[0].Prices[0].Bids = append(last.Stages[0].Prices[0].Bids, x.Parts[0].Bids[0])
		}, "expected one of the part"},
	} {
		var x replay.Proof
		if err := json.Unmarshal(whole["proof"], &x); err != nil {
			t.Fatal(err)
		}
		c.change(&x)
		if whole["proof"], err = json.Marshal(x); err != nil {
			t.Fatal(err)
		}
		wrong, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(a, wrong); err != nil || v.Err() == nil || v.BoundChecked || !strings.Contains(v.Err().Error(), c.found) {
			t.Errorf("%v %v, expected %q", err, v.Err(), c.found)
		}
		if err := json.Unmarshal([]byte(text), &whole); err != nil {
			t.Fatal(err)
		}
	}
	// Prices that are left out prove less, and that is said.
	var x replay.Proof
	if err := json.Unmarshal(whole["proof"], &x); err != nil {
		t.Fatal(err)
	}
	for k := range x.Parts {
		for n := range x.Parts[k].Stages {
			x.Parts[k].Stages[n].Prices = nil
		}
	}
	if whole["proof"], err = json.Marshal(x); err != nil {
		t.Fatal(err)
	}
	weak, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(a, weak); err != nil || v.Err() != nil || v.BoundChecked || !strings.Contains(strings.Join(v.Messages, " "), "comes from the search") {
		t.Errorf("%v %v", err, v)
	}
}
