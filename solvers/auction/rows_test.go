package auction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// drawnUnits is a small auction with several units of goods, which sells or buys, with alternatives, limits and reserves.
func drawnUnits(r *rand.Rand) *problem.Auction {
	a := &problem.Auction{Goods: int64(1 + r.IntN(4)), Scale: 1, Source: "units", SellAll: r.IntN(4) == 0, Minimize: r.IntN(2) == 0, Limits: map[string]int{}}
	most := []int{1, 3, 5}[r.IntN(3)]
	for range a.Goods {
		a.Units = append(a.Units, int64(r.IntN(most+1)))
	}
	if r.IntN(4) == 0 {
		a.Units = nil
	}
	a.Dummies = int64(r.IntN(3))
	for k := range 1 + r.IntN(8) {
		b := problem.Bid{Number: int64(10 + k), Price: int64(r.IntN(40) - 3), Bidder: fmt.Sprintf("bidder %d", r.IntN(3))}
		for g := range a.Goods {
			if r.IntN(5) < 3 {
				b.Goods, b.Quantities = append(b.Goods, g), append(b.Quantities, int64(1+r.IntN(most)))
			}
		}
		for d := range a.Dummies {
			if r.IntN(4) == 0 {
				b.Goods, b.Quantities = append(b.Goods, a.Goods+d), append(b.Quantities, 1)
			}
		}
		if r.IntN(5) == 0 || a.Units == nil {
			b.Quantities = nil
		}
		if k > 0 && r.IntN(6) == 0 {
			b.Goods, b.Quantities, b.Price = a.Bids[k-1].Goods, a.Bids[k-1].Quantities, a.Bids[k-1].Price
		}
		a.Bids = append(a.Bids, b)
	}
	if r.IntN(3) == 0 {
		a.Limits["bidder 1"] = r.IntN(3)
	}
	if !a.Minimize && r.IntN(3) == 0 {
		a.Reserves = append(a.Reserves, problem.Reserve{Price: int64(r.IntN(20)), Goods: []int64{0}})
	}
	return a
}

// Auctions with several units, and those that buy, have the value of the best of all allocations, or are proven to have none; each
// answer and ranking is checked with its proof, and wrong ones are refused.
func TestUnitsAgainstEveryAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 7))
	none, bought, several := 0, 0, 0
	for round := range inputtest.Draws(2000) {
		a := drawnUnits(r)
		want := everyAllocation(a)
		if a.Minimize {
			slices.Reverse(want)
			bought++
		}
		if a.IsMultiUnit() {
			several++
		}
		o := Options{Settings: solve.Settings{Algorithm: Branch}, Proof: round%2 == 0, KBest: 1 + r.IntN(4)}
		res, err := Solve(context.Background(), a, o)
		if len(want) == 0 {
			if none++; !errors.Is(err, solve.ErrInfeasible) || res == nil || !res.Proven {
				t.Fatalf("auction %d, %+v: %+v, %v, expected that it is proven to be infeasible", round, a, res, err)
			}
			text, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(a, text); err != nil || v.Err() != nil || !v.BoundChecked {
				t.Fatalf("%s: %v, %+v", text, err, v)
			}
			continue
		}
		if err != nil || !res.Proven || res.Bound != res.Value {
			t.Fatalf("auction %d, %+v: %+v, %v, expected %d", round, a, res, err, want[0])
		}
		if got := a.Value(res.Winners, res.Kept).Int64(); got != want[0] {
			t.Fatalf("auction %d, %+v: %s is worth %d, expected %d", round, a, res, got, want[0])
		}
		if o.KBest > 1 {
			for i, x := range res.Best {
				if a.Value(x.Winners, x.Kept).Int64() != want[i] {
					t.Fatalf("auction %d, %+v: allocation %d is worth %s, expected %d", round, a, i, x.Value, want[i])
				}
			}
			if len(res.Best) != min(o.KBest, len(want)) || res.Complete != (len(want) < o.KBest) {
				t.Fatalf("auction %d, %+v: %d allocations of %d", round, a, len(res.Best), len(want))
			}
		}
		for _, w := range res.Winners {
			for i := range w {
				x, y := a.Bids[i], a.Bids[w]
				if len(a.Limits) == 0 && !slices.Contains(res.Winners, i) && x.Price == y.Price && slices.Equal(x.Goods, y.Goods) && slices.Equal(x.Quantities, y.Quantities) {
					t.Fatalf("auction %d, %+v: bid %d wins and bid %d, which is the same, does not", round, a, w, i)
				}
			}
		}
		verifyResult(t, res)
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if o.Proof { // proofs are held against the auction
			if v, err := Verify(a, text); err != nil || !v.BoundChecked && o.KBest == 1 {
				t.Fatalf("%s: %v, %+v", text, err, v)
			}
			other := *a
			other.Bids = slices.Clone(a.Bids)
			for i := range other.Bids {
				if !slices.Contains(res.Winners, i) && o.KBest == 1 {
					if other.Bids[i].Price = 1000; a.Minimize {
						other.Bids[i].Price = -1000
					}
				}
			}
			if best := everyAllocation(&other); a.Minimize && best[len(best)-1] < want[0] || !a.Minimize && best[0] > want[0] {
				if v, err := Verify(&other, text); err != nil || v.Err() == nil && v.BoundChecked {
					t.Fatalf("auction %d, %+v: a proof holds for other prices: %v, %+v", round, a, err, v)
				}
			}
		}
	}
	if none < inputtest.Draws(100) || bought < inputtest.Draws(800) || several < inputtest.Draws(1000) {
		t.Errorf("%d infeasible, %d buy, %d with several units: too easy", none, bought, several)
	}
}

