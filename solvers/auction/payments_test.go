package auction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// best is the most that bids pay together, by trying all sets.
func best(a *Auction) int64 {
	most := int64(0)
	for set := range 1 << len(a.Bids) {
		var winners []int
		sum := int64(0)
		for i, b := range a.Bids {
			if set>>i&1 == 1 {
				winners, sum = append(winners, i), sum+b.Price
			}
		}
		if sum > most && a.Check(winners) == nil {
			most = sum
		}
	}
	return most
}

// VCG payments of random small auctions, some bids being alternatives of one bidder,
// are those of the definition by brute force.
func TestVCGByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 5))
	for round := range 200 {
		a := &Auction{Goods: int64(1 + r.IntN(6)), Dummies: 3, Scale: r.IntN(3), Source: "drawn"}
		for k := range r.IntN(11) {
			b := Bid{Number: int64(k), Price: int64(r.IntN(40))}
			for g := range a.Goods {
				if r.IntN(3) == 0 {
					b.Goods = append(b.Goods, g)
				}
			}
			if r.IntN(2) == 0 {
				b.Goods = append(b.Goods, a.Goods+int64(r.IntN(3)))
			}
			if len(b.Goods) == 0 {
				b.Goods = []int64{0}
			}
			a.Bids = append(a.Bids, b)
		}
		res, err := Solve(context.Background(), a, Options{Algorithm: Branch})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Pay(context.Background(), VCG, Options{}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		value := best(a)
		total := new(big.Int)
		for k, w := range res.Winners {
			rest := &Auction{Goods: a.Goods, Dummies: a.Dummies}
			mine, named := a.Bidder(a.Bids[w])
			for i, b := range a.Bids {
				if other, ok := a.Bidder(b); i != w && !(named && ok && other == mine) {
					rest.Bids = append(rest.Bids, b)
				}
			}
			want := best(rest) - (value - a.Bids[w].Price)
			total.Add(total, big.NewInt(want))
			if got := res.Payments.Each[k].Amount; got != a.Price(big.NewInt(want)) {
				t.Errorf("round %d: bid %d pays %s, expected %s", round, w, got, a.Price(big.NewInt(want)))
			}
		}
		if res.Payments.Total != a.Price(total) {
			t.Errorf("round %d: total %s, expected %s", round, res.Payments.Total, a.Price(total))
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(a, text)
		if err != nil || v.Err() != nil {
			t.Errorf("round %d: %v, %v", round, err, v.Err())
		}
		if len(res.Winners) == 0 {
			continue
		}
		wrong := strings.Replace(string(text), fmt.Sprintf(`"total":%q`, res.Payments.Total), `"total":"-1"`, 1)
		if v, err := Verify(a, []byte(wrong)); err != nil || v.Err() == nil {
			t.Errorf("round %d: a wrong total passes (%v)", round, err)
		}
	}
}

// First price is the bids; what is not proven has no VCG payments, and other rules are
// refused.
func TestPayRefuses(t *testing.T) {
	a := &Auction{Goods: 2, Bids: []Bid{{Number: 7, Price: 5, Goods: []int64{0}}, {Number: 8, Price: 3, Goods: []int64{1}}, {Number: 9, Price: 6, Goods: []int64{0, 1}}}}
	res, err := Solve(context.Background(), a, Options{Algorithm: Branch})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Pay(context.Background(), FirstPrice, Options{}); err != nil || res.Payments.Total != "8" || len(res.Payments.Each) != 2 || res.Payments.Each[1] != (Payment{8, "3"}) {
		t.Errorf("first price: %+v, %v", res.Payments, err)
	}
	if err := res.Pay(context.Background(), "second", Options{}); err == nil {
		t.Error("another rule: no error")
	}
	res.Proven = false
	if err := res.Pay(context.Background(), VCG, Options{}); !errors.Is(err, ErrUnproven) {
		t.Errorf("unproven: %v", err)
	}
}

// The payments listed for auctions of CATS, where COALESCE_WDP names their folder: their
// files are too large for this repository.
func TestListedPayments(t *testing.T) {
	folder := os.Getenv("COALESCE_WDP")
	if folder == "" {
		t.Skip("COALESCE_WDP names no folder of auctions with solutions.json")
	}
	text, err := os.ReadFile(filepath.Join(folder, "solutions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var listed map[string]struct {
		VCG     map[string]string `json:"vcg"`
		Winners []int64           `json:"winners_vcg"` // to which the payments belong: several sets may be optimal
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		t.Fatal(err)
	}
	for name, want := range listed {
		if len(want.VCG) == 0 {
			continue
		}
		a, err := Read(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Solve(t.Context(), a, Options{Algorithm: Branch})
		if err == nil {
			value := res.Value
			places := map[int64]int{}
			for k, b := range a.Bids {
				places[b.Number] = k
			}
			winners := make([]int, len(want.Winners))
			for k, number := range want.Winners {
				winners[k] = places[number]
			}
			if err = res.Accept(winners); err == nil && res.Value != value {
				t.Errorf("%s: the listed winners pay %s, expected %s", name, res.Value, value)
			}
		}
		if err == nil {
			err = res.Pay(t.Context(), VCG, Options{})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wrong := 0
		for _, p := range res.Payments.Each {
			x, ok := new(big.Rat).SetString(want.VCG[fmt.Sprint(p.Bid)])
			y, _ := new(big.Rat).SetString(p.Amount)
			if !ok || x.Cmp(y) != 0 {
				wrong++
				t.Logf("%s: bid %d pays %s, listed %q", name, p.Bid, p.Amount, want.VCG[fmt.Sprint(p.Bid)])
			}
		}
		if wrong > 0 || len(res.Payments.Each) != len(want.VCG) {
			t.Errorf("%s: %d of %d payments differ, %d are listed", name, wrong, len(res.Payments.Each), len(want.VCG))
		}
	}
}
