package auction

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"

	"pgregory.net/rapid"
)

const small = `%% a comment
goods 3
bids 4
dummy 1

0	10.50	0	1	#
1	7.25	1	2	3	#
2	6	0	3	#
3	4.001	2	#
`

func read(text string) (*auctionproblem.Auction, error) {
	return ReadFrom(strings.NewReader(text), "a.txt")
}

// reduction is that of an auction whose limits and reserves have a meaning.
func reduction(t interface{ Fatal(...any) }, a *auctionproblem.Auction) *Reduction {
	r, err := NewReduction(a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSmall(t *testing.T) {
	a, err := read(small)
	if err != nil {
		t.Fatal(err)
	}
	if a.Scale != 3 || a.Bids[0].Price != 10500 || len(a.Bids) != 4 {
		t.Fatalf("read as %+v", a)
	}
	r := reduction(t, a)
	inst, err := r.ToCSG()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range csg.Methods() {
		solved, err := csg.Reference(inst, m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Result(solved)
		if err != nil {
			t.Fatal(err)
		}
		if want := "bid 0\t10.5\t 0 1\nbid 3\t4.001\t 2\nrevenue\t14.501\n"; got.String() != want {
			t.Errorf("%s:\n got %q\nwant %q", m, got, want)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"value":"14.501"`, `"bound":"14.501"`, `"proven":true`, `"solution":[0,3]`, `"problem":"auction"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s", text, want)
			}
		}
	}
	// A claim that the bids do not pay is found out.
	solved, err := csg.Reference(inst, csg.DP)
	if err != nil {
		t.Fatal(err)
	}
	solved.Value = "14502"
	if _, err := r.Result(solved); !errors.Is(err, csgproblem.ErrCheck) {
		t.Errorf("a wrong total: %v", err)
	}
}

// everySet tries every set of bids.
func everySet(a *auctionproblem.Auction) *big.Int {
	best := new(big.Int)
	for set := range uint(1) << len(a.Bids) {
		var winners []int
		for i := range a.Bids {
			if set>>i&1 != 0 {
				winners = append(winners, i)
			}
		}
		if a.CheckWinners(winners) == nil {
			if sum := a.Revenue(winners); sum.Cmp(best) > 0 {
				best = sum
			}
		}
	}
	return best
}

func TestAgainstEverySetOfBids(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goods := rapid.IntRange(0, 5).Draw(t, "goods")
		dummies := rapid.IntRange(0, 3).Draw(t, "dummies")
		bids := rapid.IntRange(0, 9).Draw(t, "bids")
		var b strings.Builder
		fmt.Fprintf(&b, "goods %d\nbids %d\ndummy %d\n", goods, bids, dummies)
		for i := range bids {
			fmt.Fprintf(&b, "%d\t%d.%02d", i, rapid.IntRange(-3, 40).Draw(t, "price"), rapid.IntRange(0, 99).Draw(t, "cents"))
			for g := range goods + dummies {
				if rapid.IntRange(0, 2).Draw(t, "asked") == 0 {
					fmt.Fprintf(&b, "\t%d", g)
				}
			}
			b.WriteString("\t#\n")
		}
		a, err := read(b.String())
		if err != nil {
			t.Fatal(err)
		}
		want := a.FormatPrice(everySet(a))
		ref, err := Reference(a)
		if err != nil {
			t.Fatal(err)
		}
		r := reduction(t, a)
		inst, err := r.ToCSG()
		if err != nil {
			t.Fatal(err)
		}
		solved, err := csg.Reference(inst, csg.IDP)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Result(solved)
		if err != nil {
			t.Fatal(err)
		}
		if ref.Value.String() != want || got.Value.String() != want {
			t.Fatalf("%s\nreference %s, coalitions %s, every set %s", b.String(), ref.Value.String(), got.Value.String(), want)
		}
	})
}

func TestCATSFiles(t *testing.T) {
	f, err := os.Open("testdata/optima.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		a, err := Read(filepath.Join("testdata", row[0]))
		if err != nil {
			t.Error(err)
			continue
		}
		res, err := Reference(a)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %d items, revenue %s", row[0], len(reduction(t, a).Items), res.Value.String())
		if res.Value.String() != row[1] {
			t.Errorf("%s: revenue %s, the optimum is %s", row[0], res.Value.String(), row[1])
		}
	}
}