// What an auction leaves to options is set by them, and stands in the result for its check.
func TestUnitsByOptions(t *testing.T) {
	const text = `[{"bidder": "a", "price": 5, "goods": ["x", "y"]}, {"bidder": "b", "price": 4, "goods": ["x"]}, {"bidder": "c", "price": 3, "goods": ["y"]}]`
	read := func() *problem.Auction {
		a, err := ReadFrom(strings.NewReader(text), "a.json")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "7"}, {Options{Minimize: true}, "5"}, {Options{Units: "2"}, "12"}, {Options{Units: "x=2"}, "9"}, {Options{Units: "x=2, y=1", Minimize: true}, "9"}, {Options{Units: "x=0"}, "3"},
	} {
		c.o.Algorithm, c.o.Proof = Branch, true
		res, err := Solve(context.Background(), read(), c.o)
		if err != nil || string(res.Value) != c.want {
			t.Fatalf("%+v: %v, %v, expected %s", c.o, res, err, c.want)
		}
		written, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(read(), written); err != nil || v.Err() != nil || !v.BoundChecked {
			t.Errorf("%+v: %v, %+v", c.o, err, v)
		}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Units: "z=2"}, `found "z=2", expected NAME=NUMBER of a good`}, {Options{Units: "x"}, `found "x", expected a number of units`}, {Options{Units: "-1"}, "expected a number of units"},
		{Options{Minimize: true, Settings: solve.Settings{Algorithm: Bidders}}, "expected branch"},
	} {
		if _, err := Solve(context.Background(), read(), c.o); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %s", c.o, err, c.want)
		}
	}
	a := read()
	a.Reserves = []problem.Reserve{{Goods: []int64{0}}}
	if _, err := Solve(context.Background(), a, Options{Minimize: true}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), "Reserves: found 1 reserve where costs are minimised") {
		t.Errorf("an auction that buys has reserves: %v", err)
	}
	a = read()
	a.Bids[0].Quantities = []int64{1, 2}
	if _, err := Solve(context.Background(), a, Options{}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), "bid 0 asks for several units") {
		t.Errorf("without units: %v", err)
	}
	if _, err := Reference(&problem.Auction{Goods: 1, Units: []int64{2}}); !errors.Is(err, problem.ErrUnits) {
		t.Errorf("the reference takes several units: %v", err)
	}
}

// A target ends the solve, and so does the end of the context, with a bound on costs.
func TestEndedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 8))
	a := &problem.Auction{Goods: 12, Source: "large", Minimize: true}
	for range a.Goods {
		a.Units = append(a.Units, int64(20+r.IntN(20)))
	}
	for k := range 200 {
		b := problem.Bid{Number: int64(k), Price: int64(100 + r.IntN(900))}
		for g := range a.Goods {
			if r.IntN(3) == 0 {
				b.Goods, b.Quantities = append(b.Goods, g), append(b.Quantities, int64(1+r.IntN(9)))
			}
		}
		a.Bids = append(a.Bids, b)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var last solve.Incumbent
	o := Options{Settings: solve.Settings{Algorithm: Branch, Progress: func(now solve.Incumbent) {
		if last = now; now.Value != "" {
			cancel()
		}
	}}}
	res, err := Solve(ctx, a, o)
	if err != nil || res.Value == "" || res.Bound.Float() > res.Value.Float() || last.Bound.Float() > last.Value.Float() {
		t.Fatalf("%v: %v, the bound %s", err, res, res.Bound)
	}
	target := res.Value.Float() + 1e6
	met, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, Target: &target}})
	if err != nil || met.Met == nil || met.Value.Float() > target {
		t.Fatalf("%v: %+v, expected that the target %g is met", err, met, target)
	}
	again, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, Target: &target, Start: problem.Allocation(res.Winners)}})
	if err != nil || again.Value.Float() > res.Value.Float() {
		t.Fatalf("%v: %v, worse than its start of %s", err, again, res.Value)
	}
}

