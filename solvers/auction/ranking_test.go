package auction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// everyAllocation are the values of all allocations of an auction, the best first.
func everyAllocation(a *problem.Auction) []int64 {
	var values []int64
	for set := range uint(1) << (len(a.Bids) + len(a.Reserves)) {
		var winners, kept []int
		for i := range len(a.Bids) + len(a.Reserves) {
			if set>>i&1 == 0 {
			} else if i < len(a.Bids) {
				winners = append(winners, i)
			} else {
				kept = append(kept, i-len(a.Bids))
			}
		}
		repeats := slices.ContainsFunc(kept, func(k int) bool { // another reserve is the same
			return slices.ContainsFunc(a.Reserves[:k], func(o problem.Reserve) bool {
				return o.Price == a.Reserves[k].Price && slices.Equal(o.Goods, a.Reserves[k].Goods)
			})
		})
		if !repeats && a.CheckKept(winners, kept) == nil {
			values = append(values, a.Value(winners, kept).Int64())
		}
	}
	slices.SortFunc(values, func(x, y int64) int { return int(y - x) })
	return values
}

// The best few allocations are those of all, in all languages, each is checked, and altered rankings are refused.
func TestRankingAgainstEveryAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 6))
	whole, refused := 0, 0
	for round := range inputtest.Draws(2000) {
		a := drawnLanguages(r, r.IntN(4) == 0)
		if len(a.Bids)+len(a.Reserves) > 7 {
			a.Bids = a.Bids[:min(len(a.Bids), 7-len(a.Reserves))]
		}
		want := everyAllocation(a)
		k := 2 + r.IntN(6)
		algorithm := []string{Branch, Bidders}[round%2]
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: algorithm}, KBest: k, Proof: algorithm != Bidders})
		if len(want) == 0 {
			if !errors.Is(err, solve.ErrInfeasible) {
				t.Fatalf("%+v: %v, expected that it is infeasible", a, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if len(res.Best) != min(k, len(want)) || res.Complete != (len(want) < k) {
			t.Fatalf("%+v: found %d allocations of %d, complete %v, asked for %d", a, len(res.Best), len(want), res.Complete, k)
		}
		for i, x := range res.Best {
			if a.Value(x.Winners, x.Kept).Int64() != want[i] {
				t.Fatalf("auction %d, %+v: allocation %d is worth %s, expected %d", round, a, i, x.Value, want[i])
			}
		}
		if res.Complete {
			whole++
		}
		verifyResult(t, res)
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		alter := func(what string, change func(x map[string]any, best []any)) {
			var x map[string]any
			if err := json.Unmarshal(text, &x); err != nil {
				t.Fatal(err)
			}
			change(x, x["best"].([]any))
			text, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(a, text); err != nil || len(v.Failures) == 0 {
				t.Fatalf("auction %d: %s: %v, %+v, expected a failure: %s", round, what, err, v, text)
			}
			refused++
		}
		alter("a value", func(x map[string]any, best []any) { best[len(best)-1].(map[string]any)["value"] = "1234.5" })
		alter("one twice", func(x map[string]any, best []any) { x["best"] = append(best, best[len(best)-1]) })
		if last := len(res.Best) - 1; want[0] > want[last] && res.Proof() != nil {
			if want[1] > want[last] {
				alter("one left out", func(x map[string]any, best []any) { x["best"] = append([]any{best[0]}, best[2:]...) })
			}
			alter("another order", func(x map[string]any, best []any) { slices.Reverse(best) })
		}
	}
	if whole < inputtest.Draws(50) || refused < inputtest.Draws(3000) {
		t.Errorf("%d with all allocations, %d refused: too easy", whole, refused)
	}
}

// The best allocations of an auction of the CATS generator, of which the first is the solution, and the text of a result.
func TestRankingOfCATS(t *testing.T) {
	a, err := Read("testdata/paths_g25_b100_s31.txt")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Solve(context.Background(), a, Options{KBest: 20, Proof: true, Settings: solve.Settings{Algorithm: Branch}})
	if err != nil || len(res.Best) != 20 || res.Best[0].Value != res.Value || !slices.Equal(res.Best[0].Winners, res.Winners) {
		t.Fatalf("%v: %+v", err, res)
	}
	for k, x := range res.Best[1:] {
		if x.Value.Float() > res.Best[k].Value.Float() || slices.Equal(x.Winners, res.Best[k].Winners) {
			t.Errorf("allocation %d: %v after %v", k+1, x, res.Best[k])
		}
	}
	verifyResult(t, res)
	if text := res.String(); !strings.Contains(text, fmt.Sprintf("allocation 20\t%s\n", res.Best[19].Value)) {
		t.Errorf("%s", text)
	}
}
