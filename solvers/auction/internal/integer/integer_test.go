package integer

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// drawn is a small problem with rows of all kinds.
func drawn(r *rand.Rand) *Problem {
	n := 1 + r.IntN(10)
	p := &Problem{Prices: make([]int64, n)}
	for j := range n {
		p.Prices[j] = int64(r.IntN(30) - r.IntN(2)*20)
	}
	for range r.IntN(6) {
		row := Row{Equal: r.IntN(6) == 0}
		sign := int64(1)
		if r.IntN(3) == 0 {
			sign = -1
		}
		large := 1 + r.IntN(6)
		sum := int64(0)
		for j := range n {
			if r.IntN(3) > 0 {
				a := sign * int64(1+r.IntN(large))
				if r.IntN(10) == 0 {
					a = -a
				}
				row.Columns, row.Entries = append(row.Columns, int32(j)), append(row.Entries, a)
				sum += a
			}
		}
		row.Most = sum * int64(1+r.IntN(4)) / 5
		p.Rows = append(p.Rows, row)
	}
	return p
}

// all are all solutions, best first.
func all(p *Problem) []Solution {
	var list []Solution
	for set := range uint(1) << len(p.Prices) {
		var ones []int32
		for j := range p.Prices {
			if set>>j&1 == 1 {
				ones = append(ones, int32(j))
			}
		}
		if p.Feasible(ones) {
			list = append(list, Solution{ones, p.Value(ones)})
		}
	}
	slices.SortFunc(list, Compare)
	return list
}

// The best solutions are those of all, and their proofs hold; altered ones do not.
func TestBestOfAllSolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	rounds := inputtest.Draws(2000)
	none, several, refused, nodes := 0, 0, 0, int64(0)
	for round := range rounds {
		p := drawn(r)
		want := all(p)
		k := 1 + r.IntN(8)
		res, err := Solve(context.Background(), p, Settings{Best: k, Workers: 1 + round%2, Log: true})
		if err != nil {
			t.Fatal(err)
		}
		nodes += res.Nodes
		if len(want) == 0 {
			none++
		}
		if !res.Proven || len(res.Solutions) != min(k, len(want)) {
			t.Fatalf("problem %d: %+v: found %d solutions, proven %v, expected %d of %d", round, p, len(res.Solutions), res.Proven, k, len(want))
		}
		for i, s := range res.Solutions {
			if s.Value != want[i].Value || !p.Feasible(s.Ones) || p.Value(s.Ones) != s.Value || i > 0 && Compare(res.Solutions[i-1], s) >= 0 {
				t.Fatalf("problem %d: %+v: solution %d is %v, expected the value of %v", round, p, i, s, want[i])
			}
		}
		if len(want) > 0 && res.Bound != want[0].Value {
			t.Fatalf("problem %d: the bound is %d, expected %d", round, res.Bound, want[0].Value)
		}
		whole := len(res.Solutions) < k
		if err := res.Proof.Check(p, res.Solutions, whole); err != nil {
			t.Fatalf("problem %d: %+v: %v", round, p, err)
		}
		if whole || len(want) == k || want[k].Value == want[k-1].Value && k == 1 {
			continue
		}
		several++
		// Without a solution that is better than the last, and with a last one that is worth less, the list is not proven.
		short := slices.Clone(res.Solutions)
		if k > 1 && short[0].Value > short[k-1].Value {
			short = short[1:]
		} else if k == 1 {
			short[0].Value = want[1].Value - 1
			if want[1].Value == want[0].Value {
				continue
			}
			short[0].Ones = want[1].Ones
		} else {
			continue
		}
		if res.Proof.Check(p, short, false) == nil {
			t.Fatalf("problem %d: a proof holds for a list that lacks %v", round, want[0])
		}
		refused++
	}
	if none < rounds/50 || several < rounds/4 || refused < rounds/5 {
		t.Errorf("%d without solutions, %d with several, %d refused: too easy", none, several, refused)
	}
}

// A knapsack of many items is solved with covers.
func TestKnapsacks(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 2))
	for range 20 {
		n := 60
		p := &Problem{Prices: make([]int64, n)}
		for range 3 {
			row := Row{}
			sum := int64(0)
			for j := range n {
				a := int64(10 + r.IntN(90))
				row.Columns, row.Entries, sum = append(row.Columns, int32(j)), append(row.Entries, a), sum+a
			}
			row.Most = sum / 4
			p.Rows = append(p.Rows, row)
		}
		for j := range n {
			p.Prices[j] = int64(50 + r.IntN(100))
		}
		res, err := Solve(context.Background(), p, Settings{Log: true})
		if err != nil || !res.Proven {
			t.Fatal(res, err)
		}
		if err := res.Proof.Check(p, res.Solutions, false); err != nil {
			t.Fatal(err)
		}
		t.Log(res.Nodes, len(res.Proof.Covers), res.Bound, res.LPBound)
	}
}

// A search that has no time gives what it has, with a bound that holds.
func TestEndedSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 3))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		p := drawn(r)
		want := all(p)
		res, err := Solve(ctx, p, Settings{Best: 3})
		if err != nil || len(want) > 0 && res.Bound < want[0].Value || res.Proof != nil {
			t.Fatalf("%+v: %+v, %v, expected a bound of at least %v", p, res, err, want[0])
		}
	}
}