// Auctions with several units, and those that buy, stay the same through CSV and JSON; CATS refuses them.
func TestUnitsWrittenAndRead(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 10))
	refused := 0
	for range inputtest.Draws(300) {
		a := drawnUnits(r)
		want := everyAllocation(a)
		for _, format := range Formats() {
			var text strings.Builder
			switch _, err := Write(&text, a, format); {
			case format == CATS && (a.IsMultiUnit() || a.Minimize):
				if refused++; err == nil {
					t.Fatalf("%+v is written as %s", a, format)
				}
				continue
			case err != nil && (format == CATS || strings.Contains(err.Error(), "of several bidders")):
				continue
			case err != nil:
				t.Fatalf("%+v as %s: %v", a, format, err)
			}
			back, err := ReadFrom(strings.NewReader(text.String()), "back")
			if err != nil {
				t.Fatalf("%s: %v", text.String(), err)
			}
			if got := everyAllocation(back); !slices.Equal(worth(back, got), worth(a, want)) || back.Minimize != a.Minimize || back.SellAll != a.SellAll {
				t.Fatalf("%+v\n%s\n%v, expected %v", a, text.String(), got, want)
			}
		}
	}
	if refused < inputtest.Draws(100) {
		t.Errorf("CATS refuses %d: too easy", refused)
	}
}

// worth are amounts as decimals.
func worth(a *problem.Auction, amounts []int64) (list []string) {
	for _, x := range amounts {
		list = append(list, a.FormatPrice(big.NewInt(x)))
	}
	return list
}

// Tables and records of units as people write them.
func TestUnitsAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"goods:,a b\nunits:,3 2\nprice,goods,quantities\n6,a b,2 1\n5,a,1\n4,b,2\n":                                                       "11",
		"units:;3 2\nprice;a;b\n6;2;1\n5;1;0\n4;0;2\n":                                                                                    "11",
		`{"units": {"a": 3, "b": 2}, "bids": [{"price": 6, "goods": {"a": 2, "b": 1}}, {"price": 5, "goods": {"a": 1}}]}`:                 "11",
		`{"units": [1], "bids": [{"price": 6, "goods": ["a"], "quantities": [2]}, {"price": 5, "goods": ["a"]}]}`:                         "5",
		"minimize:,yes\nunits:,3\nprice,goods,quantities\n6,a,2\n5,a,1\n4,a,1\n":                                                          "10",
		"minimize:,yes\ndisposal:,no\nprice,goods\n6,a b\n5,a\n4,b\n":                                                                     "6",
		`{"minimize": true, "goods": 2, "bids": [{"price": 6, "goods": [0]}, {"price": 2, "goods": [1]}, {"price": 7, "goods": [0, 1]}]}`: "7",
	} {
		a, err := ReadFrom(strings.NewReader(text), "a")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil || string(res.Value) != want {
			t.Errorf("%s: %v, %v, expected %s", text, res, err, want)
		}
	}
	for text, want := range map[string]string{
		"units:,3 2\nprice,goods\n6,a\n":                    "a:1: found the units of 2 goods, expected those of 1",
		"units:,x\nprice,goods\n6,a\n":                      "a:1: found \"x\", expected a number of units",
		"units:,3\nprice,goods,quantities\n6,a,0\n":         "a:3: found \"0\", expected a number of units, at least 1",
		"units:,3\nprice,goods,quantities\n6,a,2 1\n":       "a:3: found the quantities of 2 goods, expected those of 1",
		"units:,3 1\nprice,a,b\n6,2,x\n":                    "a:3: found \"x\", expected a number of units",
		"minimize:,maybe\nprice,goods\n6,a\n":               "a:1: found \"maybe\" after minimize:, expected yes or no",
		"minimize:,yes\nreserve:,1,a\nprice,goods\n6,a\n":   "a:2: found a reserve price where the auctioneer buys",
		"{\"minimize\": 1, \"bids\": []}":                   "a:1: found 1, expected true or false",
		"{\"units\": 3, \"bids\": []}":                      "a:1: found 3, expected a list of units",
		"{\"units\": {\"a\": 1, \"a\": 2},\n \"bids\": []}": "a:1: found the units of good \"a\" again",
	} {
		_, err := ReadFrom(strings.NewReader(text), "a")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
}
