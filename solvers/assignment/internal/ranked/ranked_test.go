package ranked

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// all lists the values of all matchings of a problem, ascending.
func all(p *problem.Normal) []int64 {
	var values []int64
	taken := make([]bool, p.Cols)
	var row func(i int, sum int64)
	row = func(i int, sum int64) {
		if i == p.Rows {
			values = append(values, sum)
			return
		}
		for j := range taken {
			if c := p.Cost(i, j); !taken[j] && c != problem.Infinity {
				taken[j] = true
				row(i+1, sum+c)
				taken[j] = false
			}
		}
		if p.Limit != problem.Infinity {
			row(i+1, sum+p.Limit)
		}
	}
	row(0, 0)
	slices.Sort(values)
	return values
}

// random draws a small instance: ties, forbidden pairs, negative costs, rectangles,
// limits, both senses, and sparse ones.
func random(t *testing.T, rng *rand.Rand) *problem.Normal {
	t.Helper()
	rows, cols := rng.IntN(6), rng.IntN(6)
	spread := []int32{1, 3, 1000}[rng.IntN(3)]
	costs, kinds := make([]int32, rows*cols), 2+rng.IntN(8)
	for k := range costs {
		costs[k] = rng.Int32N(2*spread+1) - spread
		if rng.IntN(kinds) == 0 {
			costs[k] = math.MaxInt32
		}
	}
	inst, err := problem.NewInstance(rows, cols, costs, "test")
	if err != nil {
		t.Fatal(err)
	}
	inst.Maximize = rng.IntN(2) == 0
	if rng.IntN(3) == 0 {
		limit := float64(rng.Int32N(2*spread+1) - spread)
		inst.Limit = &limit
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBestAgainstAllMatchings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	complete, none := 0, 0
	for n := range 1500 {
		p := random(t, rng)
		want := all(p)
		first, err := reference.Solve(p, nil)
		var infeasible *engine.Infeasible
		if errors.As(err, &infeasible) {
			none++
			if len(want) > 0 {
				t.Fatalf("instance %d: no matching found, and there are %d", n, len(want))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		k := 1 + rng.IntN(40)
		if n%10 == 0 {
			k = len(want) + 1
		}
		r, err := KBest(context.Background(), p, first, k, 0)
		if err != nil {
			t.Fatalf("instance %d: %v", n, err)
		}
		var got []int64
		seen := map[string]bool{}
		for _, m := range r.Matchings {
			got = append(got, m.Value)
			seen[fmt.Sprint(m.Column)] = true
			if sum := worth(t, p, m.Column); sum != m.Value {
				t.Fatalf("instance %d: %v is worth %d, found %d", n, m.Column, sum, m.Value)
			}
		}
		if len(seen) != len(got) {
			t.Errorf("instance %d: a matching was found twice", n)
		}
		if !slices.Equal(got, want[:min(k, len(want))]) {
			t.Fatalf("instance %d, %d x %d: found %v, expected %v", n, p.Rows, p.Cols, got, want[:min(k, len(want))])
		}
		if r.Complete != (k > len(want)) {
			t.Errorf("instance %d: %d of %d matchings asked for: found complete %t", n, k, len(want), r.Complete)
		}
		if r.Complete {
			complete++
		}
	}
	if complete < 50 || none < 20 {
		t.Errorf("%d rankings were complete and %d instances had no matching: too few to tell", complete, none)
	}
}

// worth checks that a matching is one, and adds it up.
func worth(t *testing.T, p *problem.Normal, column []int32) int64 {
	t.Helper()
	var sum int64
	taken := map[int32]bool{}
	for i, j := range column {
		switch {
		case j < 0 && p.Limit == problem.Infinity:
			t.Fatalf("row %d is unmatched", i)
		case j < 0:
			sum += p.Limit
		case taken[j] || p.Cost(i, int(j)) == problem.Infinity:
			t.Fatalf("row %d: column %d is taken or forbidden", i, j)
		default:
			taken[j] = true
			sum += p.Cost(i, int(j))
		}
	}
	return sum
}

// Duals that prove nothing are refused.
func TestWrongDuals(t *testing.T) {
	inst, err := problem.NewInstance(2, 2, []int32{1, 5, 5, 1}, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []engine.Solution{
		{Column: []int32{1, 0}, Prices: problem.Prices{U: []int64{5, 5}, V: []int64{0, 0}}}, // not optimal
		{Column: []int32{0, 1}, Prices: problem.Prices{U: []int64{1, 0}, V: []int64{0, 0}}}, // not tight
	} {
		if _, err := KBest(context.Background(), p, &s, 2, 0); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%v: found %v, expected an error of the check", s, err)
		}
	}
}

// What ctx ends has the beginning of the ranking.
func TestEnded(t *testing.T) {
	inst, err := problem.NewInstance(3, 3, []int32{1, 2, 3, 4, 5, 6, 7, 8, 10}, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	first, err := reference.Solve(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := KBest(ctx, p, first, 6, 0); !errors.Is(err, context.Canceled) || r == nil || r.Complete {
		t.Errorf("found %+v, %v", r, err)
	}
}
