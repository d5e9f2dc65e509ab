package auction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// drawnLanguages is a small auction whose bidders speak a language each: OR, XOR, OR of XOR or
// OR*. Some have a limit, some goods a reserve; sellAll is that of the auction.
func drawnLanguages(r *rand.Rand, sellAll bool) *problem.Auction {
	a := &problem.Auction{Goods: int64(1 + r.IntN(5)), Scale: 2, Source: "spoken", SellAll: sellAll, Limits: map[string]int{}}
	bundle := func() []int64 {
		var goods []int64
		for g := range a.Goods {
			if r.IntN(5) < 2 {
				goods = append(goods, g)
			}
		}
		return goods
	}
	dummy := a.Goods
	for k := range 1 + r.IntN(4) {
		name := fmt.Sprintf("bidder %d", k)
		language := r.IntN(4)
		own := dummy
		dummy += 3
		for range 1 + r.IntN(4) {
			b := problem.Bid{Number: int64(len(a.Bids)), Price: int64(r.IntN(12)) * 50, Goods: bundle(), Bidder: name}
			if sellAll {
				b.Price -= 100
			}
			switch {
			case language == 1:
				b.Goods = append(b.Goods, own)
			case language == 2 && r.IntN(3) > 0:
				b.Goods = append(b.Goods, own+int64(r.IntN(2)))
			case language == 3:
				for id := own; id < dummy; id++ {
					if r.IntN(3) == 0 {
						b.Goods = append(b.Goods, id)
					}
				}
			}
			if r.IntN(8) == 0 {
				b.Bidder = ""
			}
			a.Bids = append(a.Bids, b)
		}
		if r.IntN(2) == 0 {
			a.Limits[name] = r.IntN(4)
		}
	}
	a.Dummies = dummy - a.Goods
	for range r.IntN(4) {
		if goods := bundle(); len(goods) > 0 {
			a.Reserves = append(a.Reserves, problem.Reserve{Price: int64(r.IntN(6)) * 50, Goods: goods})
		}
	}
	return a
}

// Every algorithm finds what every set of bids and reserves has at best, in all languages,
// and payments are what their definitions say.
func TestLanguagesAgainstEverySet(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	infeasible, limited, kept, tied := 0, 0, 0, 0
	for range inputtest.Draws(200) {
		a := drawnLanguages(r, r.IntN(3) == 0)
		want := worths(a, make([]int, len(a.Bids)), 1)[1]
		ref, refused := Reference(a)
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if want == unsold {
			infeasible++
			if !errors.Is(refused, solve.ErrInfeasible) || !errors.Is(err, solve.ErrInfeasible) {
				t.Fatalf("%+v: not all goods can be sold, found %v and %v", a, refused, err)
			}
			continue
		}
		if refused != nil || err != nil {
			t.Fatalf("%+v: %v, %v", a, refused, err)
		}
		x := reduction(t, a)
		inst, err := x.ToCSG()
		if errors.Is(err, problem.ErrItems) {
			t.Fatalf("%+v: %v", a, err)
		} else if err != nil {
			t.Fatal(err)
		}
		solved, err := csg.Reference(inst, csg.IDP)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Bidders}})
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if !a.SellAll {
			if err := ComputePayments(context.Background(), tables, VCG, Options{}); err != nil || !reflect.DeepEqual(tables.Payments, paidAs(t, tables)) {
				t.Fatalf("%+v: %v, by tables %s", a, err, tables)
			}
		}
		structures, err := x.Result(solved)
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		for _, found := range []*Result{ref, res, structures, tables} {
			if value := a.FormatPrice(a.Revenue(found.Winners).Add(a.Revenue(found.Winners), a.KeptPrice(found.Kept))); found.Value.String() != value || !found.Proven || found.Bound != found.Value {
				t.Fatalf("%+v: %s, its bids are worth %s, bound %s", a, found, value, found.Bound)
			}
			if got := a.Revenue(found.Winners).Int64() + a.KeptPrice(found.Kept).Int64(); got != want {
				t.Fatalf("%+v: %s finds %d, every set %d", a, found.Device, got, want)
			}
			if fewest := keepsFewest(a, want); fewest != len(found.Kept) && !a.SellAll {
				t.Fatalf("%+v: %s keeps the reserves %v, of which %d suffice", a, found.Device, found.Kept, fewest)
			}
			verifyResult(t, found)
		}
		if len(a.BindingLimits()) > 0 {
			limited++
		}
		if len(res.Kept) > 0 {
			kept++
		}
		if payEveryCoalition(t, a) {
			tied++
		}
	}
	if infeasible < inputtest.Draws(9) || limited < inputtest.Draws(25) || kept < inputtest.Draws(25) || tied < inputtest.Draws(3) {
		t.Errorf("%d infeasible, %d with limits, %d keep reserves, %d block VCG: too easy", infeasible, limited, kept, tied)
	}
}

