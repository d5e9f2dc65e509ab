package auction

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
func regional(r *rand.Rand, goods, bids int) *Auction {
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
