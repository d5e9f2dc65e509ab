package payoff

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// Payoffs of random listings are those of the same games as tables; cores are empty where theirs are. Altered payoffs and proofs are refused.
func TestListed(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 11))
	empty, filled := 0, 0
	for k := range inputtest.Draws(2000) {
		n := 1 + r.IntN(6)
		l := &problem.Listing{N: n, Scale: r.IntN(3), Source: "drawn"}
		every := r.IntN(3) == 0
		for mask := 1; mask < 1<<n; mask++ {
			if every || mask&(mask-1) == 0 || r.IntN(3) == 0 {
				l.Coalitions = append(l.Coalitions, problem.Listed{Agents: problem.Agents(uint64(mask)), Value: r.Int64N(int64(20 * len(problem.Agents(uint64(mask)))))})
			}
		}
		l.Zeros = r.IntN(2) == 0
		table, err := tableOf(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, concept := range Concepts() {
			g, err := newGame(table, concept)
			if err != nil {
				t.Fatal(err)
			}
			s := best(g)
			s.Sort()
			var blocks [][]int
			for _, b := range s {
				blocks = append(blocks, problem.Agents(b))
			}
			want, wanted := Divide(t.Context(), table, s, concept)
			got, err := DivideListed(t.Context(), l, blocks, concept)
			if wanted != nil || err != nil {
				if !errors.Is(err, solve.ErrInput) || !errors.Is(wanted, solve.ErrInput) {
					t.Fatalf("%d, %s: found the error %v, of the table %v", k, concept, err, wanted)
				}
				continue
			}
			if concept != Core && !slices.Equal(got.Exact, want.Exact) || (got.Exact == nil) != (want.Exact == nil) {
				t.Fatalf("%d, %s: found %v, of the table %v", k, concept, got, want)
			}
			if _, err := got.CheckListed(t.Context(), l, blocks); err != nil {
				t.Fatalf("%d, %s: %v", k, concept, err)
			}
			if concept != Core {
				continue
			}
			lie := *got
			if got.Exact == nil {
				empty++
				lie.Balanced = slices.Clone(got.Balanced)
				lie.Balanced[r.IntN(len(lie.Balanced))].Weight = "2/7"
			} else {
				filled++
				x, err := got.read()
				if err != nil {
					t.Fatal(err)
				}
				x[r.IntN(n)].SetInt64(-1)
				lie = *New(Core, x)
			}
			if _, err := lie.CheckListed(t.Context(), l, blocks); err == nil {
				t.Fatalf("%d: found %+v accepted", k, lie)
			}
		}
	}
	if least := inputtest.Draws(2000) / 10; empty < least || filled < least {
		t.Errorf("found %d cores empty and %d not, expected more of both", empty, filled)
	}
}