// paidAs are VCG's payments of a result's winners by branch and cut.
func paidAs(t *testing.T, res *Result) *Payments {
	again := *res
	again.Algorithm, again.Payments = Branch, nil
	if err := ComputePayments(context.Background(), &again, VCG, Options{}); err != nil {
		t.Fatal(err)
	}
	return again.Payments
}

// keepsFewest is the least number of kept reserves, of those worth more than 0, of all
// allocations of a value.
func keepsFewest(a *problem.Auction, value int64) int {
	fewest := len(a.Reserves) + 1
	disjoint := disjointSets(a)
	for set := range uint(1) << (len(a.Bids) + len(a.Reserves)) {
		if !disjoint(set) {
			continue
		}
		var winners, kept []int
		for i := range len(a.Bids) + len(a.Reserves) {
			if set>>i&1 == 0 {
			} else if i < len(a.Bids) {
				winners = append(winners, i)
			} else {
				kept = append(kept, i-len(a.Bids))
			}
		}
		if len(kept) < fewest && a.CheckKept(winners, kept) == nil && a.Revenue(winners).Int64()+a.KeptPrice(kept).Int64() == value {
			fewest = len(kept)
		}
	}
	return fewest
}

// A bidder's limit, by hand: of three bids for different goods the two best win.
func TestLimit(t *testing.T) {
	a := &problem.Auction{Goods: 3, Source: "limit", Limits: map[string]int{"Anna": 2}, Bids: []problem.Bid{
		{Number: 5, Price: 4, Goods: []int64{0}, Bidder: "Anna"},
		{Number: 6, Price: 2, Goods: []int64{1}, Bidder: "Anna"},
		{Number: 7, Price: 3, Goods: []int64{2}, Bidder: "Anna"},
		{Number: 8, Price: 1, Goods: []int64{1}, Bidder: "Bob"},
	}}
	res := paid(t, a, VCG)
	if !slices.Equal(res.Winners, []int{0, 2, 3}) || res.Value != "8" {
		t.Errorf("%v win, %s", res.Winners, res.Value)
	}
	// Without Anna Bob wins the same; without Bob Anna's choice does not change.
	for k, want := range []string{"Anna pays 0", "Bob pays 0"} {
		w := res.Payments.Winners[k]
		if got := fmt.Sprintf("%s pays %d", w.Bidder, w.Pays); got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
	text, err := json.Marshal(res)
	if err != nil || !strings.Contains(string(text), `{"bidder":"Anna","bids":[5,7],"value":"7","pays":"0"}`) {
		t.Errorf("%s %v", text, err)
	}
	if err := a.CheckWinners([]int{0, 1, 2}); err == nil || !strings.Contains(err.Error(), "bidder Anna wins more than 2 bids") {
		t.Error(err)
	}
}

// A reserve that a bid meets is sold, one that bids miss is kept and sets VCG's payment.
func TestReserve(t *testing.T) {
	a := &problem.Auction{Goods: 2, Source: "reserve", Names: []string{"barn", "field"},
		Reserves: []problem.Reserve{{Price: 10, Goods: []int64{0}}, {Price: 7, Goods: []int64{1}}},
		Bids:     []problem.Bid{{Number: 1, Price: 10, Goods: []int64{0}, Bidder: "Anna"}, {Number: 2, Price: 6, Goods: []int64{1}, Bidder: "Bob"}}}
	res := paid(t, a, VCG)
	if want := "bid 1 of Anna\t10\t barn\nkept\t7\t field\nrevenue\t17\nbids [1]\tpay 10\n"; res.String() != want {
		t.Errorf("found %q, expected %q", res, want)
	}
	verifyResult(t, res)
	text, err := json.Marshal(res)
	if err != nil || !strings.Contains(string(text), `"accepted":[{"bid":1,"bidder":"Anna","price":"10","goods":[0],"names":["barn"]}],"kept":[{"price":"7","goods":[1],"names":["field"]}]`) {
		t.Errorf("%s %v", text, err)
	}
	wrong := strings.Replace(string(text), `"kept":[{"price":"7"`, `"kept":[{"price":"8"`, 1)
	if v, err := Verify(a, []byte(wrong)); err != nil || v.Err() == nil || !strings.Contains(v.Err().Error(), "no such reserve") {
		t.Errorf("%v %v", v, err)
	}
}

// What has no meaning is refused.
func TestInvalidAuctions(t *testing.T) {
	var many []problem.Bid
	for k := range int64(3000) {
		many = append(many, problem.Bid{Number: k, Price: 1, Goods: []int64{0}, Bidder: "Anna"})
	}
	for want, a := range map[string]*problem.Auction{
		"1 names of 2 goods":            {Goods: 2, Names: []string{"a"}},
		"wins at most -1 bids":          {Limits: map[string]int{"Anna": -1}},
		"Reserves[0].Price: found -1":   {Goods: 1, Reserves: []problem.Reserve{{Price: -1, Goods: []int64{0}}}},
		"Reserves[0].Goods[0]: found":   {Goods: 1, Reserves: []problem.Reserve{{Price: 1, Goods: []int64{1}}}},
		"need more than 63 bits":        {Goods: 1, SellAll: true, Bids: []problem.Bid{{Price: 1 << 62, Goods: []int64{0}}, {Number: 1, Price: -1 << 62, Goods: []int64{0}}}},
		"more than 63 bits with what r": {Goods: 1, Reserves: slices.Repeat([]problem.Reserve{{Goods: []int64{0}}}, 3), Bids: []problem.Bid{{Price: 1 << 62, Goods: []int64{0}}}},
		"more than 1048576 copies":      {Goods: 1, Bids: many, Limits: map[string]int{"Anna": 1500}},
	} {
		_, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
		if _, err := Reference(a); err == nil {
			t.Errorf("the reference takes %+v", a)
		}
	}
}

// A solve that ends before every good is sold has no answer.
func TestUnsoldAtTheEnd(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 80, 320)
	a.SellAll = true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, a, Options{}); !errors.Is(err, ErrUnsold) && !errors.Is(err, solve.ErrInfeasible) {
		t.Errorf("found %v", err)
	}
}

