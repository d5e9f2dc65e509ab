package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"coalesce/solvers/model/problem"
)

// quadratic draws a model of pairs with knapsacks, groups, or both.
func quadratic(r *rand.Rand) *problem.Model {
	m := problem.New([]problem.Sense{problem.Minimize, problem.Maximize}[r.IntN(2)])
	n := 4 + r.IntN(8)
	whole := problem.DecimalOfInteger
	for i := range n {
		m.AddBinary(fmt.Sprint(i))
		m.AddTerm(whole(r.Int64N(41)-20), int32(i))
		for j := range i {
			if r.IntN(2) == 0 {
				m.AddTerm(whole(r.Int64N(41)-20), int32(i), int32(j))
			}
		}
	}
	if r.IntN(4) == 0 {
		m.AddTerm(whole(7), 0, 1, 2)
	}
	for range r.IntN(3) {
		c := problem.Constraint{}
		total := int64(0)
		for i := range n {
			a := 1 + r.Int64N(20)
			total += a
			c.Terms = append(c.Terms, problem.Linear{Coefficient: whole(a), Variable: int32(i)})
		}
		low, high := whole(total/4), whole(total/2)
		if r.IntN(3) > 0 {
			c.High = &high
		}
		if c.High == nil || r.IntN(2) == 0 {
			c.Low = &low
		}
		m.AddConstraint(c)
	}
	one := whole(1)
	for first := 0; first+3 <= n && r.IntN(2) == 0; first += 3 {
		c := problem.Constraint{High: &one}
		if r.IntN(2) == 0 {
			c.Low = &one
		}
		for i := range 3 {
			c.Terms = append(c.Terms, problem.Linear{Coefficient: one, Variable: int32(first + i)})
		}
		m.AddConstraint(c)
	}
	return m
}

// Bounds with shares and products are below all solutions, above the bounds of the rows alone, often by far, and altered ones either prove
// a bound or are refused.
func TestProducts(t *testing.T) {
	better, exact, count := 0, 0, 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 9))
		f, err := problem.NewForm(quadratic(random))
		if err != nil {
			t.Fatal(err)
		}
		least := int64(math.MaxInt64)
		x := make([]uint8, f.N)
		for k := range 1 << f.N {
			for i := range x {
				x[i] = uint8(k >> i & 1)
			}
			if !slices.ContainsFunc(f.Rows, func(r problem.Row) bool {
				sum := int64(0)
				for j, b := range r.Bits {
					sum += r.Coefficients[j] * int64(x[b])
				}
				return violation(&r, sum) > 0
			}) {
				least = min(least, f.Value(x))
			}
		}
		if least == math.MaxInt64 || len(f.Rows) == 0 || len(f.Pairs) == 0 {
			continue
		}
		l, limit := New(f), &atomic.Int64{}
		limit.Store(math.MaxInt64)
		rows := l.Multipliers(context.Background(), limit)
		all := l.Products(context.Background(), rows, limit)
		before, _ := l.Bound(rows)
		after, ok := l.Bound(all)
		if !ok || after > least || after < before {
			t.Fatalf("seed %d: the bound is %d (%t), of the rows alone %d, the optimum %d", seed, after, ok, before, least)
		}
		count++
		if after > before {
			better++
		}
		if after == least {
			exact++
		}
		if all.Shares == nil {
			continue
		}
		for _, list := range [][]int64{all.Shares, all.Rows} {
			list[random.IntN(len(list))] += random.Int64N(2001) - 1000
		}
		for k := range all.Products {
			all.Products[k].Value *= -1
		}
		if altered, ok := l.Bound(all); ok && altered > least {
			t.Fatalf("seed %d: altered multipliers give %d, the optimum is %d", seed, altered, least)
		}
	}
	if count < 150 || better < count/2 || exact < count/4 {
		t.Errorf("%d bounds, %d better than those of the rows alone, %d the optimum", count, better, exact)
	}
}