// 24 goods become 24 agents; bundles have their bids' prices.
func TestToCSG(t *testing.T) {
	a, err := Read("testdata/L2_g24_b100_s61.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := reduction(t, a)
	inst, err := r.ToCSG()
	if err != nil {
		t.Fatal(err)
	}
	if inst.N != 24 || len(r.Items) != 24 {
		t.Fatalf("%d agents of %d items, want 24", inst.N, len(r.Items))
	}
	if err := inst.Check(); err != nil {
		t.Fatal(err)
	}
	worth := 0
	for mask := range inst.Len() {
		if inst.Value64(mask) != 0 {
			worth++
		}
	}
	if worth != len(r.best) {
		t.Errorf("%d bundles are worth something, want %d", worth, len(r.best))
	}
	ref, err := Reference(a)
	if err != nil {
		t.Fatal(err)
	}
	var s csgproblem.Structure
	left := inst.GrandCoalition()
	for _, w := range ref.Winners {
		mask := uint64(0)
		for k, goods := range r.Items {
			for _, g := range a.Bids[w].Goods {
				if goods[0] == g {
					mask |= 1 << k
				}
			}
		}
		s = append(s, mask)
		left &^= mask
	}
	if left != 0 {
		s = append(s, left)
	}
	total := new(big.Int).SetInt64(0).Set(a.Revenue(ref.Winners)).String()
	if _, err := csgproblem.Check(inst, s, total); err != nil {
		t.Error(err)
	}
}

func TestTooManyItems(t *testing.T) {
	a, err := Read("testdata/paths_g25_b100_s31.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, err = reduction(t, a).ToCSG()
	if !errors.Is(err, auctionproblem.ErrItems) || !strings.Contains(fmt.Sprint(err), "expected at most 25 together") {
		t.Errorf("too many items: %v", err)
	}
	if _, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: string(csg.Apart)}}); !errors.Is(err, auctionproblem.ErrItems) || !strings.Contains(fmt.Sprint(err), "expected at most 30 together") {
		t.Errorf("too many items: %v", err)
	}
}

func TestHazards(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"comments and blank lines anywhere", "% c\n\n \t% c\nGOODS 2\n\nBids 2 dummy 0\n0 1 0 #\n% c\n1 2\n1\n#\n\n", "revenue\t3\n"},
		{"a glued hash", "goods 2\nbids 2\ndummy 1\n0\t5\t0\t2#\n1\t3\t1\t2#", "revenue\t5\n"},
		{"negative dummies", "goods 2\nbids 2\ndummy 1\n0 5 0 -1 #\n1 3 1 -1 #\n", "revenue\t5\n"},
		{"a bid for a dummy alone", "goods 1\nbids 2\ndummy 1\n0 5 1 #\n1 7 0 1 #\n", "revenue\t7\n"},
		{"a bid for nothing", "goods 1\nbids 1\ndummy 0\n0 5 #\n", "revenue\t5\n"},
		{"prices of 0 and less", "goods 1\nbids 2\ndummy 0\n0 0 0 #\n1 -3 0 #\n", "revenue\t0\n"},
		{"large prices", "goods 1\nbids 2\ndummy 0\n0 1e+06 0 #\n1 .5 0 #\n", "revenue\t1000000\n"},
		{"decimals add exactly", "goods 3\nbids 3\ndummy 0\n0 .1 0 #\n1 .2 1 #\n2 1e-20 2 #\n", ""},
		{"decimals add exactly", "goods 2\nbids 2\ndummy 0\n0 .1 0 #\n1 .2 1 #\n", "revenue\t0.3\n"},
		{"no bids", "goods 4000000\nbids 0\ndummy 0\n", "revenue\t0\n"},
	}
	for _, test := range tests {
		a, err := read(test.text)
		if test.want == "" {
			if err == nil || !strings.Contains(err.Error(), "smallest that some price needs") {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		res, err := Reference(a)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if !strings.HasSuffix(res.String(), test.want) {
			t.Errorf("%s: %q, want %q", test.name, res, test.want)
		}
	}
	noted, err := read("goods 1\nbids 2\ndummy 2\n0 5 1 2 #\n1 7 0 1 #\n")
	if err != nil || len(noted.Notes) != 3 || noted.Notes[0] != "read as CATS" {
		t.Errorf("a bid of two dummies and no goods: %v %v", noted, err)
	}
	// The highest id beyond the goods names the bidder, a negative one before it.
	a := &auctionproblem.Auction{Goods: 2}
	for _, test := range []struct {
		goods  []int64
		bidder int64
		named  bool
	}{{[]int64{0, 2, 5}, 5, true}, {[]int64{-3, 0, 1}, -3, true}, {[]int64{0, 1}, 1, false}, {nil, 0, false}} {
		if id, ok := a.BidderDummy(auctionproblem.Bid{Goods: test.goods}); id != test.bidder || ok != test.named {
			t.Errorf("bidder of %v: %d %v", test.goods, id, ok)
		}
	}
}
