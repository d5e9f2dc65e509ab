package auction

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

func TestBranchFindsTheOptimaOfCATS(t *testing.T) {
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
			t.Fatal(err)
		}
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Value.String() != row[1] || !res.Proven || res.Bound != res.Value || res.Items != len(reduction(t, a).Items) {
			t.Errorf("%s: revenue %s, bound %s, proven %t, the optimum is %s", row[0], res.Value, res.Bound, res.Proven, row[1])
		}
		relaxed, ok := res.LPBound.Rat()
		value, too := res.Value.Rat()
		if !ok || !too || relaxed.Cmp(value) < 0 {
			t.Errorf("%s: the relaxation's bound is %s", row[0], res.LPBound)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		verdict, err := Verify(a, text)
		if err != nil || verdict.Err() != nil || !verdict.Proven {
			t.Errorf("%s: %v %v", row[0], err, verdict)
		}
	}
}

// regional is an auction in the manner of CATS' regions: bidders with a few XOR bids
// for goods that lie near one another, in decimals.
func regional(r *rand.Rand, goods, bids int) *problem.Auction {
	var b strings.Builder
	dummies := bids/4 + 1
	fmt.Fprintf(&b, "goods %d\nbids %d\ndummy %d\n", goods, bids, dummies)
	for i := range bids {
		size := 1 + r.IntN(4)
		at := r.IntN(goods)
		list := map[int]bool{}
		for range size {
			list[(at+r.IntN(5))%goods] = true
		}
		price := 0
		for range list {
			price += 1000 + r.IntN(1000)
		}
		fmt.Fprintf(&b, "%d\t%d.%03d", i, price/1000, price%1000)
		for g := range list {
			fmt.Fprintf(&b, "\t%d", g)
		}
		if r.IntN(3) > 0 {
			fmt.Fprintf(&b, "\t%d", goods+r.IntN(dummies))
		}
		b.WriteString("\t#\n")
	}
	a, err := read(b.String())
	if err != nil {
		panic(err) // the text is well formed
	}
	return a
}

func TestBranchAgainstTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		a := regional(r, 8+r.IntN(8), 10+r.IntN(40))
		want, err := Reference(a)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Value != want.Value || !res.Proven {
			t.Fatalf("revenue %s, proven %t, the reference finds %s", res.Value, res.Proven, want.Value)
		}
	}
}

// Many goods need no algorithm named and no device; a time limit gives what was found.
func TestManyGoods(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 80, 320)
	whole, err := Solve(context.Background(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Algorithm != Branch || !whole.Proven || whole.Stopped {
		t.Errorf("%s, proven %t, stopped %t", whole.Algorithm, whole.Proven, whole.Stopped)
	}
	best, _ := whole.Value.Rat()
	for _, limit := range []time.Duration{time.Nanosecond, 5 * time.Millisecond} {
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{TimeLimit: limit}})
		if err != nil {
			t.Fatal(err)
		}
		value, ok := res.Value.Rat()
		bound, too := res.Bound.Rat()
		if !ok || !too || value.Cmp(best) > 0 || bound.Cmp(best) < 0 || res.Stopped == res.Proven || res.Proven != (res.Value == res.Bound) {
			t.Errorf("after %v: value %s, bound %s, the optimum is %s", limit, res.Value, res.Bound, whole.Value)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := Solve(ctx, a, Options{})
	if err != nil || res.Value == solve.Number("") || !res.Proven && !res.Stopped {
		t.Errorf("cancelled: %+v %v", res, err)
	}
}

func TestUnknownAlgorithm(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(3, 3)), 5, 5)
	if _, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: "simplex"}}); err == nil || !strings.Contains(err.Error(), `Algorithm: found "simplex"`) {
		t.Errorf("found %v", err)
	}
}

// Branch and cut begins with bids that are known: ended at once it has them or better, and whole it finds the optimum from any. A target
// that they meet ends it.
func TestStart(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 8 {
		a := regional(r, 60, 240)
		best, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil {
			t.Fatal(err)
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		cut, err := Solve(ended, a, Options{Settings: solve.Settings{Algorithm: Branch, Start: problem.Allocation(best.Winners)}})
		if err != nil || cut.Value != best.Value || !cut.Stopped && !cut.Proven {
			t.Errorf("ended at once: found %+v, %v, expected %s", cut, err, best.Value)
		}
		target := best.Value.Float()
		met, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Start: problem.Allocation(best.Winners), Target: &target}})
		if err != nil || met.Value != best.Value || met.Stopped || met.Nodes > 1 || met.Met == nil || *met.Target != target {
			t.Errorf("the start meets the target: found %+v, %v", met, err)
		}
		few, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Branch, Start: problem.Allocation(best.Winners[:1])}, Proof: true})
		if err != nil || few.Value != best.Value || !few.Proven {
			t.Fatalf("one bid to begin with: found %+v, %v", few, err)
		}
		text, err := json.Marshal(few)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(a, text); err != nil || v.Err() != nil || !v.Proven {
			t.Errorf("the proof: %v, %v", v, err)
		}
	}
}

// Bids to begin with must respect bidders' limits, reserves and goods that have to be sold. The seller keeps the goods that they leave.
func TestStartWithReserves(t *testing.T) {
	bids := []problem.Bid{{Number: 5, Bidder: "ann", Price: 4, Goods: []int64{0}}, {Number: 6, Bidder: "ann", Price: 4, Goods: []int64{1}}, {Number: 7, Price: 3, Goods: []int64{1, 2}}}
	a, err := problem.NewAuction(3, bids, []problem.Reserve{{Price: 1, Goods: []int64{1, 2}}, {Price: 1, Goods: []int64{2}}})
	if err != nil {
		t.Fatal(err)
	}
	a.Limits, a.SellAll = map[string]int{"ann": 1}, true
	for _, start := range []problem.Allocation{{0}, {0, 2}} {
		res, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Branch, Start: start}})
		if err != nil || !res.Proven || res.Value != "7" {
			t.Errorf("%v: found %+v, %v", start, res, err)
		}
	}
	if x, err := problem.ParseAllocation([]byte("7 5\n"), "f", a); err != nil || !slices.Equal(x, problem.Allocation{0, 2}) {
		t.Errorf("found %v, %v", x, err)
	}
	for want, start := range map[string]problem.Allocation{
		"Start: bidder ann wins more than 1 bids":   {0, 1},
		"Start: good 1 is sold twice":               {1, 2},
		"Start: good 0 is not sold":                 {2},
		"Start: bid 7 wins twice":                   {0, 2, 2},
		"Start: found the place 3, expected one of": {3},
	} {
		if _, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Branch, Start: start}}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: found the error %v, expected %s", start, err, want)
		}
	}
	if _, err := Solve(t.Context(), a, Options{Settings: solve.Settings{Algorithm: Bidders, Start: problem.Allocation{0}}}); !errors.Is(err, solve.ErrInput) {
		t.Errorf("tables with a start: %v", err)
	}
}

// TestEqualPricesOfSlots solves an auction in which many bids pay the same for different slots. HiGHS found the expected optimum.
func TestEqualPricesOfSlots(t *testing.T) {
	a, err := Generate("scheduling", 128, 2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	limit := time.Minute
	res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, TimeLimit: limit}, Proof: true})
	if err != nil {
		t.Fatal(err)
	}
	if res.Value != "163.301631" || !res.Proven {
		t.Errorf("revenue %s, proven %t, expected 163.301631", res.Value, res.Proven)
	}
	text, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if verdict, err := Verify(a, text); err != nil || verdict.Err() != nil || !verdict.Proven {
		t.Errorf("verify: %v %v", verdict, err)
	}
}
