package auction

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/auction/internal/payments"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

func paid(t *testing.T, a *problem.Auction, rule Rule) *Result {
	t.Helper()
	res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ComputePayments(context.Background(), res, rule, Options{}); err != nil {
		t.Fatal(err)
	}
	if res.Payments == nil {
		t.Fatalf("%s: no payments: %v", a.Source, res.Notes)
	}
	return res
}

// verifyResult holds a result's JSON against its auction.
func verifyResult(t *testing.T, res *Result) {
	t.Helper()
	text, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(res.Auction, text); err != nil || v.Err() != nil || !v.Proven {
		t.Fatalf("%s: %v %v", text, err, v)
	}
}

// What is changed in stated payments is found out.
func TestWrongPayments(t *testing.T) {
	a, err := Read("testdata/scheduling_g20_b100_s51.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule            Rule
		from, to, found string
	}{
		{FirstPrice, `"pays":"0.414429"`, `"pays":"0.41443"`, "pay"},
		{VCG, `"revenue":"26.031944"`, `"revenue":"26.031945"`, "revenue"},
		{VCG, `"rule":"vcg"`, `"rule":"third"`, "rule"},
		{VCG, `"rule":"vcg"`, `"rule":"core"`, "blocks"},
		{Core, `"rule":"core"`, `"rule":"vcg"`, "pay"},
		{Core, `"coalitions":[[`, `"coalitions":[[99999],[`, "99999"},
		{Core, `"coalitions":[[`, `"coalitions":[[0,0],[`, "wins twice"},
		{Core, `"revenue":"27.084566"`, `"revenue":"27.084567"`, "revenue"},
	} {
		text, err := json.Marshal(paid(t, a, c.rule))
		if err != nil {
			t.Fatal(err)
		}
		wrong := strings.Replace(string(text), c.from, c.to, 1)
		if wrong == string(text) {
			t.Fatalf("%s lacks %s", text, c.from)
		}
		v, err := Verify(a, []byte(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if v.Err() == nil || v.Proven || !strings.Contains(v.Err().Error(), c.found) {
			t.Errorf("%s, %s: %v, expected %q", c.rule, c.to, v.Err(), c.found)
		}
	}
	// Coalitions that are left out take the reason from higher payments.
	res := paid(t, a, Core)
	res.Payments.Coalitions = nil
	text, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(a, text); err != nil || v.Err() == nil || !strings.Contains(v.Err().Error(), "coalitions") {
		t.Errorf("no coalitions: %v %v", v.Err(), err)
	}
}

func TestVCGOfCATS(t *testing.T) {
	f, err := os.Open("testdata/vcg.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{}
	for _, row := range rows[1:] {
		if want[row[0]] == nil {
			want[row[0]] = map[string]string{}
		}
		want[row[0]][row[1]] = row[2]
	}
	for file, pays := range want {
		compareVCG(t, filepath.Join("testdata", file), pays)
	}
}

// All files of a folder that has solutions.json, with the payments of each: the large
// ones do not belong to the repository.
func TestVCGOfFolder(t *testing.T) {
	folder := os.Getenv("COALESCE_WDP")
	if folder == "" {
		t.Skip("COALESCE_WDP names no folder of CATS files and solutions.json")
	}
	text, err := os.ReadFile(filepath.Join(folder, "solutions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		VCG map[string]string `json:"vcg"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for file, one := range all {
		if one.VCG != nil {
			compareVCG(t, filepath.Join(folder, file), one.VCG)
		}
	}
}

func compareVCG(t *testing.T, path string, want map[string]string) {
	t.Helper()
	a, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	res := paid(t, a, VCG)
	verifyResult(t, res)
	sum := new(big.Rat)
	for number, pays := range want {
		amount, ok := new(big.Rat).SetString(pays)
		if !ok {
			t.Fatalf("%s: found the payment %q", path, pays)
		}
		sum.Add(sum, amount)
		for _, w := range res.Payments.Winners {
			if got, _ := new(big.Rat).SetString(a.FormatPrice(big.NewInt(w.Pays))); fmt.Sprint(a.Bids[w.Bids[0]].Number) == number && got.Cmp(amount) != 0 {
				t.Errorf("%s: bid %s pays %s, expected %s", path, number, got.FloatString(9), pays)
			}
		}
	}
	if got, _ := new(big.Rat).SetString(a.FormatPrice(res.Payments.Revenue())); got.Cmp(sum) != 0 || len(res.Payments.Winners) != len(want) {
		t.Errorf("%s: %d winners pay %s, expected %d and %s", path, len(res.Payments.Winners), got.FloatString(9), len(want), sum.FloatString(9))
	}
	if len(want) > 50 { // the core of so many winners takes minutes
		return
	}
	core := paid(t, a, Core)
	verifyResult(t, core)
	for k, w := range core.Payments.Winners {
		if vcg := res.Payments.Winners[k].Pays; w.Pays < vcg || w.Pays > w.Value {
			t.Errorf("%s: bid %d pays %d in the core, by VCG %d, and bids %d", path, a.Bids[w.Bids[0]].Number, w.Pays, vcg, w.Value)
		}
	}
	t.Logf("%s: %s, by VCG %s, in the core %s, %d coalitions", path, res.Value, a.FormatPrice(res.Payments.Revenue()), a.FormatPrice(core.Payments.Revenue()), len(core.Payments.Coalitions))
}

// drawn is a small auction of bidders with one to three XOR bids, in ten-thousandths.
func drawn(r *rand.Rand) *problem.Auction {
	goods, bids := 1+r.IntN(6), r.IntN(11)
	var b strings.Builder
	fmt.Fprintf(&b, "goods %d\nbids %d\ndummy 7\n", goods, bids)
	for i := range bids {
		fmt.Fprintf(&b, "%d %d.%04d", i, r.IntN(8), 10*r.IntN(1000)+1)
		for g := range goods {
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, " %d", g)
			}
		}
		if r.IntN(4) > 0 {
			fmt.Fprintf(&b, " %d", goods+r.IntN(7))
		}
		b.WriteString(" #\n")
	}
	a, err := read(b.String())
	if err != nil {
		panic(err) // the text is well formed
	}
	return a
}

// worths are the most that the bids of every set of bidders, and reserves, are worth
// together, from every set of bids and reserves; unsold where no set sells every good that
// has to be sold.
func worths(a *problem.Auction, bidder []int, bidders int) []int64 {
	best := make([]int64, 1<<bidders)
	for c := range best {
		best[c] = unsold
	}
	disjoint := disjointSets(a)
	for set := range uint(1) << (len(a.Bids) + len(a.Reserves)) {
		if !disjoint(set) {
			continue
		}
		var winners, kept []int
		coalition := 0
		for i := range a.Bids {
			if set>>i&1 != 0 {
				winners = append(winners, i)
				coalition |= 1 << bidder[i]
			}
		}
		for k := range a.Reserves {
			if set>>(len(a.Bids)+k)&1 != 0 {
				kept = append(kept, k)
			}
		}
		if a.CheckKept(winners, kept) == nil {
			best[coalition] = max(best[coalition], a.Revenue(winners).Int64()+a.KeptPrice(kept).Int64())
		}
	}
	for c := range best {
		for i := range bidders {
			if c>>i&1 != 0 {
				best[c] = max(best[c], best[c&^(1<<i)])
			}
		}
	}
	return best
}

const unsold = math.MinInt64

// disjointSets tells of a set of bids and, in the bits above theirs, of reserves whether no two
// have a good in common; goods and dummies of the auction number at most 64.
func disjointSets(a *problem.Auction) func(set uint) bool {
	var goods []uint64
	mask := func(list []int64) (m uint64) {
		for _, g := range list {
			m |= 1 << g
		}
		return m
	}
	for _, b := range a.Bids {
		goods = append(goods, mask(b.Goods))
	}
	for _, r := range a.Reserves {
		goods = append(goods, mask(r.Goods))
	}
	return func(set uint) bool {
		sold := uint64(0)
		for ; set != 0; set &= set - 1 {
			g := goods[bits.TrailingZeros(set)]
			if sold&g != 0 {
				return false
			}
			sold |= g
		}
		return true
	}
}

// Payments are held against their definitions, with the worth of every coalition.
func TestPaymentsAgainstEveryCoalition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	blocked := 0
	for range inputtest.Draws(250) {
		if payEveryCoalition(t, drawn(r)) {
			blocked++
		}
	}
	if blocked < inputtest.Draws(10) {
		t.Errorf("coalitions blocked VCG in %d auctions: too easy", blocked)
	}
}

// payEveryCoalition tests the payments of an auction, and says whether coalitions block
// those of VCG.
func payEveryCoalition(t *testing.T, a *problem.Auction) bool {
	t.Helper()
	bidder := a.BidderNumbers()
	bidders := 0
	for _, b := range bidder {
		bidders = max(bidders, b+1)
	}
	worth := worths(a, bidder, bidders)
	all := len(worth) - 1
	first := paid(t, a, FirstPrice)
	for _, w := range first.Payments.Winners {
		if w.Pays != w.Value || w.Value != a.Revenue(w.Bids).Int64() {
			t.Fatalf("%+v: the winner of %v pays %d of %d", a, w.Bids, w.Pays, w.Value)
		}
	}
	verifyResult(t, first)
	if a.SellAll {
		for _, w := range first.Payments.Winners {
			if worth[all&^(1<<bidder[w.Bids[0]])] == unsold {
				unpaid(t, a, VCG, "sell every good without bid")
				return false
			}
		}
		unpaid(t, a, Core, "coalitions of bidders")
	}
	result := paid(t, a, VCG)
	verifyResult(t, result)
	vcg := result.Payments
	upper, place := make([]int64, len(vcg.Winners)), make([]int, bidders)
	for b := range place {
		place[b] = -1
	}
	for k, w := range vcg.Winners {
		b := bidder[w.Bids[0]]
		place[b] = k
		if want := worth[all&^(1<<b)] - (worth[all] - w.Value); w.Pays != want {
			t.Fatalf("%+v: bidder %d pays %d, expected %d", a, b, w.Pays, want)
		}
		upper[k] = w.Value - w.Pays
	}
	if a.SellAll {
		return false
	}
	result = paid(t, a, Core)
	verifyResult(t, result)
	selected := result.Payments
	kept := a.KeptPrice(result.Kept).Int64()
	gain := make([]int64, bidders)
	for b, k := range place {
		if k >= 0 {
			gain[b] = vcg.Winners[k].Value - selected.Winners[k].Pays
		}
	}
	point := payments.NewPoint(upper)
	for c := range worth {
		need := worth[c] - kept
		least := worth[c] - kept
		var out []int
		for b := range bidders {
			in := c>>b&1 != 0
			if in {
				need -= gain[b]
			}
			if k := place[b]; k >= 0 && in {
				least -= vcg.Winners[k].Value
			} else if k >= 0 {
				least -= vcg.Winners[k].Pays
				out = append(out, k)
			}
		}
		if revenue := selected.Revenue().Int64(); revenue < need {
			t.Fatalf("%+v: the coalition %b would pay %d, the winners pay %d", a, c, need, revenue)
		}
		if least <= 0 {
			continue // holds wherever payments are not below VCG's
		}
		if !point.Add(out, least) {
			t.Fatalf("%+v: the core is empty", a)
		}
	}
	least := new(big.Rat).SetInt(vcg.Revenue())
	for k := range upper {
		least.Add(least, point.Value(k))
		if off := selected.Winners[k].Pays - vcg.Winners[k].Pays - point.Ceil(k); off > 20 || off < -20 {
			t.Fatalf("%+v: winner %d pays %d units more than the nearest payment", a, k, off)
		}
	}
	over := new(big.Rat).SetInt(selected.Revenue())
	if over.Sub(over, least); over.Sign() < 0 || over.Cmp(big.NewRat(int64(len(upper)), 1)) > 0 {
		t.Fatalf("%+v: the revenue is %s above the least", a, over)
	}
	return len(selected.Coalitions) > 0
}

// unpaid makes sure that a rule says nothing about an auction, and why.
func unpaid(t *testing.T, a *problem.Auction, rule Rule, why string) {
	t.Helper()
	res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ComputePayments(context.Background(), res, rule, Options{}); err != nil || res.Payments != nil || !strings.Contains(fmt.Sprint(res.Notes), why) {
		t.Fatalf("%+v: payments %v, error %v, notes %v", a, res.Payments, err, res.Notes)
	}
}

// Known packings and prices help the solver without changing what it finds, in auctions
// large enough for linear programs.
func TestVCGFromScratch(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		a := regional(r, 30, 160)
		res := paid(t, a, VCG)
		bidder := a.BidderNumbers()
		for _, w := range res.Payments.Winners {
			less := *a
			less.Bids = nil
			for i, b := range a.Bids {
				if bidder[i] != bidder[w.Bids[0]] {
					less.Bids = append(less.Bids, b)
				}
			}
			other, err := Solve(context.Background(), &less, Options{Settings: solve.Settings{Algorithm: Branch}})
			if err != nil {
				t.Fatal(err)
			}
			revenue := less.Revenue(other.Winners).Int64()
			if want := revenue - a.Revenue(res.Winners).Int64() + w.Value; w.Pays != want {
				t.Fatalf("bid %d pays %d, expected %d", w.Bids[0], w.Pays, want)
			}
		}
	}
}

func TestPaymentsOfNothingProven(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 80, 320)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := Solve(ctx, a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	res.Proven = false
	if err := ComputePayments(context.Background(), res, Core, Options{}); err != nil || res.Payments != nil || !strings.Contains(fmt.Sprint(res.Notes), "not proven to be the best") {
		t.Errorf("%v, notes %v", err, res.Notes)
	}
	if err := ComputePayments(ctx, res, FirstPrice, Options{}); err != nil || res.Payments == nil {
		t.Errorf("first price: %v", err)
	}
	whole, err := Solve(context.Background(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ComputePayments(ctx, whole, VCG, Options{}); err != nil || whole.Payments != nil || !whole.Stopped || !strings.Contains(fmt.Sprint(whole.Notes), "interrupted: no payments") {
		t.Errorf("cancelled: %v, notes %v", err, whole.Notes)
	}
	if err := ComputePayments(ctx, whole, "second", Options{}); err == nil || !strings.Contains(err.Error(), `found the rule "second"`) {
		t.Errorf("an unknown rule: %v", err)
	}
}