// The bidder by bidder algorithm and branch and cut find the same, with VCG's payments, in
// files of CATS of few goods.
func TestBiddersOfCATS(t *testing.T) {
	for _, name := range []string{"arbitrary_g20_b100_s11.txt", "regions_g20_b100_s41.txt", "scheduling_g20_b100_s51.txt"} {
		a, err := Read("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want := paid(t, a, VCG)
		got, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Bidders}})
		if err != nil {
			t.Fatal(err)
		}
		if err := ComputePayments(context.Background(), got, VCG, Options{}); err != nil {
			t.Fatal(err)
		}
		if got.Value != want.Value || !got.Proven || got.Payments.Revenue().Cmp(want.Payments.Revenue()) != 0 {
			t.Errorf("%s: %s and %s paid, branch and cut finds %s and %s", name, got.Value, a.FormatPrice(got.Payments.Revenue()), want.Value, a.FormatPrice(want.Payments.Revenue()))
		}
		verifyResult(t, got)
	}
	if _, err := Solve(context.Background(), regional(rand.New(rand.NewPCG(2, 2)), 80, 320), Options{Settings: solve.Settings{Algorithm: Bidders}}); !errors.Is(err, problem.ErrItems) {
		t.Errorf("80 goods: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := regional(rand.New(rand.NewPCG(2, 2)), 10, 30)
	if res, err := Solve(ctx, a, Options{Settings: solve.Settings{Algorithm: Bidders}}); err != nil || !res.Stopped && !res.Proven {
		t.Errorf("cancelled: %v %v", res, err)
	}
}

// Where no bids sell every good the result says so and carries a proof, by every algorithm, and no other
// auction takes the proof.
func TestProofsOfUnsoldGoods(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	file, err := Read(filepath.Join("testdata", "unsold.json"))
	if err != nil {
		t.Fatal(err)
	}
	list := []*problem.Auction{file}
	r := rand.New(rand.NewPCG(3, 4))
	for len(list) < 30 { // pairs of an odd number of goods, with limits, reserves and alternatives
		a := &problem.Auction{Goods: 5 + 2*r.Int64N(2), Dummies: 2, Source: "pairs", SellAll: true}
		for k := range int64(8 + r.IntN(8)) {
			b := problem.Bid{Number: k, Price: r.Int64N(90) - 5, Bidder: []string{"", "ann"}[r.IntN(2)]}
			for len(b.Goods) < 2 {
				if g := r.Int64N(a.Goods); !slices.Contains(b.Goods, g) {
					b.Goods = append(b.Goods, g)
				}
			}
			slices.Sort(b.Goods)
			if r.IntN(3) == 0 {
				b.Goods = append(b.Goods, a.Goods+r.Int64N(2))
			}
			a.Bids = append(a.Bids, b)
		}
		if r.IntN(2) == 0 {
			a.Limits = map[string]int{"ann": 2}
		}
		if r.IntN(2) == 0 {
			a.Reserves = []problem.Reserve{{Price: 7, Goods: []int64{0, 1}}, {Price: 3, Goods: []int64{1, 2}}}
		}
		list = append(list, a)
	}
	for k, a := range list {
		for _, algorithm := range []string{"", Branch, Bidders, "apart"} {
			if k > 0 && items(t, a) > 12 && algorithm != Branch {
				continue // large tables
			}
			res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: algorithm}})
			if !errors.Is(err, solve.ErrInfeasible) || res == nil || res.Value != "" || !res.Proven {
				t.Fatalf("%s by %q: found %+v, %v", a.Source, algorithm, res, err)
			}
			text, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(a, text); err != nil || v.Err() != nil || !v.BoundChecked || !v.Proven {
				t.Fatalf("%s by %q: %v, %+v", a.Source, algorithm, err, v)
			}
			sells := *a // with one more bid, for all goods
			whole := problem.Bid{Number: 1000, Price: 1}
			for g := range a.Goods {
				whole.Goods = append(whole.Goods, g)
			}
			sells.Bids = append(slices.Clone(a.Bids[1:]), whole) // as many
			text = bytes.Replace(text, fmt.Appendf(nil, `"items":%d`, res.Items), fmt.Appendf(nil, `"items":%d`, items(t, &sells)), 1)
			if v, err := Verify(&sells, text); err != nil || v.Err() == nil || v.Proven {
				t.Errorf("%s by %q: an auction whose goods are all sold takes the proof: %v, %+v", a.Source, algorithm, err, v)
			}
			free := *a
			free.SellAll = false
			if v, err := Verify(&free, text); err != nil || v.Err() == nil {
				t.Errorf("%s by %q: an auction with free disposal takes the proof: %v", a.Source, algorithm, err)
			}
		}
	}
	for _, text := range []string{
		`"proven":true,"value":null,"solution":null`,
		`"proven":true,"value":null,"solution":null,"proof":{"parts":[]}`,
		`"proven":true,"value":null,"solution":null,"proof":{"parts":[{"bids":[0],"root":null}]}`,
		`"proven":true,"value":null,"solution":null,"proof":{"parts":[{"bids":[0],"root":{}}],"won":[-1]}`,
		`"proven":true,"value":null,"solution":null,"proof":{"parts":[{"bids":[0],"root":{}}],"won":[9]}`,
		`"proven":false,"value":5,"solution":null`,
	} {
		v, err := Verify(file, []byte(`{"problem":"auction","size":{"goods":2,"bids":1,"dummies":0,"items":0},`+text+`}`))
		if err != nil || v.Err() == nil {
			t.Errorf("%s: %v, %+v", text, err, v)
		}
	}
	v, err := Verify(file, []byte(`{"problem":"auction","size":{"goods":2,"bids":1,"dummies":0,"items":0},"proven":false,"value":null,"solution":null}`))
	if err != nil || v.Err() != nil || v.BoundChecked {
		t.Errorf("nothing proven: %v, %+v", err, v)
	}
}

func items(t *testing.T, a *problem.Auction) int {
	r, err := NewReduction(a)
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Items)
}
